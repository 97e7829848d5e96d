package align

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// The solvers of [GEP] beside randomized.
const (
	solverDirect = "direct"
	solverQR     = "qr"
)

// GEP aligns by the generalised eigenvalue problem of Kawakami, Takano and
// Imakura ([kawakami2024], section 3; docs/methods.md section 5.2), column by column of G:
//
//	minimise Σ_ij ‖A_i g_i − A_j g_j‖²  subject to  Σ_i ‖A_i g_i‖² = 1
//	S v = λ D v,  D = blockdiag(A_iᵀA_i),  S = 2cD − 2WᵀW
//	G_i = the rows of v_1 … v_d that belong to party i, for the d smallest λ
//
// The value of the objective for column j is λ_j, 0 ≤ λ_j ≤ 2c. The l_i may
// differ, and d is free up to min(a, L). Solvers, with A_i T_i = Q_i orthonormal:
//
//	qr          T_i = R_i⁻¹ of A_i = Q_i R_i; SVD of [Q_1 … Q_c] = U diag(s) Vᵀ;
//	            λ_j = 2c − 2s_j², G_i = T_i V_i         O(a L min(a, L))
//	direct      R_i from Cholesky of A_iᵀA_i; symmetric eigenproblem of
//	            T_iᵀ A_iᵀA_j T_j                        a L² + O(L³)
//	randomized  qr with U by block Krylov               O(a L d), approximate
//
// The default is qr, and randomized, as published, for W with a shorter side of 800
// or more and d less than an eighth of it. The decomposition of [Q_1 … Q_c] by qr
// goes through a Gram matrix unless small, which costs no digits to speak of:
// 1 ≤ s_j² ≤ c for j up to the largest rank of an A_i.
// direct squares the condition number of A_i and holds K (L × L).
//
// A rank-deficient A_i takes T_i = V_r Σ_r⁻¹ (l_i × r) from its singular value
// decomposition: D is then singular, and v is the solution of least norm, in the
// range of D. direct sees ranks down to σ_r ≈ √eps σ_1 only, the others down to
// eps σ_1.
//
// GEP depends on the spans of the A_i alone: A_i → A_i E_i with invertible E_i
// changes A_i G_i by rounding only. When all spans are equal all λ are 0, and G
// is determined up to one common orthogonal matrix. The sign of each column is
// fixed: the leading element of Σ_i A_i g_i is positive.
//
// # Weighting
//
// With Options.Weighting column j is multiplied by ([kawakami2024], eq. (13))
//
//	w_j = exp(−(λ_j − λ_1)/(λ_d − λ_1))
//
// which is for models that penalise weights. When λ_d − λ_1 ≤ 1e-10·2c the
// columns are equally good up to rounding, and every w_j = 1. Objective and
// Eigenvalues are those before weighting, Residual that of the weighted G.
//
// The columns of A_i G_i have norms near 1/√c over a rows: the published
// behaviour. Errors are those of [LS] but for targets.
func GEP(a []*mat.Dense, opt Options) (*Result, error) {
	in, err := newInput(a, opt)
	if err != nil {
		return nil, err
	}
	if _, err := opt.target("gep", Identity); err != nil {
		return nil, err
	}
	solver, err := opt.solver("gep", solverQR, solverDirect, solverRandomized)
	if err != nil {
		return nil, err
	}
	d, err := in.freeDim()
	if err != nil {
		return nil, err
	}
	if solver == solverDirect { // the others look at each A_i when they orthonormalise it
		if _, err := in.squares(); err != nil {
			return nil, err
		}
	}
	if solver == "" {
		solver = solverQR
		if in.large(d) {
			solver = solverRandomized
		}
	}
	res := &Result{Method: "gep", Solver: solver, Dim: d, Target: Identity, Converged: true}
	res.Ranks, res.Conds = make([]int, len(a)), make([]float64, len(a))
	var s []float64 // s_j of [Q_1 … Q_c], decreasing
	if solver == solverDirect {
		s, err = res.direct(in)
	} else {
		s, err = res.byQR(in, solver)
	}
	if err != nil {
		return nil, err
	}
	for i, g := range res.G {
		if err := linalg.CheckFinite(g); err != nil {
			return nil, fmt.Errorf("align: G_%d overflows: scale A_%d up", i+1, i+1)
		}
	}
	res.warnRanks(in)
	c := float64(len(a))
	for _, x := range s[:d] {
		lambda := math.Max(0, 2*c-2*x*x)
		res.Eigenvalues = append(res.Eigenvalues, lambda)
		res.Objective += lambda
	}
	if opt.Weighting {
		res.weigh(2 * c)
	}
	if opt.NoResidual {
		return res, nil
	}
	return res, res.measure(in, nil)
}

// byQR solves by orthonormal bases Q_i. s holds min(a, Σ r_i) values, or d of
// them when randomized.
func (res *Result) byQR(in *input, solver string) (s []float64, err error) {
	frames := make([]frame, len(in.a))
	err = in.each(func(i int) error {
		if err := in.finite(i, frames[i].take(in.a[i])); err != nil {
			return err
		}
		var err error
		res.Ranks[i], res.Conds[i], err = frames[i].find(in.a[i])
		if err != nil {
			return fmt.Errorf("align: A_%d: %v", i+1, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	// The Q_i of rank 0 have no columns and no part in what follows.
	qs := &input{rows: in.rows, opt: in.opt, blocks: blocksOfGEP}
	for i, f := range frames {
		if f.t == nil {
			continue
		}
		q, t := f.q, (*mat.Dense)(nil)
		if q == nil {
			q, t = in.a[i], f.t
		}
		_, r := f.t.Dims()
		qs.a, qs.t, qs.cols, qs.at = append(qs.a, q), append(qs.t, t), append(qs.cols, r), append(qs.at, qs.sum)
		qs.sum += r
	}
	res.G = make([]*mat.Dense, len(in.a))
	for i := range res.G {
		res.G[i] = mat.NewDense(in.cols[i], res.Dim, nil)
	}
	d := min(res.Dim, in.rows, qs.sum)
	if d == 0 {
		return res.pad(nil), nil
	}
	inner := solverExact
	if solver == solverRandomized {
		inner = solverRandomized
	}
	v, s, err := qs.rightVectors(d, inner)
	if err != nil {
		return nil, err
	}
	k := 0
	for i, f := range frames {
		if f.t == nil {
			continue
		}
		res.G[i].Slice(0, in.cols[i], 0, d).(*mat.Dense).Mul(f.t, qs.block(v, k))
		k++
	}
	return res.pad(s), nil
}

// pad extends s to d values by zeros, for columns of G that are zero because the
// anchor representations have fewer independent columns than d.
func (res *Result) pad(s []float64) []float64 {
	if n := len(s); n < res.Dim {
		res.warn("all anchor representations together have %d independent columns, below the dimension %d: the last %d columns of G are zero", n, res.Dim, res.Dim-n)
		s = append(s, make([]float64, res.Dim-n)...)
	}
	return s
}

// direct solves by K = WᵀW: with T_i of A_iᵀA_i = R_iᵀR_i or V Λ Vᵀ, the d largest
// eigenvalues s_j² of the blocks T_iᵀ K_ij T_j.
func (res *Result) direct(in *input) (s []float64, err error) {
	k := in.gram()
	ts := make([]*mat.Dense, len(in.a)) // l_i × r_i, nil for rank 0
	err = in.each(func(i int) error {
		var err error
		ts[i], res.Ranks[i], res.Conds[i], err = whiten(mat.DenseCopyOf(in.diagonal(k, i)), in.rows)
		if err != nil {
			return fmt.Errorf("align: A_%dᵀA_%d: %v", i+1, i+1, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	at, sum := make([]int, len(in.a)), 0
	for i, r := range res.Ranks {
		at[i] = sum
		sum += r
	}
	res.G = make([]*mat.Dense, len(in.a))
	for i := range res.G {
		res.G[i] = mat.NewDense(in.cols[i], res.Dim, nil)
	}
	if sum == 0 {
		return res.pad(nil), nil
	}
	m := mat.NewDense(sum, sum, nil)
	_ = in.each(func(i int) error {
		if ts[i] == nil {
			return nil
		}
		var left mat.Dense
		left.Mul(ts[i].T(), in.block(k, i))
		for j := i; j < len(in.a); j++ {
			if ts[j] != nil {
				m.Slice(at[i], at[i]+res.Ranks[i], at[j], at[j]+res.Ranks[j]).(*mat.Dense).
					Mul(left.Slice(0, res.Ranks[i], in.at[j], in.at[j]+in.cols[j]), ts[j])
			}
		}
		return nil
	})
	mirror(m)
	d := min(res.Dim, in.rows, sum)
	w, v, err := symmetric(m, d)
	if err != nil {
		return nil, fmt.Errorf("align: WᵀW of A_1 … A_%d: %v", len(in.a), err)
	}
	for i, t := range ts {
		if t != nil {
			res.G[i].Slice(0, in.cols[i], 0, d).(*mat.Dense).Mul(t, v.Slice(at[i], at[i]+res.Ranks[i], 0, d))
		}
	}
	signs := fixSigns(in.combine(in.join(res.G)))
	for _, g := range res.G {
		scaleColumns(g, signs)
	}
	return res.pad(roots(w)), nil
}

// diagonal is the view of block A_iᵀA_i of K.
func (in *input) diagonal(k *mat.Dense, i int) *mat.Dense {
	return k.Slice(in.at[i], in.at[i]+in.cols[i], in.at[i], in.at[i]+in.cols[i]).(*mat.Dense)
}

// weigh scales the columns of G by their eigenvalues; span is the largest value
// that λ can have.
func (res *Result) weigh(span float64) {
	lambda := res.Eigenvalues
	d := len(lambda)
	res.Weights = make([]float64, d)
	width := lambda[d-1] - lambda[0]
	for j := range d {
		res.Weights[j] = 1
		if width > 1e-10*span {
			res.Weights[j] = math.Exp(-(lambda[j] - lambda[0]) / width)
		}
	}
	for _, g := range res.G {
		scaleColumns(g, res.Weights)
	}
}
