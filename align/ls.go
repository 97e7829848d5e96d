package align

import (
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// LS aligns by least squares to a common target of least total distance
// ([imakura2020]; [imakura2023], section 4.1, eq. (3); [nosaka2025], section III-A;
// docs/methods.md section 5.1):
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
// result is weakly concordant: F_1 G_1 = … = F_c G_c ([nosaka2025], theorem III.3).
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
// The solvers of U_d are
//
//	svd         of W                                      O(a L min(a, L))
//	gram        eigenvectors of WᵀW or WWᵀ                a L min(a, L) + O(min(a, L)³)
//	randomized  randomized block Krylov, approximate      O(a L d)
//
// The default is svd if W is small, randomized, as published, if its shorter side
// is 800 or more and d less than an eighth of it, and gram otherwise. gram squares the condition number of W,
// so it is refused, and svd takes its place, when σ_1 > 1000 σ_d; below that it
// costs at most three of sixteen digits. G_i comes from the normal equations, by
// Cholesky, where cond(A_i)² ≤ 1e6, and from the singular value decomposition of
// A_i, which costs three to five times as much, otherwise and with solver svd.
//
// The cost is O(a L min(a, L)) in time, O(a L d) when randomized, and in memory
// one copy of W (svd), min(a, L)² numbers (gram) or O(a d) (randomized).
func LS(a []*mat.Dense, opt Options) (*Result, error) {
	in, err := newInput(a, opt)
	if err != nil {
		return nil, err
	}
	target, err := opt.target("ls", Identity, Random, Sigma)
	if err != nil {
		return nil, err
	}
	solver, err := opt.solver("ls", solverSVD, solverGram, solverRandomized)
	if err != nil {
		return nil, err
	}
	d, err := in.freeDim()
	if err != nil {
		return nil, err
	}
	if _, err := in.squares(); err != nil {
		return nil, err
	}
	res := &Result{Method: "ls", Dim: d, Target: target, Converged: true}
	z, err := res.target(in, solver)
	if err != nil {
		return nil, err
	}
	switch target {
	case Sigma:
		scaleColumns(z, res.Singular[:d])
	case Random:
		var zr mat.Dense
		zr.Mul(z, linalg.Uniform(d, d, opt.Source))
		z = &zr
	}
	if err := res.solve(in, z, res.Solver == solverSVD); err != nil {
		return nil, err
	}
	if opt.NoResidual {
		return res, nil
	}
	return res, res.measure(in, z)
}
