package align_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

var lsTargets = []align.Target{align.Identity, align.Sigma, align.Random}

// TestLSNormalEquations checks over shapes, dimensions and targets that G_i is
// the least-squares solution of least norm: A_iᵀ(A_i G_i − Z) = 0 for the Z that
// the top left singular vectors give, and G_i in the row space of A_i.
func TestLSNormalEquations(t *testing.T) {
	for _, s := range shapes(t) {
		rows, _ := s.a[0].Dims()
		sum := 0
		for _, c := range s.cols() {
			sum += c
		}
		for _, target := range lsTargets {
			for _, d := range []int{1, (1 + min(rows, sum)) / 2, min(rows, sum)} {
				r := run(t, "ls", s.a, align.Options{Dim: d, Target: target, Source: source(1)})
				if r.Dim != d || len(r.Singular) != min(rows, sum) {
					t.Fatalf("%s: dimension %d, %d singular values", s.name, r.Dim, len(r.Singular))
				}
				z := lsTarget(t, s.a, d, target)
				for i, ai := range s.a {
					// eps times the size of the terms of the product, with the l a terms of
					// each; G is large by the condition number when A_i is ill-conditioned.
					norm := mat.Norm(ai, 2)
					tol := float64(8*(rows+sum)) * linalg.Eps * norm * (norm*mat.Norm(r.G[i], 2) + mat.Norm(z, 2))
					var off mat.Dense
					off.Sub(mul(ai, r.G[i]), z)
					if e := mat.Norm(mul(ai.T(), &off), 2); e > tol {
						t.Errorf("%s, d %d, %s: A_%dᵀ(A G − Z) is %g, bound %g", s.name, d, target, i+1, e, tol)
					}
					p, _, err := linalg.Pinv(ai, 0)
					if err != nil {
						t.Fatal(err)
					}
					if e := mat.Norm(r.G[i], 2); e > 0 {
						if d := difference(mul(p, ai, r.G[i]), r.G[i]); d > float64(8*(rows+sum))*linalg.Eps*math.Max(1, r.Conds[i])*e {
							t.Errorf("%s: G_%d is not of least norm: %g", s.name, i+1, d)
						}
					}
				}
			}
		}
	}
}

// lsTarget makes Z = U_d R from the full decomposition of W.
func lsTarget(t *testing.T, a []*mat.Dense, d int, target align.Target) *mat.Dense {
	t.Helper()
	u, s, err := linalg.SVDLeft(stack(a))
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := u.Dims()
	z := mat.DenseCopyOf(u.Slice(0, rows, 0, d))
	switch target {
	case align.Sigma:
		return mul(z, mat.NewDiagDense(d, s[:d]))
	case align.Random:
		return mul(z, linalg.Uniform(d, d, source(1)))
	}
	return z
}

func stack(a []*mat.Dense) *mat.Dense {
	w := mat.DenseCopyOf(a[0])
	for _, x := range a[1:] {
		var next mat.Dense
		next.Augment(w, x)
		w = &next
	}
	return w
}

// TestLSConcordance checks [nosaka2025], theorem III.3: with F_i = V R_i of one span, R_i
// invertible and Rank(A) = m, LS is weakly concordant for every invertible R:
// all F_i G_i are equal and all G_i invertible.
func TestLSConcordance(t *testing.T) {
	for _, sz := range sizes() {
		w := newWorld(t, sz, false)
		for _, target := range lsTargets {
			r := run(t, "ls", w.reps, align.Options{Target: target, Source: source(1)})
			tol := w.tolerance(t, r)
			first := mul(w.bases[0], r.G[0])
			for i := range w.bases {
				if e := apart(mul(w.bases[i], r.G[i]), first); e > tol {
					t.Errorf("%s, %s: F_%d G_%d differs from F_1 G_1 by %g, bound %g", w.name, target, i+1, i+1, e, tol)
				}
				if rank, err := linalg.Rank(r.G[i], 0); err != nil || rank != sz.l {
					t.Errorf("%s, %s: G_%d has rank %d, %v, want %d", w.name, target, i+1, rank, err, sz.l)
				}
			}
			scale := math.Pow(mat.Norm(mul(w.anchor, first), 2), 2)
			if r.Residual > tol*tol*scale*float64(sz.c) {
				t.Errorf("%s, %s: residual %g of %g for concordant G", w.name, target, r.Residual, scale)
			}
			if len(r.Warnings) != 0 {
				t.Errorf("%s, %s: warnings %q", w.name, target, r.Warnings)
			}
		}
	}
}

// TestLSInvariance checks that A_i G_i is unchanged by A_i → A_i E_i with
// orthogonal E_i, whatever the spans, and that under equal spans an invertible
// E_i leaves the span of A_i G_i unchanged.
func TestLSInvariance(t *testing.T) {
	src := source(3)
	for _, s := range shapes(t) {
		if s.deficient {
			continue
		}
		var turned []*mat.Dense
		for _, x := range s.a {
			_, l := x.Dims()
			turned = append(turned, mul(x, linalg.Haar(l, src)))
		}
		r, q := run(t, "ls", s.a, align.Options{}), run(t, "ls", turned, align.Options{})
		tol := gapTolerance(s.a, r)
		x, y := collaboration(s.a, r.G), collaboration(turned, q.G)
		for i := range x {
			if e := columnsApart(x[i], y[i]); e > tol {
				t.Errorf("%s: orthogonal E changes A_%d G_%d by %g, bound %g", s.name, i+1, i+1, e, tol)
			}
		}
	}
	for _, sz := range sizes() {
		w := newWorld(t, sz, false)
		var mixed []*mat.Dense
		for _, x := range w.reps {
			mixed = append(mixed, mul(x, linalg.Normal(sz.l, sz.l, src)))
		}
		r, q := run(t, "ls", w.reps, align.Options{}), run(t, "ls", mixed, align.Options{})
		// U_l spans the common column space in both: compare projectors.
		tol := w.tolerance(t, r) + w.tolerance(t, q)
		x, y := collaboration(w.reps, r.G), collaboration(mixed, q.G)
		for i := range x {
			if e := difference(mul(x[i], x[i].T()), mul(y[i], y[i].T())); e > tol {
				t.Errorf("%s: invertible E changes the span of A_%d G_%d by %g, bound %g", w.name, i+1, i+1, e, tol)
			}
		}
	}
}

// TestLSPermutation checks that the order of the parties does not matter.
func TestLSPermutation(t *testing.T) {
	for _, s := range shapes(t) {
		if s.deficient {
			continue
		}
		back := slices.Clone(s.a)
		slices.Reverse(back)
		r, q := run(t, "ls", s.a, align.Options{}), run(t, "ls", back, align.Options{})
		tol := gapTolerance(s.a, r)
		x, y := collaboration(s.a, r.G), collaboration(back, q.G)
		for i := range x {
			if e := columnsApart(x[i], y[len(y)-1-i]); e > tol {
				t.Errorf("%s: another order changes A_%d G_%d by %g, bound %g", s.name, i+1, i+1, e, tol)
			}
		}
	}
}

// gapTolerance bounds how far the columns of A_i G_i may move when W is turned
// from the right: singular vectors are exact to eps·s₁ over the distance to
// the next singular value [davis1970], with the number of elements of a
// sum and a factor of 8 for the constants.
func gapTolerance(a []*mat.Dense, r *align.Result) float64 {
	rows, _ := a[0].Dims()
	gap := r.Singular[0]
	for j := range r.Dim {
		if j+1 < len(r.Singular) {
			gap = math.Min(gap, r.Singular[j]-r.Singular[j+1])
		}
	}
	return 8 * float64(rows+len(r.Singular)) * linalg.Eps * r.Singular[0] / gap * slices.Max(r.Conds)
}

// columnsApart is the largest difference of two matrices when the sign of each
// column is free.
func columnsApart(x, y *mat.Dense) float64 {
	worst := 0.0
	_, cols := x.Dims()
	for j := range cols {
		var plus, minus mat.VecDense
		plus.AddVec(x.ColView(j), y.ColView(j))
		minus.SubVec(x.ColView(j), y.ColView(j))
		worst = math.Max(worst, math.Min(mat.Norm(&plus, 2), mat.Norm(&minus, 2)))
	}
	return worst
}

func TestLSWarnings(t *testing.T) {
	src := source(5)
	a := []*mat.Dense{linalg.Normal(12, 3, src), linalg.Normal(12, 3, src)}
	a[1].SetCol(2, mat.Col(nil, 0, a[1]))
	r := run(t, "ls", a, align.Options{Dim: 6})
	if !slices.Equal(r.Ranks, []int{3, 2}) {
		t.Errorf("ranks %d, want 3 and 2", r.Ranks)
	}
	want := []string{
		"all anchor representations together have rank 5, below the dimension 6: the last 1 columns",
		"party 2: A_2 has rank 2 of 3 columns: G_2 is the solution of least norm",
	}
	for i, w := range want {
		if i >= len(r.Warnings) || !strings.Contains(r.Warnings[i], w) {
			t.Errorf("warnings %q, want %q", r.Warnings, w)
		}
	}
	graded := linalg.Normal(12, 3, src)
	for i := range 12 {
		graded.Set(i, 2, graded.At(i, 0)+1e-9*graded.At(i, 2))
	}
	r = run(t, "ls", []*mat.Dense{a[0], graded}, align.Options{})
	if r.Ranks[1] != 3 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "party 2: A_2 has condition number") {
		t.Errorf("ill-conditioned A_2: ranks %d, warnings %q", r.Ranks, r.Warnings)
	}
}
