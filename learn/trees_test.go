package learn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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

func TestTreesDoNotDependOnWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for name, with := range map[string]func(seed uint64, workers int) learn.Learner{
		"forest": func(seed uint64, workers int) learn.Learner {
			return learn.Forest{Trees: 5, Seed: seed, Workers: workers}
		},
		// Enough rows for histograms to be shared out.
		"boosting": func(seed uint64, workers int) learn.Learner {
			return learn.Boosting{MaxIter: 3, Seed: seed, Workers: workers, EarlyStopping: learn.StopEarly}
		},
	} {
		for _, c := range treeTargets {
			x, y := treeData(3, 11000, c.k, c.q)
			var first *learn.TreeEnsemble
			for _, workers := range []int{1, 2, 5} {
				m := fitTrees(t, with(9, workers), x, y)
				if first == nil {
					first = m
				} else if !sameTrees(first, m) {
					t.Errorf("%s, %s: %d workers differ from one", name, c.name, workers)
				}
			}
			if sameTrees(first, fitTrees(t, with(10, 1), x, y)) {
				t.Errorf("%s, %s: two seeds give the same trees", name, c.name)
			}
		}
	}
}

func sameTrees(a, b *learn.TreeEnsemble) bool {
	return slices.Equal(a.Nodes, b.Nodes) && slices.Equal(a.Roots, b.Roots) && slices.Equal(a.Output, b.Output) &&
		slices.Equal(a.Base, b.Base) && mat.Equal(a.Values, b.Values) && a.Fitted == b.Fitted
}

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

func TestTreeProbabilitiesSumToOne(t *testing.T) {
	for _, k := range []int{2, 5} {
		x, y := treeData(5, 300, k, 0)
		for _, l := range []learn.Learner{learn.Forest{Trees: 30, MaxDepth: 5}, learn.Boosting{MaxIter: 20}} {
			s := scoresOf(t, fitTrees(t, l, x, y), x)
			for i := range 300 {
				var sum float64
				for _, p := range s.RawRowView(i) {
					if p < 0 || p > 1 {
						t.Fatalf("%s, row %d: probability %g", l.Name(), i, p)
					}
					sum += p
				}
				// 30 sums of at most 5 roundings of numbers below 1.
				if math.Abs(sum-1) > 30*5*2.3e-16 {
					t.Fatalf("%s, row %d: probabilities sum to %.17g", l.Name(), i, sum)
				}
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
	// Shares of 4 trees are multiples of 2⁻²¹.
	if p := scoresOf(t, m, x).At(0, 0); p != math.Round(.8*(1<<21))/(1<<21) {
		t.Errorf("probability %g, want 0.8", p)
	}
}

// A forest that needs more nodes than it may have is an error, for any number of
// workers; one that needs just as many is not.
func TestForestMaxNodes(t *testing.T) {
	for _, c := range treeTargets {
		x, y := treeData(12, 300, c.k, c.q)
		full := fitTrees(t, learn.Forest{Trees: 9}, x, y)
		for _, workers := range []int{1, 2} {
			limited := learn.Forest{Trees: 9, Workers: workers, MaxNodes: len(full.Nodes)}
			if !sameTrees(full, fitTrees(t, limited, x, y)) {
				t.Errorf("%s: a limit that is not met changes the trees", c.name)
			}
			limited.MaxNodes--
			_, err := limited.Fit(t.Context(), x, y)
			want := fmt.Sprintf("9 trees of 300 rows have more than %d, want a larger MinLeaf", limited.MaxNodes)
			if !errors.Is(err, learn.ErrTooManyNodes) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", c.name, err, want)
			}
		}
	}
	x, y := treeData(12, 300, 2, 0)
	for _, f := range []learn.Forest{{MaxNodes: -1}, {Trees: 1 << 20, MaxNodes: 1 << 12}} {
		if _, err := f.Fit(t.Context(), x, y); err == nil {
			t.Errorf("%+v: no error", f)
		}
	}
}

// Boosting on constant columns is the best constant.
func TestBoostingOfConstantColumns(t *testing.T) {
	x := mat.NewDense(60, 3, nil)
	y := learn.Target{Classes: names(3), Labels: make([]int, 60)}
	for i := range 15 {
		y.Labels[i] = 1 + i%3/2
	}
	s := scoresOf(t, fitTrees(t, learn.Boosting{MaxIter: 3}, x, y), x)
	want := mat.NewDense(1, 3, []float64{45. / 60, 10. / 60, 5. / 60})
	// A few roundings in logarithms below 3 and 32-bit derivatives of a mean
	// that is zero: 2⁻²⁵ times the rounds and the rate over the curvature.
	if !mat.EqualApprox(s.Slice(7, 8, 0, 3), want, 1e-7) {
		t.Errorf("probabilities %v, want %v", s.RawRowView(7), want.RawRowView(0))
	}
	v := learn.Target{Values: mat.NewDense(60, 1, nil)}
	for i := range 60 {
		v.Values.Set(i, 0, float64(i))
	}
	// The mean of 0 … 59 is exact up to the 60 roundings of its sum.
	if s := scoresOf(t, fitTrees(t, learn.Boosting{MaxIter: 3}, x, v), x); math.Abs(s.At(3, 0)-29.5) > 60*30*2.3e-16 {
		t.Errorf("prediction %.17g, want 29.5", s.At(3, 0))
	}
}

// A power of two times the numbers gives exactly that times the predictions.
func TestTreesFollowTheUnit(t *testing.T) {
	x, y := treeData(11, 400, 0, 1)
	for _, l := range []learn.Learner{learn.Boosting{MaxIter: 20}, learn.Forest{Trees: 5}} {
		want := scoresOf(t, fitTrees(t, l, x, y), x)
		for _, e := range []int{-900, -150, 3, 150, 490} {
			var z, back mat.Dense
			z.Scale(math.Ldexp(1, e), y.Values)
			back.Scale(math.Ldexp(1, -e), scoresOf(t, fitTrees(t, l, x, learn.Target{Values: &z}), x))
			if !mat.Equal(&back, want) {
				t.Errorf("%s: scaled by 2^%d the predictions differ", l.Name(), e)
			}
		}
	}
	// The largest numbers there are.
	top := learn.Target{Values: mat.NewDense(400, 1, nil)}
	for i := range 400 {
		top.Values.Set(i, 0, math.MaxFloat64*float64(i%2*2-1))
	}
	m := fitTrees(t, learn.Forest{Trees: 1, NoBootstrap: true}, x, top)
	if !mat.Equal(scoresOf(t, m, x), top.Values) {
		t.Error("the largest numbers are not predicted exactly")
	}
}

func TestBoostingStops(t *testing.T) {
	x, y := treeData(12, 1200, 2, 0)
	r := fitTrees(t, learn.Boosting{MaxIter: 500, EarlyStopping: learn.StopEarly}, x, y).Report()
	if r.Status != learn.Converged || r.Iterations < 11 || r.Iterations == 500 {
		t.Errorf("report %+v, want convergence between rounds 11 and 499", r)
	}
	r = fitTrees(t, learn.Boosting{MaxIter: 7, EarlyStopping: learn.StopEarly}, x, y).Report()
	if r.Status != learn.IterationLimit || r.Iterations != 7 {
		t.Errorf("report %+v, want the iteration limit at 7", r)
	}
	r = fitTrees(t, learn.Boosting{MaxIter: 7}, x, y).Report()
	if r.Status != learn.Exact || r.Iterations != 7 || r.Rows != 1200 || r.Inputs != 6 || r.Outputs != 2 {
		t.Errorf("report %+v, want 7 rounds, exact", r)
	}
	x, y = treeData(12, 10001, 2, 0)
	if r = fitTrees(t, learn.Boosting{MaxIter: 1}, x, y).Report(); r.Status != learn.IterationLimit {
		t.Errorf("report %+v of 10,001 rows, want the iteration limit", r)
	}
}

// The mean training loss falls with every round.
func TestBoostingLowersItsLoss(t *testing.T) {
	for _, c := range treeTargets {
		x, y := treeData(13, 600, c.k, c.q)
		last := math.Inf(1)
		for rounds := 1; rounds < 40; rounds += 4 {
			r := fitTrees(t, learn.Boosting{MaxIter: rounds}, x, y).Report()
			if r.Objective >= last {
				t.Errorf("%s: loss %g after %d rounds, %g before", c.name, r.Objective, rounds, last)
			}
			last = r.Objective
		}
	}
}

// Two rows, one of them held out, and classes without rows.
func TestTreesOfFewRows(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{1, 2})
	for _, l := range []learn.Learner{
		learn.Forest{}, learn.Boosting{}, learn.Boosting{MinLeaf: 1}, learn.Boosting{EarlyStopping: learn.StopEarly},
	} {
		scoresOf(t, fitTrees(t, l, x, learn.Target{Classes: names(2), Labels: []int{1, 0}}), x)
		scoresOf(t, fitTrees(t, l, x, learn.Target{Values: x}), x)
	}
	y := learn.Target{Classes: names(3), Labels: []int{2, 0, 2, 0}}
	x = mat.NewDense(4, 1, []float64{1, 2, 3, 4})
	if s := scoresOf(t, fitTrees(t, learn.Forest{}, x, y), x); mat.Sum(s.Slice(0, 4, 1, 2)) != 0 {
		t.Error("a class without rows has a probability")
	}
	if s := scoresOf(t, fitTrees(t, learn.Boosting{}, x, y), x); mat.Max(s.Slice(0, 4, 1, 2)) > 1e-12 {
		t.Errorf("a class without rows has the probability %g", mat.Max(s.Slice(0, 4, 1, 2)))
	}
}

func TestTreeErrors(t *testing.T) {
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
		{"rounds", learn.Boosting{MaxIter: -1}, x, y, "MaxIter is -1"},
		{"rate", learn.Boosting{Rate: math.NaN()}, x, y, "Rate is NaN"},
		{"leaves", learn.Boosting{MaxLeaves: 1}, x, y, "MaxLeaves is 1"},
		{"depth", learn.Boosting{MaxDepth: -1}, x, y, "MaxDepth is -1"},
		{"leaf", learn.Boosting{MinLeaf: -1}, x, y, "MinLeaf is -1"},
		{"penalty", learn.Boosting{L2: -1}, x, y, "L2 is -1"},
		{"bins", learn.Boosting{Bins: 256}, x, y, "Bins is 256"},
		{"stopping", learn.Boosting{EarlyStopping: "maybe"}, x, y, `EarlyStopping is "maybe"`},
		{"overflow", learn.Boosting{}, x, learn.Target{Values: mat.NewDense(20, 1, append(make([]float64, 19), 1e300))}, "boosting overflows"},
		{"held out", learn.Boosting{EarlyStopping: learn.StopEarly}, mat.NewDense(1, 1, nil), learn.Target{Values: mat.NewDense(1, 1, nil)}, "x has 1, want at least 2"},
		{"one class", learn.Boosting{}, x, one, "want at least two classes"},
		{"more classes than rows", learn.Boosting{}, x, many, "21 classes for 20 rows"},
		{"not a number", learn.Boosting{}, with(2, 1, math.NaN()), y, "row 3, column 2 is not a finite number"},
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
}

// A fit of an hour ends soon after it is cancelled.
func TestTreesAreCancelled(t *testing.T) {
	x, y := treeData(14, 20000, 2, 0)
	for _, l := range []learn.Learner{learn.Forest{Trees: 20000}, learn.Boosting{MaxIter: 1 << 20, EarlyStopping: learn.StopNever}} {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		start := time.Now()
		_, err := l.Fit(ctx, x, y)
		cancel()
		if err != context.DeadlineExceeded {
			t.Errorf("%s: error %v", l.Name(), err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: took %v to end", l.Name(), d)
		}
	}
}

func TestTreesTellProgress(t *testing.T) {
	x, y := treeData(15, 100, 3, 0)
	for stage, l := range map[string]learn.Learner{"trees": learn.Forest{Trees: 7}, "rounds": learn.Boosting{MaxIter: 7}} {
		var got []learn.Progress
		ctx := learn.OnProgress(t.Context(), func(p learn.Progress) { got = append(got, p) })
		m, err := l.Fit(ctx, x, y)
		if err != nil {
			t.Fatal(err)
		}
		var want []learn.Progress
		for i := range 7 {
			want = append(want, learn.Progress{Stage: stage, Done: i + 1, Total: 7})
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: reports differ:\n%s", stage, d)
		}
		if !sameTrees(m.(*learn.TreeEnsemble), fitTrees(t, l, x, y)) {
			t.Errorf("%s: listening changes the model", stage)
		}
	}
}

func TestTreeEnsembleCheck(t *testing.T) {
	good := func() *learn.TreeEnsemble {
		return &learn.TreeEnsemble{
			Kind: "forest", Columns: 2,
			Nodes: []learn.TreeNode{{Feature: 1, Left: 1, Right: 2}, {Feature: -1}, {Feature: -1, Left: 1}, {Feature: -1}},
			Roots: []int32{0, 3}, Values: mat.NewDense(2, 2, []float64{1, 0, 0, 1}),
			Base: make([]float64, 2), Mean: true, Link: learn.Identity, Levels: names(2),
		}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(m *learn.TreeEnsemble)
		want   string
	}{
		{"inputs", func(m *learn.TreeEnsemble) { m.Columns = 0 }, "0 inputs"},
		{"no trees", func(m *learn.TreeEnsemble) { m.Roots = nil }, "no trees"},
		{"no values", func(m *learn.TreeEnsemble) { m.Values = nil }, "no values"},
		{"no base", func(m *learn.TreeEnsemble) { m.Base = nil }, "no base"},
		{"base", func(m *learn.TreeEnsemble) { m.Base[1] = math.Inf(1) }, "base 2"},
		{"width", func(m *learn.TreeEnsemble) { m.Base = make([]float64, 3) }, "2 numbers for 3 outputs"},
		{"outputs", func(m *learn.TreeEnsemble) { m.Output = []int32{0} }, "outputs for 1 trees"},
		{"output", func(m *learn.TreeEnsemble) { m.Output = []int32{0, 1} }, "tree 2 adds to output 1, want 0 to 0"},
		{"negative output", func(m *learn.TreeEnsemble) { m.Output = []int32{-1, 0} }, "tree 1 adds to output -1"},
		{"wide leaves", func(m *learn.TreeEnsemble) { m.Output, m.Base = []int32{0, 0}, m.Base[:1] }, "adds to output 0, want 0 to -1"},
		{"link", func(m *learn.TreeEnsemble) { m.Link = "log" }, "link is"},
		{"sigmoid", func(m *learn.TreeEnsemble) { m.Link = learn.Sigmoid }, "sigmoid ensemble has 2 classes and 2 outputs"},
		{"softmax", func(m *learn.TreeEnsemble) { m.Link, m.Levels = learn.Softmax, nil }, "softmax ensemble has 0 classes"},
		{"levels", func(m *learn.TreeEnsemble) { m.Levels = names(3) }, "3 classes for 2 outputs"},
		{"value", func(m *learn.TreeEnsemble) { m.Values.Set(1, 0, math.NaN()) }, "leaf value at row 2, column 1"},
		{"first root", func(m *learn.TreeEnsemble) { m.Roots[0] = 1 }, "begins at node 1"},
		{"roots", func(m *learn.TreeEnsemble) { m.Roots[1] = 0 }, "tree 1 has no nodes"},
		{"root", func(m *learn.TreeEnsemble) { m.Roots[1] = 4 }, "tree 2 has no nodes"},
		{"root far out", func(m *learn.TreeEnsemble) { m.Roots[1] = math.MaxInt32 }, "tree 1 has no nodes"},
		{"cycle", func(m *learn.TreeEnsemble) { m.Nodes[0].Left = 0 }, "tree 1, node 0: children"},
		{"other tree", func(m *learn.TreeEnsemble) { m.Nodes[0].Right = 3 }, "tree 1, node 0: children"},
		{"negative child", func(m *learn.TreeEnsemble) { m.Nodes[0].Right = -3 }, "children"},
		{"feature", func(m *learn.TreeEnsemble) { m.Nodes[0].Feature = 2 }, "feature is 2, want 0 to 1"},
		{"negative feature", func(m *learn.TreeEnsemble) { m.Nodes[0].Feature = -2 }, "feature is -2"},
		{"threshold", func(m *learn.TreeEnsemble) { m.Nodes[0].Threshold = float32(math.NaN()) }, "threshold"},
		{"leaf", func(m *learn.TreeEnsemble) { m.Nodes[3].Left = 2 }, "tree 2, node 0: leaf has value 2, want 0 to 1"},
	} {
		m := good()
		c.change(m)
		err := m.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		if _, err := m.Scores(mat.NewDense(1, 2, nil)); err == nil {
			t.Errorf("%s: scores without an error", c.name)
		}
	}
}

func BenchmarkTrees(b *testing.B) {
	for _, c := range treeTargets {
		x, y := treeData(16, 20000, c.k, c.q)
		for _, l := range []learn.Learner{learn.Forest{Trees: 10}, learn.Boosting{MaxIter: 10, EarlyStopping: learn.StopNever}} {
			b.Run(fmt.Sprintf("%s/%s/n=20000", l.Name(), strings.ReplaceAll(c.name, " ", "-")), func(b *testing.B) {
				for b.Loop() {
					if _, err := l.Fit(b.Context(), x, y); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%s/scores", l.Name(), strings.ReplaceAll(c.name, " ", "-")), func(b *testing.B) {
				m, err := l.Fit(b.Context(), x, y)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := m.Scores(x); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
