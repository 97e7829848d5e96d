package learn_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// everyLearner has each kind that there is, with settings that make tests quick.
func everyLearner(t *testing.T) []learn.Learner {
	t.Helper()
	all := []learn.Learner{
		learn.Boosting{MaxIter: 10}, learn.Forest{Trees: 10}, learn.KNN{Neighbours: 2}, learn.Logistic{},
		learn.MLP{Hidden: []int{8}, Epochs: 10}, learn.Ridge{}, learn.SVM{}, learn.LinearSVM{},
	}
	var names []string
	for _, l := range all {
		names = append(names, l.Name())
	}
	slices.Sort(names)
	if !slices.Equal(names, learn.Kinds()) {
		t.Fatalf("the suite has %q, there are %q", names, learn.Kinds())
	}
	return all
}

// TestEveryLearnerRefuses: what nothing can be learned from is the same error of
// every learner.
func TestEveryLearnerRefuses(t *testing.T) {
	x, y := sample(5, 6, 2, 2, 0)
	with := func(v float64) *mat.Dense {
		c := mat.DenseCopyOf(x)
		c.Set(3, 1, v)
		return c
	}
	for _, c := range []struct {
		name string
		x    *mat.Dense
		y    learn.Target
		want string
	}{
		{"nil", nil, y, "x has no rows, want at least one"},
		{"zero rows", &mat.Dense{}, y, "x has no rows, want at least one"},
		{"NaN", with(math.NaN()), y, "x at row 4, column 2 is not a finite number"},
		{"infinite", with(math.Inf(-1)), y, "x at row 4, column 2 is not a finite number"},
		{"no target", x, learn.Target{}, "target has neither classes nor numbers"},
		{"one class", x, learn.Target{Classes: names(2), Labels: make([]int, 6)}, `all 6 rows are of the class "c0", want at least two classes`},
		{"one level", x, learn.Target{Classes: names(1), Labels: make([]int, 6)}, "target has 1 classes, want at least 2"},
		{"too few labels", x, learn.Target{Classes: names(2), Labels: y.Labels[:5]}, "target has 5 labels for 6 rows"},
		{"no such class", x, learn.Target{Classes: names(2), Labels: []int{0, 1, 0, 2, 0, 1}}, "label of row 4 is 2, want 0 to 1"},
	} {
		for _, l := range everyLearner(t) {
			m, err := l.Fit(t.Context(), c.x, c.y)
			if err == nil || !strings.HasPrefix(err.Error(), "learn: ") || !strings.Contains(err.Error(), c.want) || m != nil {
				t.Errorf("%s, %s: model %v, error %v, want %q", l.Name(), c.name, m, err, c.want)
			}
		}
	}
}

// TestTooManyClasses: rows times classes beyond 2³⁰ are refused before anything
// of that size is made.
func TestTooManyClasses(t *testing.T) {
	const n, k = 1 << 16, 1<<14 + 1
	x := mat.NewDense(n, 1, nil)
	y := learn.Target{Classes: names(k), Labels: make([]int, n)}
	for i := range n {
		x.Set(i, 0, float64(i))
		y.Labels[i] = i % k
	}
	for _, l := range everyLearner(t) {
		_, err := l.Fit(t.Context(), x, y)
		if err == nil || !strings.Contains(err.Error(), "16385 classes for 65536 rows, want at most 1073741824 for rows times classes") {
			t.Errorf("%s: error %v", l.Name(), err)
		}
	}
}

// TestEveryLearnerSurvives: odd data gives a model with finite scores, or an
// error that says why; the model refuses rows that are not its own kind.
func TestEveryLearnerSurvives(t *testing.T) {
	x, y := sample(5, 40, 3, 2, 0)
	scaled := func(by float64) *mat.Dense {
		var c mat.Dense
		c.Scale(by, x)
		return &c
	}
	apart := mat.DenseCopyOf(x)
	each := learn.Target{Classes: names(40), Labels: make([]int, 40)}
	numbers := learn.Target{Values: mat.NewDense(40, 1, nil)}
	for i := range 40 {
		apart.Set(i, 0, float64(1000*y.Labels[i]))
		each.Labels[i] = i
		numbers.Values.Set(i, 0, float64(i))
	}
	beyond := learn.Target{Classes: names(41), Labels: each.Labels}
	unseen := learn.Target{Classes: names(3), Labels: y.Labels}
	farApart := learn.Target{Values: mat.NewDense(40, 1, nil)}
	farApart.Values.Set(0, 0, math.MaxFloat64)
	farApart.Values.Set(1, 0, -math.MaxFloat64)
	for _, c := range []struct {
		name    string
		x       *mat.Dense
		y       learn.Target
		refused string // by whom, each separated by a space
		want    string
		right   int // training rows that every learner but mlp, cut short here, gets right
	}{
		{"constant columns", mat.NewDense(40, 3, nil), y, "", "", 20},
		{"constant columns, numbers", mat.NewDense(40, 3, nil), numbers, "logistic", "learns classes", 0},
		{"constant numbers", x, learn.Target{Values: mat.NewDense(40, 1, nil)}, "logistic", "learns classes", 0},
		{"perfectly separable", apart, y, "", "", 40},
		{"a class of each row", x, each, "", "", 0},
		{"more classes than rows", x, beyond, "boosting forest logistic", "class", 0},
		{"a class without rows", x, unseen, "logistic", `class "c2" has no rows`, 30},
		{"tiny", scaled(1e-300), y, "", "", 20},
		{"large", scaled(1e30), y, "", "", 20},
		{"huge", scaled(1e300), y, "boosting forest knn logistic mlp svm svm-linear", "scale|too large", 0},
		{"huge numbers", x, farApart, "boosting forest logistic mlp ridge svm svm-linear", "scale|learns classes|overflow", 0},
	} {
		for _, l := range everyLearner(t) {
			what := l.Name() + ", " + c.name
			m, err := l.Fit(t.Context(), c.x, c.y)
			if slices.Contains(strings.Fields(c.refused), l.Name()) {
				if err == nil || !slices.ContainsFunc(strings.Split(c.want, "|"), func(w string) bool { return strings.Contains(err.Error(), w) }) {
					t.Errorf("%s: error %v, want %q", what, err, c.want)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if r := m.Report(); r.Status == "" || r.Good() == (r.Status == learn.IterationLimit) {
				t.Errorf("%s: report %+v", what, r)
			}
			s, err := m.Scores(c.x)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if _, k := s.Dims(); k != len(c.y.Classes) && c.y.Classes != nil {
				t.Errorf("%s: scores of %d classes, want %d", what, k, len(c.y.Classes))
			}
			right := 0
			for i, p := range learn.Predicted(s) {
				for _, v := range s.RawRowView(i) {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s: row %d has the score %g", what, i+1, v)
					}
				}
				if c.y.Labels != nil && p == c.y.Labels[i] {
					right++
				}
			}
			if right < c.right && l.Name() != "mlp" {
				t.Errorf("%s: %d training rows are right, want %d", what, right, c.right)
			}
			wide, bad := mat.NewDense(2, 4, nil), mat.NewDense(2, 3, nil)
			bad.Set(1, 2, math.NaN())
			for want, x := range map[string]*mat.Dense{"x has 4 columns, the model wants 3": wide, "x at row 2, column 3 is not a finite number": bad, "x has no rows": nil} {
				if _, err := m.Scores(x); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: scores: error %v, want %q", what, err, want)
				}
			}
		}
	}
}

// TestEveryLearnerOnAnyProcessors: the number of processors changes no digit.
func TestEveryLearnerOnAnyProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, k := range []int{2, 5, 0} {
		x, y := sample(9, 700, 12, k, 1)
		for _, l := range everyLearner(t) {
			if l.Name() == "logistic" && k == 0 {
				continue // learns classes
			}
			var first *mat.Dense
			for _, processors := range []int{1, 2, 3} {
				runtime.GOMAXPROCS(processors)
				m, err := l.Fit(t.Context(), x, y)
				if err != nil {
					t.Fatalf("%s: %v", l.Name(), err)
				}
				s, err := m.Scores(x)
				if err != nil {
					t.Fatalf("%s: %v", l.Name(), err)
				}
				if first == nil {
					first = s
				} else if !mat.Equal(first, s) {
					t.Errorf("%s, %d classes: %d processors give other scores than 1", l.Name(), k, processors)
				}
			}
		}
	}
}

// TestEveryLearnerStops: a context that has ended ends every fit; one that ends
// while a long fit runs ends it soon.
func TestEveryLearnerStops(t *testing.T) {
	x, y := sample(5, 20, 3, 2, 0)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, l := range everyLearner(t) {
		if _, err := l.Fit(ended, x, y); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", l.Name(), err)
		}
	}
	x, y = sample(5, 3000, 100, 5, 0)
	for _, l := range []learn.Learner{
		learn.Logistic{C: 1e9, Tol: 1e-300, MaxIter: 1 << 30}, learn.LinearSVM{C: 1e9, Tol: 1e-300, MaxIter: 1 << 30}, learn.SVM{C: 1e9, Tol: 1e-12},
		learn.MLP{Epochs: 1_000_000, Patience: 1_000_000}, learn.Forest{Trees: 1 << 16}, learn.Boosting{MaxIter: 1 << 16},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		begun := time.Now()
		_, err := l.Fit(ctx, x, y)
		cancel()
		// An iteration takes some milliseconds; the rest is room for a busy machine.
		if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
			t.Errorf("%s: error %v after %v", l.Name(), err, took)
		}
	}
}

// TestEveryLearnerTellsItsLimit: a fit that runs out of iterations is a model
// that says so, and how many there were.
func TestEveryLearnerTellsItsLimit(t *testing.T) {
	x, y := sample(5, 300, 4, 3, 0)
	for _, l := range []learn.Learner{
		learn.Logistic{MaxIter: 2}, learn.LinearSVM{MaxIter: 2}, learn.SVM{MaxIter: 2}, learn.MLP{Epochs: 2}, learn.Boosting{MaxIter: 2, EarlyStopping: learn.StopEarly},
	} {
		m, err := l.Fit(t.Context(), x, y)
		if err != nil {
			t.Errorf("%s: %v", l.Name(), err)
			continue
		}
		if r := m.Report(); r.Status != learn.IterationLimit || r.Iterations < 2 || r.Good() {
			t.Errorf("%s: report %+v", l.Name(), r)
		}
	}
}
