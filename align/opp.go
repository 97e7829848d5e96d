package align

import (
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// OPP aligns by orthogonal Procrustes to the common target of least total
// distance ([nosaka2024mm], section 3; docs/methods.md section 5.3):
//
//	W = [A_1 … A_c] = U Σ Vᵀ
//	Z = U_l
//	A_iᵀ Z = U_i S_i V_iᵀ,  G_i = U_i V_iᵀ
//
// the minimiser of ‖A_i G − Z‖_F over orthogonal G. All l_i must be equal and
// d = l. It is LS with G_i held orthogonal, so distances inside a party are kept.
// The solvers are those of [LS]; the sign of the columns of U_l is fixed.
//
// # Overlap
//
// Where the span of F_i has a direction that is orthogonal to all others,
// Procrustes is blind: G_i is arbitrary there, or fits the noise of the anchor.
// The target U_l holds a part of A_i itself, so A_iᵀZ does not show it; Result.
// Overlap takes the others alone,
//
//	σ_min(A_iᵀ mean_{j≠i} A_jG_j) / σ_min(A_iᵀA_i)
//
// which is 1 when the others agree with A_iG_i, 0 for orthogonal spans, and 1 for
// a single party. A warning is given below 0.01, as for [ODC]. GOPP and
// Consensus report the same figure.
//
// Errors: those of [ODC], and an unknown solver. A rank-deficient A_iᵀZ has many
// orthogonal solutions: one is returned, with a warning.
//
// The cost is that of U_l (see [LS]) and O(a l L) for the products.
func OPP(a []*mat.Dense, opt Options) (*Result, error) {
	in, err := newInput(a, opt)
	if err != nil {
		return nil, err
	}
	l, err := in.sameDim("opp")
	if err != nil {
		return nil, err
	}
	if _, err := opt.target("opp", Identity); err != nil {
		return nil, err
	}
	solver, err := opt.solver("opp", solverSVD, solverGram, solverRandomized)
	if err != nil {
		return nil, err
	}
	if _, err := in.squares(); err != nil {
		return nil, err
	}
	res := &Result{Method: "opp", Dim: l, Target: Identity, Converged: true}
	z, err := res.target(in, solver)
	if err != nil {
		return nil, err
	}
	if _, err := res.procrustes(in, z); err != nil {
		return nil, err
	}
	res.warnPolar(in)
	if opt.NoResidual {
		return res, nil
	}
	if err := res.measure(in, z); err != nil {
		return nil, err
	}
	return res, res.overlaps(in, newDirect(in))
}

// warnPolar warns of every A_iᵀZ that has many polar factors.
func (res *Result) warnPolar(in *input) {
	for i, l := range in.cols {
		if res.Ranks[i] < l {
			res.warn("party %d: A_%dᵀZ has rank %d of %d: G_%d is one of many solutions", i+1, i+1, res.Ranks[i], l, i+1)
		}
	}
}

// overlaps fills in Overlap against the other parties and warns of those that
// Procrustes does not see. The cost is O(a d L), or O(d L²) by K.
func (res *Result) overlaps(in *input, q quadratic) error {
	c := len(in.a)
	res.Overlap = make([]float64, c)
	g := in.join(res.G)
	m := mat.NewDense(in.sum, res.Dim, nil)
	q.apply(m, g)
	err := in.each(func(i int) error {
		if c == 1 {
			res.Overlap[i] = 1
			return nil
		}
		own := q.diagonal(i)
		var rest mat.Dense
		rest.Mul(own, res.G[i])
		rest.Sub(in.block(m, i), &rest)
		rest.Scale(1/float64(c-1), &rest)
		s, err := linalg.SingularValues(&rest)
		if err != nil {
			return err
		}
		t, err := linalg.SingularValues(mat.DenseCopyOf(own))
		if err != nil {
			return err
		}
		if linalg.NumericalRank(t, in.rows, in.cols[i], 0) == in.cols[i] {
			res.Overlap[i] = ratio(s[len(s)-1], t[len(t)-1])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, o := range res.Overlap {
		if o < blind && res.Ranks[i] == in.cols[i] {
			res.warn("party %d: overlap with the other parties is %.1e in the direction seen worst: the spans are nearly orthogonal there and G_%d fits noise", i+1, o, i+1)
		}
	}
	return nil
}
