// Package smo is the engine of the support vector machines: sequential minimal
// optimisation of the dual with a kernel [platt1998], and coordinate descent of
// the linear dual (linear.go).
//
// Start with [Solve] or [Linear]. The package takes plain slices and matrices that
// package learn has checked, and knows nothing of classes.
//
// The method is that of libsvm [chang2011], so that results
// can be compared with it number by number: second-order choice of the working
// set [fan2005], shrinking, and a cache of kernel rows.
package smo

import (
	"context"
	"math"
)

// Problem is
//
//	min ½ αᵀQα + pᵀα  subject to  yᵀα = 0,  0 ≤ α ≤ C
//
// with Q[i, j] = y[i] y[j] K(i, j).
type Problem struct {
	// Y are signs, +1 or −1.
	Y []int8
	// P is the linear term.
	P []float64
	// C is the upper bound, positive.
	C float64
	// Kernel gives rows of K.
	Kernel Kernel
	// Tol bounds the violation of the optimality conditions at the end.
	Tol float64
	// MaxIter bounds the iterations.
	MaxIter int
	// NoShrinking keeps all variables active.
	NoShrinking bool
}

// Kernel is a symmetric positive semidefinite matrix K of as many rows as a
// Problem has variables. It is used by one goroutine.
type Kernel interface {
	// Row is row i, valid until the row after the next is asked for.
	Row(i int) []float32
	// Diagonal is K(i, i).
	Diagonal(i int) float64
}

// Solution is what Solve found.
type Solution struct {
	Alpha []float64
	// Rho is the offset: the decision value is Σ y α K − Rho.
	Rho float64
	// Dual is what was minimised.
	Dual float64
	// Primal is ½‖w‖² + C Σ loss, at least −Dual and equal to it at the optimum.
	Primal     float64
	Iterations int
	// Violation is what Tol is compared with.
	Violation float64
	Converged bool
}

// tau takes the place of a curvature that is not positive (libsvm's value).
const tau = 1e-12

// solver is a run. With the gradient g of the dual it keeps
//
//	v = −y g,
//
// what a variable brings for each unit that y α grows: the optimality conditions
// and the updates are then the same for both signs. Variables that are shrunk
// keep a stale v, until it is reconstructed.
type solver struct {
	Problem
	ctx   context.Context
	alpha []float64
	v     []float64
	// bound is −C Σ y_j K[:, j] over the variables at C.
	bound []float64
	diag  []float64
	// room tells for each variable whether y α may grow, and whether it may fall.
	room []uint8
	// active lists the variables that are looked at, ascending.
	active   []int32
	unshrunk bool

	// first is the active variable with the largest v of those with room above,
	// top; −1 for none.
	first int32
	top   float64
}

const (
	above uint8 = 1 << iota
	below
)

// Solve minimises p. It returns ctx's error soon after ctx is done: at most a few
// kernel rows later. progress, unless nil, is told the iterations and the
// violation now and then.
//
// The cost is two passes over the active variables an iteration, and of the
// kernel rows that the cache does not have.
func Solve(ctx context.Context, p Problem, progress func(iteration int, violation float64)) (*Solution, error) {
	n := len(p.Y)
	s := &solver{
		Problem: p, ctx: ctx, alpha: make([]float64, n), v: make([]float64, n), bound: make([]float64, n),
		diag: make([]float64, n), room: make([]uint8, n), active: make([]int32, n),
	}
	for i := range n {
		s.v[i] = -float64(p.Y[i]) * p.P[i]
		s.diag[i] = p.Kernel.Diagonal(i)
		s.active[i] = int32(i)
		s.setRoom(int32(i))
	}
	s.scan()
	every := min(n, shrinkEvery)
	countdown := every + 1
	sol := &Solution{}
	for sol.Iterations < p.MaxIter {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if countdown--; countdown == 0 {
			countdown = every
			if !p.NoShrinking {
				if err := s.shrink(); err != nil {
					return nil, err
				}
			}
		}
		i, j, violation, row := s.choose()
		if j < 0 && len(s.active) < n {
			// Optimal among the active: look at all again.
			if err := s.reconstruct(); err != nil {
				return nil, err
			}
			i, j, violation, row = s.choose()
			countdown = 1 // shrink at the next iteration
		}
		sol.Violation = violation
		if j < 0 {
			sol.Converged = true
			break
		}
		sol.Iterations++
		s.step(i, j, row)
		if progress != nil && sol.Iterations%tellEvery == 0 {
			progress(sol.Iterations, violation)
		}
	}
	if err := s.reconstruct(); err != nil {
		return nil, err
	}
	s.finish(sol)
	return sol, nil
}

const (
	shrinkEvery = 1000 // iterations, as libsvm
	tellEvery   = 1000
)

func (s *solver) setRoom(t int32) {
	var r uint8
	if s.alpha[t] < s.C {
		r = above
	}
	if s.alpha[t] > 0 {
		r |= below
	}
	if s.Y[t] < 0 {
		r = r>>1 | r<<1&below
	}
	s.room[t] = r
}

// scan finds first; of equal ones the last, as libsvm.
func (s *solver) scan() {
	s.first, s.top = -1, math.Inf(-1)
	for _, t := range s.active {
		if s.room[t]&above != 0 && s.v[t] >= s.top {
			s.first, s.top = t, s.v[t]
		}
	}
}

// finish puts α, the offset and the objectives into sol. The offset is the mean
// of −v over the free variables, or the middle of what the bounds leave open.
func (s *solver) finish(sol *Solution) {
	free, sum := 0, 0.0
	high, low := math.Inf(1), math.Inf(-1)
	for i, v := range s.v {
		switch s.room[i] {
		case above:
			high = math.Min(high, -v)
		case below:
			low = math.Max(low, -v)
		default:
			free++
			sum -= v
		}
	}
	sol.Alpha, sol.Rho = s.alpha, (high+low)/2
	if free > 0 {
		sol.Rho = sum / float64(free)
	}
	norm, losses := 0.0, 0.0
	for i, a := range s.alpha {
		y := float64(s.Y[i])
		g := -y * s.v[i]
		sol.Dual += a * (g + s.P[i]) / 2
		norm += a * (g - s.P[i])
		losses += math.Max(0, y*sol.Rho-g)
	}
	sol.Primal = norm/2 + s.C*losses
}
