package align_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/align"
	"concord/linalg"
	"concord/manifold"
)

var procrustes = []string{"opp", "gopp", "consensus"}

// TestProcrustesOrthogonal checks on random shapes and ranks that G_iG_iᵀ = I,
// that A_iᵀZ = HG with H symmetric and positive semidefinite for the final Z,
// which says that G_i is its polar factor, and that GOPP, which starts from OPP's
// target and never goes up, ends no higher than OPP. (The problem is not convex:
// some other point may be lower.)
func TestProcrustesOrthogonal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom(procrustes).Draw(t, "method")
		l := rapid.IntRange(1, 6).Draw(t, "l")
		rows := rapid.IntRange(l, 20).Draw(t, "rows")
		src := source(rapid.Byte().Draw(t, "seed"))
		var a []*mat.Dense
		for range rapid.IntRange(1, 4).Draw(t, "parties") {
			cols := l
			if method == "consensus" {
				cols = rapid.IntRange(1, l).Draw(t, "cols")
			}
			x := mat.NewDense(rows, cols, nil)
			if rank := rapid.IntRange(0, cols).Draw(t, "rank"); rank > 0 {
				x.Mul(linalg.Normal(rows, rank, src), linalg.Normal(rank, cols, src))
			}
			a = append(a, x)
		}
		r, err := align.Run(method, a, align.Options{})
		if err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for i, g := range r.G {
			cols, d := g.Dims()
			// Orthonormal to a few eps for each of the d columns.
			if e := manifold.New(cols, d).Defect(g); e > 32*float64(d)*linalg.Eps {
				t.Fatalf("G_%d is off by %g", i+1, e)
			}
			norm += math.Pow(mat.Norm(a[i], 2), 2)
		}
		if method != "gopp" {
			return
		}
		start, err := align.OPP(a, align.Options{})
		if err != nil {
			t.Fatal(err)
		}
		other := residualOf(a, start.G)
		if slack := 64 * float64(rows) * linalg.Eps * norm; r.Objective > other+slack {
			t.Fatalf("objective %g, OPP's is %g", r.Objective, other)
		}
	})
}

// residualOf is Σ_i ‖A_i G_i − mean‖².
func residualOf(a, g []*mat.Dense) float64 {
	x := collaboration(a, g)
	mean := mat.DenseCopyOf(x[0])
	for _, xi := range x[1:] {
		mean.Add(mean, xi)
	}
	mean.Scale(1/float64(len(x)), mean)
	sum := 0.0
	for _, xi := range x {
		var d mat.Dense
		d.Sub(xi, mean)
		sum += math.Pow(mat.Norm(&d, 2), 2)
	}
	return sum
}

// TestProcrustesConcordance checks that under SameSpan-Orth all F_i G_i are equal.
// GOPP and Consensus begin at the answer, so their figures are as exact.
func TestProcrustesConcordance(t *testing.T) {
	for _, sz := range sizes() {
		w := newWorld(t, sz, true)
		for _, method := range procrustes {
			for _, solver := range exactSolvers[method] {
				r := run(t, method, w.reps, align.Options{Dim: sz.l, Solver: solver})
				tol := w.tolerance(t, r)
				first := mul(w.bases[0], r.G[0])
				for i := range w.bases {
					if e := difference(mul(w.bases[i], r.G[i]), first); e > tol {
						t.Errorf("%s, %s %s: F_%d G_%d differs from F_1 G_1 by %g, bound %g", w.name, method, solver, i+1, i+1, e, tol)
					}
					// The figure compares two smallest singular values of products.
					if math.Abs(r.Overlap[i]-1) > tol*r.Conds[i] {
						t.Errorf("%s, %s: overlap of party %d is %g, want 1 for equal spans", w.name, method, i+1, r.Overlap[i])
					}
				}
				if len(r.Warnings) != 0 {
					t.Errorf("%s, %s: warnings %q", w.name, method, r.Warnings)
				}
			}
		}
	}
}

// TestProcrustesInvariance checks that A_i → A_i E_i with orthogonal E_i, and
// another order of the parties, change A_i G_i by one common orthogonal matrix at
// most: all products of two A_i G_i stay.
func TestProcrustesInvariance(t *testing.T) {
	src := source(31)
	for _, c := range iteratedCases(t) {
		if c.Spread != 0.5 || c.Rows > 100 {
			continue
		}
		a := c.reps()
		var turned []*mat.Dense
		for i := len(a) - 1; i >= 0; i-- {
			_, l := a[i].Dims()
			turned = append(turned, mul(a[i], linalg.Haar(l, src)))
		}
		for _, method := range procrustes {
			if method != "consensus" && slices.Min(c.Cols) != slices.Max(c.Cols) {
				continue
			}
			opt := align.Options{Tol: 1e-14}
			r, q := run(t, method, a, opt), run(t, method, turned, opt)
			if math.Abs(r.Objective-q.Objective) > 1e-9*r.Objective {
				t.Errorf("%s, %s: objective %.12g and %.12g", c.Name, method, r.Objective, q.Objective)
			}
			slices.Reverse(q.G)
			back := slices.Clone(turned)
			slices.Reverse(back)
			x, y := collaboration(a, r.G), collaboration(back, q.G)
			for i := range x {
				for j := range x {
					// The objective is exact to 1e-14 or so, and flat: the point to its root,
					// 1e-7, times the ratio of the curvatures.
					if e := apart(mul(x[i], x[j].T()), mul(y[i], y[j].T())); e > 1e-5 {
						t.Errorf("%s, %s: the product of parties %d and %d changes by %g", c.Name, method, i+1, j+1, e)
					}
				}
			}
		}
	}
}

// TestProcrustesDescent checks that the objective never rises from one iteration
// to the next, with and without acceleration, and that the end is stationary: the
// tangent part of A_iᵀZ vanishes.
func TestProcrustesDescent(t *testing.T) {
	for _, c := range iteratedCases(t) {
		if c.Method == "rdp" {
			continue
		}
		a := c.reps()
		for _, plain := range []bool{true, false} {
			last := math.Inf(1)
			for n := 1; n <= 12; n++ {
				r := run(t, c.Method, a, align.Options{Dim: c.Dim, Plain: plain, MaxIter: n})
				if r.Iterations > n {
					t.Errorf("%s: %d iterations, the limit is %d", c.Name, r.Iterations, n)
				}
				if r.Objective > last*(1+1e-12) { // rounding of the figure
					t.Errorf("%s, plain %t: iteration %d raises the objective from %g to %g", c.Name, plain, n, last, r.Objective)
				}
				if !r.Converged && !strings.Contains(strings.Join(r.Warnings, ";"), "still fell") {
					t.Errorf("%s: not at an end and no word of it: %q", c.Name, r.Warnings)
				}
				last = r.Objective
			}
		}
		r := run(t, c.Method, a, align.Options{Dim: c.Dim, Tol: 1e-14})
		x := collaboration(a, r.G)
		z := mat.DenseCopyOf(x[0])
		for _, xi := range x[1:] {
			z.Add(z, xi)
		}
		for i, g := range r.G {
			m := mul(a[i].T(), z)
			// The objective ends to 1e-14 or so of itself, its slope to the root.
			if e := mat.Norm(manifold.New(g.Dims()).Tangent(g, m), 2); e > 1e-5*mat.Norm(m, 2) {
				t.Errorf("%s: the gradient at the end is %g of %g", c.Name, e, mat.Norm(m, 2))
			}
		}
	}
}

// TestConsensusStarts checks what random starts reach: at d = 1.5 l one value to
// 1e-6, and at d = l none that is better than what the method reports, which
// tries five by itself.
func TestConsensusStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: many starts")
	}
	for _, spread := range []float64{0.5, 1, 2} {
		c := iteratedCase{Method: "consensus", Kind: "normal", Rows: 64, Features: 64, Cols: slices.Repeat([]int{10}, 10), Spread: spread, Seed: 41}
		a := c.reps()
		best := run(t, "consensus", a, align.Options{})
		if best.Dim != 15 || best.Start != "spectral" {
			t.Errorf("default dimension %d, start %s, want 15 and spectral", best.Dim, best.Start)
		}
		low := run(t, "consensus", a, align.Options{Dim: 10})
		for k := range byte(10) {
			src := source(k)
			var init []*mat.Dense
			for _, l := range c.Cols {
				init = append(init, manifold.New(l, 15).Random(src))
			}
			r := run(t, "consensus", a, align.Options{Init: init})
			if r.Start != "given" || !r.Converged {
				t.Errorf("start %s, converged %t", r.Start, r.Converged)
			}
			if e := math.Abs(r.Objective-best.Objective) / best.Objective; e > 1e-6 {
				t.Errorf("spread %g: random start %d reaches %.9g, the spectral one %.9g", spread, k, r.Objective, best.Objective)
			}
			if k < 5 {
				for i, l := range c.Cols {
					init[i] = manifold.New(l, 10).Random(src)
				}
				alone := run(t, "consensus", a, align.Options{Dim: 10, Starts: -1})
				// The first of starts that agree to the tolerance, 1e-10, is taken.
				if alone.Start != "spectral" || low.Objective > alone.Objective*(1+1e-9) {
					t.Errorf("spread %g: %s reaches %g, with further starts %g", spread, alone.Start, alone.Objective, low.Objective)
				}
			}
		}
		many := run(t, "consensus", a, align.Options{Dim: 10, Starts: 20, Source: source(42)})
		t.Logf("spread %g: d 15 %.9g in %d; d 10 %s %.9g in %d, of 21 starts %.9g", spread, best.Objective, best.Iterations, low.Start, low.Objective, low.Iterations, many.Objective)
	}
}

// TestBlind checks that orthogonal spans are found and warned of: parties with
// disjoint features under an orthonormal anchor have nothing in common, and
// parties that share only a part are blind in the rest.
func TestBlind(t *testing.T) {
	const m = 8
	anchor := linalg.Haar(m, source(1))
	anchor.Scale(math.Sqrt(m), anchor)
	pick := func(columns ...int) *mat.Dense {
		f := mat.NewDense(m, len(columns), nil)
		for j, c := range columns {
			f.Set(c, j, 1)
		}
		return mul(anchor, f, linalg.Haar(len(columns), source(2)))
	}
	for _, method := range procrustes {
		for _, c := range []struct {
			name  string
			a     []*mat.Dense
			blind int
		}{
			{"disjoint", []*mat.Dense{pick(0, 1), pick(2, 3), pick(4, 5)}, 3},
			{"one direction", []*mat.Dense{pick(0, 1), pick(0, 1), pick(0, 5)}, 1},
			{"the same", []*mat.Dense{pick(0, 1), pick(0, 1), pick(0, 1)}, 0},
		} {
			r := run(t, method, c.a, align.Options{Dim: 2})
			warned := 0
			for _, w := range r.Warnings {
				if strings.Contains(w, "party ") {
					warned++
				}
			}
			if warned != c.blind {
				t.Errorf("%s, %s: %d warnings, want %d: %q, overlaps %g", method, c.name, warned, c.blind, r.Warnings, r.Overlap)
			}
		}
	}
}
