package linalg

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Pinv is the Moore-Penrose pseudo-inverse (n × m) of a (m × n), from the
// singular value decomposition:
//
//	A⁺ = Σ_{sⱼ > rcond·s₁} vⱼ uⱼᵀ / sⱼ
//
// A⁺ b is the vector of least norm among those that minimise ‖A x − b‖.
// Singular values at or below rcond times the largest count as zero. An rcond
// of zero means max(m, n)·2⁻⁵², the default of scipy.linalg.pinv and of
// numpy.linalg.matrix_rank (see [NumericalRank]). The number of terms kept is
// returned as rank; a rank below min(m, n) is not an error.
//
// The cost is O(m n min(m, n)). [LeastSquares] is cheaper and more exact when
// only A⁺B is needed.
func Pinv(a *mat.Dense, rcond float64) (inv *mat.Dense, rank int, err error) {
	u, s, v, err := SVD(a)
	if err != nil {
		return nil, 0, err
	}
	rows, cols := dims(a)
	if rows == 0 {
		return &mat.Dense{}, 0, nil
	}
	rank = NumericalRank(s, rows, cols, rcond)
	if rank == 0 {
		return mat.NewDense(cols, rows, nil), 0, nil
	}
	vs := mat.DenseCopyOf(v.Slice(0, cols, 0, rank))
	for j := range rank {
		for i := range cols {
			vs.Set(i, j, vs.At(i, j)/s[j])
		}
	}
	inv = new(mat.Dense)
	inv.Mul(vs, u.Slice(0, rows, 0, rank).T())
	if CheckFinite(inv) != nil {
		return nil, rank, errors.New("linalg: pseudo-inverse overflows: scale the matrix up")
	}
	return inv, rank, nil
}

// Fit says how well posed a [LeastSquares] problem was.
type Fit struct {
	// Rank is the number of singular values of A above the cutoff.
	Rank int
	// Cond is s₁ / s_Rank, the condition number of A on the part that was
	// kept; 0 when Rank is 0.
	Cond float64
	// Singular holds all singular values of A, decreasing.
	Singular []float64
}

// LeastSquares returns X = A⁺B (n × k), the solution of least norm of
//
//	min_X ‖A X − B‖_F
//
// for a (m × n) and b (m × k), without forming A⁺. The cutoff rcond is that of
// [Pinv]. Rank deficiency is reported in Fit, not an error; different numbers
// of rows are.
//
// A tall a of full rank and a condition number below about 10⁷ is solved by its
// QR decomposition, any other by the singular value decomposition. The cost is
// O(m n (min(m, n) + k)).
func LeastSquares(a, b *mat.Dense, rcond float64) (x *mat.Dense, fit Fit, err error) {
	rows, cols := dims(a)
	brows, bcols := dims(b)
	if rows != brows {
		return nil, Fit{}, fmt.Errorf("linalg: right-hand side has %d rows, the matrix has %d", brows, rows)
	}
	if rows == 0 {
		return &mat.Dense{}, Fit{}, nil
	}
	if err := CheckFinite(b); err != nil {
		return nil, Fit{}, fmt.Errorf("linalg: right-hand side: %v", err)
	}
	if x, fit, ok := solveByQR(a, b, rcond); ok {
		return x, fit, nil
	}
	u, s, v, err := SVD(a)
	if err != nil {
		return nil, Fit{}, err
	}
	fit = Fit{Rank: NumericalRank(s, rows, cols, rcond), Singular: s}
	if fit.Rank == 0 {
		return mat.NewDense(cols, bcols, nil), fit, nil
	}
	fit.Cond = s[0] / s[fit.Rank-1]
	var ub mat.Dense
	ub.Mul(u.Slice(0, rows, 0, fit.Rank).T(), b)
	for j := range fit.Rank {
		row := ub.RawRowView(j)
		for k := range row {
			row[k] /= s[j]
		}
	}
	x = new(mat.Dense)
	x.Mul(v.Slice(0, cols, 0, fit.Rank), &ub)
	if CheckFinite(x) != nil || math.IsInf(fit.Cond, 0) {
		return nil, fit, errors.New("linalg: least-squares solution overflows: scale the matrix up")
	}
	return x, fit, nil
}

// solveByQR is LeastSquares for a tall a of full rank, X = R⁻¹(QᵀB); ok is
// false if a is not of that kind or the result overflows.
func solveByQR(a, b *mat.Dense, rcond float64) (x *mat.Dense, fit Fit, ok bool) {
	if CheckFinite(a) != nil {
		return nil, Fit{}, false
	}
	rows, cols := a.Dims()
	q, r, ok := cholQR(a)
	if !ok {
		return nil, Fit{}, false
	}
	s, err := SingularValues(r)
	if err != nil || NumericalRank(s, rows, cols, rcond) < cols {
		return nil, Fit{}, false
	}
	x = new(mat.Dense)
	x.Mul(q.T(), b)
	raw, t := x.RawMatrix(), r.RawMatrix()
	blas64.Implementation().Dtrsm(blas.Left, blas.Upper, blas.NoTrans, blas.NonUnit, raw.Rows, raw.Cols, 1, t.Data,
		t.Stride, raw.Data, raw.Stride)
	return x, Fit{Rank: cols, Cond: s[0] / s[cols-1], Singular: s}, CheckFinite(x) == nil
}
