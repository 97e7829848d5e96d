package privacy_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/privacy"
)

func TestSigmaKnown(t *testing.T) {
	b, err := os.ReadFile("testdata/sigma.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Cases []struct{ Epsilon, Delta, Sigma float64 }
	}
	if err := json.Unmarshal(b, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Cases) != 45 {
		t.Fatalf("%d cases, want 45", len(known.Cases))
	}
	for _, c := range known.Cases {
		got, err := privacy.Sigma(c.Epsilon, c.Delta, 1)
		if err != nil {
			t.Fatal(err)
		}
		// For small ε the two terms cancel: their difference loses about 1/ε.
		if tol := 1e-11 * (1 + 1/c.Epsilon); math.Abs(got-c.Sigma) > tol*c.Sigma {
			t.Errorf("ε %g, δ %g: σ %.15g, want %.15g", c.Epsilon, c.Delta, got, c.Sigma)
		}
		scaled, err := privacy.Sigma(c.Epsilon, c.Delta, 222)
		if err != nil || math.Abs(scaled-222*got) > 1e-12*scaled {
			t.Errorf("sensitivity 222 gives %v (%v), want 222 times %v", scaled, err, got)
		}
	}
}

// TestSigmaPublished are the figures of docs/methods.md section 7.8, to their digits.
func TestSigmaPublished(t *testing.T) {
	for _, c := range []struct{ epsilon, want float64 }{{0.5, 4.61}, {2, 1.445}, {8, 0.480}} {
		got, err := privacy.Sigma(c.epsilon, 1e-3, 1)
		if err != nil || math.Abs(got-c.want) > 0.005 {
			t.Errorf("ε %g: σ/Δ %.4f (%v), want %g", c.epsilon, got, err, c.want)
		}
	}
}

func TestSigmaRefuses(t *testing.T) {
	for _, c := range [][3]float64{
		{0, 1e-3, 1}, {-1, 1e-3, 1}, {math.NaN(), 1e-3, 1}, {math.Inf(1), 1e-3, 1}, {1, 0, 1}, {1, 1, 1}, {1, math.NaN(), 1}, {1, 1e-3, 0}, {1, 1e-3, math.Inf(1)},
	} {
		if s, err := privacy.Sigma(c[0], c[1], c[2]); err == nil {
			t.Errorf("Sigma%v is %v, want an error", c, s)
		}
	}
	for _, eps := range []float64{1e-6, 1e6} { // the ends of the range: no hang, no NaN
		if s, err := privacy.Sigma(eps, 1e-300, 1); err != nil || !(s > 0) || math.IsInf(s, 0) {
			t.Errorf("ε %g: %v, %v", eps, s, err)
		}
	}
}

func TestGaussian(t *testing.T) {
	x := mat.NewDense(1000, 100, nil)
	x.Set(0, 0, 5)
	y := privacy.Gaussian(x, 3, rand.NewPCG(1, 2))
	y.Sub(y, x)
	var sum, squares float64
	for _, v := range y.RawMatrix().Data {
		sum += v
		squares += v * v
	}
	// 1e5 draws: the mean has deviation 3/316 and the variance 9·√2/316; five of
	// them are passed with probability below 1e-6 each, and the draws are fixed.
	if mean := sum / 1e5; math.Abs(mean) > 5*3/316.0 {
		t.Errorf("mean %v", mean)
	}
	if v := squares / 1e5; math.Abs(v-9) > 5*9*math.Sqrt2/316 {
		t.Errorf("variance %v, want 9", v)
	}
	if x.At(0, 0) != 5 {
		t.Error("x was changed")
	}
}
