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

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/learn"
)

func normal(src *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, src.NormFloat64())
		}
	}
	return x
}

// sample draws k overlapping classes, or q numbers linear in x with noise.
func sample(seed uint64, n, d, k, q int) (*mat.Dense, learn.Target) {
	src := rand.New(rand.NewPCG(seed, 1))
	x := normal(src, n, d)
	if k == 0 {
		var y mat.Dense
		y.Mul(x, normal(src, d, q))
		y.Add(&y, normal(src, n, q))
		return x, learn.Target{Values: &y}
	}
	labels := make([]int, n)
	centres := normal(src, k, d)
	for i := range n {
		labels[i] = i % k
		row := x.RawRowView(i)
		for j := range row {
			row[j] += centres.At(labels[i], j)
		}
	}
	return x, learn.Target{Classes: names(k), Labels: labels}
}

var learners = []learn.Learner{learn.Ridge{}, learn.Ridge{Unpenalised: true}, learn.Logistic{}, learn.Logistic{C: 10}}

// TestLearners is the suite that every learner passes.
func TestLearners(t *testing.T) {
	for _, l := range learners {
		for _, shape := range []struct{ n, d, k, q int }{
			{30, 4, 2, 0}, {60, 3, 5, 0}, {2, 1, 2, 0}, {6, 12, 3, 0}, {40, 3, 0, 1}, {40, 3, 0, 4}, {1, 2, 0, 1}, {3, 9, 0, 2},
		} {
			if l.Name() == "logistic" && shape.k == 0 {
				continue // learns classes only; TestBadData covers the error
			}
			t.Run(fmt.Sprintf("%+v/%+v", l, shape), func(t *testing.T) {
				x, y := sample(7, shape.n, shape.d, shape.k, shape.q)
				before, target := mat.DenseCopyOf(x), slices.Clone(y.Labels)
				m, err := l.Fit(t.Context(), x, y)
				if err != nil {
					t.Fatal(err)
				}
				if !mat.Equal(before, x) || !slices.Equal(target, y.Labels) {
					t.Error("Fit changed its arguments")
				}
				if !slices.Contains(learn.Kinds(), l.Name()) {
					t.Errorf("Kinds does not list %q", l.Name())
				}
				r := m.Report()
				if !r.Good() || r.Rows != shape.n || r.Inputs != shape.d || r.Outputs != shape.k+shape.q {
					t.Errorf("report is %+v", r)
				}
				if m.Inputs() != shape.d || !slices.Equal(m.Classes(), y.Classes) || (m.Classes() == nil) != (shape.k == 0) {
					t.Errorf("model has %d inputs and classes %v", m.Inputs(), m.Classes())
				}
				s, err := m.Scores(x)
				if err != nil {
					t.Fatal(err)
				}
				if rows, cols := s.Dims(); rows != shape.n || cols != shape.k+shape.q {
					t.Fatalf("scores are %d × %d", rows, cols)
				}
				again, err := l.Fit(t.Context(), x, y)
				if err != nil {
					t.Fatal(err)
				}
				if !cmp.Equal(m.(*learn.Linear).W.RawMatrix().Data, again.(*learn.Linear).W.RawMatrix().Data) {
					t.Error("a second fit differs")
				}
				if shape.k == 0 {
					return
				}
				right := 0
				for i, c := range learn.Predicted(s) {
					if c == y.Labels[i] {
						right++
					}
					var sum float64
					for _, v := range s.RawRowView(i) {
						sum += v
					}
					// One-hot regression with an intercept and probabilities both sum
					// to 1; k terms, and d products each with weights of order 1.
					if math.Abs(sum-1) > 1e-10 {
						t.Errorf("scores of row %d sum to %v, want 1", i, sum)
					}
				}
				// Chance is 1/k; the centres are as far apart as the classes are wide.
				if right*shape.k < shape.n*3/2 {
					t.Errorf("%d of %d training rows right", right, shape.n)
				}
				_, err = m.Scores(mat.NewDense(2, shape.d+1, nil))
				want := fmt.Sprintf("x has %d columns, the model wants %d", shape.d+1, shape.d)
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("scores of a wider x: error %v, want %q", err, want)
				}
				for _, bad := range []*mat.Dense{nil, {}, mat.NewDense(1, shape.d, slices.Repeat([]float64{math.NaN()}, shape.d))} {
					if _, err := m.Scores(bad); err == nil {
						t.Error("scores of no rows or of NaN gave no error")
					}
				}
			})
		}
	}
}

// TestRidgeOptimal checks the normal equations of the penalised problem, and
// that the intercept makes the mean residual 0.
func TestRidgeOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d, q := rapid.IntRange(1, 30).Draw(t, "n"), rapid.IntRange(1, 30).Draw(t, "d"), rapid.IntRange(1, 3).Draw(t, "q")
		alpha := math.Pow(10, rapid.Float64Range(-8, 4).Draw(t, "log alpha"))
		x, y := sample(rapid.Uint64().Draw(t, "seed"), n, d, 0, q)
		model, err := learn.Ridge{Alpha: alpha}.Fit(context.Background(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		m := model.(*learn.Linear)
		s, err := m.Scores(x)
		if err != nil {
			t.Fatal(err)
		}
		var residual, grad, penalty mat.Dense
		residual.Sub(s, y.Values)
		grad.Mul(x.T(), &residual)
		penalty.Scale(alpha, m.W)
		grad.Add(&grad, &penalty)
		scale := mat.Norm(x, 2) * mat.Norm(y.Values, 2)
		// A backward stable solution has a gradient of a few n d eps of the data.
		if e := mat.Norm(&grad, 2); e > 1e-12*scale {
			t.Errorf("gradient %g at scale %g", e, scale)
		}
		for j := range q {
			if e := mat.Sum(residual.ColView(j)); math.Abs(e) > 1e-12*scale {
				t.Errorf("residuals of column %d sum to %g", j, e)
			}
		}
	})
}

// TestRidgeLeastNorm checks that repeated columns share the weight.
func TestRidgeLeastNorm(t *testing.T) {
	x, y := sample(3, 20, 2, 0, 1)
	var wide mat.Dense
	wide.Augment(x, x)
	narrow := fit(t, learn.Ridge{Unpenalised: true}, x, y)
	m := fit(t, learn.Ridge{Unpenalised: true}, &wide, y)
	if m.Report().Rank != 2 {
		t.Errorf("rank %d, want 2", m.Report().Rank)
	}
	for j := range 4 {
		// The condition of x is below 10.
		if got, want := m.W.At(j, 0), narrow.W.At(j%2, 0)/2; math.Abs(got-want) > 1e-13 {
			t.Errorf("weight %d is %v, want half of the narrow model's %v", j, got, want)
		}
	}
}

// TestLogisticOptimal checks the gradient at the minimum, written out anew.
func TestLogisticOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 4).Draw(t, "k")
		n, d := rapid.IntRange(k, 40).Draw(t, "n"), rapid.IntRange(1, 6).Draw(t, "d")
		c := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "log C"))
		x, y := sample(rapid.Uint64().Draw(t, "seed"), n, d, k, 0)
		// Scales and offsets that a first-order method would feel.
		for j := range d {
			scale, offset := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "scale")), rapid.Float64Range(-100, 100).Draw(t, "offset")
			for i := range n {
				x.Set(i, j, scale*(x.At(i, j)+offset))
			}
		}
		// Nearly separable classes with a weak penalty take thousands of iterations.
		model, err := learn.Logistic{C: c, MaxIter: 100_000}.Fit(context.Background(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		m := model.(*learn.Linear)
		if r := m.Report(); r.Status != learn.Converged {
			t.Fatalf("report %+v, want converged", r)
		}
		p, err := m.Scores(x)
		if err != nil {
			t.Fatal(err)
		}
		cols := k
		if k == 2 {
			cols = 1
		}
		for col := range cols {
			class := col
			if k == 2 {
				class = 1
			}
			var atIntercept float64
			atWeight := make([]float64, d)
			for i := range n {
				r := p.At(i, class)
				if y.Labels[i] == class {
					r--
				}
				atIntercept += r / float64(n)
				for j := range d {
					atWeight[j] += r * x.At(i, j) / float64(n)
				}
			}
			// The stopping rule bounds the gradient in the norm of M⁻¹ by 1e-8.
			// A column's own scale, √M of that column, is at most half its root
			// mean square plus √λ; adding the intercept's part costs the mean.
			if math.Abs(atIntercept) > 1e-8 {
				t.Errorf("gradient of intercept %d is %g", col, atIntercept)
			}
			for j := range d {
				g := atWeight[j] + m.W.At(j, col)/(c*float64(n))
				rms := mat.Norm(x.ColView(j), 2) / math.Sqrt(float64(n))
				if math.Abs(g) > 1e-8*(2*rms+1/math.Sqrt(c*float64(n))) {
					t.Errorf("gradient of weight %d, %d is %g at scale %g", j, col, g, rms)
				}
			}
		}
	})
}

// TestLogisticScales checks that a column's unit changes its weight and
// nothing else where the penalty is negligible, and hardly the work.
func TestLogisticScales(t *testing.T) {
	x, y := sample(5, 200, 3, 2, 0)
	var scaled mat.Dense
	scale := []float64{1e-4, 1, 1e4}
	scaled.Apply(func(_, j int, v float64) float64 { return v*scale[j] + 3*scale[j] }, x)
	a := fit(t, learn.Logistic{C: 1e12}, x, y)
	b := fit(t, learn.Logistic{C: 1e12}, &scaled, y)
	for j, s := range scale {
		// The penalty 1/(C n) = 5e-15 over the scale squared, 1e-8, is 5e-7.
		if got, want := b.W.At(j, 0)*s, a.W.At(j, 0); math.Abs(got-want) > 1e-5*math.Abs(want) {
			t.Errorf("weight %d is %v in the first unit, want %v", j, got, want)
		}
	}
	if d := a.Report().Iterations - b.Report().Iterations; d < -3 || d > 3 {
		t.Errorf("%d and %d iterations, want nearly the same", a.Report().Iterations, b.Report().Iterations)
	}
}

func TestLogisticIterationLimit(t *testing.T) {
	x, y := sample(5, 200, 3, 3, 0)
	m := fit(t, learn.Logistic{MaxIter: 2}, x, y)
	r := m.Report()
	if r.Status != learn.IterationLimit || r.Iterations != 2 || r.Good() || !(r.Gradient > 1e-8) {
		t.Errorf("report %+v, want the iteration limit after 2", r)
	}
	// log k is the objective at 0, where the fit starts.
	if full := fit(t, learn.Logistic{}, x, y).Report(); !(full.Objective < r.Objective && r.Objective < math.Log(3)) {
		t.Errorf("objective %v at the limit, %v when converged, %v at the start", r.Objective, full.Objective, math.Log(3))
	}
}

// TestLogisticRounding asks for more than rounding allows: the fit ends and says so.
func TestLogisticRounding(t *testing.T) {
	x, y := sample(5, 200, 3, 2, 0)
	m := fit(t, learn.Logistic{Tol: 1e-300}, x, y)
	if r := m.Report(); r.Status != learn.Stalled && r.Status != learn.IterationLimit && r.Gradient != 0 {
		t.Errorf("report %+v, want stalled, the limit or a gradient of 0", r)
	} else if r.Gradient > 1e-14 { // a sum of 200 rounded terms of order 1/200
		t.Errorf("gradient %g, want rounding only", r.Gradient)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	x, y := sample(5, 20, 3, 2, 0)
	for _, l := range learners {
		if _, err := l.Fit(ctx, x, y); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", l.Name(), err)
		}
	}
}

// TestConstantColumns checks that constant columns get no weight and break nothing.
func TestConstantColumns(t *testing.T) {
	for _, l := range learners {
		x, y := sample(5, 40, 3, 3, 0)
		for i := range 40 {
			x.Set(i, 1, 0.1)
		}
		m := fit(t, l, x, y)
		for j := range 3 {
			if w := m.W.At(1, j); w != 0 {
				t.Errorf("%s: weight %v on a constant column, want 0", l.Name(), w)
			}
		}
		only := mat.NewDense(4, 1, []float64{7, 7, 7, 7})
		m = fit(t, l, only, learn.Target{Classes: names(2), Labels: []int{0, 1, 1, 1}})
		s, err := m.Scores(only)
		if err != nil {
			t.Fatal(err)
		}
		// All that can be learned is the share of the second class; Tol over
		// the curvature 3/16, and rounding for ridge.
		if math.Abs(s.At(0, 1)-0.75) > 1e-7 {
			t.Errorf("%s: score %v, want the share 0.75", l.Name(), s.At(0, 1))
		}
	}
}

// TestExtremeScales: huge and tiny numbers give a model or an error, never a
// panic or a model with NaN.
func TestExtremeScales(t *testing.T) {
	for _, l := range learners {
		for _, scale := range []float64{1e-300, 1e-150, 1e-20, 1e20, 1e150, 1e300, math.MaxFloat64 / 8} {
			x, y := sample(5, 30, 3, 3, 0)
			x.Scale(scale, x)
			m, err := l.Fit(t.Context(), x, y)
			if err != nil {
				if !strings.Contains(err.Error(), "overflow") && !strings.Contains(err.Error(), "finite") {
					t.Errorf("%+v at scale %g: error %q does not say what is wrong", l, scale, err)
				}
				continue
			}
			if err := m.(*learn.Linear).Check(); err != nil {
				t.Errorf("%+v at scale %g: %v", l, scale, err)
			}
		}
	}
}

func TestBadData(t *testing.T) {
	x, y := sample(5, 6, 2, 2, 0)
	nan := mat.DenseCopyOf(x)
	nan.Set(3, 1, math.NaN())
	inf := mat.NewDense(6, 1, []float64{0, 0, math.Inf(-1), 0, 0, 0})
	for _, c := range []struct {
		name  string
		x     *mat.Dense
		y     learn.Target
		want  string
		ridge bool // only ridge gets so far
	}{
		{"nil x", nil, y, "no rows", false},
		{"no rows", &mat.Dense{}, y, "no rows", false},
		{"nan", nan, y, "x at row 4, column 2 is not a finite number", false},
		{"no target", x, learn.Target{}, "neither classes nor numbers", false},
		{"both", x, learn.Target{Classes: y.Classes, Labels: y.Labels, Values: inf}, "both classes and numbers", false},
		{"one level", x, learn.Target{Classes: []string{"a"}, Labels: make([]int, 6)}, "1 classes, want at least 2", false},
		{"no levels", x, learn.Target{Labels: make([]int, 6)}, "0 classes", false},
		{"same level twice", x, learn.Target{Classes: []string{"a", "a"}, Labels: y.Labels}, `class "a" twice`, false},
		{"one class", x, learn.Target{Classes: y.Classes, Labels: []int{1, 1, 1, 1, 1, 1}}, `all 6 rows are of the class "c1"`, false},
		{"too few labels", x, learn.Target{Classes: y.Classes, Labels: []int{0, 1}}, "2 labels for 6 rows", false},
		{"label out of range", x, learn.Target{Classes: y.Classes, Labels: []int{0, 1, 2, 0, 0, 0}}, "label of row 3 is 2, want 0 to 1", false},
		{"negative label", x, learn.Target{Classes: y.Classes, Labels: []int{0, 1, -1, 0, 0, 0}}, "label of row 3 is -1", false},
		{"too few numbers", x, learn.Target{Values: mat.NewDense(2, 1, nil)}, "2 rows for 6 rows", true},
		{"infinite number", x, learn.Target{Values: inf}, "target at row 3, column 1 is not a finite", true},
	} {
		for _, l := range []learn.Learner{learn.Ridge{}, learn.Logistic{}} {
			if c.ridge && l.Name() != "ridge" {
				continue
			}
			_, err := l.Fit(t.Context(), c.x, c.y)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: error %v, want %q", c.name, l.Name(), err, c.want)
			}
		}
	}
	_, err := learn.Logistic{}.Fit(t.Context(), x, learn.Target{Values: mat.NewDense(6, 1, nil)})
	if err == nil || !strings.Contains(err.Error(), "logistic learns classes") {
		t.Errorf("logistic on numbers: error %v", err)
	}
	_, err = learn.Logistic{}.Fit(t.Context(), x, learn.Target{Classes: names(3), Labels: []int{0, 2, 0, 2, 0, 2}})
	if err == nil || !strings.Contains(err.Error(), `class "c1" has no rows`) {
		t.Errorf("logistic without a class: error %v", err)
	}
	m := fit(t, learn.Ridge{}, x, learn.Target{Classes: names(3), Labels: []int{0, 2, 0, 2, 0, 2}})
	s, err := m.Scores(x)
	if err != nil {
		t.Fatal(err)
	}
	if mat.Max(s.ColView(1)) != 0 || mat.Min(s.ColView(1)) != 0 {
		t.Error("ridge scores a class without rows other than 0")
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		spec learn.Spec
		want learn.Learner
		err  string
	}{
		{learn.Spec{Kind: "ridge"}, learn.Ridge{}, ""},
		{learn.Spec{Kind: "ridge", Alpha: 2}, learn.Ridge{Alpha: 2}, ""},
		{learn.Spec{Kind: "logistic", C: 3, MaxIter: 4, Tol: 5}, learn.Logistic{C: 3, MaxIter: 4, Tol: 5}, ""},
		{learn.Spec{Kind: "oracle"}, nil, `kind is "oracle", want one of: boosting, forest, knn, logistic, mlp, ridge, svm, svm-linear`},
		{learn.Spec{Kind: "forest", Trees: 7, Seed: 3}, learn.Forest{Trees: 7, Seed: 3}, ""},
		{learn.Spec{Kind: "boosting", EarlyStopping: "off"}, learn.Boosting{EarlyStopping: learn.StopNever}, ""},
		{learn.Spec{Kind: "boosting", EarlyStopping: "maybe"}, nil, `early_stopping is "maybe"`},
		{learn.Spec{Kind: "svm-linear", C: 2}, learn.LinearSVM{C: 2}, ""},
		{learn.Spec{Kind: "svm-linear", Hidden: []int{3}}, nil, "svm-linear has no setting hidden"},
		{learn.Spec{}, nil, `kind is ""`},
		{learn.Spec{Kind: "ridge", C: 1, MaxIter: 3}, nil, "ridge has no setting c, max_iter"},
		{learn.Spec{Kind: "logistic", Alpha: 1}, nil, "logistic has no setting alpha"},
		{learn.Spec{Kind: "ridge", Alpha: -1}, nil, "Alpha is -1"},
		{learn.Spec{Kind: "ridge", Alpha: math.Inf(1)}, nil, "Alpha is +Inf"},
		{learn.Spec{Kind: "logistic", C: math.NaN()}, nil, "C is NaN"},
		{learn.Spec{Kind: "logistic", MaxIter: -1}, nil, "MaxIter is -1"},
		{learn.Spec{Kind: "logistic", Tol: -1}, nil, "Tol is -1"},
	} {
		got, err := learn.New(c.spec)
		if c.err == "" {
			if err != nil || got != c.want || got.CarriesRows() {
				t.Errorf("New(%+v) = %+v, %v", c.spec, got, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("New(%+v): error %v, want %q", c.spec, err, c.err)
		}
	}
	// Every kind takes every one of its settings by name, and has rows in its model
	// or not.
	rows := map[string]bool{"svm": true, "knn": true}
	for _, kind := range learn.Kinds() {
		s := learn.Spec{Kind: kind}
		for _, name := range learn.Settings(kind) {
			text := "3"
			if name == "early_stopping" {
				text = "on"
			}
			if err := s.Set(name, text); err != nil {
				t.Error(err)
			}
		}
		l, err := learn.New(s)
		if err != nil {
			t.Errorf("%+v: %v", s, err)
			continue
		}
		if l.Name() != kind || l.CarriesRows() != rows[kind] {
			t.Errorf("%s: name %s, carries rows: %t", kind, l.Name(), l.CarriesRows())
		}
	}
	var s learn.Spec
	for name, text := range map[string]string{"alpha": "x", "trees": "1.5", "hidden": "3,", "seed": "-1", "colour": "red"} {
		if s.Set(name, text) == nil {
			t.Errorf("%s = %s is no error", name, text)
		}
	}
	x, y := sample(1, 4, 1, 2, 0)
	if _, err := (learn.Ridge{Alpha: 1, Unpenalised: true}).Fit(t.Context(), x, y); err == nil {
		t.Error("a penalty and none gave no error")
	}
}

func TestLinearCheck(t *testing.T) {
	w := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	for _, c := range []struct {
		m    learn.Linear
		want string
	}{
		{learn.Linear{}, "no weights"},
		{learn.Linear{W: w, B: []float64{1}, Link: learn.Identity}, "1 intercepts for 2"},
		{learn.Linear{W: w, B: []float64{1, 2}, Link: "tanh"}, `link is "tanh"`},
		{learn.Linear{W: w, B: []float64{1, 2}, Link: learn.Softmax}, "softmax model has 0 classes"},
		{learn.Linear{W: w, B: []float64{1, 2}, Link: learn.Sigmoid, Levels: names(2)}, "sigmoid model has 2 classes and 2 columns"},
		{learn.Linear{W: w, B: []float64{1, 2}, Link: learn.Identity, Levels: names(3)}, "3 classes for 2"},
		{learn.Linear{W: w, B: []float64{1, math.NaN()}, Link: learn.Identity}, "intercept 2 is not a finite"},
		{learn.Linear{W: mat.NewDense(1, 1, []float64{math.Inf(1)}), B: []float64{1}, Link: learn.Identity}, "weight at row 1, column 1"},
	} {
		if err := c.m.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check: error %v, want %q", err, c.want)
		}
	}
}

func TestPredicted(t *testing.T) {
	got := learn.Predicted(mat.NewDense(4, 3, []float64{1, 2, 3, 3, 2, 1, 1, 1, 1, -2, -1, -1}))
	if !slices.Equal(got, []int{2, 0, 0, 1}) {
		t.Errorf("Predicted = %v, want [2 0 0 1]", got)
	}
	if learn.Predicted(nil) != nil || learn.Predicted(&mat.Dense{}) != nil {
		t.Error("Predicted of nothing is not nil")
	}
}

func BenchmarkLogistic(b *testing.B) {
	x, y := sample(1, 2000, 50, 10, 0)
	for b.Loop() {
		if _, err := (learn.Logistic{}).Fit(b.Context(), x, y); err != nil {
			b.Fatal(err)
		}
	}
}
