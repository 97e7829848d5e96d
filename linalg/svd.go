package linalg

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg/internal/engine"
)

// SVD is the thin singular value decomposition of a (m × n), k = min(m, n):
//
//	A = U diag(s) Vᵀ
//
// U (m × k) and V (n × k) have orthonormal columns, s (k) is decreasing and
// not negative. The sign of each pair (uⱼ, vⱼ) is such that the leading
// element of vⱼ is positive; leading is the first element whose magnitude is
// within one millionth of the column's largest, so that rounding does not
// choose between equal ones.
//
// The cost is O(m n k) in time and O((m + n) k) in memory.
func SVD(a *mat.Dense) (u *mat.Dense, s []float64, v *mat.Dense, err error) {
	return factorize(a, mat.SVDThin)
}

// SVDLeft is [SVD] without V. The sign is such that the leading element of
// each column of U (m × k) is positive. For a wide a it needs no storage of
// V's size beyond one copy of a.
func SVDLeft(a *mat.Dense) (u *mat.Dense, s []float64, err error) {
	u, s, _, err = factorize(a, mat.SVDThinU)
	return u, s, err
}

// SVDRight is [SVD] without U. The sign is such that the leading element of
// each column of V (n × k) is positive. For a tall a it needs no storage of
// U's size beyond one copy of a.
func SVDRight(a *mat.Dense) (s []float64, v *mat.Dense, err error) {
	_, s, v, err = factorize(a, mat.SVDThinV)
	return s, v, err
}

// SingularValues returns the singular values of a (m × n), decreasing,
// min(m, n) of them.
func SingularValues(a *mat.Dense) (s []float64, err error) {
	_, s, _, err = factorize(a, mat.SVDNone)
	return s, err
}

// Rank is the number of singular values of a above rcond times the largest
// (see [NumericalRank] for the meaning of rcond).
func Rank(a *mat.Dense, rcond float64) (int, error) {
	s, err := SingularValues(a)
	if err != nil {
		return 0, err
	}
	rows, cols := dims(a)
	return NumericalRank(s, rows, cols, rcond), nil
}

// NumericalRank counts the singular values of a rows × cols matrix, given in
// decreasing order, that are above rcond times the largest. An rcond of zero
// means
//
//	max(rows, cols) · 2⁻⁵²
//
// as in numpy.linalg.matrix_rank and scipy.linalg.pinv. It panics if rcond is
// negative or NaN.
func NumericalRank(s []float64, rows, cols int, rcond float64) int {
	if rcond < 0 || math.IsNaN(rcond) {
		panic("linalg: negative or NaN rcond")
	}
	if len(s) == 0 {
		return 0
	}
	if rcond == 0 {
		rcond = float64(max(rows, cols)) * Eps
	}
	cut := rcond * s[0]
	for i, v := range s {
		if v <= cut {
			return i
		}
	}
	return len(s)
}

// factorize computes what kind asks for and fixes the signs. Parts that were
// not asked for are nil.
func factorize(a *mat.Dense, kind mat.SVDKind) (u *mat.Dense, s []float64, v *mat.Dense, err error) {
	wantU, wantV := kind&mat.SVDThinU != 0, kind&mat.SVDThinV != 0
	if rows, _ := dims(a); rows == 0 {
		return &mat.Dense{}, nil, &mat.Dense{}, nil
	}
	if err := CheckFinite(a); err != nil {
		return nil, nil, nil, err
	}
	if (wantU || wantV) && a.RawMatrix().Rows >= 2*a.RawMatrix().Cols {
		if q, r, ok := cholQR(a); ok {
			return factorizeTall(q, r, kind)
		}
	}
	ok := false
	if native := engine.Active().Native; native != nil {
		u, s, v, ok = native.SVD(mat.DenseCopyOf(a), wantU, wantV)
	}
	if !ok { // no library, or divide and conquer did not converge: QR iterations
		u, s, v, ok = svdByGonum(a, kind)
	}
	if !ok {
		return nil, nil, nil, errors.New("linalg: singular value decomposition did not converge")
	}
	if math.IsInf(s[0], 0) || math.IsNaN(s[0]) {
		return nil, nil, nil, errors.New("linalg: singular value decomposition overflows: scale the matrix down")
	}
	switch {
	case wantV:
		fixSigns(v, u)
	case wantU:
		fixSigns(u, nil)
	}
	return u, s, v, nil
}

// factorizeTall is factorize for Q R, from the decomposition of R.
func factorizeTall(q, r *mat.Dense, kind mat.SVDKind) (u *mat.Dense, s []float64, v *mat.Dense, err error) {
	small, s, v, err := factorize(r, kind)
	if err != nil {
		return nil, nil, nil, err
	}
	if small != nil {
		u = new(mat.Dense)
		u.Mul(q, small)
		if v == nil {
			fixSigns(u, nil)
		}
	}
	return u, s, v, nil
}

func svdByGonum(a *mat.Dense, kind mat.SVDKind) (u *mat.Dense, s []float64, v *mat.Dense, ok bool) {
	var svd mat.SVD
	if !svd.Factorize(a, kind) {
		return nil, nil, nil, false
	}
	if kind&mat.SVDThinU != 0 {
		u = new(mat.Dense)
		svd.UTo(u)
	}
	if kind&mat.SVDThinV != 0 {
		v = new(mat.Dense)
		svd.VTo(v)
	}
	return u, svd.Values(nil), v, true
}

// fixSigns negates the columns of lead whose leading element is negative, and
// the same columns of follow, if any.
func fixSigns(lead, follow *mat.Dense) {
	_, cols := lead.Dims()
	for j := range cols {
		if leading(lead.ColView(j)) >= 0 {
			continue
		}
		negateColumn(lead, j)
		if follow != nil {
			negateColumn(follow, j)
		}
	}
}

// leading returns the first element of v whose magnitude is within one
// millionth of the largest.
func leading(v mat.Vector) float64 {
	largest := 0.0
	for i := range v.Len() {
		largest = max(largest, math.Abs(v.AtVec(i)))
	}
	for i := range v.Len() {
		if x := v.AtVec(i); math.Abs(x) >= (1-1e-6)*largest {
			return x
		}
	}
	return 0
}

func negateColumn(a *mat.Dense, j int) {
	rows, _ := a.Dims()
	for i := range rows {
		a.Set(i, j, -a.At(i, j))
	}
}
