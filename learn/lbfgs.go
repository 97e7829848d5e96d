package learn

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// pairs is how many steps L-BFGS remembers: ten, as scikit-learn does.
const pairs = 10

// firstLook is the iteration at which the Hessian is looked at first; then at
// twice that, and so on. Easy fits end before or soon after; separable classes,
// where the upper bound is far too large, need it (from 423 to 40 iterations
// in a trial with 4 rows and a weak penalty).
const firstLook = 8

// lbfgs minimises f from where it stands ([nocedal2006], algorithm
// 7.5), with γM⁻¹ as the initial inverse Hessian of every iteration,
//
//	γ = sᵀy / yᵀM⁻¹y
//
// for the last step s and difference of gradients y. f is convex, so that
// sᵀy > 0 wherever the line search succeeds.
func lbfgs(ctx context.Context, f *logisticLoss, maxIter int, tol float64) (Report, error) {
	type pair struct {
		s, y *mat.Dense
		sy   float64
	}
	var memory []pair
	gamma := 1.0
	nextLook := firstLook
	var report Report
	g := f.gradient()
	for {
		if err := ctx.Err(); err != nil {
			return report, fmt.Errorf("learn: logistic stopped at iteration %d: %w", report.Iterations, err)
		}
		var err error
		if report.Gradient, err = f.decrement(g); err != nil {
			return report, err
		}
		if math.IsNaN(report.Gradient) || math.IsInf(report.Gradient, 0) {
			return report, fmt.Errorf("learn: logistic overflows at iteration %d, scale the columns of x down", report.Iterations)
		}
		if report.Gradient <= tol {
			report.Status = Converged
			break
		}
		if report.Iterations == maxIter {
			report.Status = IterationLimit
			break
		}
		if report.Iterations == nextLook {
			if err := f.look(); err != nil {
				return report, err
			}
			nextLook *= 2
		}

		// step = −H g by the two-loop recursion.
		step := mat.DenseCopyOf(g)
		weight := make([]float64, len(memory))
		for i := len(memory) - 1; i >= 0; i-- {
			weight[i] = dot(memory[i].s, step) / memory[i].sy
			addScaled(step, -weight[i], memory[i].y)
		}
		if step, err = f.precondition(step); err != nil {
			return report, err
		}
		step.Scale(gamma, step)
		for i, p := range memory {
			addScaled(step, weight[i]-dot(p.y, step)/p.sy, p.s)
		}
		step.Scale(-1, step)
		if !(dot(step, g) < 0) {
			// Rounding spoilt the memory: start afresh, or give up.
			if len(memory) == 0 {
				report.Status = Stalled
				break
			}
			memory, gamma = nil, 1
			continue
		}

		f.direct(step)
		t, ok := lineSearch(f)
		if !ok {
			if len(memory) == 0 {
				report.Status = Stalled
				break
			}
			memory, gamma = nil, 1
			continue
		}
		f.move(t)
		next := f.gradient()
		s, y := step, g
		s.Scale(t, s)
		y.Sub(next, g)
		g = next
		report.Iterations++
		if sy := dot(s, y); sy > 0 {
			my, err := f.precondition(y)
			if err != nil {
				return report, err
			}
			gamma = sy / dot(y, my)
			if len(memory) == pairs {
				memory = memory[1:]
			}
			memory = append(memory, pair{s, y, sy})
		}
	}
	if f.step == nil {
		rows, k := g.Dims()
		f.direct(mat.NewDense(rows, k, nil))
	}
	report.Objective, _ = f.along(0)
	return report, nil
}

// lineSearch finds t > 0 on the line of f where the slope is at most half of
// that at 0 in size and the value not above that at 0. The slope of a convex
// function increases, so that its sign brackets the minimum, every pass shrinks
// the bracket, and the value need only be asked where the slope is positive.
func lineSearch(f *logisticLoss) (t float64, ok bool) {
	value0, slope0 := f.along(0)
	if !(slope0 < 0) {
		return 0, false
	}
	lo, slopeLo := 0.0, slope0
	hi, slopeHi := math.Inf(1), math.NaN()
	t = 1
	// 60 passes shrink the bracket by 0.9 each at worst, usually by far more.
	for range 60 {
		value, slope := f.along(t)
		if math.Abs(slope) <= -slope0/2 && (slope <= 0 || value <= value0) {
			return t, true
		}
		if slope < 0 {
			lo, slopeLo = t, slope
		} else {
			hi, slopeHi = t, slope
		}
		if math.IsInf(hi, 1) {
			t = 4 * lo
			continue
		}
		width := hi - lo
		t = lo - slopeLo*width/(slopeHi-slopeLo)
		if !(t >= lo+0.1*width && t <= hi-0.1*width) {
			t = lo + 0.5*width
		}
	}
	return 0, false
}

// dot is the inner product of two matrices of one shape.
func dot(a, b *mat.Dense) float64 {
	rows, _ := a.Dims()
	var sum float64
	for i := range rows {
		for j, v := range a.RawRowView(i) {
			sum += v * b.RawRowView(i)[j]
		}
	}
	return sum
}

// addScaled adds c·b to a.
func addScaled(a *mat.Dense, c float64, b *mat.Dense) {
	rows, _ := a.Dims()
	for i := range rows {
		row := a.RawRowView(i)
		for j, v := range b.RawRowView(i) {
			row[j] += c * v
		}
	}
}
