package linalg_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/linalg/linalgtest"
)

// TestEigenKnownAnswers compares with SciPy (testdata/eigen.py) under every backend.
// Two exact codes agree in eigenvalues to ε n times the norm, in eigenvectors to that
// over the smallest gap, and in polar factors to ε n times the condition.
func TestEigenKnownAnswers(t *testing.T) {
	data, err := os.ReadFile("testdata/eigen.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Cases []struct {
			A, Vectors, M, Polar [][]float64
			Values               []float64
			Gap                  float64
			CondM                float64 `json:"cond_m"`
		}
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Cases) == 0 {
		t.Fatal("no cases")
	}
	linalgtest.Each(t, func(t *testing.T) {
		for _, c := range known.Cases {
			n := len(c.A)
			compare := func(what string, w, want []float64, v, wantV *mat.Dense, size, gap float64) {
				t.Helper()
				bound := 8 * float64(2*n) * linalg.Eps * size
				for j := range want {
					if math.Abs(w[j]-want[j]) > bound {
						t.Errorf("order %d, %s: eigenvalue %d is %g, want %g", n, what, j, w[j], want[j])
					}
				}
				if e := distance(v, wantV); e > bound/gap*math.Sqrt(float64(n)) {
					t.Errorf("order %d, %s: eigenvectors differ by %g", n, what, e)
				}
			}
			w, v, err := linalg.EigSym(symmetricOf(c.A))
			if err != nil {
				t.Fatal(err)
			}
			norm := max(math.Abs(c.Values[0]), math.Abs(c.Values[n-1]), 1)
			compare("standard", w, c.Values, v, dense(c.Vectors), norm, c.Gap)
			m := dense(c.M)
			for _, method := range []linalg.PolarMethod{"", linalg.PolarSVD, linalg.PolarIteration} {
				q, _, err := linalg.PolarWith(m, linalg.PolarOptions{Method: method})
				if err != nil {
					t.Fatal(err)
				}
				if e := distance(q, dense(c.Polar)); e > 2*tol(m)*c.CondM {
					t.Errorf("order %d, method %q: polar factor differs by %g at condition %g", n, method, e, c.CondM)
				}
			}
		}
	})
}

func symmetricOf(rows [][]float64) *mat.SymDense {
	s := mat.NewSymDense(len(rows), nil)
	for i, r := range rows {
		for j := i; j < len(r); j++ {
			s.SetSym(i, j, r[j])
		}
	}
	return s
}
