package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// deflate lowers a largest singular value that stands far above the others, as
// the mean of a uniform anchor makes it stand in A_iᵀA_1 (l a/4 against about
// √(l a)): with its singular vectors u and v,
//
//	M ← M − (s₁ − t) u vᵀ
//
// has the same polar factor and a condition number that is smaller by s₁/t,
// which saves a step or two. Here t is three times the root mean square of the
// others, about the largest of them, and at least s₁/4n, since rounding in the
// direction of v counts s₁/t times in the end. The vectors come from power
// iteration, which gains (s₁/s₂)² in each round; m stays as it is unless they
// are exact to rounding after a few, so that the change is within the rounding
// of M itself. It returns s₁, or 0.
func deflate(m *mat.Dense) (largest float64) {
	const rounds = 5
	n, _ := m.Dims()
	if n < smallPolar {
		return 0
	}
	raw := m.RawMatrix()
	impl := blas64.Implementation()
	norm := math.Sqrt(sumSquares(raw.Data[:n*n]))
	u, v := make([]float64, n), start(n)
	for round := range rounds {
		impl.Dscal(n, 1/impl.Dnrm2(n, v, 1), v, 1)
		impl.Dgemv(blas.NoTrans, n, n, 1, raw.Data, n, v, 1, 0, u, 1)
		s := impl.Dnrm2(n, u, 1)
		rest := deflated(s, norm, n)
		if s == 0 || round > 0 && s < worthwhile*rest {
			return 0
		}
		impl.Dscal(n, 1/s, u, 1)
		w := make([]float64, n) // Mᵀu, which is s v for singular vectors
		impl.Dgemv(blas.Trans, n, n, 1, raw.Data, n, u, 1, 0, w, 1)
		impl.Daxpy(n, -s, v, 1, w, 1)
		if impl.Dnrm2(n, w, 1) <= 4*Eps*s {
			impl.Dger(n, n, rest-s, u, 1, v, 1, raw.Data, n)
			return s
		}
		impl.Daxpy(n, s, v, 1, w, 1)
		v = w
	}
	return 0
}

// worthwhile is the factor s₁/t from which deflation is.
const worthwhile = 10

// deflated is t for the largest singular value s and ‖M‖_F = norm.
func deflated(s, norm float64, n int) float64 {
	return max(3*math.Sqrt(max(0, norm*norm-s*s)/float64(n)), s/float64(4*n))
}
