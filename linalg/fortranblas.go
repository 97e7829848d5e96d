//go:build !noblas && (linux || darwin) && (amd64 || arm64)

package linalg

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"
)

// wideCores are the builds of OpenBLAS with kernels of 512 bits.
var wideCores = []string{"SkylakeX", "Cooperlake", "SapphireRapids", "Zen5"}

// nativeEngine is the engine of a loaded library. Where the processor has
// vectors of 512 bits and the library does not use them (OpenBLAS 0.3.21 takes
// Zen 5 for Haswell), products go through this package's kernel, which is then
// twice as fast, and decompositions through the library.
func nativeEngine(f *fortran) *engine {
	ks := kernels()
	if f.name == "OpenBLAS" && len(ks) > 0 && ks[0].name == "AVX-512" && !slices.Contains(wideCores, f.core) {
		return nativeWithKernel(f, ks[0])
	}
	return nativeAlone(f)
}

func nativeWithKernel(f *fortran, mk *microKernel) *engine {
	return f.engine(kernelBLAS{mk: mk}, mk.name)
}

func nativeAlone(f *fortran) *engine {
	return f.engine(fortranBLAS{Float64: goEngine().blas, f: f}, f.name)
}

func (f *fortran) engine(b blas.Float64, product string) *engine {
	return &engine{
		info:   BackendInfo{Name: f.name, Version: f.version, Path: f.path, Product: product},
		blas:   b,
		lapack: fortranLAPACK{f: f},
		native: f,
		lanes:  laneKernels(),
	}
}

// smallCall is the number of multiplications below which the pure-Go engine is
// faster than the call of a library.
const smallCall = 16 * 16 * 16

// fortranBLAS is a BLAS whose products of level 3 are a loaded library's.
type fortranBLAS struct {
	blas.Float64
	f *fortran
}

// Dgemm computes C = α op(A) op(B) + β C; see blas.Float64Level3.
func (fb fortranBLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m <= 0 || n <= 0 || k <= 0 || m*n*k < smallCall {
		fb.Float64.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	checkProduct(tA, tB, m, n, k, a, lda, b, ldb, c, ldc)
	fb.f.product(m, n, k, alpha, operand{a, lda, tA != blas.NoTrans}, operand{b, ldb, tB != blas.NoTrans}, beta, c, ldc)
}

// product computes Cᵀ = α op(B)ᵀ op(A)ᵀ + β Cᵀ by columns.
func (f *fortran) product(m, n, k int, alpha float64, a, b operand, beta float64, c []float64, ldc int) {
	p := newArgs(letter(b.trans)+letter(a.trans), n, m, k, b.ld, a.ld, ldc)
	p.x = [2]float64{alpha, beta}
	purego.SyscallN(f.gemm, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.c[1])), uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&p.i[1])), uintptr(unsafe.Pointer(&p.i[2])),
		uintptr(unsafe.Pointer(&p.x[0])), uintptr(unsafe.Pointer(&b.data[0])), uintptr(unsafe.Pointer(&p.i[3])), uintptr(unsafe.Pointer(&a.data[0])), uintptr(unsafe.Pointer(&p.i[4])),
		uintptr(unsafe.Pointer(&p.x[1])), uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&p.i[5])), one, one)
	runtime.KeepAlive(a.data)
	runtime.KeepAlive(b.data)
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
func (fb fortranBLAS) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if n <= 0 || k <= 0 || n*n*k < smallCall {
		fb.Float64.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	checkUplo(uplo)
	checkProduct(t, t, n, 0, k, a, lda, nil, max(1, k), nil, 1)
	checkMatrix("C", n, n, c, ldc)
	p := newArgs(other(uplo)+letter(t == blas.NoTrans), n, k, lda, ldc)
	p.x = [2]float64{alpha, beta}
	purego.SyscallN(fb.f.syrk, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.c[1])), uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&p.i[1])),
		uintptr(unsafe.Pointer(&p.x[0])), uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[2])), uintptr(unsafe.Pointer(&p.x[1])), uintptr(unsafe.Pointer(&c[0])), uintptr(unsafe.Pointer(&p.i[3])), one, one)
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
func (fb fortranBLAS) Dtrsm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !fb.triangular(fb.f.trsm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		fb.Float64.Dtrsm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// Dtrmm computes B = α op(A) B or α B op(A) for a triangular A; see
// blas.Float64Level3.
func (fb fortranBLAS) Dtrmm(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !fb.triangular(fb.f.trmm, s, ul, tA, d, m, n, alpha, a, lda, b, ldb) {
		fb.Float64.Dtrmm(s, ul, tA, d, m, n, alpha, a, lda, b, ldb)
	}
}

// triangular calls dtrsm or dtrmm on the transposed problem, which is on the
// other side with the other triangle. It reports false, and does nothing, for
// a problem too small to be worth a call.
func (fb fortranBLAS) triangular(routine uintptr, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) bool {
	order, side := m, "R"
	if s == blas.Right {
		order, side = n, "L"
	}
	if m <= 0 || n <= 0 || m*n*order < smallCall {
		return false
	}
	checkTriangular(s, ul, tA, d, m, n, order, a, lda, b, ldb)
	p := newArgs(side+other(ul)+letter(tA != blas.NoTrans)+string(rune(d)), n, m, lda, ldb)
	p.x[0] = alpha
	purego.SyscallN(routine, uintptr(unsafe.Pointer(&p.c[0])), uintptr(unsafe.Pointer(&p.c[1])), uintptr(unsafe.Pointer(&p.c[2])), uintptr(unsafe.Pointer(&p.c[3])), uintptr(unsafe.Pointer(&p.i[0])), uintptr(unsafe.Pointer(&p.i[1])),
		uintptr(unsafe.Pointer(&p.x[0])), uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&p.i[2])), uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&p.i[3])), one, one, one, one)
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
	argPool.Put(p)
	return true
}
