package learn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

type knownSVM struct {
	Name      string
	X         [][]float64
	Labels    []int
	Classes   int
	Values    []float64
	C, Gamma  float64
	Epsilon   float64
	Scores    [][]float64
	Predicted []int
	Vectors   int
}

func (k knownSVM) target() learn.Target {
	if k.Values != nil {
		return learn.Target{Values: mat.NewDense(len(k.Values), 1, k.Values)}
	}
	return learn.Target{Classes: names(k.Classes), Labels: k.Labels}
}

func readSVM(t *testing.T) (kernel, linear []knownSVM) {
	t.Helper()
	data, err := os.ReadFile("testdata/svm.json")
	if err != nil {
		t.Fatal(err)
	}
	var k struct{ Kernel, Linear []knownSVM }
	if err := json.Unmarshal(data, &k); err != nil {
		t.Fatal(err)
	}
	if len(k.Kernel) != 7 || len(k.Linear) != 7 {
		t.Fatalf("%d and %d cases, want 7 and 7", len(k.Kernel), len(k.Linear))
	}
	return k.Kernel, k.Linear
}

func fitModel(t *testing.T, l learn.Learner, x *mat.Dense, y learn.Target) learn.Model {
	t.Helper()
	m, err := l.Fit(t.Context(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func apart(a, b *mat.Dense) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return max(mat.Max(&d), -mat.Min(&d))
}

// TestSVMKnown compares with libsvm, both solved to 1e-9, by the present way and
// the harder ones: without shrinking and with a cache of three rows.
func TestSVMKnown(t *testing.T) {
	kernel, _ := readSVM(t)
	for _, k := range kernel {
		x := dense(k.X)
		for _, variant := range []learn.SVM{{}, {NoShrinking: true}, {Cache: 1}} {
			l := variant
			l.C, l.Gamma, l.Epsilon, l.Tol = k.C, k.Gamma, k.Epsilon, 1e-9
			m := fitModel(t, l, x, k.target()).(*learn.KernelMachine)
			if err := m.Check(); err != nil {
				t.Errorf("%s: %v", k.Name, err)
			}
			s, err := m.Scores(x)
			if err != nil {
				t.Fatal(err)
			}
			// Kernel values are kept in 32 bits on both sides: 6e-8 of a sum of C's.
			if d := apart(s, dense(k.Scores)); d > 2e-5 {
				t.Errorf("%s, %+v: scores differ by %g", k.Name, variant, d)
			}
			if n, _ := m.Vectors.Dims(); k.Values != nil && n != k.Vectors || k.Classes == 2 && n != k.Vectors {
				t.Errorf("%s: %d support vectors, libsvm has %d", k.Name, n, k.Vectors)
			}
			for i, c := range learn.Predicted(s) {
				if k.Values == nil && c != k.Predicted[i] {
					t.Errorf("%s: row %d is class %d, libsvm says %d", k.Name, i+1, c, k.Predicted[i])
				}
			}
			if !m.Report().Good() {
				t.Errorf("%s: %+v", k.Name, m.Report())
			}
		}
	}
}

// TestLinearSVMKnown compares with liblinear. Both end near the one solution.
func TestLinearSVMKnown(t *testing.T) {
	_, linear := readSVM(t)
	for _, k := range linear {
		x := dense(k.X)
		l := learn.LinearSVM{C: k.C, Epsilon: k.Epsilon, Tol: 1e-9, MaxIter: 1_000_000}
		m := fitModel(t, l, x, k.target())
		s, err := m.Scores(x)
		if err != nil {
			t.Fatal(err)
		}
		if d := apart(s, dense(k.Scores)); d > 1e-4 {
			t.Errorf("%s: scores differ by %g", k.Name, d)
		}
		if !m.Report().Good() {
			t.Errorf("%s: %+v", k.Name, m.Report())
		}
		again, err := fitModel(t, l, x, k.target()).Scores(x)
		if err != nil || !mat.Equal(s, again) {
			t.Errorf("%s: one seed, two models (%v)", k.Name, err)
		}
	}
}

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
	for i, p := range learn.Predicted(d) {
		_ = p
		if (d.At(i, 0) > 0) == (y.Labels[i] == 0) {
			right++
		}
	}
	if right < 290 {
		t.Errorf("%d of 300 rows right", right)
	}
}

// TestSVMRefuses: what nothing can be learned from, and settings out of range.
func TestSVMRefuses(t *testing.T) {
	x, y := ring(20, 1)
	bad := mat.DenseCopyOf(x)
	bad.Set(3, 1, math.NaN())
	one := learn.Target{Classes: y.Classes, Labels: make([]int, 20)}
	for _, l := range []learn.Learner{learn.SVM{}, learn.LinearSVM{}} {
		for name, try := range map[string]func() error{
			"NaN":       func() error { _, err := l.Fit(t.Context(), bad, y); return err },
			"one class": func() error { _, err := l.Fit(t.Context(), x, one); return err },
			"no rows":   func() error { _, err := l.Fit(t.Context(), &mat.Dense{}, y); return err },
			"cancelled": func() error {
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_, err := l.Fit(ctx, x, y)
				return err
			},
		} {
			if try() == nil {
				t.Errorf("%s: %s is no error", l.Name(), name)
			}
		}
		m := fitModel(t, l, x, y)
		if _, err := m.Scores(mat.NewDense(2, 3, nil)); err == nil {
			t.Errorf("%s: three columns are no error", l.Name())
		}
	}
	for _, l := range []learn.Learner{learn.SVM{C: -1}, learn.SVM{Gamma: math.NaN()}, learn.SVM{Tol: math.Inf(1)}, learn.LinearSVM{C: -2}, learn.LinearSVM{MaxIter: -1}} {
		if _, err := l.Fit(t.Context(), x, y); err == nil {
			t.Errorf("%+v is no error", l)
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
