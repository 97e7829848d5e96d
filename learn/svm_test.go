package learn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// ring has class 0 within a circle and class 1 around it, which no line parts.
func ring(n int, seed uint64) (*mat.Dense, learn.Target) {
	src := rand.New(rand.NewPCG(seed, 1))
	x, y := mat.NewDense(n, 2, nil), learn.Target{Classes: []string{"in", "out"}, Labels: make([]int, n)}
	for i := range n {
		a, b := src.NormFloat64(), src.NormFloat64()
		x.SetRow(i, []float64{a, b})
		if a*a+b*b > 1.4 {
			y.Labels[i] = 1
		}
	}
	return x, y
}

// TestSVMConditions holds the Karush-Kuhn-Tucker conditions of the fitted machine:
// rows with a margin above 1 have no weight, those below 1 have all of C, and the
// weights of the classes balance.
func TestSVMConditions(t *testing.T) {
	x, y := ring(300, 3)
	const c, tol = 2, 1e-6
	m := fitModel(t, learn.SVM{C: c, Tol: tol}, x, y).(*learn.KernelMachine)
	d, err := m.Decisions(x)
	if err != nil {
		t.Fatal(err)
	}
	weight := make(map[string]float64)
	s, _ := m.Vectors.Dims()
	sum := 0.0
	for j := range s {
		weight[fmt.Sprint(m.Vectors.RawRowView(j))] = m.Coef.At(j, 0)
		sum += m.Coef.At(j, 0)
	}
	if math.Abs(sum) > 1e-9 {
		t.Errorf("weights sum to %g", sum)
	}
	for i, label := range y.Labels {
		sign := 1 - 2*float64(label)
		a := sign * weight[fmt.Sprint(x.RawRowView(i))]
		margin := sign * d.At(i, 0)
		switch {
		case a < 0 || a > c:
			t.Errorf("row %d has the weight %g", i+1, a)
		case a == 0 && margin < 1-1e-5, a == c && margin > 1+1e-5, a > 0 && a < c && math.Abs(margin-1) > 1e-5:
			t.Errorf("row %d: weight %g at the margin %g", i+1, a, margin)
		}
	}
	right := 0
	for i, label := range y.Labels {
		if (d.At(i, 0) > 0) == (label == 0) {
			right++
		}
	}
	if right < 290 {
		t.Errorf("%d of 300 rows right", right)
	}
}

// three has classes 0, 1 and 2 around the corners of a triangle, mixed at the
// borders, and numbers that go with them.
func three(n int, seed uint64) (*mat.Dense, learn.Target, learn.Target) {
	src := rand.New(rand.NewPCG(seed, 1))
	x, labels, values := mat.NewDense(n, 3, nil), make([]int, n), mat.NewDense(n, 2, nil)
	for i := range n {
		labels[i] = src.IntN(3)
		for j := range 3 {
			v := src.NormFloat64()
			if j == labels[i] {
				v += 1.5
			}
			x.Set(i, j, v)
		}
		values.SetRow(i, []float64{math.Sin(x.At(i, 0)), x.At(i, 1) * x.At(i, 2)})
	}
	return x, learn.Target{Classes: names(3), Labels: labels}, learn.Target{Values: values}
}

// TestSVMOrder: the order of the rows does not matter. Each machine of n rows,
// solved to tol, is within √(2 n C tol) of the one w, and its scores too; the
// offset, a mean of such differences, as much again. The votes and shares of the
// classes move by no more than the decisions, or the row is at a border.
func TestSVMOrder(t *testing.T) {
	const n, tol = 200, 1e-10
	allowed := 4 * math.Sqrt(2*n*tol)
	x, classes, numbers := three(n, 5)
	order := rand.New(rand.NewPCG(9, 9)).Perm(n)
	mixed := mat.NewDense(n, 3, nil)
	mixedClasses := learn.Target{Classes: classes.Classes, Labels: make([]int, n)}
	mixedNumbers := learn.Target{Values: mat.NewDense(n, 2, nil)}
	for i, from := range order {
		mixed.SetRow(i, x.RawRowView(from))
		mixedClasses.Labels[i] = classes.Labels[from]
		mixedNumbers.Values.SetRow(i, numbers.Values.RawRowView(from))
	}
	l := learn.SVM{Tol: tol}
	for _, y := range [][2]learn.Target{{classes, mixedClasses}, {numbers, mixedNumbers}} {
		a, err := fitModel(t, l, x, y[0]).(*learn.KernelMachine).Decisions(x)
		if err != nil {
			t.Fatal(err)
		}
		b, err := fitModel(t, l, mixed, y[1]).(*learn.KernelMachine).Decisions(x)
		if err != nil {
			t.Fatal(err)
		}
		if d := apart(a, b); d > allowed {
			t.Errorf("classes %t: decisions differ by %g, want at most %g", y[0].Classification(), d, allowed)
		}
	}
}

// TestSVMThreads: the number of threads does not change a bit, of one machine
// with long kernel rows or of several.
func TestSVMThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	long, two := ring(2600, 6)
	x, classes, numbers := three(300, 6)
	one := learn.Target{Values: mat.DenseCopyOf(numbers.Values.Slice(0, 300, 0, 1))}
	for _, c := range []struct {
		name string
		l    learn.Learner
		x    *mat.Dense
		y    learn.Target
	}{
		{"two classes", learn.SVM{Tol: 0.5}, long, two}, {"three classes", learn.SVM{}, x, classes}, {"numbers", learn.SVM{}, x, numbers},
		{"one number", learn.SVM{}, x, one}, {"linear, three classes", learn.LinearSVM{}, x, classes}, {"linear, numbers", learn.LinearSVM{}, x, numbers},
	} {
		var want *mat.Dense
		var report learn.Report
		for _, threads := range []int{1, 2, 3} {
			runtime.GOMAXPROCS(threads)
			m := fitModel(t, c.l, c.x, c.y)
			s := scoresOf(t, m, c.x)
			if want == nil {
				want, report = s, m.Report()
			}
			if !mat.Equal(s, want) || m.Report() != report {
				t.Errorf("%s: another model with %d threads", c.name, threads)
			}
		}
	}
}

// TestSVMProgress: one machine tells its steps, several how many are done, and a
// linear one its passes; a listener may cancel the fit.
func TestSVMProgress(t *testing.T) {
	x, classes, numbers := three(400, 8)
	one := learn.Target{Values: mat.DenseCopyOf(numbers.Values.Slice(0, 400, 1, 2))}
	for stage, c := range map[string]struct {
		l    learn.Learner
		y    learn.Target
		last int
	}{
		"machines": {learn.SVM{}, classes, 3},
		"steps":    {learn.SVM{C: 20, Epsilon: 0.01}, one, 1000},
		"passes":   {learn.LinearSVM{}, one, 2},
	} {
		last := 0
		ctx := learn.OnProgress(t.Context(), func(p learn.Progress) {
			if p.Stage == stage {
				last = max(last, p.Done)
			}
		})
		if _, err := c.l.Fit(ctx, x, c.y); err != nil || last < c.last {
			t.Errorf("%s: told of %d, want at least %d (%v)", stage, last, c.last, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ctx = learn.OnProgress(ctx, func(p learn.Progress) {
			if p.Stage == stage {
				cancel()
			}
		})
		// The last of several machines may be done when it tells.
		if _, err := c.l.Fit(ctx, x, c.y); !errors.Is(err, context.Canceled) && (stage != "machines" || err != nil) {
			t.Errorf("%s: cancelled, error %v", stage, err)
		}
		cancel()
	}
}

// TestSVMFar: rows a long way off, or so far that squares overflow, have kernel
// value 0 and the score of the offset; and a far row does not harm the others.
func TestSVMFar(t *testing.T) {
	x, y := ring(100, 5)
	m := fitModel(t, learn.SVM{}, x, y).(*learn.KernelMachine)
	d, err := m.Decisions(mat.NewDense(3, 2, []float64{1e6, 0, -1e200, 1e200, math.MaxFloat64, -math.MaxFloat64}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if d.At(i, 0) != m.Intercept[0] {
			t.Errorf("row %d is scored %g, want the offset %g", i+1, d.At(i, 0), m.Intercept[0])
		}
	}
	// A row of which the others see nothing makes the same machine however far it
	// is, though at 2³⁰ it moves the mean so that products would leave no digit.
	near, labels := mat.NewDense(100, 2, nil), append([]int{0}, y.Labels...)
	near.Apply(func(i, j int, _ float64) float64 {
		return math.Round(x.At(i, j)*1024) / 1024 // few digits: exact wherever the mean is
	}, near)
	var want *mat.Dense
	for _, far := range []float64{1 << 10, 1 << 30} {
		all := mat.NewDense(101, 2, nil)
		all.SetRow(0, []float64{far, far})
		all.Slice(1, 101, 0, 2).(*mat.Dense).Copy(near)
		m := fitModel(t, learn.SVM{Gamma: 2, Tol: 1e-9}, all, learn.Target{Classes: y.Classes, Labels: labels}).(*learn.KernelMachine)
		if d, err = m.Decisions(near); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = d
		}
		// Kernel values are kept in 32 bits: 6e-8 of a sum of a hundred C's.
		if diff := apart(d, want); diff > 6e-6 {
			t.Errorf("a row at %g: decisions differ by %g", far, diff)
		}
	}
}

// TestSVMRefuses: what nothing can be learned from, and settings out of range, by
// errors that say what it is.
func TestSVMRefuses(t *testing.T) {
	x, y := ring(20, 1)
	bad, huge := mat.DenseCopyOf(x), mat.DenseCopyOf(x)
	bad.Set(3, 1, math.NaN())
	huge.Set(4, 0, 1e200)
	one := learn.Target{Classes: y.Classes, Labels: make([]int, 20)}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, l := range []learn.Learner{learn.SVM{}, learn.LinearSVM{}} {
		for _, c := range []struct {
			ctx  context.Context
			x    *mat.Dense
			y    learn.Target
			want string
		}{
			{t.Context(), bad, y, "row 4, column 2"},
			{t.Context(), huge, y, "overflows"},
			{t.Context(), x, one, "want at least two classes"},
			{t.Context(), &mat.Dense{}, y, "no rows"},
			{t.Context(), x, learn.Target{}, "neither"},
			{cancelled, x, y, context.Canceled.Error()},
		} {
			if _, err := l.Fit(c.ctx, c.x, c.y); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want one with %q", l.Name(), err, c.want)
			}
		}
		m := fitModel(t, l, x, y)
		for _, wrong := range []*mat.Dense{mat.NewDense(2, 3, nil), nil, bad} {
			if _, err := m.Scores(wrong); err == nil {
				t.Errorf("%s: scores of a wrong matrix are no error", l.Name())
			}
		}
	}
	many := learn.Target{Classes: names(1500), Labels: y.Labels}
	if _, err := (learn.SVM{}).Fit(t.Context(), x, many); err == nil || !strings.Contains(err.Error(), "1500 classes") {
		t.Errorf("1500 classes: error %v", err)
	}
	for _, c := range []struct {
		l    learn.Learner
		want string
	}{
		{learn.SVM{C: -1}, "C of svm is -1"}, {learn.SVM{Gamma: math.NaN()}, "Gamma"}, {learn.SVM{Tol: math.Inf(1)}, "Tol"}, {learn.SVM{Epsilon: -1}, "Epsilon"},
		{learn.SVM{Cache: -1}, "Cache"}, {learn.SVM{MaxIter: -1}, "MaxIter"},
		{learn.LinearSVM{C: -2}, "C of svm-linear is -2"}, {learn.LinearSVM{MaxIter: -1}, "MaxIter"}, {learn.LinearSVM{Epsilon: math.NaN()}, "Epsilon"}, {learn.LinearSVM{Tol: -1}, "Tol"},
	} {
		if _, err := c.l.Fit(t.Context(), x, y); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.l, err, c.want)
		}
	}
}

// TestKernelMachineCheck: a machine whose parts do not fit together is refused, by
// Check and before it scores.
func TestKernelMachineCheck(t *testing.T) {
	x, y, _ := three(60, 1)
	for name, spoil := range map[string]func(m *learn.KernelMachine){
		"no inputs":        func(m *learn.KernelMachine) { m.Columns = 0 },
		"other inputs":     func(m *learn.KernelMachine) { m.Columns = 2 },
		"no vectors":       func(m *learn.KernelMachine) { m.Vectors = nil },
		"few coefficients": func(m *learn.KernelMachine) { m.Coef = mat.NewDense(1, 3, nil) },
		"few intercepts":   func(m *learn.KernelMachine) { m.Intercept = m.Intercept[:2] },
		"no machine":       func(m *learn.KernelMachine) { m.Intercept, m.Vectors, m.Coef = nil, nil, nil },
		"gamma 0":          func(m *learn.KernelMachine) { m.Gamma = 0 },
		"gamma NaN":        func(m *learn.KernelMachine) { m.Gamma = math.NaN() },
		"short centre":     func(m *learn.KernelMachine) { m.Centre = nil },
		"other pairs":      func(m *learn.KernelMachine) { m.Pairs[1] = [2]int{2, 0} },
		"few pairs":        func(m *learn.KernelMachine) { m.Pairs = m.Pairs[:2] },
		"more classes":     func(m *learn.KernelMachine) { m.Levels = names(4) },
		"fewer classes":    func(m *learn.KernelMachine) { m.Levels = names(2) },
		"pairs of none":    func(m *learn.KernelMachine) { m.Levels = nil },
		"NaN intercept":    func(m *learn.KernelMachine) { m.Intercept[1] = math.NaN() },
		"Inf centre":       func(m *learn.KernelMachine) { m.Centre[1] = math.Inf(1) },
		"NaN vector":       func(m *learn.KernelMachine) { m.Vectors.Set(1, 1, math.NaN()) },
		"Inf coefficient":  func(m *learn.KernelMachine) { m.Coef.Set(0, 2, math.Inf(-1)) },
	} {
		m := fitModel(t, learn.SVM{}, x, y).(*learn.KernelMachine)
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(m)
		if m.Check() == nil {
			t.Errorf("%s passes", name)
		}
		if _, err := m.Scores(x); err == nil {
			t.Errorf("%s: scores", name)
		}
	}
}

// TestSVMOddData: constant columns, duplicated rows, a class of one row, a class
// without rows, more classes than rows, and a limit of iterations.
func TestSVMOddData(t *testing.T) {
	x, y := ring(40, 2)
	constant := mat.NewDense(40, 2, nil)
	twice := mat.NewDense(80, 2, nil)
	labels := append(append([]int(nil), y.Labels...), y.Labels...)
	for i := range 80 {
		twice.SetRow(i, x.RawRowView(i%40))
	}
	many := learn.Target{Classes: names(60), Labels: make([]int, 40)}
	for i := range 40 {
		many.Labels[i] = i
	}
	for _, l := range []learn.Learner{learn.SVM{}, learn.LinearSVM{}} {
		for name, c := range map[string]struct {
			x *mat.Dense
			y learn.Target
		}{
			"constant columns": {constant, y},
			"rows twice":       {twice, learn.Target{Classes: y.Classes, Labels: labels}},
			"empty class":      {x, learn.Target{Classes: []string{"a", "b", "c"}, Labels: y.Labels}},
			"classes of one":   {x, many},
		} {
			m := fitModel(t, l, c.x, c.y)
			s, err := m.Scores(c.x)
			if err != nil {
				t.Fatalf("%s, %s: %v", l.Name(), name, err)
			}
			for i, p := range learn.Predicted(s) {
				if name == "empty class" && p == 2 {
					t.Errorf("%s: row %d is of the class without rows", l.Name(), i+1)
				}
				// A class of one row wins its pairs there: K is 1 for it alone.
				if name == "classes of one" && l.Name() == "svm" && p != c.y.Labels[i] {
					t.Errorf("row %d is of the class %d", i+1, p)
				}
			}
		}
	}
	m := fitModel(t, learn.SVM{MaxIter: 3}, x, y)
	if r := m.Report(); r.Status != learn.IterationLimit || r.Iterations != 3 {
		t.Errorf("three steps: %+v", r)
	}
}

func BenchmarkSVM(b *testing.B) {
	x, y := ring(3000, 4)
	for b.Loop() {
		if _, err := (learn.SVM{}).Fit(b.Context(), x, y); err != nil {
			b.Fatal(err)
		}
	}
}
