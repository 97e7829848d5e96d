package align

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// RDP aligns over the matrices of full rank with a penalty on their determinants
// ([nosaka2024mm], section 3.3; docs/methods.md section 5.5):
//
//	minimise ½ Σ_ij ‖A_iG_i − A_jG_j‖_F² + η Σ_i (log det(G_iᵀG_i))²
//
// over invertible G_i (l × l). The penalty keeps G_i from shrinking to zero and
// from being singular, but not from being ill-conditioned. All l_i must be equal
// and d = l.
//
// The paper searches by Riemannian BFGS on the manifold of full-rank matrices.
// That manifold is an open part of R^{l×l}, and the penalty is infinite on its
// border, so plain L-BFGS with a line search that stays inside solves the same
// problem. With S = cD − WᵀW, D = blockdiag(A_iᵀA_i), the anchor rows drop out of
// every iteration:
//
//	f(G) = tr(GᵀSG) + η Σ_i (log det(G_iᵀG_i))²
//	∇_i f = 2 (SG)_i + 4 η log det(G_iᵀG_i) G_i⁻ᵀ
//
// A step that would change the sign of a det G_i is not taken: it would jump over
// the border.
//
// # Scale
//
// η is not free of scale: A → tA calls for η → t²η. Options.Eta is therefore
// relative to ‖A‖_F²/m, which the analyst estimates by mean_i ‖A_i‖_F²/l, exact for
// orthonormal F_i and an orthonormal anchor. The default is 1e-3: with the paper's
// standard normal anchor of 1000 rows that is η = 1, which gives the paper's
// figures. Options.EtaScale = 1 takes Options.Eta as it stands. Result.Eta reports
// the product.
//
// # Minima
//
// The infimum is 0 and not attained when all spans share a direction, as they do
// when c l > (c − 1) m or under SameSpan: G_i then drifts to singular matrices. A
// warning is given for cond(G_i) > 1000, and Result.LogDet reports the
// determinants. There are several local minima: unless Options.Init says where to
// start, the search is made from LS and from OPP, and the better end is reported.
// The LS start is brought to the best scale first.
//
// Tolerance: Options.Tol is the relative change of the objective of three
// iterations at the end, by default 1e-10. Solvers: block and direct as in [GOPP].
// Ranks and Conds are those of G_i. Errors: those of [GOPP], a negative Eta, and an
// Options.Init with a singular matrix.
//
// The cost is that of K (a L² flops) and of its top l eigenvectors, and 2 L² l +
// O(c l³) flops an iteration.
func RDP(a []*mat.Dense, opt Options) (*Result, error) {
	in, err := newInput(a, opt)
	if err != nil {
		return nil, err
	}
	l, err := in.sameDim("rdp")
	if err != nil {
		return nil, err
	}
	if _, err := opt.target("rdp", Identity); err != nil {
		return nil, err
	}
	solver, err := opt.solver("rdp", solverBlock, solverDirect)
	if err != nil {
		return nil, err
	}
	tol, maxIter, err := opt.limits()
	if err != nil {
		return nil, err
	}
	if math.IsNaN(opt.Eta) || opt.Eta < 0 || math.IsInf(opt.Eta, 0) || math.IsNaN(opt.EtaScale) || opt.EtaScale < 0 || math.IsInf(opt.EtaScale, 0) {
		return nil, fmt.Errorf("align: eta %g of scale %g, want two numbers above zero", opt.Eta, opt.EtaScale)
	}
	squares, err := in.squares()
	if err != nil {
		return nil, err
	}
	res := &Result{Method: "rdp", Dim: l, Target: Identity}
	p := &penalised{in: in, l: l, eta: opt.eta(squares, l)}
	if p.eta == 0 || math.IsInf(p.eta, 0) {
		return nil, errors.New("align: the anchor representations are zero or overflow: the penalty of rdp has no scale")
	}
	res.Eta = p.eta
	p.q, res.Solver = newQuadratic(in, l, solver)
	p.prepare()
	starts, err := p.starts(res)
	if err != nil {
		return nil, err
	}
	// The starts run side by side.
	_ = parallel(opt.Workers, len(starts), func(k int) error {
		s, own := &starts[k], p.fork()
		s.value = math.Inf(1)
		if !own.enter(s.g) {
			return nil
		}
		if s.name == "ls" {
			own.rescale(s.g)
		}
		s.value, s.iterations, s.converged = minimise(own.value, s.g, tol, maxIter)
		return nil
	})
	best := starts[0]
	for _, s := range starts[1:] {
		if s.value < best.value {
			best = s
		}
	}
	if math.IsInf(best.value, 1) {
		if best.name == "given" {
			return nil, errors.New("align: a G_i to start from is singular: rdp needs full rank")
		}
		return nil, errors.New("align: no start of rdp has full rank: the anchor representations have too little in common")
	}
	res.Start, res.Iterations, res.Converged = best.name, best.iterations, best.converged
	res.G = in.unstack(mat.NewDense(in.sum, l, best.g))
	res.Objective = best.value
	if err := p.report(res, best.g); err != nil {
		return nil, err
	}
	if opt.NoResidual {
		return res, nil
	}
	return res, res.measure(in, nil)
}

// eta is η as it stands in the objective.
func (opt Options) eta(squares []float64, l int) float64 {
	eta, scale := opt.Eta, opt.EtaScale
	if eta == 0 {
		eta = 1e-3
	}
	if scale == 0 {
		for _, x := range squares {
			scale += x / float64(l*len(squares))
		}
	}
	return eta * scale
}

// start is a named, stacked G.
type start struct {
	name string
	g    []float64 // in the end the point that was found
	// the end of the search
	value      float64
	iterations int
	converged  bool
}

// starts returns where the search begins: Options.Init, or LS and OPP, from U_l.
func (p *penalised) starts(res *Result) ([]start, error) {
	in := p.in
	if in.opt.Init != nil {
		g, err := in.given(in.opt.Init, p.l)
		if err != nil {
			return nil, err
		}
		return []start{{name: "given", g: g.RawMatrix().Data}}, nil
	}
	m, err := res.spectral(in, p.q, func(s []float64) { // A_iᵀ U_l
		for j := range s {
			s[j] = 1
		}
	})
	if err != nil {
		return nil, err
	}
	opp := mat.NewDense(in.sum, p.l, nil)
	if err := polars(in, opp, m, make([]linalg.PolarInfo, len(in.a))); err != nil {
		return nil, err
	}
	// G_i = A_i⁺ U_l = (A_iᵀA_i)⁺ A_iᵀ U_l, good enough to begin with.
	ls := mat.NewDense(in.sum, p.l, nil)
	ranks := make([]int, len(in.a))
	err = in.each(func(i int) error {
		d := p.q.diagonal(i)
		if f, ok := cholesky(mat.DenseCopyOf(d), 1/linalg.Eps); ok {
			ranks[i] = p.l
			b := in.block(ls, i)
			b.Copy(in.block(m, i))
			f.solve(b)
			return nil
		}
		g, fit, err := linalg.LeastSquares(mat.DenseCopyOf(d), mat.DenseCopyOf(in.block(m, i)), 0)
		if err != nil {
			return fmt.Errorf("align: A_%d: %v", i+1, err)
		}
		ranks[i] = fit.Rank
		in.block(ls, i).Copy(g)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, rank := range ranks {
		if rank < p.l {
			res.warn("party %d: A_%d has rank %d of %d columns: G_%d is one of many solutions", i+1, i+1, rank, p.l, i+1)
		}
	}
	return []start{{name: "ls", g: ls.RawMatrix().Data}, {name: "opp", g: opp.RawMatrix().Data}}, nil
}

// badCond is the condition number of G_i above which a warning is given: models
// then see directions of X̂_i scaled apart by as much.
const badCond = 1e3

// report fills in determinants and condition numbers of the result.
func (p *penalised) report(res *Result, x []float64) error {
	for i, g := range res.G {
		logAbs, _ := p.factorize(x, i)
		res.LogDet = append(res.LogDet, 2*logAbs)
		s, err := linalg.SingularValues(g)
		if err != nil {
			return fmt.Errorf("align: G_%d: %v", i+1, err)
		}
		rank, cond := linalg.NumericalRank(s, p.l, p.l, 0), 0.0
		if rank > 0 {
			cond = s[0] / s[rank-1]
		}
		res.Ranks, res.Conds = append(res.Ranks, rank), append(res.Conds, cond)
		if cond > badCond || rank < p.l {
			res.warn("party %d: G_%d has condition number %.1e: the spans share a direction, and rdp has no minimum there; use another method or more parties", i+1, i+1, cond)
		}
	}
	if !res.Converged {
		res.warn("the objective still fell after %d iterations: raise the limit, or the tolerance", res.Iterations)
	}
	return finiteFigures(append(append([]float64{res.Objective}, res.LogDet...), res.Conds...)...)
}
