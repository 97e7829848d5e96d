package learn_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// treeData is n rows of columns of all kinds: continuous, of few values,
// binary, constant; with labels of k classes, or q numbers if k is 0, that
// depend on them.
func treeData(seed uint64, n, k, q int) (*mat.Dense, learn.Target) {
	r := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, 6, nil)
	var y learn.Target
	if k > 0 {
		y.Classes, y.Labels = names(k), make([]int, n)
	} else {
		y.Values = mat.NewDense(n, q, nil)
	}
	for i := range n {
		row := []float64{r.NormFloat64(), r.Float64(), float64(r.IntN(9)), float64(r.IntN(2)), 7, float64(r.IntN(400)) / 8}
		x.SetRow(i, row)
		f := row[0] + row[1]*row[2]/3 - row[3] + .3*r.NormFloat64()
		if k > 0 {
			y.Labels[i] = min(k-1, max(0, int(f+1)))
			if i < k {
				y.Labels[i] = i
			}
			continue
		}
		for j := range q {
			y.Values.Set(i, j, 1e3+f*float64(j+1)+row[0]*row[0]*float64(j))
		}
	}
	return x, y
}

func fitTrees(t *testing.T, l learn.Learner, x *mat.Dense, y learn.Target) *learn.TreeEnsemble {
	t.Helper()
	m, err := l.Fit(t.Context(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := m.(*learn.TreeEnsemble)
	if !ok {
		t.Fatalf("Fit gave a %T, want a *learn.TreeEnsemble", m)
	}
	if err := e.Check(); err != nil {
		t.Fatal(err)
	}
	return e
}

func scoresOf(t *testing.T, m learn.Model, x *mat.Dense) *mat.Dense {
	t.Helper()
	s, err := m.Scores(x)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// treeTargets are the ways a forest or boosting searches splits: two classes,
// more, one number, and more.
var treeTargets = []struct {
	name string
	k, q int
}{{"two classes", 2, 0}, {"five classes", 5, 0}, {"a number", 0, 1}, {"three numbers", 0, 3}}

func TestForestDoesNotDependOnWorkers(t *testing.T) {
	for _, c := range treeTargets {
		x, y := treeData(3, 300, c.k, c.q)
		var first *learn.TreeEnsemble
		for _, workers := range []int{1, 2, 5} {
			m := fitTrees(t, learn.Forest{Trees: 12, Seed: 9, Workers: workers}, x, y)
			if first == nil {
				first = m
			} else if d := cmp.Diff(first, m, cmp.Comparer(same)); d != "" {
				t.Errorf("%s: %d workers differ from one:\n%s", c.name, workers, d)
			}
		}
		other := fitTrees(t, learn.Forest{Trees: 12, Seed: 10}, x, y)
		if cmp.Equal(first.Nodes, other.Nodes) {
			t.Errorf("%s: two seeds give the same forest", c.name)
		}
	}
}

func same(a, b *mat.Dense) bool { return a == b || a != nil && b != nil && mat.Equal(a, b) }

// Without the bootstrap a full tree learns distinct rows by heart.
func TestFullTreesFitDistinctRows(t *testing.T) {
	for _, c := range treeTargets {
		x, y := treeData(4, 500, c.k, c.q)
		s := scoresOf(t, fitTrees(t, learn.Forest{Trees: 3, NoBootstrap: true}, x, y), x)
		if c.k == 0 {
			// Means of equal numbers over three trees: two roundings each.
			if !mat.EqualApprox(s, y.Values, 4e-16*2e3) {
				t.Errorf("%s: training rows are not predicted exactly", c.name)
			}
			continue
		}
		if d := cmp.Diff(y.Labels, learn.Predicted(s)); d != "" {
			t.Errorf("%s: training rows are mistaken:\n%s", c.name, d)
		}
	}
}

func TestForestProbabilitiesSumToOne(t *testing.T) {
	for _, k := range []int{2, 5} {
		x, y := treeData(5, 300, k, 0)
		m := fitTrees(t, learn.Forest{Trees: 30, MaxDepth: 5}, x, y)
		s := scoresOf(t, m, x)
		n, _ := s.Dims()
		for i := range n {
			var sum float64
			for _, p := range s.RawRowView(i) {
				if p < 0 || p > 1 {
					t.Fatalf("row %d: probability %g", i, p)
				}
				sum += p
			}
			// 30 sums of at most 5 roundings of numbers below 1.
			if math.Abs(sum-1) > 30*5*2.3e-16 {
				t.Fatalf("row %d: probabilities sum to %.17g", i, sum)
			}
		}
	}
}

// Only the order of a column's values matters, except for where between two of
// them a threshold lies.
func TestForestFollowsMonotoneTransformations(t *testing.T) {
	for _, c := range treeTargets {
		x, y := treeData(6, 300, c.k, c.q)
		curved := mat.DenseCopyOf(x)
		for i := range 300 {
			// Exact in 32 bits for eighths below 50; the cubes of the other column
			// differ by more than a rounding.
			curved.Set(i, 5, x.At(i, 5)*x.At(i, 5)+x.At(i, 5))
			curved.Set(i, 0, math.Pow(x.At(i, 0), 3))
			curved.Set(i, 3, math.Exp(x.At(i, 3)))
		}
		l := learn.Forest{Trees: 10, NoBootstrap: true, Seed: 2, MinLeaf: 3}
		a, b := fitTrees(t, l, x, y), fitTrees(t, l, curved, y)
		if !mat.Equal(scoresOf(t, a, x), scoresOf(t, b, curved)) {
			t.Errorf("%s: a monotone transformation changes the scores of training rows", c.name)
		}
	}
}

func TestForestRespectsItsBounds(t *testing.T) {
	for _, c := range treeTargets {
		x, y := treeData(7, 400, c.k, c.q)
		m := fitTrees(t, learn.Forest{Trees: 5, NoBootstrap: true, MaxDepth: 4, MinLeaf: 7}, x, y)
		for tree, root := range m.Roots {
			rows := make(map[int32]int)
			for i := range 400 {
				at, depth := root, 0
				for m.Nodes[at].Feature != learn.TreeLeaf {
					n := m.Nodes[at]
					if at = n.Right; float32(x.At(i, int(n.Feature))) <= n.Threshold {
						at = n.Left
					}
					depth++
				}
				if depth > 4 {
					t.Fatalf("%s: tree %d is %d deep", c.name, tree, depth)
				}
				rows[at]++
			}
			if len(rows) < 8 {
				t.Errorf("%s: tree %d has %d leaves only", c.name, tree, len(rows))
			}
			for _, n := range rows {
				if n < 7 {
					t.Errorf("%s: tree %d has a leaf of %d rows", c.name, tree, n)
				}
			}
		}
	}
}

func TestForestOfConstantColumns(t *testing.T) {
	x := mat.NewDense(10, 3, nil)
	y := learn.Target{Classes: names(2), Labels: []int{0, 0, 0, 1, 0, 1, 0, 0, 0, 0}}
	m := fitTrees(t, learn.Forest{Trees: 4, NoBootstrap: true}, x, y)
	if len(m.Nodes) != 4 {
		t.Errorf("%d nodes, want a leaf for each of 4 trees", len(m.Nodes))
	}
	if s := scoresOf(t, m, x); s.At(0, 0) != .8 {
		t.Errorf("probability %g, want 0.8", s.At(0, 0))
	}
}

func TestForestErrors(t *testing.T) {
	x, y := treeData(8, 20, 2, 0)
	with := func(i, j int, v float64) *mat.Dense {
		c := mat.DenseCopyOf(x)
		c.Set(i, j, v)
		return c
	}
	one := learn.Target{Classes: names(2), Labels: make([]int, 20)}
	many := learn.Target{Classes: names(21), Labels: y.Labels}
	for _, c := range []struct {
		name string
		l    learn.Learner
		x    *mat.Dense
		y    learn.Target
		want string
	}{
		{"trees", learn.Forest{Trees: -1}, x, y, "Trees is -1"},
		{"too many trees", learn.Forest{Trees: 1 << 30}, x, y, "Trees is"},
		{"depth", learn.Forest{MaxDepth: -2}, x, y, "MaxDepth is -2"},
		{"leaf", learn.Forest{MinLeaf: -1}, x, y, "MinLeaf is -1"},
		{"features", learn.Forest{MaxFeatures: -1}, x, y, "MaxFeatures is -1"},
		{"more features", learn.Forest{MaxFeatures: 7}, x, y, "MaxFeatures is 7, x has 6 columns"},
		{"no rows", learn.Forest{}, nil, y, "x has no rows"},
		{"one class", learn.Forest{}, x, one, "want at least two classes"},
		{"more classes than rows", learn.Forest{}, x, many, "21 classes for 20 rows"},
		{"not a number", learn.Forest{}, with(2, 1, math.NaN()), y, "row 3, column 2 is not a finite number"},
		{"too large", learn.Forest{}, with(4, 0, 1e39), y, "row 5, column 1 is too large for a 32-bit number"},
	} {
		_, err := c.l.Fit(t.Context(), c.x, c.y)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "learn: ") {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	m := fitTrees(t, learn.Forest{Trees: 2}, x, y)
	for _, c := range []struct {
		name string
		x    *mat.Dense
		want string
	}{
		{"no rows", nil, "x has no rows"},
		{"width", mat.NewDense(2, 5, nil), "x has 5 columns, the model wants 6"},
		{"not a number", with(0, 0, math.NaN()), "row 1, column 1 is not a finite number"},
		{"too large", with(1, 2, -1e200), "row 2, column 3 is too large"},
	} {
		_, err := m.Scores(c.x)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("scores, %s: error %v, want one with %q", c.name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (learn.Forest{}).Fit(ctx, x, y); err != context.Canceled {
		t.Errorf("cancelled: error %v", err)
	}
}
