package align

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// memory is the number of pairs that L-BFGS keeps.
const memory = 20

// minimise finds a local minimum of a smooth function by gonum's L-BFGS ([nocedal1980];
// [nocedal2006], algorithm 7.5) with a line search by bisection for the strong Wolfe
// conditions:
//
//	p = −H ∇f(x),  H from the last memory pairs (s, y)
//	f(x + tp) ≤ f(x) + c₁ t ∇fᵀp,  |∇f(x + tp)ᵀp| ≤ c₂ |∇fᵀp|
//
// f writes its gradient and returns its value, or +Inf where x is outside its
// domain: such a point is never accepted, and the step is shortened, so an f with
// a barrier stays in the part of its domain where it began.
//
// The search ends when f has fallen by less than tol·|f| over three iterations, when
// no step lowers f, or at maxIter, 1 or more. It is told apart in converged: false for
// maxIter only. x is overwritten with the last point, whose value is returned.
//
// Another line search, gonum's MoreThuente, does not come to an end on RDP, whose f is
// infinite beyond its border. The stops by the size of the gradient are off: f has no
// scale.
func minimise(f func(x, grad []float64) float64, x []float64, tol float64, maxIter int) (value float64,
	iterations int, converged bool) {
	// Value and gradient of one point are asked for one after the other.
	last, grad, value := []float64(nil), make([]float64, len(x)), 0.0
	at := func(y []float64) float64 {
		if last == nil || !slices.Equal(last, y) {
			last = append(last[:0], y...)
			value = f(last, grad)
		}
		return value
	}
	r, _ := optimize.Minimize(
		optimize.Problem{Func: at, Grad: func(g, y []float64) { at(y); copy(g, grad) }},
		x,
		&optimize.Settings{
			MajorIterations: max(1, maxIter), // 0 would mean no limit
			Converger:       &optimize.FunctionConverge{Relative: tol, Iterations: patience},
		},
		&optimize.LBFGS{Store: memory, Linesearcher: &optimize.Bisection{}, GradStopThreshold: math.NaN()})
	// The error is that of a line search that finds nothing lower, which is an end, or
	// of an x outside the domain, which the value shows.
	copy(x, r.X)
	return r.F, r.MajorIterations, r.Status != optimize.IterationLimit
}
