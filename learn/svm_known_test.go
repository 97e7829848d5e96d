package learn_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

type knownSVM struct {
	Name           string
	X              [][]float64
	Labels         []int
	Classes        int
	Values         []float64
	C, Gamma       float64
	Epsilon        float64
	Scores         [][]float64
	Predicted      []int
	Vectors        int // 0 where rows are equal: their weights are not unique
	New, NewScores [][]float64
	Loose          [][]float64
	Coef           [][]float64
	Intercept      []float64
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
	if len(k.Kernel) != 10 || len(k.Linear) != 10 {
		t.Fatalf("%d and %d cases, want 10 and 10", len(k.Kernel), len(k.Linear))
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
// the harder ones: without shrinking and with a cache of three rows; and with the
// defaults of both.
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
			s := scoresOf(t, m, x)
			// Kernel values are kept in 32 bits on both sides: 6e-8 of a sum of C's.
			if d := apart(s, dense(k.Scores)); d > 2e-5 {
				t.Errorf("%s, %+v: scores differ by %g", k.Name, variant, d)
			}
			if d := apart(scoresOf(t, m, dense(k.New)), dense(k.NewScores)); d > 2e-5 {
				t.Errorf("%s, %+v: scores of new rows differ by %g", k.Name, variant, d)
			}
			if n, _ := m.Vectors.Dims(); k.Vectors > 0 && k.Classes <= 2 && n != k.Vectors {
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
		m := fitModel(t, learn.SVM{C: k.C, Gamma: k.Gamma, Epsilon: k.Epsilon}, x, k.target())
		// The figure that is promised: both stop within 1e-3 of the conditions.
		if d := apart(scoresOf(t, m, x), dense(k.Loose)); d > 1e-3 {
			t.Errorf("%s, defaults: scores differ by %g", k.Name, d)
		}
	}
}

// TestLinearSVMKnown compares coefficients with liblinear's. Both end near the one
// solution, liblinear within its smallest steps of 1e-8 to 1e-10.
func TestLinearSVMKnown(t *testing.T) {
	_, linear := readSVM(t)
	for _, k := range linear {
		x := dense(k.X)
		l := learn.LinearSVM{C: k.C, Epsilon: k.Epsilon, Tol: 1e-9, MaxIter: 1_000_000}
		m := fitModel(t, l, x, k.target()).(*learn.Linear)
		if err := m.Check(); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
		s := scoresOf(t, m, x)
		if d := apart(s, dense(k.Scores)); d > 1e-4 {
			t.Errorf("%s: scores differ by %g", k.Name, d)
		}
		_, outputs := m.W.Dims()
		for c, coef := range k.Coef {
			column := c + outputs - len(k.Coef) // of two classes the second
			if d := math.Abs(m.B[column] - k.Intercept[c]); d > 1e-4 {
				t.Errorf("%s: intercept %d differs by %g", k.Name, c+1, d)
			}
			for j, v := range coef {
				if d := math.Abs(m.W.At(j, column) - v); d > 1e-4 {
					t.Errorf("%s: coefficient %d, %d differs by %g", k.Name, j+1, c+1, d)
				}
			}
		}
		if !m.Report().Good() {
			t.Errorf("%s: %+v", k.Name, m.Report())
		}
		if again := scoresOf(t, fitModel(t, l, x, k.target()), x); !mat.Equal(s, again) {
			t.Errorf("%s: one seed, two models", k.Name)
		}
	}
}
