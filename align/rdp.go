package align

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// RDP aligns over the matrices of full rank with a penalty on their determinants
// (Nosaka, Yoshise; MM §3.3, "RDP"):
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
// orthonormal F_i and an orthonormal anchor. The default is 1e-3: with MM's
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

// penalised is the objective of RDP.
type penalised struct {
	in     *input
	l      int
	eta    float64
	q      quadratic
	block  []*mat.Dense // c A_iᵀA_i
	signs  []float64    // of det G_i where the search began
	image  *mat.Dense   // K G
	scaled *mat.Dense   // c D G
	values []float64    // log |det G_i|
	works  []luWork
}

// luWork is the scratch of one party.
type luWork struct {
	lu   *mat.Dense
	piv  []int
	work []float64
}

// prepare fills in what all points share.
func (p *penalised) prepare() {
	p.block = make([]*mat.Dense, len(p.in.a))
	_ = p.in.each(func(i int) error {
		p.block[i] = mat.DenseCopyOf(p.q.diagonal(i))
		p.block[i].Scale(float64(len(p.in.a)), p.block[i])
		return nil
	})
	*p = *p.fork()
}

// fork returns the same objective with scratch of its own.
func (p *penalised) fork() *penalised {
	own := *p
	c := len(p.in.a)
	own.works = make([]luWork, c)
	own.signs, own.values = make([]float64, c), make([]float64, c)
	own.image, own.scaled = mat.NewDense(p.in.sum, p.l, nil), mat.NewDense(p.in.sum, p.l, nil)
	query := []float64{0}
	lapack64.Getri(mat.NewDense(p.l, p.l, nil).RawMatrix(), make([]int, p.l), query, -1)
	for i := range own.works {
		own.works[i] = luWork{mat.NewDense(p.l, p.l, nil), make([]int, p.l), make([]float64, max(int(query[0]), p.l))}
	}
	return &own
}

// part is the stretch of a stacked G that belongs to party i.
func (p *penalised) part(x []float64, i int) []float64 {
	return x[i*p.l*p.l : (i+1)*p.l*p.l]
}

// factorize decomposes G_i into its scratch, and returns log |det G_i| and the sign
// of det G_i, 0 for a singular matrix.
func (p *penalised) factorize(x []float64, i int) (logAbs, sign float64) {
	w := p.works[i]
	copy(w.lu.RawMatrix().Data, p.part(x, i))
	if !lapack64.Getrf(w.lu.RawMatrix(), w.piv) {
		return math.Inf(-1), 0
	}
	sign = 1
	for j := range p.l {
		d := w.lu.At(j, j)
		if w.piv[j] != j {
			sign = -sign
		}
		if d < 0 {
			sign, d = -sign, -d
		}
		logAbs += math.Log(d)
	}
	if math.IsNaN(logAbs) || math.IsInf(logAbs, 0) {
		return math.Inf(-1), 0
	}
	return logAbs, sign
}

// enter notes on which side of the border x is, and says no if it is on it.
func (p *penalised) enter(x []float64) bool {
	for i := range p.signs {
		logAbs, sign := p.factorize(x, i)
		if sign == 0 {
			return false
		}
		p.signs[i], p.values[i] = sign, logAbs
	}
	return true
}

// value is f, with its gradient in grad; +Inf beyond the border.
func (p *penalised) value(x, grad []float64) float64 {
	in, l := p.in, p.l
	workers := in.opt.Workers
	if in.sum*l*l < tooSmall/4 {
		workers = 1
	}
	errOutside := errors.New("outside")
	err := parallel(workers, len(in.a), func(i int) error {
		logAbs, sign := p.factorize(x, i)
		if sign != p.signs[i] {
			return errOutside
		}
		p.values[i] = logAbs
		w := p.works[i]
		lapack64.Getri(w.lu.RawMatrix(), w.piv, w.work, len(w.work))
		// log det(GᵀG) = 2 log |det G|: the gradient is 8 η log |det G| G⁻ᵀ.
		factor := 8 * p.eta * logAbs
		inverse, g := w.lu.RawMatrix().Data, p.part(grad, i)
		for r := range l {
			for c := range l {
				g[r*l+c] = factor * inverse[c*l+r]
			}
		}
		dst := blas64.General{Rows: l, Cols: l, Stride: l, Data: p.part(p.scaled.RawMatrix().Data, i)}
		src := blas64.General{Rows: l, Cols: l, Stride: l, Data: p.part(x, i)}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, p.block[i].RawMatrix(), src, 0, dst)
		return nil
	})
	if err != nil {
		return math.Inf(1)
	}
	p.q.apply(p.image, mat.NewDense(in.sum, l, x))
	f := 0.0
	scaled, image := p.scaled.RawMatrix().Data, p.image.RawMatrix().Data
	for k, v := range x {
		s := scaled[k] - image[k] // SG
		f += v * s
		grad[k] += 2 * s
	}
	for _, v := range p.values {
		f += 4 * p.eta * v * v
	}
	return f
}

// rescale multiplies x by the t that minimises f(tG) = t² tr(GᵀSG) + 4η Σ(v_i + l
// log t)², by Newton's method in log t, in which f is convex.
func (p *penalised) rescale(x []float64) {
	grad := make([]float64, len(x))
	f := p.value(x, grad)
	sum, squares := 0.0, 0.0
	for _, v := range p.values {
		sum += v
		squares += v * v
	}
	data := math.Max(0, f-4*p.eta*squares)
	c, l := float64(len(p.values)), float64(p.l)
	log := -sum / (c * l) // minimum of the penalty alone, right of the whole's
	for range 100 {
		e := data * math.Exp(2*log)
		slope := 2*e + 8*p.eta*l*(sum+c*l*log)
		step := slope / (4*e + 8*p.eta*l*l*c)
		log -= step
		if math.Abs(step) < 1e-6 {
			break
		}
	}
	if t := math.Exp(log); t > 0 && !math.IsInf(t, 0) {
		for k := range x {
			x[k] *= t
		}
	}
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
	err = in.each(func(i int) error {
		d := p.q.diagonal(i)
		if f, ok := cholesky(mat.DenseCopyOf(d), 1/linalg.Eps); ok {
			b := in.block(ls, i)
			b.Copy(in.block(m, i))
			f.solve(b)
			return nil
		}
		g, _, err := linalg.LeastSquares(mat.DenseCopyOf(d), mat.DenseCopyOf(in.block(m, i)), 0)
		if err != nil {
			return fmt.Errorf("align: A_%d: %v", i+1, err)
		}
		in.block(ls, i).Copy(g)
		return nil
	})
	if err != nil {
		return nil, err
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
