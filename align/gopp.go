package align

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/manifold"
)

// GOPP aligns by the generalised orthogonal Procrustes problem ([nosaka2024odc],
// algorithm 2; [gower1975]; [ling2023]; docs/methods.md section 5.3):
//
//	minimise Σ_i ‖A_i G_i − Z‖_F²  over orthogonal G_i (l × l) and Z (a × l)
//
// by alternating G_i = polar(A_iᵀZ) and Z = mean_i A_i G_i from Z = U_l, the top
// left singular vectors of W. All l_i must be equal and d = l. Unlike in ODC no
// party is the reference. The problem is not convex: another start may end
// elsewhere; Options.Starts tries random ones, Options.Init a given one.
//
// The alternation is accelerated unless Options.Plain; see power.go for how, and
// for why the objective never rises. It ends when the objective has fallen by less
// than Options.Tol (default 1e-10) of itself in each of three iterations, or after
// Options.MaxIter.
//
// Solvers: block holds K = WᵀW, whose l × l blocks are all that an iteration
// needs (a L² flops once, 2 L² l an iteration); direct uses the A_i (4 a L l an
// iteration). The default is the cheaper one for 50 iterations. The start comes
// from K in block and as in [LS] in direct.
//
// Overlap is that of [OPP]. Errors: those of [OPP], and an Options.Init that does
// not fit.
func GOPP(a []*mat.Dense, opt Options) (*Result, error) {
	in, err := newInput(a, opt)
	if err != nil {
		return nil, err
	}
	l, err := in.sameDim("gopp")
	if err != nil {
		return nil, err
	}
	return generalised(in, "gopp", l, 0, func(s []float64) {
		for j := range s { // Z = U_l: A_iᵀ U_l = V_i Σ
			s[j] = 1
		}
	})
}

// generalised solves a generalised Procrustes problem with d columns. usual is the
// number of random starts that Options.Starts zero means. spectral changes the
// singular values σ_j into the weights of the columns of U_d in the start Z.
func generalised(in *input, name string, d, usual int, spectral func([]float64)) (*Result, error) {
	opt := in.opt
	if _, err := opt.target(name, Identity); err != nil {
		return nil, err
	}
	solver, err := opt.solver(name, solverBlock, solverDirect)
	if err != nil {
		return nil, err
	}
	tol, maxIter, err := opt.limits()
	if err != nil {
		return nil, err
	}
	further := opt.Starts
	switch {
	case further < -1:
		return nil, fmt.Errorf("align: %d random starts, want a number, 0 for the usual or -1 for none", further)
	case further == 0 && opt.Init == nil:
		further = usual
	}
	squares, err := in.squares()
	if err != nil {
		return nil, err
	}
	total := 0.0
	for _, x := range squares {
		total += x
	}
	if err := finiteFigures(total * float64(len(in.a))); err != nil {
		return nil, err
	}
	res := &Result{Method: name, Dim: d, Target: Identity}
	var q quadratic
	q, res.Solver = newQuadratic(in, d, solver)
	src := opt.source()
	var best *powered
	for k := 0; k <= max(0, further); k++ {
		var m *mat.Dense
		var start string
		switch {
		case k > 0:
			start = fmt.Sprintf("random %d", k)
			m = mat.NewDense(in.sum, d, nil)
			for i, l := range in.cols {
				in.block(m, i).Copy(manifold.New(l, d).Random(src))
			}
		case opt.Init != nil:
			start = "given"
			if m, err = in.given(opt.Init, d); err != nil {
				return nil, err
			}
		default:
			start = "spectral"
			if m, err = res.spectral(in, q, spectral); err != nil {
				return nil, err
			}
		}
		p, err := power(in, q, m, total, tol, maxIter, opt.Plain)
		if err != nil {
			return nil, err
		}
		// A later start must be better by more than the tolerance, so that rounding
		// does not choose among equals.
		if c := float64(len(in.a)); best == nil || (p.f-best.f)/c > tol*(total-best.f/c) {
			best, res.Start = p, start
		}
	}
	res.G = in.unstack(best.g)
	res.Iterations, res.Converged = best.iterations, best.converged
	if !res.Converged {
		res.warn("the objective still fell after %d iterations: raise the limit, or the tolerance", res.Iterations)
	}
	for _, info := range best.infos {
		res.Ranks = append(res.Ranks, info.Rank)
		res.Conds = append(res.Conds, info.Cond)
	}
	res.warnPolar(in)
	if opt.NoResidual {
		return res, nil
	}
	if err := res.measure(in, nil); err != nil {
		return nil, err
	}
	res.Objective = res.Residual
	return res, res.overlaps(in, q)
}

// limits returns tolerance and bound of the iterations.
func (opt Options) limits() (tol float64, maxIter int, err error) {
	tol, maxIter = opt.Tol, opt.MaxIter
	if tol == 0 {
		tol = 1e-10
	}
	if maxIter == 0 {
		maxIter = 2000
	}
	if !(tol > 0 && tol < 1) || maxIter < 0 {
		return 0, 0, fmt.Errorf("align: tolerance %g and %d iterations, want a tolerance between 0 and 1 and a bound that is not negative", tol, maxIter)
	}
	return tol, maxIter, nil
}

// spectral returns A_iᵀZ (stacked, L × d) for Z = U_d diag(weights).
func (res *Result) spectral(in *input, q quadratic, weights func([]float64)) (*mat.Dense, error) {
	d := res.Dim
	if h, ok := q.(*held); ok {
		// A_iᵀ U_d = V_i Σ with K = V Σ² Vᵀ.
		w, m, err := symmetric(h.k, d)
		if err != nil {
			return nil, fmt.Errorf("align: W = [A_1 … A_%d]: %v", len(in.a), err)
		}
		res.Singular = roots(w)
		s := slices.Clone(res.Singular)
		weights(s)
		for j := range s {
			s[j] *= res.Singular[j]
		}
		scaleColumns(m, s)
		return m, res.rankWarning(in)
	}
	u, s, _, err := in.leftVectors(d, "")
	if err != nil {
		return nil, err
	}
	res.Singular = s
	s = slices.Clone(s[:d])
	weights(s)
	scaleColumns(u, s)
	m := mat.NewDense(in.sum, d, nil)
	err = in.each(func(i int) error {
		in.block(m, i).Mul(in.a[i].T(), u)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, res.rankWarning(in)
}

// rankWarning warns of a W of a rank below d.
func (res *Result) rankWarning(in *input) error {
	if rank := in.rank(res.Singular, true); rank < res.Dim {
		res.warn("all anchor representations together have rank %d, below the dimension %d", rank, res.Dim)
	}
	return nil
}
