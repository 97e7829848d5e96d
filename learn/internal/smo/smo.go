// Package smo is the engine of the support vector machines: sequential minimal
// optimisation of the dual with a kernel (Platt 1998), and coordinate descent of
// the linear dual (linear.go).
//
// Start with [Solve] or [Linear]. The package takes plain slices and matrices that
// package learn has checked, and knows nothing of classes.
//
// The method is that of libsvm (Chang, Lin, ACM TIST 2, 2011), so that results
// can be compared with it number by number: second-order choice of the working
// set (Fan, Chen, Lin, JMLR 6, 2005), shrinking, and a cache of kernel rows.
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
	Rho        float64
	Objective  float64
	Iterations int
	// Violation is what Tol is compared with.
	Violation float64
	Converged bool
}

// tau takes the place of a curvature that is not positive.
const tau = 1e-12

// solver is a run. Variables that are shrunk keep a stale gradient, until it is
// reconstructed.
type solver struct {
	Problem
	alpha []float64
	g     []float64 // gradient Qα + p
	gBar  []float64 // C Σ_{α_j = C} Q[:, j]
	diag  []float64
	// active lists the variables that are looked at, ascending.
	active   []int32
	unshrunk bool
}

// Solve minimises p. It returns ctx's error soon after ctx is done. progress,
// unless nil, is told the iterations and the violation now and then.
//
// The cost is two passes over the active variables an iteration, and of the
// kernel rows that the cache does not have.
func Solve(ctx context.Context, p Problem, progress func(iteration int, violation float64)) (*Solution, error) {
	n := len(p.Y)
	s := &solver{Problem: p, alpha: make([]float64, n), g: append([]float64(nil), p.P...), gBar: make([]float64, n), diag: make([]float64, n), active: make([]int32, n)}
	for i := range n {
		s.diag[i] = p.Kernel.Diagonal(i)
		s.active[i] = int32(i)
	}
	every := min(n, 1000)
	countdown := every + 1
	sol := &Solution{}
	for {
		if sol.Iterations%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if progress != nil && sol.Iterations > 0 {
				progress(sol.Iterations, sol.Violation)
			}
		}
		if sol.Iterations >= p.MaxIter {
			break
		}
		if countdown--; countdown == 0 {
			countdown = every
			if !p.NoShrinking {
				s.shrink()
			}
		}
		i, j, violation, row := s.choose()
		sol.Violation = violation
		if j < 0 {
			if len(s.active) == n {
				sol.Converged = true
				break
			}
			// Optimal among the active: look at all again.
			s.reconstruct()
			if i, j, violation, row = s.choose(); j < 0 {
				sol.Violation, sol.Converged = violation, true
				break
			}
			sol.Violation = violation
			countdown = 1 // shrink at the next iteration
		}
		sol.Iterations++
		s.step(i, j, row)
	}
	if len(s.active) < n {
		s.reconstruct()
	}
	sol.Alpha, sol.Rho = s.alpha, s.rho()
	for i, a := range s.alpha {
		sol.Objective += a * (s.g[i] + p.P[i]) / 2
	}
	return sol, nil
}

func (s *solver) atUpper(i int32) bool { return s.alpha[i] >= s.C }
func (s *solver) atLower(i int32) bool { return s.alpha[i] <= 0 }

// choose returns the pair of variables that promises the largest decrease of the
// objective to second order, with the kernel row of the first; j is −1 when the
// violation is below Tol.
func (s *solver) choose() (i, j int32, violation float64, row []float32) {
	top, second := math.Inf(-1), math.Inf(-1)
	i, j = -1, -1
	for _, t := range s.active {
		if s.Y[t] > 0 {
			if s.alpha[t] < s.C && -s.g[t] >= top {
				top, i = -s.g[t], t
			}
		} else if s.alpha[t] > 0 && s.g[t] >= top {
			top, i = s.g[t], t
		}
	}
	if i < 0 {
		return -1, -1, 0, nil
	}
	row = s.Kernel.Row(int(i))
	best := math.Inf(1)
	for _, t := range s.active {
		var size float64
		if s.Y[t] > 0 {
			if s.alpha[t] <= 0 {
				continue
			}
			if s.g[t] > second {
				second = s.g[t]
			}
			size = top + s.g[t]
		} else {
			if s.alpha[t] >= s.C {
				continue
			}
			if -s.g[t] > second {
				second = -s.g[t]
			}
			size = top - s.g[t]
		}
		if size <= 0 {
			continue
		}
		// ‖φ_i − φ_t‖², as y_i y_t Q[i, t] = K(i, t).
		curve := s.diag[i] + s.diag[t] - 2*float64(row[t])
		if curve <= 0 {
			curve = tau
		}
		if gain := -size * size / curve; gain <= best {
			best, j = gain, t
		}
	}
	violation = top + second
	if violation < s.Tol || j < 0 {
		return i, -1, math.Max(0, violation), row
	}
	return i, j, violation, row
}

// step solves for the two variables and updates the gradient.
func (s *solver) step(i, j int32, rowI []float32) {
	rowJ := s.Kernel.Row(int(j))
	c := s.C
	oldI, oldJ := s.alpha[i], s.alpha[j]
	upI, upJ := s.atUpper(i), s.atUpper(j)
	curve := s.diag[i] + s.diag[j] - 2*float64(rowI[j])
	if curve <= 0 {
		curve = tau
	}
	if s.Y[i] != s.Y[j] {
		delta := (-s.g[i] - s.g[j]) / curve
		diff := oldI - oldJ
		s.alpha[i] += delta
		s.alpha[j] += delta
		if diff > 0 && s.alpha[j] < 0 {
			s.alpha[j], s.alpha[i] = 0, diff
		} else if diff <= 0 && s.alpha[i] < 0 {
			s.alpha[i], s.alpha[j] = 0, -diff
		}
		if diff > 0 && s.alpha[i] > c {
			s.alpha[i], s.alpha[j] = c, c-diff
		} else if diff <= 0 && s.alpha[j] > c {
			s.alpha[j], s.alpha[i] = c, c+diff
		}
	} else {
		delta := (s.g[i] - s.g[j]) / curve
		sum := oldI + oldJ
		s.alpha[i] -= delta
		s.alpha[j] += delta
		if sum > c && s.alpha[i] > c {
			s.alpha[i], s.alpha[j] = c, sum-c
		} else if sum <= c && s.alpha[j] < 0 {
			s.alpha[j], s.alpha[i] = 0, sum
		}
		if sum > c && s.alpha[j] > c {
			s.alpha[j], s.alpha[i] = c, sum-c
		} else if sum <= c && s.alpha[i] < 0 {
			s.alpha[i], s.alpha[j] = 0, sum
		}
	}
	changeI := (s.alpha[i] - oldI) * float64(s.Y[i])
	changeJ := (s.alpha[j] - oldJ) * float64(s.Y[j])
	for _, t := range s.active {
		s.g[t] += float64(s.Y[t]) * (changeI*float64(rowI[t]) + changeJ*float64(rowJ[t]))
	}
	s.bound(i, upI, rowI)
	s.bound(j, upJ, rowJ)
}

// bound keeps gBar when variable i came to its upper bound or left it.
func (s *solver) bound(i int32, was bool, row []float32) {
	is := s.atUpper(i)
	if was == is {
		return
	}
	c := s.C * float64(s.Y[i])
	if was {
		c = -c
	}
	for t := range s.gBar {
		s.gBar[t] += c * float64(s.Y[t]) * float64(row[t])
	}
}

// shrink leaves out variables at a bound that are unlikely to leave it.
func (s *solver) shrink() {
	up, down := math.Inf(-1), math.Inf(-1) // max of −yG over those that may go up, of yG down
	for _, t := range s.active {
		yg := float64(s.Y[t]) * s.g[t]
		if (s.Y[t] > 0 && !s.atUpper(t)) || (s.Y[t] < 0 && !s.atLower(t)) {
			up = math.Max(up, -yg)
		}
		if (s.Y[t] > 0 && !s.atLower(t)) || (s.Y[t] < 0 && !s.atUpper(t)) {
			down = math.Max(down, yg)
		}
	}
	if !s.unshrunk && up+down <= 10*s.Tol {
		s.unshrunk = true
		s.reconstruct()
	}
	kept := s.active[:0]
	for _, t := range s.active {
		out := false
		switch {
		case s.atUpper(t) && s.Y[t] > 0:
			out = -s.g[t] > up
		case s.atUpper(t):
			out = -s.g[t] > down
		case s.atLower(t) && s.Y[t] > 0:
			out = s.g[t] > down
		case s.atLower(t):
			out = s.g[t] > up
		}
		if !out {
			kept = append(kept, t)
		}
	}
	s.active = kept
}

// reconstruct computes the gradient of the variables left out, and takes them in.
func (s *solver) reconstruct() {
	n := len(s.alpha)
	if len(s.active) == n {
		return
	}
	in := make([]bool, n)
	for _, t := range s.active {
		in[t] = true
	}
	var out []int32
	for t := range n {
		if !in[t] {
			s.g[t] = s.gBar[t] + s.P[t]
			out = append(out, int32(t))
		}
	}
	for i, a := range s.alpha {
		if a <= 0 || a >= s.C {
			continue
		}
		row := s.Kernel.Row(i)
		c := a * float64(s.Y[i])
		for _, t := range out {
			s.g[t] += c * float64(s.Y[t]) * float64(row[t])
		}
	}
	s.active = s.active[:n]
	for t := range n {
		s.active[t] = int32(t)
	}
}

// rho is the mean of yG over the free variables, or the middle of what the bounds
// leave open.
func (s *solver) rho() float64 {
	free, sum := 0, 0.0
	high, low := math.Inf(1), math.Inf(-1)
	for i := range s.alpha {
		t := int32(i)
		yg := float64(s.Y[t]) * s.g[t]
		switch {
		case s.atUpper(t) && s.Y[t] < 0, s.atLower(t) && s.Y[t] > 0:
			high = math.Min(high, yg)
		case s.atUpper(t), s.atLower(t):
			low = math.Max(low, yg)
		default:
			free++
			sum += yg
		}
	}
	if free > 0 {
		return sum / float64(free)
	}
	return (high + low) / 2
}
