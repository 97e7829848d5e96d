package privacy

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// TestIndependentKnown compares with the sources that scikit-learn's FastICA finds, which
// are free in order and sign.
func TestIndependentKnown(t *testing.T) {
	raw, err := os.ReadFile("testdata/ica.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct{ X, S [][]float64 }
	if err := json.Unmarshal(raw, &known); err != nil {
		t.Fatal(err)
	}
	n := len(known.X)
	if n != 250 || len(known.S) != n {
		t.Fatalf("%d rows, %d sources, want 250", n, len(known.S))
	}
	x, s := mat.NewDense(n, 4, nil), mat.NewDense(n, 4, nil)
	for i := range n {
		x.SetRow(i, known.X[i])
		s.SetRow(i, known.S[i])
	}
	for seed := range uint64(5) {
		src := rand.NewPCG(20, seed)
		a, err := principalAxes(x, 4, src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := independent(a.score, linalg.Haar(4, src), 1e-14, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if !got.converged {
			t.Fatalf("seed %d: no convergence", seed)
		}
		var ours, correlation mat.Dense
		ours.Mul(a.score, got.w.T())
		correlation.Mul(ours.T(), s)
		// Columns of mean 0 and variance 1: correlations are ±1 for the same source and 0
		// for another. Both stop where 1 − |cos| is below 1e-14, so angles, and with them
		// the small correlations, are right to √(2e-14) over 1 − the rate of convergence,
		// which is linear on samples and below .9 here: 1.4e-6.
		for i := range 4 {
			ones := 0
			for j := range 4 {
				c := math.Abs(correlation.At(i, j)) / float64(n)
				if math.Abs(c-1) < 1e-9 {
					ones++
				} else if c > 1.5e-6 {
					t.Errorf("seed %d: component %d has correlation %g with source %d", seed, i, c, j)
				}
			}
			if ones != 1 {
				t.Errorf("seed %d: component %d is %d of the known sources", seed, i, ones)
			}
		}
	}
}

// TestIndependentProperties: W is orthogonal, a fixed point, and the start does not change.
func TestIndependentProperties(t *testing.T) {
	src := rand.NewPCG(20, 9)
	rng := rand.New(src)
	x := mat.NewDense(900, 6, nil)
	for i := range 900 {
		for j := range 6 {
			x.Set(i, j, rng.ExpFloat64())
		}
	}
	a, err := principalAxes(x, 6, src)
	if err != nil {
		t.Fatal(err)
	}
	start := linalg.Haar(6, src)
	before := mat.DenseCopyOf(start)
	got, err := independent(a.score, start, 1e-14, 1000)
	if err != nil || !got.converged {
		t.Fatalf("%+v, %v", got, err)
	}
	if !mat.Equal(start, before) {
		t.Error("the start was changed")
	}
	var gram mat.Dense
	gram.Mul(got.w, got.w.T())
	for i := range 6 {
		for j := range 6 {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(gram.At(i, j)-want) > 6*16*linalg.Eps {
				t.Fatalf("WWᵀ has %g at %d, %d", gram.At(i, j), i, j)
			}
		}
	}
	again, err := independent(a.score, got.w, 1e-12, 1)
	if err != nil || !again.converged {
		t.Errorf("not a fixed point: %+v, %v", again, err)
	}
	// One step from anywhere is no convergence to rounding.
	if one, err := independent(a.score, start, 1e-14, 1); err != nil || one.converged || one.iterations != 1 {
		t.Errorf("one step: %+v, %v", one, err)
	}
}
