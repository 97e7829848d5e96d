package linalg_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// splitMix is SplitMix64, the word source that testdata/known.py has too.
type splitMix uint64

func (s *splitMix) Uint64() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func source(seed uint64) *splitMix { s := splitMix(seed); return &s }

// TestKnownAnswers compares with NumPy and SciPy (testdata/known.py).
func TestKnownAnswers(t *testing.T) {
	data, err := os.ReadFile("testdata/known.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Cases []struct {
			Name                           string
			A, B, Pinv, Lstsq, Polar, Q, R [][]float64
			S                              []float64
			Rank                           int
		}
		Normal, Haar, Stiefel [][]float64
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	for _, c := range known.Cases {
		t.Run(c.Name, func(t *testing.T) {
			a := dense(c.A)
			s, err := linalg.SingularValues(a)
			if err != nil {
				t.Fatal(err)
			}
			cond := 1.0
			for i := range s {
				if math.Abs(s[i]-c.S[i]) > tol(a)*c.S[0] {
					t.Errorf("singular value %d is %g, want %g", i, s[i], c.S[i])
				}
				if i < c.Rank {
					cond = c.S[0] / c.S[i]
				}
			}
			// Two exact methods may differ by eps times the condition number.
			bound := tol(a) * cond
			p, rank, err := linalg.Pinv(a, 0)
			if err != nil || rank != c.Rank {
				t.Fatalf("rank %d, %v, want %d", rank, err, c.Rank)
			}
			if e := distance(p, dense(c.Pinv)); e > bound {
				t.Errorf("pseudo-inverse differs by %g, bound %g", e, bound)
			}
			x, _, err := linalg.LeastSquares(a, dense(c.B), 0)
			if err != nil {
				t.Fatal(err)
			}
			if e := distance(x, dense(c.Lstsq)); e > bound {
				t.Errorf("least squares differs by %g, bound %g", e, bound)
			}
			if c.Polar == nil {
				return
			}
			polar, _, err := linalg.Polar(a)
			if err != nil {
				t.Fatal(err)
			}
			if e := distance(polar, dense(c.Polar)); e > bound {
				t.Errorf("polar factor differs by %g, bound %g", e, bound)
			}
			q, r, err := linalg.QR(a)
			if err != nil {
				t.Fatal(err)
			}
			if e := max(distance(q, dense(c.Q)), distance(r, dense(c.R))); e > bound {
				t.Errorf("QR differs by %g, bound %g", e, bound)
			}
		})
	}
	// 1e-12 is what is promised between machines.
	for _, c := range []struct {
		name string
		got  *mat.Dense
		want [][]float64
	}{
		{"normal", linalg.Normal(3, 5, source(7)), known.Normal},
		{"haar", linalg.Haar(4, source(8)), known.Haar},
		{"stiefel", linalg.Stiefel(6, 2, source(9)), known.Stiefel},
	} {
		if e := distance(c.got, dense(c.want)); e > 1e-12 {
			t.Errorf("%s differs by %g", c.name, e)
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
