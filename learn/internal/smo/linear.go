package smo

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// LinearProblem is a linear machine without a kernel. The last column of X, if it
// is to be an intercept, is the caller's and is penalised like the others.
type LinearProblem struct {
	X *mat.Dense // n × d
	// Y are signs ±1 for classes, else the numbers.
	Y []float64
	C float64
	// Regression has the loss max(0, |w·x − y| − Epsilon), otherwise it is the
	// square of max(0, 1 − y w·x).
	Regression bool
	Epsilon    float64
	Tol        float64
	MaxIter    int
	Rand       *rand.Rand
}

// LinearSolution is what Linear found.
type LinearSolution struct {
	W         []float64
	Objective float64 // ½‖w‖² + C Σ loss
	// Gap is Objective less that of the dual, at least what is missing to the
	// minimum.
	Gap        float64
	Iterations int // passes over the rows
	Violation  float64
	Converged  bool
}

// Linear minimises ½‖w‖² + C Σ loss by coordinate descent of the dual with shrinking
// ([hsieh2008]; [ho2012] for regression), as liblinear does, in random order. Cost O(n d) a
// pass.
func Linear(ctx context.Context, p LinearProblem, progress func(iteration int, violation float64)) (*LinearSolution, error) {
	n, d := p.X.Dims()
	l := &descent{LinearProblem: p, w: make([]float64, d), dual: make([]float64, n), curve: make([]float64, n), index: make([]int, n)}
	for i := range n {
		row := p.X.RawRowView(i)
		l.curve[i] = dot(row, row)
		if !p.Regression {
			l.curve[i] += 1 / (2 * p.C)
		}
		l.index[i] = i
	}
	sol := &LinearSolution{}
	pass := l.classify
	if p.Regression {
		pass = l.regress
	}
	for sol.Iterations < p.MaxIter {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.Rand.Shuffle(len(l.index), func(a, b int) { l.index[a], l.index[b] = l.index[b], l.index[a] })
		done, violation := pass(sol.Iterations == 0)
		sol.Iterations++
		sol.Violation = violation
		if progress != nil {
			progress(sol.Iterations, violation)
		}
		if done {
			if len(l.index) == n {
				sol.Converged = true
				break
			}
			l.all()
		}
	}
	sol.W = l.w
	sol.Objective, sol.Gap = l.objective()
	return sol, nil
}

// descent is a run. index lists the rows that are looked at.
type descent struct {
	LinearProblem
	w, dual, curve []float64
	index          []int
	high           float64 // largest violation of the last pass, 0 for none
	first          float64 // sum of violations of the first pass (regression)
}

// all takes in the rows left out.
func (l *descent) all() {
	l.index = l.index[:len(l.dual)]
	for i := range l.index {
		l.index[i] = i
	}
	l.high = 0
}

// classify makes a pass with the squared hinge loss. done says that the spread of
// the projected gradient is within Tol.
func (l *descent) classify(bool) (done bool, violation float64) {
	high, low := math.Inf(-1), math.Inf(1)
	limit := math.Inf(1)
	if l.high > 0 {
		limit = l.high
	}
	for s := 0; s < len(l.index); s++ {
		i := l.index[s]
		row := l.X.RawRowView(i)
		g := l.Y[i]*dot(l.w, row) - 1 + l.dual[i]/(2*l.C)
		pg := g
		if l.dual[i] == 0 {
			if g > limit {
				last := len(l.index) - 1
				l.index[s], l.index[last] = l.index[last], l.index[s]
				l.index = l.index[:last]
				s--
				continue
			}
			pg = math.Min(0, g)
		}
		high, low = math.Max(high, pg), math.Min(low, pg)
		if math.Abs(pg) > 1e-12 {
			old := l.dual[i]
			l.dual[i] = math.Max(0, old-g/l.curve[i])
			axpy((l.dual[i]-old)*l.Y[i], row, l.w)
		}
	}
	if len(l.index) == 0 {
		return true, 0
	}
	l.high = math.Max(0, high)
	return high-low <= l.Tol, high - low
}

// regress makes a pass with the ε-insensitive loss. done says that the sum of
// violations is within Tol of that of the first pass.
func (l *descent) regress(first bool) (done bool, violation float64) {
	limit := math.Inf(1)
	if l.high > 0 {
		limit = l.high
	}
	top, sum := 0.0, 0.0
	for s := 0; s < len(l.index); s++ {
		i := l.index[s]
		row := l.X.RawRowView(i)
		g, h, b := dot(l.w, row)-l.Y[i], l.curve[i], l.dual[i]
		up, down := g+l.Epsilon, g-l.Epsilon
		v, out := 0.0, false
		switch {
		case b == 0:
			v = math.Max(0, math.Max(-up, down))
			out = up > limit && down < -limit
		case b >= l.C:
			v = math.Max(0, up)
			out = up < -limit
		case b <= -l.C:
			v = math.Max(0, -down)
			out = down > limit
		case b > 0:
			v = math.Abs(up)
		default:
			v = math.Abs(down)
		}
		if out {
			last := len(l.index) - 1
			l.index[s], l.index[last] = l.index[last], l.index[s]
			l.index = l.index[:last]
			s--
			continue
		}
		top, sum = math.Max(top, v), sum+v
		if h == 0 {
			continue
		}
		var step float64
		switch {
		case up < h*b:
			step = -up / h
		case down > h*b:
			step = -down / h
		default:
			step = -b
		}
		l.dual[i] = math.Min(l.C, math.Max(-l.C, b+step))
		if change := l.dual[i] - b; math.Abs(change) > 1e-12 {
			axpy(change, row, l.w)
		} else {
			l.dual[i] = b
		}
	}
	if first {
		l.first = sum
	}
	l.high = top
	return sum <= l.Tol*l.first, sum
}

// objective returns ½‖w‖² + C Σ loss, and this less the dual
//
//	Σ α − Σ α²/(4C) − ½‖w‖²  or  Σ βy − ε Σ |β| − ½‖w‖².
func (l *descent) objective() (primal, gap float64) {
	norm := dot(l.w, l.w)
	losses, dual := 0.0, 0.0
	for i, y := range l.Y {
		z, a := dot(l.w, l.X.RawRowView(i)), l.dual[i]
		if l.Regression {
			losses += math.Max(0, math.Abs(z-y)-l.Epsilon)
			dual += a*y - l.Epsilon*math.Abs(a)
			continue
		}
		loss := math.Max(0, 1-y*z)
		losses += loss * loss
		dual += a - a*a/(4*l.C)
	}
	return norm/2 + l.C*losses, norm + l.C*losses - dual
}

func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Data: x, Inc: 1}, blas64.Vector{N: len(y), Data: y, Inc: 1})
}

func axpy(a float64, x, y []float64) {
	blas64.Axpy(a, blas64.Vector{N: len(x), Data: x, Inc: 1}, blas64.Vector{N: len(y), Data: y, Inc: 1})
}
