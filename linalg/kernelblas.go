package linalg

import (
	"fmt"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// kernelBLAS is gonum's BLAS with the products of level 3 by a micro-kernel.
// The triangular and symmetric ones are split in halves until a product of
// full blocks does nearly all the work ([gustavson1997]; [elmroth2004]).
type kernelBLAS struct {
	gonum.Implementation
	mk *microKernel
}

const (
	// smallProduct is the number of multiplications below which gonum's loops
	// are as fast as a kernel whose block is mostly empty.
	smallProduct = 6 * 6 * 6
	// splitProduct is the number of multiplications that one goroutine gets at
	// least: at 40 Gflop/s 0.2 ms, a hundred times the cost of starting it.
	splitProduct = 1 << 22
	// leaf is the order of the triangles that are not split.
	leaf = 16
	// squareLeaf is the order up to which a symmetric product is as fast in full.
	squareLeaf = 64
)

// Dgemm computes C = α op(A) op(B) + β C; see blas.Float64Level3.
func (kb kernelBLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if m*n*k < smallProduct || m < 0 || n < 0 || k < 0 {
		kb.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	checkProduct(tA, tB, m, n, k, a, lda, b, ldb, c, ldc)
	if beta != 0 || alpha == 0 {
		scale(m, n, beta, c, ldc)
	}
	if alpha != 0 {
		kb.product(m, n, k, alpha, operand{a, lda, tA != blas.NoTrans}, operand{b, ldb, tB != blas.NoTrans}, beta != 0, c, ldc)
	}
}

// product adds α op(A) op(B) to C, or puts it there unless add, with as many
// goroutines as are worth it.
func (kb kernelBLAS) product(m, n, k int, alpha float64, a, b operand, add bool, c []float64, ldc int) {
	if kb.mk.isTall(m, n, k, a, b) {
		spread(kb.mk, kb.mk.gemmTall, m, n, k, alpha, a, b, add, c, ldc)
	} else {
		spread(kb.mk, kb.mk.gemm, m, n, k, alpha, a, b, add, c, ldc)
	}
}

type gemmFunc func(m, n, k int, alpha float64, a, b operand, add bool, c []float64, ldc int)

// spread calls gemm for parts of C on as many goroutines as are worth it.
func spread(mk *microKernel, gemm gemmFunc, m, n, k int, alpha float64, a, b operand, add bool, c []float64, ldc int) {
	parts := min(threads(), m*n*k/splitProduct)
	if parts <= 1 {
		gemm(m, n, k, alpha, a, b, add, c, ldc)
		return
	}
	var wg sync.WaitGroup
	byRows, unit, size := false, mk.cols, n
	if m > n {
		byRows, unit, size = true, mk.rows, m
	}
	step := ((size+parts-1)/parts + unit - 1) / unit * unit
	for at := 0; at < size; at += step {
		w := min(step, size-at)
		wg.Go(func() {
			if byRows {
				gemm(w, n, k, alpha, a.at(at, 0), b, add, c[at*ldc:], ldc)
			} else {
				gemm(m, w, k, alpha, a, b.at(0, at), add, c[at:], ldc)
			}
		})
	}
	wg.Wait()
}

// Dsyrk computes C = α A Aᵀ + β C or α Aᵀ A + β C in one triangle of C; see
// blas.Float64Level3.
func (kb kernelBLAS) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if n*n*k < smallProduct || n < 0 || k < 0 || alpha == 0 {
		kb.Implementation.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	checkUplo(uplo)
	checkProduct(t, t, n, 0, k, a, lda, nil, max(1, k), nil, 1)
	checkMatrix("C", n, n, c, ldc)
	if beta != 0 {
		scaleTriangle(uplo, n, beta, c, ldc)
	}
	left := operand{a, lda, t != blas.NoTrans}
	kb.syrk(uplo, n, k, alpha, left, operand{a, lda, !left.trans}, beta != 0, c, ldc)
}

// syrk adds α left right, where right = leftᵀ, to a triangle of C, or puts it
// there unless add. Where several threads are worth it, it is split down to
// squares that they share.
func (kb kernelBLAS) syrk(uplo blas.Uplo, n, k int, alpha float64, left, right operand, add bool, c []float64, ldc int) {
	t := upper
	if uplo == blas.Lower {
		t = lower
	}
	if threads() == 1 || n*n*k < 2*splitProduct {
		kb.mk.part(t, n, n, k, alpha, left, right, add, c, ldc)
		return
	}
	h := half(n, kb.mk)
	kb.syrk(uplo, h, k, alpha, left, right, add, c, ldc)
	kb.syrk(uplo, n-h, k, alpha, left.at(h, 0), right.at(0, h), add, c[h*ldc+h:], ldc)
	if uplo == blas.Upper {
		spread(kb.mk, kb.mk.gemm, h, n-h, k, alpha, left, right.at(0, h), add, c[h:], ldc)
	} else {
		spread(kb.mk, kb.mk.gemm, n-h, h, k, alpha, left.at(h, 0), right, add, c[h*ldc:], ldc)
	}
}

// half splits an order in two, the first a multiple of the kernel's columns
// where it is large enough.
func half(n int, mk *microKernel) int {
	h := n / 2
	if h > mk.cols {
		h -= h % mk.cols
	}
	return h
}

// scale computes C = β C (m × n); β = 0 overwrites, NaN included.
func scale(m, n int, beta float64, c []float64, ldc int) {
	if beta == 1 {
		return
	}
	for i := range m {
		scaleRow(beta, c[i*ldc:][:n])
	}
}

func scaleTriangle(uplo blas.Uplo, n int, beta float64, c []float64, ldc int) {
	if beta == 1 {
		return
	}
	for i := range n {
		if uplo == blas.Upper {
			scaleRow(beta, c[i*ldc+i:][:n-i])
		} else {
			scaleRow(beta, c[i*ldc:][:i+1])
		}
	}
}

func scaleRow(beta float64, row []float64) {
	if beta == 0 {
		clear(row)
		return
	}
	for j := range row {
		row[j] *= beta
	}
}

// The checks panic on what would read or write beyond a slice.

func checkProduct(tA, tB blas.Transpose, m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	checkTrans(tA)
	checkTrans(tB)
	if tA == blas.NoTrans {
		checkMatrix("A", m, k, a, lda)
	} else {
		checkMatrix("A", k, m, a, lda)
	}
	if tB == blas.NoTrans {
		checkMatrix("B", k, n, b, ldb)
	} else {
		checkMatrix("B", n, k, b, ldb)
	}
	checkMatrix("C", m, n, c, ldc)
}

func checkTriangular(s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n, order int, a []float64, lda int, b []float64, ldb int) {
	if s != blas.Left && s != blas.Right {
		panic("linalg: side is neither left nor right")
	}
	if d != blas.Unit && d != blas.NonUnit {
		panic("linalg: diagonal is neither unit nor general")
	}
	checkUplo(ul)
	checkTrans(tA)
	checkMatrix("A", order, order, a, lda)
	checkMatrix("B", m, n, b, ldb)
}

func checkUplo(ul blas.Uplo) {
	if ul != blas.Upper && ul != blas.Lower {
		panic("linalg: triangle is neither upper nor lower")
	}
}

func checkTrans(t blas.Transpose) {
	if t != blas.NoTrans && t != blas.Trans && t != blas.ConjTrans {
		panic("linalg: operand is neither transposed nor not")
	}
}

func checkMatrix(name string, rows, cols int, data []float64, ld int) {
	if rows < 0 || cols < 0 || ld < max(1, cols) {
		panic(fmt.Sprintf("linalg: %s is %d × %d with a stride of %d", name, rows, cols, ld))
	}
	if rows > 0 && cols > 0 && len(data) < (rows-1)*ld+cols {
		panic(fmt.Sprintf("linalg: %s is %d × %d with a stride of %d in %d elements", name, rows, cols, ld, len(data)))
	}
}

// threads is how many goroutines a product may use now.
func threads() int {
	if serial.Load() > 0 {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}
