package learn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

type known struct {
	Logistic []struct {
		Name        string
		X           [][]float64
		Labels      []int
		Classes     int
		C           float64
		W           [][]float64
		B           []float64
		Probability [][]float64
		Objective   float64
	}
	Ridge []struct {
		Name  string
		X, Y  [][]float64
		Alpha float64
		W     [][]float64
		B     []float64
	}
}

func readKnown(t *testing.T) known {
	t.Helper()
	data, err := os.ReadFile("testdata/known.json")
	if err != nil {
		t.Fatal(err)
	}
	var k known
	if err := json.Unmarshal(data, &k); err != nil {
		t.Fatal(err)
	}
	if len(k.Logistic) != 8 || len(k.Ridge) != 8 {
		t.Fatalf("%d logistic and %d ridge cases, want 8 and 8", len(k.Logistic), len(k.Ridge))
	}
	return k
}

func dense(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

func names(k int) []string {
	s := make([]string, k)
	for i := range s {
		s[i] = fmt.Sprintf("c%d", i)
	}
	return s
}

func fit(t *testing.T, l learn.Learner, x *mat.Dense, y learn.Target) *learn.Linear {
	t.Helper()
	m, err := l.Fit(t.Context(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	lin, ok := m.(*learn.Linear)
	if !ok {
		t.Fatalf("Fit gave a %T, want a *learn.Linear", m)
	}
	return lin
}

// checkParameters compares with tolerance tol relative to the largest number.
func checkParameters(t *testing.T, m *learn.Linear, w [][]float64, b []float64, tol float64) {
	t.Helper()
	want := dense(w)
	var diff mat.Dense
	diff.Sub(m.W, want)
	if e, scale := mat.Norm(&diff, math.Inf(1)), mat.Norm(want, math.Inf(1)); e > tol*scale {
		t.Errorf("weights are off by %g of %g", e, scale)
	}
	for j, v := range b {
		if e := math.Abs(m.B[j] - v); e > tol*max(1, math.Abs(v)) {
			t.Errorf("intercept %d is off by %g of %g", j, e, v)
		}
	}
}

func TestLogisticKnown(t *testing.T) {
	for _, c := range readKnown(t).Logistic {
		t.Run(c.Name, func(t *testing.T) {
			x := dense(c.X)
			m := fit(t, learn.Logistic{C: c.C}, x, learn.Target{Classes: names(c.Classes), Labels: c.Labels})
			r := m.Report()
			if r.Status != learn.Converged || r.Iterations == 0 || r.Iterations > 100 {
				t.Errorf("status %q after %d iterations, want converged within 100", r.Status, r.Iterations)
			}
			// scikit-learn's solvers stop at a gradient of 1e-14 or where
			// rounding of the objective, 1e-16, stops their line search: the
			// square root of that, 1e-8, times a condition below 100.
			checkParameters(t, m, c.W, c.B, 1e-6)
			// Errors of the parameters enter the objective squared.
			if math.Abs(r.Objective-c.Objective) > 1e-11*max(1, c.Objective) {
				t.Errorf("objective %.15g, scikit-learn has %.15g", r.Objective, c.Objective)
			}
			n, _ := x.Dims()
			p, err := m.Scores(x)
			if err != nil {
				t.Fatal(err)
			}
			if rows, k := p.Dims(); rows != n || k != c.Classes {
				t.Fatalf("scores are %d × %d, want %d × %d", rows, k, n, c.Classes)
			}
			for i, row := range c.Probability {
				for j, v := range row {
					if e := math.Abs(p.At(i, j) - v); e > 1e-6 { // as the parameters
						t.Errorf("probability of row %d, class %d is off by %g", i, j, e)
					}
				}
			}
		})
	}
}

func TestRidgeKnown(t *testing.T) {
	for _, c := range readKnown(t).Ridge {
		t.Run(c.Name, func(t *testing.T) {
			m := fit(t, learn.Ridge{Alpha: c.Alpha, Unpenalised: c.Alpha == 0}, dense(c.X), learn.Target{Values: dense(c.Y)})
			// Eight digits are kept, see maxCondition; a few are left for the
			// other side.
			checkParameters(t, m, c.W, c.B, 1e-7)
			if m.Report().Status != learn.Exact {
				t.Errorf("status %q, want exact", m.Report().Status)
			}
		})
	}
}
