// Package manifold holds the matrices with orthonormal columns or rows as a
// set to search in: the Stiefel manifold St(n, p) and the orthogonal group
// O(l) = St(l, l), as submanifolds of the n × p matrices with the inner product
// tr(UᵀV). It is what the generalised Procrustes problems of package align need.
//
// Start with [Orthogonal] or [New], then [Stiefel.Project] for the nearest
// point, [Stiefel.Tangent] to turn a gradient into a direction and
// [Stiefel.Retract] to take a step.
//
// The package holds no optimiser and no other manifold. Arguments are never
// changed and results share no storage with them. Matrices of another shape
// than the manifold's are a mistake of the caller's code and panic.
//
// Sources: [absil2008], example 3.6.2 (tangent projection) and 4.1.3 (retraction);
// [absil2012] for the polar retraction being of second order.
package manifold

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Stiefel is the set of rows × cols matrices that are orthonormal along their
// shorter side:
//
//	XᵀX = I  for rows ≥ cols,   XXᵀ = I  for rows ≤ cols
//
// The wide ones are the transposes of the tall ones: both are written down
// since G_i (l × d, d ≥ l) is wide.
type Stiefel struct {
	rows, cols int
}

// New returns the Stiefel manifold of rows × cols matrices. It panics unless
// both are at least 1.
func New(rows, cols int) Stiefel {
	if rows < 1 || cols < 1 {
		panic(fmt.Sprintf("manifold: size %d × %d, want at least 1 × 1", rows, cols))
	}
	return Stiefel{rows, cols}
}

// Orthogonal returns O(l), the l × l orthogonal matrices, reflections included.
// It panics unless l ≥ 1.
func Orthogonal(l int) Stiefel { return New(l, l) }

// Dims returns the shape of the matrices.
func (s Stiefel) Dims() (rows, cols int) { return s.rows, s.cols }

// Dim is the dimension of the manifold, n p − p (p + 1)/2 for the longer side n
// and the shorter p.
func (s Stiefel) Dim() int {
	n, p := max(s.rows, s.cols), min(s.rows, s.cols)
	return n*p - p*(p+1)/2
}

// Defect is how far x (rows × cols) is from the manifold: the largest element
// of |XᵀX − I|, or of |XXᵀ − I| for a wide x.
func (s Stiefel) Defect(x *mat.Dense) float64 {
	s.check("point", x)
	var g mat.Dense
	if s.rows >= s.cols {
		g.Mul(x.T(), x)
	} else {
		g.Mul(x, x.T())
	}
	worst := 0.0
	n, _ := g.Dims()
	for i := range n {
		for j, v := range g.RawRowView(i) {
			if i == j {
				v--
			}
			if !(math.Abs(v) <= worst) { // also takes a NaN
				worst = math.Abs(v)
			}
		}
	}
	return worst
}

// Project returns a point of the manifold that is nearest to y (rows × cols) in
// the Frobenius norm, its polar factor; info says how well determined it is. The
// errors are those of [linalg.Polar].
//
// The cost is O(n p²).
func (s Stiefel) Project(y *mat.Dense) (x *mat.Dense, info linalg.PolarInfo, err error) {
	s.check("matrix", y)
	return linalg.Polar(y)
}

// Tangent returns the orthogonal projection of y (rows × cols) on the tangent
// space at x,
//
//	Y − X sym(XᵀY)  or, for wide matrices,  Y − sym(YXᵀ) X,   sym(M) = (M + Mᵀ)/2
//
// which is the Riemannian gradient at x when y is the gradient in the space of
// all matrices.
//
// The cost is O(n p²).
func (s Stiefel) Tangent(x, y *mat.Dense) *mat.Dense {
	s.check("point", x)
	s.check("matrix", y)
	var m, sym, v mat.Dense
	if s.rows >= s.cols {
		m.Mul(x.T(), y)
		sym.Add(&m, m.T())
		v.Mul(x, &sym)
	} else {
		m.Mul(y, x.T())
		sym.Add(&m, m.T())
		v.Mul(&sym, x)
	}
	v.Scale(-0.5, &v)
	v.Add(&v, y)
	return &v
}

// Retract returns the point that is reached from x by the tangent step v, the
// polar factor of x + v. It agrees with the geodesic to second order:
//
//	R(X, tV) = X + tV + O(t²),  with the second-order term normal to the manifold
//
// For a tangent v the matrix x + v has full rank, so the point is unique. The
// errors are those of [linalg.Polar].
//
// The cost is O(n p²).
func (s Stiefel) Retract(x, v *mat.Dense) (*mat.Dense, error) {
	s.check("point", x)
	s.check("step", v)
	var y mat.Dense
	y.Add(x, v)
	q, _, err := linalg.Polar(&y)
	return q, err
}

// Random returns a point uniformly distributed over the manifold (Haar).
func (s Stiefel) Random(src rand.Source) *mat.Dense {
	if s.rows >= s.cols {
		return linalg.Stiefel(s.rows, s.cols, src)
	}
	return mat.DenseCopyOf(linalg.Stiefel(s.cols, s.rows, src).T())
}

// RandomTangent returns a tangent vector at x of norm 1 and of uniformly
// distributed direction. It is zero when the manifold has dimension 0.
func (s Stiefel) RandomTangent(x *mat.Dense, src rand.Source) *mat.Dense {
	v := s.Tangent(x, linalg.Normal(s.rows, s.cols, src))
	if s.Dim() == 0 {
		v.Zero()
		return v
	}
	v.Scale(1/mat.Norm(v, 2), v)
	return v
}

// Inner is the inner product tr(UᵀV) of two tangent vectors.
func (s Stiefel) Inner(u, v *mat.Dense) float64 {
	s.check("vector", u)
	s.check("vector", v)
	sum := 0.0
	for i := range s.rows {
		w := v.RawRowView(i)
		for j, x := range u.RawRowView(i) {
			sum += x * w[j]
		}
	}
	return sum
}

func (s Stiefel) check(what string, x *mat.Dense) {
	if r, c := x.Dims(); r != s.rows || c != s.cols {
		panic(fmt.Sprintf("manifold: %s is %d × %d, want %d × %d", what, r, c, s.rows, s.cols))
	}
}
