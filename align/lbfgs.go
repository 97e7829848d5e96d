package align

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// minimise finds a local minimum of a smooth function by L-BFGS ([nocedal1980];
// [nocedal2006], algorithms 7.4 and 7.5) with a line search for the strong
// Wolfe conditions (ibid., algorithms 3.5 and 3.6):
//
//	p = −H ∇f(x),  H from the last memory pairs (s, y)
//	f(x + tp) ≤ f(x) + c₁ t ∇fᵀp,  |∇f(x + tp)ᵀp| ≤ c₂ |∇fᵀp|
//
// f writes its gradient and returns its value, or +Inf where x is outside its
// domain: such a point is never accepted, and the step is shortened, so an f with
// a barrier stays in the part of its domain where it began.
//
// The search ends when f has fallen by less than tol·|f| in each of three
// iterations, when the gradient is zero, when no step lowers f, or at maxIter.
// It is told apart in converged: false for maxIter only. x is overwritten with the
// last point, whose value is returned.
//
// The cost is O(memory·n) an iteration beside the evaluations of f, nearly always
// one.
func minimise(f func(x, grad []float64) float64, x []float64, tol float64, maxIter int) (value float64, iterations int, converged bool) {
	n := len(x)
	g := make([]float64, n)
	value = f(x, g)
	var pairs lbfgs
	ray := &ray{f: f, x: make([]float64, n), g: make([]float64, n)}
	p := make([]float64, n)
	still := 0
	for iterations < maxIter {
		top := 0.0
		for _, v := range g {
			top = math.Max(top, math.Abs(v))
		}
		if top == 0 {
			return value, iterations, true
		}
		iterations++
		pairs.direction(p, g)
		slope := dot(g, p)
		if !(slope < 0) { // rounding has spoiled the pairs: start anew
			pairs = lbfgs{}
			pairs.direction(p, g)
			slope = dot(g, p)
		}
		step := 1.0
		if len(pairs.s) == 0 {
			// The first step changes no element by more than a hundredth of the
			// largest.
			largest := 0.0
			for _, v := range x {
				largest = math.Max(largest, math.Abs(v))
			}
			step = math.Min(1, 0.01*math.Max(largest, 1e-8)/top)
		}
		next, ok := ray.search(x, p, value, slope, step)
		if !ok {
			if len(pairs.s) == 0 {
				return value, iterations, true // steepest descent gains nothing: rounding
			}
			pairs = lbfgs{}
			continue
		}
		pairs.push(x, g, ray.x, ray.g)
		copy(x, ray.x)
		copy(g, ray.g)
		if value-next <= tol*math.Abs(next) {
			still++
		} else {
			still = 0
		}
		value = next
		if still >= patience {
			return value, iterations, true
		}
	}
	return value, iterations, false
}

// memory is the number of pairs that L-BFGS keeps.
const memory = 20

// lbfgs holds the pairs s = x⁺ − x, y = g⁺ − g, oldest first.
type lbfgs struct {
	s, y [][]float64
	rho  []float64 // 1 / sᵀy
}

// push adds a pair, unless its curvature is not positive beyond rounding.
func (l *lbfgs) push(x, g, xNew, gNew []float64) {
	s, y := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		s[i], y[i] = xNew[i]-x[i], gNew[i]-g[i]
	}
	sy := dot(s, y)
	if !(sy > 1e-14*math.Sqrt(dot(s, s)*dot(y, y))) {
		return
	}
	l.s, l.y, l.rho = append(l.s, s), append(l.y, y), append(l.rho, 1/sy)
	if len(l.s) > memory {
		l.s, l.y, l.rho = l.s[1:], l.y[1:], l.rho[1:]
	}
}

// direction overwrites p with −Hg by the two-loop recursion.
func (l *lbfgs) direction(p, g []float64) {
	for i, v := range g {
		p[i] = -v
	}
	alpha := make([]float64, len(l.s))
	for k := len(l.s) - 1; k >= 0; k-- {
		alpha[k] = l.rho[k] * dot(l.s[k], p)
		add(p, -alpha[k], l.y[k])
	}
	if k := len(l.s) - 1; k >= 0 {
		scale := 1 / (l.rho[k] * dot(l.y[k], l.y[k]))
		for i := range p {
			p[i] *= scale
		}
	}
	for k := range l.s {
		add(p, alpha[k]-l.rho[k]*dot(l.y[k], p), l.s[k])
	}
}

// add overwrites y with y + t·x.
func add(y []float64, t float64, x []float64) {
	blas64.Axpy(t, blas64.Vector{N: len(x), Data: x, Inc: 1}, blas64.Vector{N: len(y), Data: y, Inc: 1})
}

// ray is f along x₀ + tp, with point and gradient at the last t.
type ray struct {
	f    func(x, grad []float64) float64
	x, g []float64
}

// at moves to x₀ + tp and returns value and slope there.
func (r *ray) at(x0, p []float64, t float64) (value, slope float64) {
	for i, v := range x0 {
		r.x[i] = v + t*p[i]
	}
	value = r.f(r.x, r.g)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return math.Inf(1), math.NaN()
	}
	return value, dot(r.g, p)
}

// The constants of the Wolfe conditions, and how many points a search may try.
const (
	wolfeDecrease = 1e-4
	wolfeSlope    = 0.9
	maxTries      = 40
)

// search looks for a t > 0 that meets the strong Wolfe conditions, beginning with
// step, and leaves r there. When the conditions are out of reach by rounding, it
// settles for the best point found; ok is false when none is below f(x₀).
func (r *ray) search(x0, p []float64, f0, slope0, step float64) (value float64, ok bool) {
	type point struct{ t, f, slope float64 }
	low, high := point{0, f0, slope0}, point{t: math.Inf(1)} // low is the best so far
	t := step
	for range maxTries {
		f, slope := r.at(x0, p, t)
		now := point{t, f, slope}
		switch {
		case f > f0+wolfeDecrease*t*slope0 || f >= low.f:
			high = now
		case math.Abs(slope) <= -wolfeSlope*slope0:
			return f, true
		default:
			if slope*(high.t-low.t) >= 0 {
				high = low
			}
			low = now
		}
		if math.IsInf(high.t, 1) {
			t *= 4 // still falling steeply: go on
			continue
		}
		t = cubic(low.t, low.f, low.slope, high.t, high.f, high.slope)
		if t == low.t || math.Abs(high.t-low.t) <= 1e-12*math.Abs(low.t) {
			break
		}
	}
	if low.t == 0 {
		return f0, false
	}
	value, _ = r.at(x0, p, low.t)
	return value, value < f0
}

// cubic returns the minimum between a and b of the cubic that has the two values
// and slopes there ([nocedal2006], eq. (3.59)), kept off the ends by a tenth of
// the interval, or the middle when b is outside the domain.
func cubic(a, fa, ga, b, fb, gb float64) float64 {
	if math.IsInf(fb, 1) || math.IsNaN(gb) {
		return a + (b-a)/2
	}
	d1 := ga + gb - 3*(fa-fb)/(a-b)
	root := d1*d1 - ga*gb
	t := a + (b-a)/2
	if root >= 0 {
		d2 := math.Copysign(math.Sqrt(root), b-a)
		t = b - (b-a)*(gb+d2-d1)/(gb-ga+2*d2)
	}
	near, far := a+0.1*(b-a), a+0.9*(b-a)
	if math.IsNaN(t) {
		return a + (b-a)/2
	}
	return math.Min(math.Max(t, math.Min(near, far)), math.Max(near, far))
}
