//go:build !noblas && (linux || darwin) && (amd64 || arm64)

package native

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"

	"concord/linalg/internal/kernel"
)

// smallCall is the number of multiplications below which the pure-Go engine is
// faster than the call of a library.
const smallCall = 16 * 16 * 16

// products are those of a loaded library, but for small ones.
type products struct {
	small kernel.Products
	f     *Library
}

// Products are the library's products, and small where these are faster than a
// call.
func (f *Library) Products(small kernel.Products) kernel.Products { return products{small, f} }

// Dgemm computes C = α op(A) op(B) + β C; see blas.Float64Level3.
func (fb products) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int) {
	if m <= 0 || n <= 0 || k <= 0 || m*n*k < smallCall {
		fb.small.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	kernel.CheckProduct(tA, tB, m, n, k, a, lda, b, ldb, c, ldc)
	left := kernel.Operand{Data: a, LD: lda, Trans: tA != blas.NoTrans}
	right := kernel.Operand{Data: b, LD: ldb, Trans: tB != blas.NoTrans}
	fb.f.product(m, n, k, alpha, left, right, beta, c, ldc)
}

// product computes Cᵀ = α op(B)ᵀ op(A)ᵀ + β Cᵀ by columns.
func (f *Library) product(m, n, k int, alpha float64, a, b kernel.Operand, beta float64, c []float64, ldc int) {
	p := newArgs(letter(b.Trans)+letter(a.Trans), n, m, k, b.LD, a.LD, ldc)
	p.x = [2]float64{alpha, beta}
	purego.SyscallN(f.gemm, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.c[1])),
		uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&p.i[1])), uintptr(unsafe.Pointer(&p.i[2])),
		uintptr(unsafe.Pointer(&p.x[0])), uintptr(unsafe.Pointer(&b.Data[0])), uintptr(unsafe.Pointer(&p.i[3])),
		uintptr(unsafe.Pointer(&a.Data[0])), uintptr(unsafe.Pointer(&p.i[4])),
		uintptr(unsafe.Pointer(&p.x[1])), uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&p.i[5])), one, one)
	runtime.KeepAlive(a.Data)
	runtime.KeepAlive(b.Data)
	runtime.KeepAlive(c)
	argPool.Put(p)
}

func letter(trans bool) string {
	if trans {
		return "T"
	}
	return "N"
}

// Dsyrk computes C = α A Aᵀ + β C or α Aᵀ A + β C in one triangle of C; see
// blas.Float64Level3.
func (fb products) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int) {
	if n <= 0 || k <= 0 || n*n*k < smallCall {
		fb.small.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	kernel.CheckUplo(uplo)
	kernel.CheckProduct(t, t, n, 0, k, a, lda, nil, max(1, k), nil, 1)
	kernel.CheckMatrix("C", n, n, c, ldc)
	p := newArgs(other(uplo)+letter(t == blas.NoTrans), n, k, lda, ldc)
	p.x = [2]float64{alpha, beta}
	purego.SyscallN(fb.f.syrk, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.c[1])),
		uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&p.i[1])),
		uintptr(unsafe.Pointer(&p.x[0])), uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[2])),
		uintptr(unsafe.Pointer(&p.x[1])), uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&p.i[3])), one, one)
	runtime.KeepAlive(a)
	runtime.KeepAlive(c)
	argPool.Put(p)
}

// other is the letter of the triangle as seen by columns.
func other(uplo blas.Uplo) string {
	if uplo == blas.Upper {
		return "L"
	}
	return "U"
}

// Dtrsm solves op(A) X = α B or X op(A) = α B for a triangular A; see
// blas.Float64Level3.
func (fb products) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	if !fb.triangular(fb.f.trsm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		fb.small.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dtrmm computes B = α op(A) B or α B op(A) for a triangular A; see
// blas.Float64Level3.
func (fb products) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int) {
	if !fb.triangular(fb.f.trmm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		fb.small.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// triangular calls dtrsm or dtrmm on the transposed problem, which is on the
// other side with the other triangle. It reports false, and does nothing, for
// a problem too small to be worth a call.
func (fb products) triangular(routine uintptr, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int,
	alpha float64, a []float64, lda int, b []float64, ldb int) bool {
	order, side := m, "R"
	if s == blas.Right {
		order, side = n, "L"
	}
	if m <= 0 || n <= 0 || m*n*order < smallCall {
		return false
	}
	kernel.CheckTriangular(s, ul, tA, d, m, n, order, a, lda, b, ldb)
	p := newArgs(side+other(ul)+letter(tA != blas.NoTrans)+string(rune(d)), n, m, lda, ldb)
	p.x[0] = alpha
	purego.SyscallN(routine, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.c[1])),
		uintptr(unsafe.Pointer(&p.c[2])), uintptr(unsafe.Pointer(&p.c[3])), uintptr(unsafe.Pointer(&p.i[0])),
		uintptr(unsafe.Pointer(&p.i[1])),
		uintptr(unsafe.Pointer(&p.x[0])), uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[2])),
		uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&p.i[3])), one, one, one, one)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	argPool.Put(p)
	return true
}
