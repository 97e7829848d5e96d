package align_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// blockDiagonal returns D = blockdiag(A_iᵀA_i) and S = 2cD − 2WᵀW.
func blockDiagonal(a []*mat.Dense) (d, s *mat.Dense) {
	w := stack(a)
	k := mul(w.T(), w)
	n, _ := k.Dims()
	d = mat.NewDense(n, n, nil)
	at := 0
	for _, ai := range a {
		_, c := ai.Dims()
		d.Slice(at, at+c, at, at+c).(*mat.Dense).Copy(k.Slice(at, at+c, at, at+c))
		at += c
	}
	s = new(mat.Dense)
	s.Scale(float64(len(a)), d)
	s.Sub(s, k)
	s.Scale(2, s)
	return d, s
}

// TestGEPEigen checks over shapes, dimensions and solvers what makes G the
// solution: VᵀDV = I, SV = DV diag(λ), 0 ≤ λ_1 ≤ … ≤ λ_d ≤ 2c, and no other V
// with VᵀDV = I has a smaller sum [fan1949].
func TestGEPEigen(t *testing.T) {
	src := source(21)
	for _, sh := range shapes(t) {
		rows, _ := sh.a[0].Dims()
		sum := sumOf(sh.cols())
		d, s := blockDiagonal(sh.a)
		top := 2 * float64(len(sh.a))
		for _, solver := range []string{"qr", "direct", "randomized"} {
			for _, dim := range slices.Compact([]int{1, (1 + min(rows, sum)) / 2, min(rows, sum)}) {
				name := fmt.Sprintf("%s, %s, d %d", sh.name, solver, dim)
				r := run(t, "gep", sh.a, align.Options{Dim: dim, Solver: solver})
				if r.Solver != solver || len(r.Eigenvalues) != dim {
					t.Fatalf("%s: solver %s, %d eigenvalues", name, r.Solver, len(r.Eigenvalues))
				}
				v := stackRows(r.G)
				gram := mul(v.T(), d, v)
				worst := 1.0
				for _, c := range r.Conds {
					worst = math.Max(worst, c)
				}
				// eps for each of the terms of the sums, times the condition of A_i,
				// squared for the solver that forms A_iᵀA_i (as qr does where it can afford
				// it).
				tol := 8 * float64(rows+sum) * linalg.Eps * worst * worst
				live := 0 // columns that are not zero for want of rank
				for j := range dim {
					if mat.Norm(v.ColView(j), 2) > 0 {
						live++
						gram.Set(j, j, gram.At(j, j)-1)
					}
				}
				if e := mat.Norm(gram, 2); e > tol*float64(dim) {
					t.Errorf("%s: VᵀDV differs from I by %g, bound %g", name, e, tol)
				}
				if live < dim && !sh.deficient {
					t.Errorf("%s: %d columns of %d are zero", name, dim-live, dim)
				}
				for j, x := range r.Eigenvalues {
					if x < 0 || x > top || j > 0 && x < r.Eigenvalues[j-1]-tol*top {
						t.Errorf("%s: eigenvalues %g", name, r.Eigenvalues)
					}
				}
				off := mul(s, v)
				off.Sub(off, mul(d, v, mat.NewDiagDense(dim, r.Eigenvalues)))
				size := mat.Norm(d, 2) * top * math.Max(1, mat.Norm(v, 2))
				// With the range finder's basis as large as the space it is exact, too.
				if e := mat.Norm(off, 2); e > tol*size && live == dim {
					t.Errorf("%s: SV differs from DVΛ by %g, bound %g", name, e, tol*size)
				}
				if sh.deficient {
					continue
				}
				for range 5 {
					x := linalg.Normal(sum, dim, src)
					var chol mat.Cholesky
					if !chol.Factorize(mat.NewSymDense(dim, mul(x.T(), d, x).RawMatrix().Data)) {
						continue
					}
					var inv mat.Dense
					var u mat.TriDense
					chol.UTo(&u)
					if err := inv.Inverse(&u); err != nil {
						continue
					}
					x = mul(x, &inv)
					if e := mat.Trace(mul(x.T(), s, x)); r.Objective > e+tol*top*float64(dim)*chol.Cond() { // XᵀDX = I to eps·cond
						t.Errorf("%s: objective %g, a random point has %g", name, r.Objective, e)
					}
				}
			}
		}
	}
}

func stackRows(g []*mat.Dense) *mat.Dense {
	v := mat.DenseCopyOf(g[0])
	for _, x := range g[1:] {
		var next mat.Dense
		next.Stack(v, x)
		v = &next
	}
	return v
}

// TestGEPInvariance checks that A_i → A_i E_i with any invertible E_i leaves
// A_i G_i as it is, for every solver.
func TestGEPInvariance(t *testing.T) {
	src := source(22)
	for _, s := range shapes(t) {
		if s.deficient {
			continue
		}
		var turned []*mat.Dense
		for _, x := range s.a {
			_, l := x.Dims()
			turned = append(turned, mul(x, linalg.Normal(l, l, src)))
		}
		for _, solver := range []string{"qr", "direct"} {
			opt := align.Options{Solver: solver}
			r, q := run(t, "gep", s.a, opt), run(t, "gep", turned, opt)
			full := run(t, "gep", s.a, align.Options{Solver: solver, Dim: min(sumOf(s.cols()), s.a[0].RawMatrix().Rows)})
			gap := 2 * float64(len(s.a))
			for j := range r.Dim {
				if j+1 < len(full.Eigenvalues) {
					gap = math.Min(gap, full.Eigenvalues[j+1]-full.Eigenvalues[j])
				}
			}
			cond := math.Max(slices.Max(r.Conds), slices.Max(q.Conds))
			// Eigenvectors move by the perturbation, eps times the terms and the square
			// of the condition, over the gap [davis1970].
			rows, _ := s.a[0].Dims()
			tol := 32 * float64(rows+sumOf(s.cols())) * linalg.Eps * cond * cond * 2 * float64(len(s.a)) / gap
			x, y := collaboration(s.a, r.G), collaboration(turned, q.G)
			for i := range x {
				if e := columnsApart(x[i], y[i]); e > tol {
					t.Errorf("%s, %s: invertible E changes A_%d G_%d by %g, bound %g", s.name, solver, i+1, i+1, e, tol)
				}
			}
		}
	}
}

// TestGEPConcordance checks that under equal spans all λ are 0, all F_i G_i are
// equal and invertible, and all weights are 1.
func TestGEPConcordance(t *testing.T) {
	for _, sz := range sizes() {
		w := newWorld(t, sz, false)
		for _, solver := range []string{"qr", "direct", "randomized"} {
			r := run(t, "gep", w.reps, align.Options{Solver: solver, Weighting: true})
			tol := w.tolerance(t, r)
			if solver == "direct" {
				tol *= slices.Max(r.Conds)
			}
			for _, x := range r.Eigenvalues {
				if x > 2*float64(sz.c)*tol {
					t.Errorf("%s, %s: eigenvalues %g, want 0", w.name, solver, r.Eigenvalues)
				}
			}
			for _, x := range r.Weights {
				if x != 1 {
					t.Errorf("%s, %s: weights %g, want 1", w.name, solver, r.Weights)
				}
			}
			first := mul(w.bases[0], r.G[0])
			for i := range w.bases {
				if e := apart(mul(w.bases[i], r.G[i]), first); e > tol {
					t.Errorf("%s, %s: F_%d G_%d differs from F_1 G_1 by %g, bound %g", w.name, solver, i+1, i+1, e, tol)
				}
				if rank, err := linalg.Rank(r.G[i], 0); err != nil || rank != sz.l {
					t.Errorf("%s, %s: G_%d has rank %d, %v, want %d", w.name, solver, i+1, rank, err, sz.l)
				}
			}
		}
	}
}

func TestGEPWeighting(t *testing.T) {
	src := source(23)
	a := []*mat.Dense{linalg.Normal(30, 4, src), linalg.Normal(30, 4, src), linalg.Normal(30, 4, src)}
	r, w := run(t, "gep", a, align.Options{}), run(t, "gep", a, align.Options{Weighting: true})
	if r.Weights != nil {
		t.Errorf("weights %g without weighting", r.Weights)
	}
	l := r.Eigenvalues
	for j, x := range w.Weights {
		want := math.Exp(-(l[j] - l[0]) / (l[3] - l[0]))
		if math.Abs(x-want) > 4*linalg.Eps {
			t.Errorf("weight %d is %g, want %g", j+1, x, want)
		}
		for i := range a {
			for k := range 4 {
				if e := math.Abs(w.G[i].At(k, j) - want*r.G[i].At(k, j)); e > 8*linalg.Eps {
					t.Errorf("G_%d, column %d is not scaled by its weight: %g", i+1, j+1, e)
				}
			}
		}
	}
	if w.Weights[0] != 1 || math.Abs(w.Weights[3]-math.Exp(-1)) > 4*linalg.Eps {
		t.Errorf("weights %g, want 1 … 1/e", w.Weights)
	}
	if w.Objective != r.Objective || w.Residual >= r.Residual {
		t.Errorf("objective %g and %g, residual %g and %g", w.Objective, r.Objective, w.Residual, r.Residual)
	}
}

// TestGEPWeightingBorder holds where the columns count as equally good: where λ_d − λ_1
// is at most 1e-10·2c. Two parties of three have one plane, and that of the third is
// turned by an angle θ about the first axis:
//
//	λ_1 = 0,  λ_2 = 3 − √(1 + 8 cos²θ) = 4/3 sin²θ + O(θ⁴)
func TestGEPWeightingBorder(t *testing.T) {
	for _, s := range []struct{ width, weight float64 }{
		{5.5e-10, 1}, // above 1e-10 (2 + c), c = 3
		{6.5e-10, math.Exp(-1)},
	} {
		sin := math.Sqrt(s.width * 3 / 4)
		plane := mat.NewDense(4, 2, []float64{1, 0, 0, 1, 0, 0, 0, 0})
		turned := mat.NewDense(4, 2, []float64{1, 0, 0, math.Sqrt(1 - sin*sin), 0, sin, 0, 0})
		for _, solver := range []string{"qr", "direct"} {
			r := run(t, "gep", []*mat.Dense{plane, plane, turned}, align.Options{Solver: solver, Weighting: true})
			if e := math.Abs(r.Eigenvalues[1] - r.Eigenvalues[0] - s.width); e > 1e-13 {
				t.Fatalf("%s: λ_2 − λ_1 is off by %g of %g", solver, e, s.width)
			}
			if r.Weights[0] != 1 || math.Abs(r.Weights[1]-s.weight) > 1e-12 {
				t.Errorf("%s: weights %g for λ_2 − λ_1 = %g, want 1 and %g", solver, r.Weights, s.width, s.weight)
			}
		}
	}
}

// TestGEPDeficient checks the solution of least norm and what is said of it.
func TestGEPDeficient(t *testing.T) {
	src := source(24)
	a := []*mat.Dense{linalg.Normal(12, 3, src), linalg.Normal(12, 3, src)}
	a[1].SetCol(2, mat.Col(nil, 0, a[1]))
	for _, solver := range []string{"qr", "direct", "randomized"} {
		r := run(t, "gep", a, align.Options{Dim: 6, Solver: solver})
		if !slices.Equal(r.Ranks, []int{3, 2}) {
			t.Errorf("%s: ranks %d, want 3 and 2", solver, r.Ranks)
		}
		for i, w := range []string{
			"together have 5 independent columns, below the dimension 6: the last 1 columns of G are zero",
			"party 2: A_2 has rank 2 of 3 columns: G_2 is the solution of least norm",
		} {
			if i >= len(r.Warnings) || !strings.Contains(r.Warnings[i], w) {
				t.Errorf("%s: warnings %q, want %q", solver, r.Warnings, w)
			}
		}
		// Columns 1 and 3 of A_2 are equal: least norm shares their weight.
		for j := range 6 {
			if e := math.Abs(r.G[1].At(0, j) - r.G[1].At(2, j)); e > 1e-12 {
				t.Errorf("%s: G_2 is not of least norm: %g", solver, e)
			}
		}
	}
}
