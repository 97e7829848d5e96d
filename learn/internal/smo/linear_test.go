package smo

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func linearTask(seed uint64, n, d int, regression bool) LinearProblem {
	src := rand.New(rand.NewPCG(seed, 2))
	p := LinearProblem{
		X: mat.NewDense(n, d+1, nil), Y: make([]float64, n), C: math.Exp(2 * src.NormFloat64()), Regression: regression,
		Epsilon: 0.2, Tol: 1e-10, MaxIter: 200_000, Rand: src,
	}
	for i := range n {
		row := p.X.RawRowView(i)
		for j := range d {
			row[j] = src.NormFloat64()
		}
		row[d] = 1
		if src.IntN(6) == 0 {
			copy(row, p.X.RawRowView(src.IntN(i+1)))
		}
		p.Y[i] = row[0] + src.NormFloat64()
		if !regression {
			p.Y[i] = math.Copysign(1, p.Y[i])
		}
	}
	return p
}

// value is ½‖w‖² + C Σ loss.
func (p LinearProblem) value(w []float64) float64 {
	sum := dot(w, w) / 2
	for i, y := range p.Y {
		z := dot(w, p.X.RawRowView(i))
		if p.Regression {
			sum += p.C * math.Max(0, math.Abs(z-y)-p.Epsilon)
		} else {
			sum += p.C * math.Pow(math.Max(0, 1-y*z), 2)
		}
	}
	return sum
}

// TestLinear: the objective is what its definition says, and the gap holds what
// it promises: with the least objective F* at w*, F strongly convex,
//
//	F(w + s) ≥ F* + ½‖w + s − w*‖² ≥ F(w) − gap + ½ max(0, ‖s‖ − √(2 gap))²
func TestLinear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := linearTask(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 50).Draw(t, "n"), rapid.IntRange(0, 4).Draw(t, "d"), rapid.Bool().Draw(t, "regression"))
		p.C, p.Tol = rapid.SampledFrom([]float64{0.1, 1}).Draw(t, "C"), 1e-7
		s, err := Linear(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		least := p.value(s.W)
		// Sums of some 50 terms; those of the gap cancel.
		rounding := 1e-13 * (1 + least)
		if math.Abs(least-s.Objective) > rounding {
			t.Errorf("objective %g, computed anew %g", s.Objective, least)
		}
		// The violations of 50 rows, each times an α up to a few C: 1e-5 of what
		// they were at first, when Tol is 1e-7.
		if !s.Converged || s.Gap < -rounding || s.Gap > 1e-5*(1+least) {
			t.Errorf("converged %t after %d passes, violation %g, gap %g", s.Converged, s.Iterations, s.Violation, s.Gap)
		}
		gap := math.Max(0, s.Gap) + rounding
		for range 50 {
			w := make([]float64, len(s.W))
			size := math.Pow(10, -5*p.Rand.Float64())
			for j, v := range s.W {
				w[j] = v + size*p.Rand.NormFloat64()
			}
			beyond := math.Max(0, math.Sqrt(apart(w, s.W))-math.Sqrt(2*gap))
			if v := p.value(w); v < least-gap+beyond*beyond/2 {
				t.Fatalf("objective %.12g, want at least %.12g", v, least-gap+beyond*beyond/2)
			}
		}
	})
}

// TestLinearOrder: another order of the rows gives the same machine, as far as the
// gaps allow: w is within √(2 gap) of the one solution. 1e-11 is for rounding of
// the gap, a difference of sums of 300 terms.
func TestLinearOrder(t *testing.T) {
	for _, regression := range []bool{false, true} {
		p := linearTask(7, 300, 5, regression)
		p.C = 1
		var first *LinearSolution
		for seed := range uint64(3) {
			p.Rand = rand.New(rand.NewPCG(seed, 0))
			s, err := Linear(t.Context(), p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = s
			}
			d, allowed := math.Sqrt(apart(s.W, first.W)), math.Sqrt(2*math.Max(0, s.Gap)+1e-11)+math.Sqrt(2*math.Max(0, first.Gap)+1e-11)
			if d > allowed || allowed > 1e-3 || !s.Converged {
				t.Errorf("regression %t, seed %d: weights %g apart, want at most %g (%d passes)", regression, seed, d, allowed, s.Iterations)
			}
		}
	}
}

// TestLinearStopped: a limit of passes is kept and told, and so is ctx.
func TestLinearStopped(t *testing.T) {
	for _, regression := range []bool{false, true} {
		p := linearTask(1, 100, 4, regression)
		p.MaxIter, p.Tol = 3, 1e-15
		calls := 0
		s, err := Linear(t.Context(), p, func(iteration int, violation float64) {
			if calls++; iteration != calls || !(violation >= 0) {
				t.Errorf("told of pass %d, violation %g at call %d", iteration, violation, calls)
			}
		})
		if err != nil || s.Converged || s.Iterations != 3 || calls != 3 {
			t.Errorf("regression %t: %+v after %d calls (%v)", regression, s, calls, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		p.MaxIter = 1 << 30
		if _, err := Linear(ctx, p, func(int, float64) { cancel() }); !errors.Is(err, context.Canceled) {
			t.Errorf("regression %t: cancelled, error %v", regression, err)
		}
	}
}
