package align

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// LS aligns by least squares to a common target of least total distance
// (Imakura, Sakurai 2020; NRI §4.1, eq. 3; ODC2 §III-A, "Imakura-DC"):
//
//	W = [A_1 … A_c] = U Σ Vᵀ
//	Z = U_d R
//	G_i = A_i⁺ Z
//
// with R = I, R = Σ_d (Target Sigma) or R uniform on [0, 1) (Target Random).
// The l_i may differ and d is free up to min(a, Σ l_i). G_i is neither
// orthogonal nor, when d > l_i, of full column rank.
//
// When all F_i span one subspace, Rank(A) = m, d = l and R is invertible, the
// result is weakly concordant: F_1 G_1 = … = F_c G_c (ODC2 Theorem III.3).
//
// The sign of each column of U_d is fixed as in [linalg.SVDLeft], so a given R
// gives one result on every machine. The columns of Z have norm 1 over a rows
// (R = I), which makes X_i F_i G_i small: the published behaviour.
//
// Errors: no party; an A_i that is empty, has another number of rows than A_1,
// more columns than rows, or NaN or Inf; a dimension out of range; an unknown
// target; Target Random without a source. A rank-deficient A_i gives the G_i
// of least norm and a warning; so does a W of a rank below d, which leaves the
// last columns of Z arbitrary.
//
// With L = Σ l_i the cost is O(a L min(a, L) + a d L) in time and two copies of
// W in memory.
func LS(a []*mat.Dense, opt Options) (*Result, error) {
	rows, cols, err := check(a)
	if err != nil {
		return nil, err
	}
	target, err := opt.target("ls", Identity, Random, Sigma)
	if err != nil {
		return nil, err
	}
	sum := 0
	for _, c := range cols {
		sum += c
	}
	d := opt.Dim
	if d == 0 {
		d = slices.Min(cols)
	}
	if d < 0 || d > min(rows, sum) {
		return nil, fmt.Errorf("align: dimension %d, want 1 to %d, the smaller of %d anchor rows and %d columns in all", d, min(rows, sum), rows, sum)
	}
	res := &Result{Method: "ls", Dim: d, Target: target}
	z, err := res.leftTarget(a, rows, sum)
	if err != nil {
		return nil, err
	}
	switch target {
	case Sigma:
		for j := range d {
			for i := range rows {
				z.Set(i, j, z.At(i, j)*res.Singular[j])
			}
		}
	case Random:
		var zr mat.Dense
		zr.Mul(z, linalg.Uniform(d, d, opt.Source))
		z = &zr
	}
	for i, ai := range a {
		g, fit, err := linalg.LeastSquares(ai, z, 0)
		if err != nil {
			return nil, fmt.Errorf("align: A_%d: %v", i+1, err)
		}
		res.G = append(res.G, g)
		res.Ranks = append(res.Ranks, fit.Rank)
		res.Conds = append(res.Conds, fit.Cond)
		switch {
		case fit.Rank < cols[i]:
			res.warn("party %d: A_%d has rank %d of %d columns: G_%d is the solution of least norm", i+1, i+1, fit.Rank, cols[i], i+1)
		case fit.Cond > illConditioned:
			res.warn("party %d: A_%d has condition number %.1e: G_%d has lost half of its digits", i+1, i+1, fit.Cond, i+1)
		}
	}
	if err := res.measure(a, z); err != nil {
		return nil, err
	}
	return res, nil
}

// leftTarget returns U_d (a × d), the top left singular vectors of W, and
// fills in the singular values.
func (res *Result) leftTarget(a []*mat.Dense, rows, sum int) (*mat.Dense, error) {
	w := mat.NewDense(rows, sum, nil)
	at := 0
	for _, ai := range a {
		_, c := ai.Dims()
		w.Slice(0, rows, at, at+c).(*mat.Dense).Copy(ai)
		at += c
	}
	u, s, err := linalg.SVDLeft(w)
	if err != nil {
		return nil, fmt.Errorf("align: W = [A_1 … A_%d]: %v", len(a), err)
	}
	res.Singular = s
	if rank := linalg.NumericalRank(s, rows, sum, 0); rank < res.Dim {
		res.warn("all anchor representations together have rank %d, below the dimension %d: the last %d columns of the target are arbitrary", rank, res.Dim, res.Dim-rank)
	}
	return mat.DenseCopyOf(u.Slice(0, rows, 0, res.Dim)), nil
}
