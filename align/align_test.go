package align_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

func source(seed byte) *rand.ChaCha8 { return rand.NewChaCha8([32]byte{seed}) }

func mul(f ...mat.Matrix) *mat.Dense {
	p := mat.DenseCopyOf(f[0])
	for _, m := range f[1:] {
		var next mat.Dense
		next.Mul(p, m)
		p = &next
	}
	return p
}

// difference is the largest element of |a − b|.
func difference(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return math.Max(mat.Max(&d), -mat.Min(&d))
}

// apart is the largest difference relative to the largest element of b.
func apart(a, b mat.Matrix) float64 {
	return difference(a, b) / math.Max(mat.Max(b), -mat.Min(b))
}

func eye(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}

func run(t testing.TB, method string, a []*mat.Dense, opt align.Options) *align.Result {
	t.Helper()
	r, err := align.Run(method, a, opt)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	return r
}

// collaboration returns A_i G_i of every party.
func collaboration(a []*mat.Dense, g []*mat.Dense) []*mat.Dense {
	x := make([]*mat.Dense, len(a))
	for i := range a {
		x[i] = mul(a[i], g[i])
	}
	return x
}

// TestKnownAnswers compares with NumPy and SciPy (testdata/known.py) to 1e-8
// of the largest element. The cases have condition numbers below 100, so two
// exact codes agree to about 1e-12.
func TestKnownAnswers(t *testing.T) {
	data, err := os.ReadFile("testdata/known.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Cases []struct {
			Name, Method, Target string
			Dim                  int
			A, G                 [][][]float64
			Eigenvalues          []float64
			Residual, Objective  float64
		}
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range known.Cases {
		t.Run(c.Name, func(t *testing.T) {
			var a []*mat.Dense
			for _, x := range c.A {
				a = append(a, dense(x))
			}
			opt := align.Options{Dim: c.Dim, Target: align.Target(c.Target)}
			var want []*mat.Dense
			for _, g := range c.G {
				want = append(want, dense(g))
			}
			for _, solver := range exactSolvers[c.Method] {
				src := splitMix(5)
				opt.Solver, opt.Source = solver, &src
				r := run(t, c.Method, a, opt)
				if r.Method != c.Method || r.Dim != c.Dim || r.Target != align.Target(c.Target) {
					t.Errorf("result says %s, %d, %s", r.Method, r.Dim, r.Target)
				}
				scale := 0.0 // of the aligned anchors, for the two sums of squares
				for i := range want {
					scale += math.Pow(mat.Norm(mul(a[i], r.G[i]), 2), 2)
				}
				if c.Method == "gep" {
					// The eigenvalues lie between 0 and 2c.
					for j, x := range r.Eigenvalues {
						if math.Abs(x-c.Eigenvalues[j]) > 1e-8*2*float64(len(a)) {
							t.Errorf("%s: eigenvalue %d is %g, want %g", solver, j+1, x, c.Eigenvalues[j])
						}
					}
					scale *= 2 * float64(len(a))
					compareGEP(t, solver, a, r, want, c.Eigenvalues)
				} else {
					for i, g := range want {
						if e := apart(r.G[i], g); e > 1e-8 {
							t.Errorf("%s: G_%d differs by %g", solver, i+1, e)
						}
					}
				}
				if math.Abs(r.Residual-c.Residual) > 1e-8*scale {
					t.Errorf("%s: residual %g, want %g", solver, r.Residual, c.Residual)
				}
				if math.Abs(r.Objective-c.Objective) > 1e-8*scale {
					t.Errorf("%s: objective %g, want %g", solver, r.Objective, c.Objective)
				}
			}
		})
	}
}

// exactSolvers are the solvers that are exact to rounding; the empty one is the
// choice by cost.
var exactSolvers = map[string][]string{
	"ls":        {"", "svd", "gram"},
	"odc":       {"", "polar"},
	"opp":       {"", "svd", "gram"},
	"gep":       {"", "qr", "direct"},
	"gopp":      {"", "block", "direct"},
	"rdp":       {"", "block", "direct"},
	"consensus": {"", "block", "direct"},
}

// compareGEP compares the columns of G up to sign, to 1e-8 or to rounding over the
// distance to the next eigenvalue [davis1970]. Where all eigenvalues
// agree, A_i G_i are compared up to one orthogonal matrix, by their products.
func compareGEP(t *testing.T, solver string, a []*mat.Dense, r *align.Result, want []*mat.Dense, lambda []float64) {
	t.Helper()
	span := 2 * float64(len(a))
	if lambda[r.Dim-1]-lambda[0] < 1e-10*span {
		for i := range a {
			x, y := mul(a[i], r.G[i]), mul(a[0], want[0])
			if e := apart(mul(x, x.T()), mul(y, y.T())); e > 1e-8 {
				t.Errorf("%s: A_%d G_%d differs by %g beyond a turn", solver, i+1, i+1, e)
			}
		}
		return
	}
	for j := range r.Dim {
		gap := span
		if j > 0 {
			gap = math.Min(gap, lambda[j]-lambda[j-1])
		}
		if j+1 < len(lambda) {
			gap = math.Min(gap, lambda[j+1]-lambda[j])
		}
		var got, expected []float64
		largest := 0.0
		for i := range a {
			got, expected = append(got, mat.Col(nil, j, r.G[i])...), append(expected, mat.Col(nil, j, want[i])...)
		}
		plus, minus := 0.0, 0.0
		for k := range got {
			plus, minus = math.Max(plus, math.Abs(got[k]-expected[k])), math.Max(minus, math.Abs(got[k]+expected[k]))
			largest = math.Max(largest, math.Abs(expected[k]))
		}
		if e := math.Min(plus, minus) / largest; e > 1e-12*span/gap {
			t.Errorf("%s: column %d differs by %g at a gap of %g", solver, j+1, e, gap)
		}
	}
}

func dense(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, r := range rows {
		m.SetRow(i, r)
	}
	return m
}

// splitMix is SplitMix64, the word source that testdata/known.py has too.
type splitMix uint64

func (s *splitMix) Uint64() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// TestInput holds that every method refuses the same bad input, naming the
// party and the numbers.
func TestInput(t *testing.T) {
	src := source(1)
	n := func(r, c int) *mat.Dense { return linalg.Normal(r, c, src) }
	nan, inf := n(6, 2), n(6, 2)
	nan.Set(2, 1, math.NaN())
	inf.Set(5, 0, math.Inf(-1))
	huge := n(6, 2)
	huge.Scale(1e200, huge)
	small := n(6, 2)
	small.Scale(1e-160, small)
	for _, method := range align.Methods() {
		for _, c := range []struct {
			name string
			a    []*mat.Dense
			opt  align.Options
			want string
		}{
			{"no party", nil, align.Options{}, "at least one party"},
			{"nil", []*mat.Dense{n(6, 2), nil}, align.Options{}, "A_2 has no rows or no columns"},
			{"empty", []*mat.Dense{{}}, align.Options{}, "A_1 has no rows or no columns"},
			{"rows differ", []*mat.Dense{n(6, 2), n(6, 2), n(5, 2)}, align.Options{}, "A_3 has 5 rows and A_1 has 6"},
			{"wide", []*mat.Dense{n(3, 2), n(3, 4)}, align.Options{}, "A_2 has 4 columns, more than the 3 anchor rows"},
			{"NaN", []*mat.Dense{n(6, 2), nan}, align.Options{}, "A_2: linalg: element at row 3, column 2 is not a finite number"},
			{"infinity", []*mat.Dense{inf, n(6, 2)}, align.Options{}, "A_1: linalg: element at row 6, column 1 is not a finite number"},
			{"negative dimension", []*mat.Dense{n(6, 2), n(6, 2)}, align.Options{Dim: -1}, "dimension -1, want"},
			{"large dimension", []*mat.Dense{n(6, 2), n(6, 2)}, align.Options{Dim: 5}, "dimension 5, want"},
			{"target", []*mat.Dense{n(6, 2)}, align.Options{Target: "mean"}, `target "mean" of method ` + method + ", want identity"},
			{"solver", []*mat.Dense{n(6, 2), n(6, 2)}, align.Options{Solver: "magic"}, `solver "magic" of method ` + method + ", want "},
			{"overflow", []*mat.Dense{huge, huge}, align.Options{}, "A_1ᵀA_1 overflows"},
			{"underflow", []*mat.Dense{n(6, 2), small}, align.Options{}, "A_2 has numbers so small that their squares lose digits"},
		} {
			if _, err := align.Run(method, c.a, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: error %v, want one with %q", method, c.name, err, c.want)
			}
		}
	}
	for _, c := range []struct {
		name   string
		method string
		a      []*mat.Dense
		opt    align.Options
		want   string
	}{
		{"unknown method", "umap", []*mat.Dense{n(6, 2)}, align.Options{}, `unknown method "umap", want one of odc, ls, gep, opp, gopp, rdp, consensus`},
		{"ls, no source", "ls", []*mat.Dense{n(6, 2)}, align.Options{Target: align.Random}, "needs a source"},
		{"odc, no source", "odc", []*mat.Dense{n(6, 2)}, align.Options{Target: align.Random}, "needs a source"},
		{"gep, target", "gep", []*mat.Dense{n(6, 2)}, align.Options{Target: align.Sigma}, `target "sigma" of method gep, want identity`},
		{"gep, dimension", "gep", []*mat.Dense{n(6, 2), n(6, 1)}, align.Options{Dim: 4}, "want 1 to 3, the smaller of 6 anchor rows and 3 columns"},
		{"consensus, dimension below", "consensus", []*mat.Dense{n(9, 2), n(9, 4)}, align.Options{Dim: 3}, "dimension 3, want 4 to 6, from the largest"},
		{"consensus, dimension above", "consensus", []*mat.Dense{n(9, 2), n(9, 4)}, align.Options{Dim: 7}, "dimension 7, want 4 to 6"},
		{"gopp, tolerance", "gopp", []*mat.Dense{n(6, 2)}, align.Options{Tol: -1}, "tolerance -1"},
		{"gopp, starts", "gopp", []*mat.Dense{n(6, 2)}, align.Options{Starts: -2}, "-2 random starts"},
		{"gopp, number of starts", "gopp", []*mat.Dense{n(6, 2)}, align.Options{Init: []*mat.Dense{n(2, 2), n(2, 2)}}, "2 matrices to start from, want 1"},
		{"gopp, start", "gopp", []*mat.Dense{n(6, 2)}, align.Options{Init: []*mat.Dense{n(3, 2)}}, "G_1 to start from is 3 × 2, want 2 × 2"},
		{"gopp, empty start", "gopp", []*mat.Dense{n(6, 2)}, align.Options{Init: []*mat.Dense{nil}}, "G_1 to start from is empty"},
		{"gopp, NaN start", "gopp", []*mat.Dense{n(6, 2)}, align.Options{Init: []*mat.Dense{nan.Slice(2, 4, 0, 2).(*mat.Dense)}}, "G_1 to start from: linalg: element at row 1, column 2"},
		{"rdp, singular start", "rdp", []*mat.Dense{n(6, 2)}, align.Options{Init: []*mat.Dense{mat.NewDense(2, 2, nil)}}, "singular: rdp needs full rank"},
		{"rdp, eta", "rdp", []*mat.Dense{n(6, 2)}, align.Options{Eta: -1}, "eta -1 of scale 0"},
		{"rdp, zero", "rdp", []*mat.Dense{mat.NewDense(6, 2, nil)}, align.Options{}, "are zero or overflow"},
		{"ls, dimension", "ls", []*mat.Dense{n(6, 2), n(6, 1)}, align.Options{Dim: 4}, "want 1 to 3, the smaller of 6 anchor rows and 3 columns"},
		{"odc, dimension", "odc", []*mat.Dense{n(6, 2), n(6, 2)}, align.Options{Dim: 1}, "dimension 1, want 2: method odc keeps"},
		{"odc, columns", "odc", []*mat.Dense{n(6, 2), n(6, 2), n(6, 3)}, align.Options{}, "A_3 has 3 columns and A_1 has 2: method odc needs equal"},
		{"opp, columns", "opp", []*mat.Dense{n(6, 2), n(6, 3)}, align.Options{}, "A_2 has 3 columns and A_1 has 2: method opp needs equal"},
		{"gopp, columns", "gopp", []*mat.Dense{n(6, 2), n(6, 3)}, align.Options{}, "method gopp needs equal"},
		{"rdp, columns", "rdp", []*mat.Dense{n(6, 2), n(6, 3)}, align.Options{}, "method rdp needs equal"},
		{"odc, sigma", "odc", []*mat.Dense{n(6, 2)}, align.Options{Target: align.Sigma}, `target "sigma" of method odc, want identity or random`},
	} {
		if _, err := align.Run(c.method, c.a, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// TestResult checks over shapes what every method promises about its result:
// sizes, defaults, unchanged arguments, and the two sums from their definitions.
func TestResult(t *testing.T) {
	for _, method := range align.Methods() {
		for _, s := range shapes(t) {
			if !fits(method, s) {
				continue
			}
			t.Run(method+" "+s.name, func(t *testing.T) {
				var before []*mat.Dense
				for _, x := range s.a {
					before = append(before, mat.DenseCopyOf(x))
				}
				r := run(t, method, s.a, align.Options{})
				for i := range s.a {
					if !mat.Equal(s.a[i], before[i]) {
						t.Fatalf("A_%d was changed", i+1)
					}
				}
				cols := s.cols()
				want := slices.Min(cols)
				if method == "consensus" {
					rows, _ := s.a[0].Dims()
					want = min((3*slices.Max(cols)+1)/2, rows, sumOf(cols))
				}
				if r.Dim != want {
					t.Errorf("default dimension %d, want %d", r.Dim, want)
				}
				if len(r.G) != len(s.a) || len(r.Ranks) != len(s.a) || len(r.Conds) != len(s.a) {
					t.Fatalf("%d G, %d ranks, %d condition numbers for %d parties", len(r.G), len(r.Ranks), len(r.Conds), len(s.a))
				}
				for i, g := range r.G {
					if gr, gc := g.Dims(); gr != cols[i] || gc != r.Dim {
						t.Errorf("G_%d is %d × %d, want %d × %d", i+1, gr, gc, cols[i], r.Dim)
					}
					if (r.Conds[i] >= 1) != (r.Ranks[i] > 0) || math.IsInf(r.Conds[i], 0) {
						t.Errorf("condition number %d is %g at rank %d", i+1, r.Conds[i], r.Ranks[i])
					}
				}
				// RDP also warns where it has no minimum, which two or three parties do,
				// and Procrustes where unrelated spans happen to be nearly orthogonal.
				warnings := slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool { return strings.Contains(w, "overlap with the other") })
				if s.deficient != (len(warnings) > 0) && !(method == "rdp" && len(s.a) <= 3) {
					t.Errorf("warnings %q, deficient %t", r.Warnings, s.deficient)
				}
				if r.Solver == "" {
					t.Error("no solver is named")
				}
				x := collaboration(s.a, r.G)
				mean := mat.NewDense(x[0].RawMatrix().Rows, r.Dim, nil)
				for _, xi := range x {
					mean.Add(mean, xi)
				}
				mean.Scale(1/float64(len(x)), mean)
				residual, scale := 0.0, 0.0
				for _, xi := range x {
					scale += math.Pow(mat.Norm(xi, 2), 2)
					var d mat.Dense
					d.Sub(xi, mean)
					residual += math.Pow(mat.Norm(&d, 2), 2)
				}
				// Sums of squares are exact to eps for each of their terms, relative to
				// the sum of ‖A_i G_i‖².
				rows, _ := mean.Dims()
				tol := float64(8*rows*r.Dim*len(x)) * linalg.Eps * scale
				if math.Abs(r.Residual-residual) > tol {
					t.Errorf("residual %g, want %g", r.Residual, residual)
				}
				switch method {
				case "ls", "odc", "opp":
					if r.Objective < r.Residual-tol {
						t.Errorf("objective %g is below the residual %g, and the mean is nearest to all", r.Objective, r.Residual)
					}
				case "gopp", "consensus":
					if r.Objective != r.Residual {
						t.Errorf("objective %g, residual %g, which are the same thing", r.Objective, r.Residual)
					}
				case "gep":
					// Σ_ij ‖x_i − x_j‖² = 2c Σ_i ‖x_i − mean‖²; the eigenvalues are exact to
					// eps of their largest, 2c, each.
					c := float64(len(x))
					if math.Abs(r.Objective-2*c*residual) > 2*c*(tol+float64(8*sumOf(cols)*r.Dim)*linalg.Eps) && !s.deficient {
						t.Errorf("objective %g, 2c times the residual is %g", r.Objective, 2*c*residual)
					}
				}
				quick := run(t, method, s.a, align.Options{NoResidual: true, Workers: 1})
				if quick.Residual != 0 {
					t.Errorf("residual %g, though it was not asked for", quick.Residual)
				}
				for i := range r.G {
					if !mat.Equal(r.G[i], quick.G[i]) {
						t.Errorf("G_%d depends on the number of goroutines, or on whether the residual is asked for", i+1)
					}
				}
			})
		}
	}
}

func sumOf(n []int) int {
	sum := 0
	for _, x := range n {
		sum += x
	}
	return sum
}

// fits says whether a method takes a shape: some need equal l_i, and RDP a scale
// for its penalty.
func fits(method string, s shape) bool {
	switch method {
	case "ls", "gep", "consensus":
		return true
	case "rdp":
		return s.even() && s.name != "all zero"
	}
	return s.even()
}

// shape is a list of anchor representations.
type shape struct {
	name      string
	a         []*mat.Dense
	deficient bool // whether something is below full rank
}

func (s shape) cols() []int {
	var cols []int
	for _, x := range s.a {
		_, c := x.Dims()
		cols = append(cols, c)
	}
	return cols
}

func (s shape) even() bool {
	cols := s.cols()
	return slices.Min(cols) == slices.Max(cols)
}

func shapes(t testing.TB) []shape {
	t.Helper()
	src := source(7)
	list := func(rows int, cols ...int) []*mat.Dense {
		var a []*mat.Dense
		for _, c := range cols {
			a = append(a, linalg.Normal(rows, c, src))
		}
		return a
	}
	low := func(rows, rank, cols int) *mat.Dense {
		return mul(linalg.Normal(rows, rank, src), linalg.Normal(rank, cols, src))
	}
	stride := linalg.Normal(9, 9, src)
	return []shape{
		{"1 x 1, one party", list(1, 1), false},
		{"1 x 1, three parties", list(1, 1, 1, 1), false},
		{"one column", list(6, 1, 1), false},
		{"one party", list(6, 3), false},
		{"tall", list(40, 4, 4, 4), false},
		{"square", list(4, 4, 4, 4), false},
		{"many parties", list(10, slices.Repeat([]int{3}, 20)...), false},
		{"uneven", list(20, 5, 2, 3), false},
		{"uneven, more columns than rows", list(5, 5, 2, 3), false},
		{"views", []*mat.Dense{stride.Slice(0, 8, 1, 4).(*mat.Dense), stride.Slice(1, 9, 6, 9).(*mat.Dense)}, false},
		{"second deficient", []*mat.Dense{linalg.Normal(20, 4, src), low(20, 2, 4), linalg.Normal(20, 4, src)}, true},
		{"first deficient", []*mat.Dense{low(20, 1, 4), linalg.Normal(20, 4, src)}, true},
		{"second zero", []*mat.Dense{linalg.Normal(9, 2, src), mat.NewDense(9, 2, nil)}, true},
		{"all zero", []*mat.Dense{mat.NewDense(5, 2, nil), mat.NewDense(5, 2, nil)}, true},
	}
}
