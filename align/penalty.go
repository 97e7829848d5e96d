package align

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

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

// errOutside says that a G_i is singular or beyond a singular one.
var errOutside = errors.New("align: outside the domain of rdp")

// value is f, with its gradient in grad; +Inf beyond the border.
func (p *penalised) value(x, grad []float64) float64 {
	in, l := p.in, p.l
	workers := in.opt.Workers
	if in.sum*l*l < tooSmall/4 {
		workers = 1
	}
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
