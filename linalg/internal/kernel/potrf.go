package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack/gonum"
)

// LAPACK is gonum's LAPACK with a Cholesky decomposition that splits down
// to small triangles, so that products by a micro-kernel do the work.
type LAPACK struct {
	gonum.Implementation
	BLAS BLAS
}

// Dpotrf is the Cholesky decomposition in place; see lapack.Float64.
func (kl LAPACK) Dpotrf(ul blas.Uplo, n int, a []float64, lda int) bool {
	if n <= leaf || ul != blas.Upper {
		return kl.Implementation.Dpotrf(ul, n, a, lda)
	}
	CheckMatrix("A", n, n, a, lda)
	return kl.potrf(n, a, lda)
}

// potrf overwrites the upper triangle of A with R, where RᵀR = A; false if A is
// not positive definite.
func (kl LAPACK) potrf(n int, a []float64, lda int) bool {
	if n <= leaf {
		return smallPotrf(n, a, lda)
	}
	h := half(n, kl.BLAS.Kernel)
	if !kl.potrf(h, a, lda) {
		return false
	}
	kl.BLAS.trsm(blas.Left, blas.Upper, blas.Trans, blas.NonUnit, h, n-h, a, lda, a[h:], lda)
	right := Operand{a[h:], lda, false}
	kl.BLAS.syrk(blas.Upper, n-h, h, -1, Operand{a[h:], lda, true}, right, true, a[h*lda+h:], lda)
	return kl.potrf(n-h, a[h*lda+h:], lda)
}

// smallPotrf eliminates row by row.
func smallPotrf(n int, a []float64, lda int) bool {
	for i := range n {
		row := a[i*lda+i : i*lda+n]
		d := row[0]
		if !(d > 0) || math.IsInf(d, 0) {
			return false
		}
		d = math.Sqrt(d)
		row[0] = d
		for j := 1; j < len(row); j++ {
			row[j] /= d
		}
		for k := i + 1; k < n; k++ {
			t := row[k-i]
			below := a[k*lda+k : k*lda+n]
			from := row[k-i:][:len(below)]
			for j, v := range from {
				below[j] -= t * v
			}
		}
	}
	return true
}
