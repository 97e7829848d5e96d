package align_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// mixed returns parties of one noisy span, W having singular values that fall.
func mixed(rows, l, c int) []*mat.Dense {
	return iteratedCase{Kind: "uniform", Rows: rows, Features: 2 * l, Cols: repeat(l, c), Spread: 0.5, Seed: 61}.reps()
}

func repeat(l, c int) []int {
	cols := make([]int, c)
	for i := range cols {
		cols[i] = l
	}
	return cols
}

// TestSolvers checks that all exact solvers of a method agree, on shapes where W
// is tall and wide and large enough for each to be chosen.
func TestSolvers(t *testing.T) {
	for _, s := range []struct{ rows, l, c int }{{200, 6, 4}, {40, 6, 12}, {60, 12, 5}} {
		a := mixed(s.rows, s.l, s.c)
		for _, method := range align.Methods() {
			var first *align.Result
			for _, solver := range exactSolvers[method] {
				r := run(t, method, a, align.Options{Solver: solver})
				if solver != "" && r.Solver != solver {
					t.Errorf("%s: solver %s, asked for %s", method, r.Solver, solver)
				}
				if first == nil {
					first = r
					continue
				}
				// Closed forms agree to rounding times the conditions, about 100² here;
				// iterations end to 1e-10 of the objective.
				if e := math.Abs(r.Objective-first.Objective) / first.Objective; e > 1e-9 {
					t.Errorf("%d × %d, %d parties, %s: %s differs from %s by %g in the objective", s.rows, s.l, s.c, method, solver, first.Solver, e)
				}
				if method == "gopp" || method == "consensus" || method == "rdp" {
					continue
				}
				for i := range a {
					if e := apart(r.G[i], first.G[i]); e > 1e-9 {
						t.Errorf("%d × %d, %d parties, %s: %s differs from %s by %g in G_%d", s.rows, s.l, s.c, method, solver, first.Solver, e, i+1)
					}
				}
			}
		}
	}
}

// TestGramRefused checks that the Gram matrix gives way to the singular value
// decomposition where squaring the condition number would cost digits, and that
// the result is the same as by asking for the latter.
func TestGramRefused(t *testing.T) {
	src := source(62)
	a := []*mat.Dense{linalg.Normal(80, 20, src), linalg.Normal(80, 20, src)}
	scale := make([]float64, 20)
	for j := range scale {
		scale[j] = math.Pow(10, -float64(j)/2) // to 3e-10
	}
	for i := range a {
		a[i] = mul(a[i], mat.NewDiagDense(20, scale))
	}
	for _, solver := range []string{"", "gram"} {
		r, want := run(t, "ls", a, align.Options{Solver: solver}), run(t, "ls", a, align.Options{Solver: "svd"})
		if r.Solver != "svd" {
			t.Errorf("solver %s at a condition number of 1e9", r.Solver)
		}
		for i := range a {
			if e := apart(r.G[i], want.G[i]); e > 0 {
				t.Errorf("G_%d differs by %g", i+1, e)
			}
		}
	}
}

// TestRandomized checks that the randomized solvers find as much as 99.9% of what
// the exact ones do on a spectrum that falls, that on an exact low rank they are
// exact, and that a source makes the draw.
func TestRandomized(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: large parties")
	}
	energy := func(s []float64) float64 {
		sum := 0.0
		for _, x := range s {
			sum += x * x
		}
		return sum
	}
	for _, s := range []struct{ rows, l, c int }{{300, 8, 20}, {100, 8, 40}, {30, 3, 3}, {3000, 8, 12}} {
		a := mixed(s.rows, s.l, s.c)
		name := fmt.Sprintf("%d × %d, %d parties", s.rows, s.l, s.c)
		exact, r := run(t, "ls", a, align.Options{}), run(t, "ls", a, align.Options{Solver: "randomized"})
		if e := energy(r.Singular) / energy(exact.Singular[:s.l]); e < 0.999 || e > 1+1e-12 {
			t.Errorf("%s: the range finder captures %g of the energy", name, e)
		}
		if r.Solver != "randomized" || len(r.Singular) != s.l {
			t.Errorf("%s: solver %s, %d singular values", name, r.Solver, len(r.Singular))
		}
		g, q := run(t, "gep", a, align.Options{}), run(t, "gep", a, align.Options{Solver: "randomized"})
		// A Ritz value is never better than the eigenvalue; λ is small beside 2c.
		if q.Objective < g.Objective*(1-1e-9) || q.Objective > g.Objective+1e-3*2*float64(s.c*s.l) {
			t.Errorf("%s: objective of gep %g, exact %g", name, q.Objective, g.Objective)
		}
		same, other := run(t, "ls", a, align.Options{Solver: "randomized", Source: source(1)}), run(t, "ls", a, align.Options{Solver: "randomized", Source: source(1)})
		if !mat.Equal(same.G[0], other.G[0]) {
			t.Errorf("%s: one seed, two results", name)
		}
	}
	// The default is by cost.
	for _, s := range []struct {
		rows, l, c int
		want       [2]string // of ls and gep
	}{{40, 3, 5, [2]string{"svd", "qr"}}, {500, 10, 60, [2]string{"gram", "qr"}}, {900, 10, 90, [2]string{"randomized", "randomized"}}, {900, 120, 8, [2]string{"gram", "qr"}}} {
		a := mixed(s.rows, s.l, s.c)
		if l, g := run(t, "ls", a, align.Options{}).Solver, run(t, "gep", a, align.Options{}).Solver; l != s.want[0] || g != s.want[1] {
			t.Errorf("%d × %d, %d parties: solvers %s and %s, want %v", s.rows, s.l, s.c, l, g, s.want)
		}
	}
	for _, sz := range sizes() {
		w := newWorld(t, sz, false) // W of rank l: the range finder finds all of it
		exact, r := run(t, "ls", w.reps, align.Options{}), run(t, "ls", w.reps, align.Options{Solver: "randomized"})
		tol := w.tolerance(t, r)
		x, y := collaboration(w.reps, exact.G), collaboration(w.reps, r.G)
		for i := range x {
			if e := difference(mul(x[i], x[i].T()), mul(y[i], y[i].T())); e > tol {
				t.Errorf("%s: randomized differs by %g, bound %g", w.name, e, tol)
			}
		}
	}
}

// TestRandomizedExhausted checks that the range finder stays orthonormal, and so
// exact, where W has fewer directions than it looks for and rounding supplies no
// others: anchor rows that are zero, columns that are zero, parties all alike.
func TestRandomizedExhausted(t *testing.T) {
	const rows, l, c = 150, 6, 20
	src := source(63)
	for name, a := range map[string]*mat.Dense{
		"zero rows": stackRows([]*mat.Dense{linalg.Normal(9, l, src), mat.NewDense(rows-9, l, nil)}),
		"unit":      mat.DenseCopyOf(stackRows([]*mat.Dense{eye(l), mat.NewDense(rows-l, l, nil)})),
		"rank 2":    mat.DenseCopyOf(mul(stackRows([]*mat.Dense{eye(l), mat.NewDense(rows-l, l, nil)}), mat.NewDiagDense(l, []float64{1, 1, 0, 0, 0, 0}))),
	} {
		parties := make([]*mat.Dense, c)
		for i := range parties {
			parties[i] = a
		}
		for _, method := range []string{"ls", "opp", "gep"} {
			exact := exactSolvers[method][0]
			r, want := run(t, method, parties, align.Options{Solver: "randomized"}), run(t, method, parties, align.Options{Solver: exact})
			// 2c − 2s² of GEP and c l of the others are made of sums of c l numbers of
			// size 1; those of OPP of size ‖A_i‖² beside them.
			size := float64(c*l) + float64(c)*mat.Norm(a, 2)*mat.Norm(a, 2)
			if e := math.Abs(r.Objective - want.Objective); e > 1e-12*size {
				t.Errorf("%s, %s: objective %g, exact %g", name, method, r.Objective, want.Objective)
			}
			if len(r.Warnings) != len(want.Warnings) {
				t.Errorf("%s, %s: warnings %q, those of %s %q", name, method, r.Warnings, exact, want.Warnings)
			}
		}
	}
}

// TestRankOfAll checks that the warning of the iterated methods names the rank
// of W, though they know it from WᵀW only.
func TestRankOfAll(t *testing.T) {
	const rows, l, c, rank = 300, 8, 5, 8
	src := source(64)
	span := linalg.Normal(rows, rank, src)
	parties := make([]*mat.Dense, c)
	for i := range parties {
		parties[i] = mul(span, linalg.Normal(rank, l, src))
	}
	for _, solver := range []string{"block", "direct"} {
		r := run(t, "consensus", parties, align.Options{Solver: solver})
		if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], "have rank 8, below the dimension 12") {
			t.Errorf("%s: warnings %q", solver, r.Warnings)
		}
	}
}
