package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// cholQR is the thin QR decomposition of a tall a (m × n) by two rounds of
// Cholesky QR [yamamoto2015]:
//
//	AᵀA = R₁ᵀR₁,  Q₁ = A R₁⁻¹,  Q₁ᵀQ₁ = R₂ᵀR₂,  Q = Q₁R₂⁻¹,  R = R₂R₁
//
// It is products and triangular solutions only, four times as fast as
// reflections, and as exact where the first round comes near to an orthogonal
// Q₁; ok is false where it does not, at condition numbers of about 10⁷, and
// for a wide or a very narrow a. The diagonal of R is positive.
func cholQR(a *mat.Dense) (q, r *mat.Dense, ok bool) {
	m, n := a.Dims()
	if m < n || n < 8 {
		return nil, nil, false
	}
	r = mat.NewDense(n, n, nil)
	gram(a, r)
	for i := range n { // squares must neither overflow nor lose digits
		if d := r.At(i, i); !(d > 0x1p-800 && d < 0x1p800) {
			return nil, nil, false
		}
	}
	if !potrf(r.RawMatrix().Data, n) {
		return nil, nil, false
	}
	scratch := stripPool.Get().(*[]float64)
	defer stripPool.Put(scratch)
	if len(*scratch) < m*n {
		*scratch = make([]float64, m*n)
	}
	q = mat.NewDense(m, n, (*scratch)[:m*n])
	divide(q, a, r)
	second := mat.NewDense(n, n, nil)
	gram(q, second)
	// ‖Q₁ᵀQ₁ − I‖_F at most 0.1 leaves a second round that is well conditioned.
	off := 0.0
	for i := range n {
		for j, v := range second.RawRowView(i)[i:] {
			if j == 0 {
				off += (v - 1) * (v - 1)
			} else {
				off += 2 * v * v
			}
		}
	}
	if !(off < 0.01) || !potrf(second.RawMatrix().Data, n) {
		return nil, nil, false
	}
	first := q
	q = mat.NewDense(m, n, nil)
	divide(q, first, second)
	s, t := second.RawMatrix(), r.RawMatrix()
	for i := range n { // what potrf leaves below the diagonal
		clear(r.RawRowView(i)[:i])
	}
	blas64.Implementation().Dtrmm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, 1, s.Data, s.Stride, t.Data, t.Stride)
	return q, r, true
}

// gram puts the upper triangle of AᵀA in g.
func gram(a, g *mat.Dense) {
	x, s := a.RawMatrix(), g.RawMatrix()
	blas64.Implementation().Dsyrk(blas.Upper, blas.Trans, x.Cols, x.Rows, 1, x.Data, x.Stride, 0, s.Data, s.Stride)
}

// divide puts A R⁻¹ in q for an upper triangular r. The inverse is made and
// multiplied with, which leaves a residual of ε ‖R‖_F ‖R⁻¹‖_F ‖A‖, where that is
// at most m ε ‖A‖; otherwise the triangular systems are solved, at half the
// speed.
func divide(q, a, r *mat.Dense) {
	impl := blas64.Implementation()
	x, s := a.RawMatrix(), r.RawMatrix()
	n := s.Rows
	inverse := mat.NewDense(n, n, nil)
	for i := range n {
		inverse.Set(i, i, 1)
	}
	y := inverse.RawMatrix()
	impl.Dtrsm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, 1, s.Data, s.Stride, y.Data, y.Stride)
	size := 0.0
	for i := range n {
		for _, v := range r.RawRowView(i)[i:] {
			size += v * v
		}
	}
	if math.Sqrt(size)*mat.Norm(inverse, 2) <= float64(x.Rows) {
		q.Mul(a, inverse)
		return
	}
	q.Copy(a)
	x = q.RawMatrix()
	impl.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit, x.Rows, x.Cols, 1, s.Data, s.Stride, x.Data, x.Stride)
}
