package kernel

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// BLAS is gonum's BLAS with the products of level 3 by a micro-kernel.
// The triangular and symmetric ones are split in halves until a product of
// full blocks does nearly all the work ([gustavson1997];
// [elmroth2004]).
type BLAS struct {
	gonum.Implementation
	Kernel *Kernel
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
)

// Dgemm computes C = α op(A) op(B) + β C; see blas.Float64Level3.
func (kb BLAS) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	if m*n*k < smallProduct || m < 0 || n < 0 || k < 0 {
		kb.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	CheckProduct(tA, tB, m, n, k, a, lda, b, ldb, c, ldc)
	if beta != 0 || alpha == 0 {
		scale(m, n, beta, c, ldc)
	}
	if alpha != 0 {
		kb.product(m, n, k, alpha, Operand{a, lda, tA != blas.NoTrans}, Operand{b, ldb, tB != blas.NoTrans}, beta != 0, c,
			ldc)
	}
}

// product adds α op(A) op(B) to C, or puts it there unless add, with as many
// goroutines as are worth it.
func (kb BLAS) product(m, n, k int, alpha float64, a, b Operand, add bool, c []float64, ldc int) {
	if kb.Kernel.IsTall(m, n, k, a, b) {
		spread(kb.Kernel, kb.Kernel.gemmTall, m, n, k, alpha, a, b, add, c, ldc)
	} else {
		spread(kb.Kernel, kb.Kernel.gemm, m, n, k, alpha, a, b, add, c, ldc)
	}
}

type gemmFunc func(m, n, k int, alpha float64, a, b Operand, add bool, c []float64, ldc int)

// spread calls gemm for parts of C on as many goroutines as are worth it.
func spread(mk *Kernel, gemm gemmFunc, m, n, k int, alpha float64, a, b Operand, add bool, c []float64, ldc int) {
	parts := min(Threads(), m*n*k/splitProduct)
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
func (kb BLAS) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64,
	c []float64, ldc int) {
	if n*n*k < smallProduct || n < 0 || k < 0 || alpha == 0 {
		kb.Implementation.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	CheckUplo(uplo)
	CheckProduct(t, t, n, 0, k, a, lda, nil, max(1, k), nil, 1)
	CheckMatrix("C", n, n, c, ldc)
	if beta != 0 {
		scaleTriangle(uplo, n, beta, c, ldc)
	}
	left := Operand{a, lda, t != blas.NoTrans}
	kb.syrk(uplo, n, k, alpha, left, Operand{a, lda, !left.Trans}, beta != 0, c, ldc)
}

// syrk adds α left right, where right = leftᵀ, to a triangle of C, or puts it
// there unless add. Where several threads are worth it, it is split down to
// squares that they share.
func (kb BLAS) syrk(uplo blas.Uplo, n, k int, alpha float64, left, right Operand, add bool, c []float64, ldc int) {
	t := upper
	if uplo == blas.Lower {
		t = lower
	}
	if Threads() == 1 || n*n*k < 2*splitProduct {
		kb.Kernel.part(t, n, n, k, alpha, left, right, add, c, ldc)
		return
	}
	h := half(n, kb.Kernel)
	kb.syrk(uplo, h, k, alpha, left, right, add, c, ldc)
	kb.syrk(uplo, n-h, k, alpha, left.at(h, 0), right.at(0, h), add, c[h*ldc+h:], ldc)
	if uplo == blas.Upper {
		spread(kb.Kernel, kb.Kernel.gemm, h, n-h, k, alpha, left, right.at(0, h), add, c[h:], ldc)
	} else {
		spread(kb.Kernel, kb.Kernel.gemm, n-h, h, k, alpha, left.at(h, 0), right, add, c[h*ldc:], ldc)
	}
}

// half splits an order in two, the first a multiple of the kernel's columns
// where it is large enough.
func half(n int, mk *Kernel) int {
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
