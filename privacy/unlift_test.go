package privacy_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

func lifted(m, dim, l int, gamma float64, rnd *rand.ChaCha8) privacy.Lifted {
	w := linalg.Normal(m, dim, rnd)
	w.Scale(math.Sqrt(2*gamma), w)
	b := linalg.Uniform(1, dim, rnd)
	b.Scale(2*math.Pi, b)
	return privacy.Lifted{W: w, B: b.RawRowView(0), F: linalg.Stiefel(dim, l, rnd)}
}

func (k imagesOf) of(x *mat.Dense) *mat.Dense {
	n, _ := x.Dims()
	_, dim := k.W.Dims()
	var z, y mat.Dense
	z.Mul(x, k.W)
	for i := range n {
		row := z.RawRowView(i)
		for d := range row {
			row[d] = math.Sqrt(2/float64(dim)) * math.Cos(row[d]+k.B[d])
		}
	}
	y.Mul(&z, k.F)
	return &y
}

type imagesOf privacy.Lifted

// TestUnlift: with more columns than features nothing is hidden: rows come back to
// seven digits. With fewer they do not, and the guess is still better than the mean.
func TestUnlift(t *testing.T) {
	const m, n = 5, 40
	rnd := rand.NewChaCha8([32]byte{81})
	x := linalg.Normal(n, m, rnd)
	mean, deviation := make([]float64, m), []float64{1, 1, 1, 1, 1}
	for _, tc := range []struct {
		l          int
		from, upto float64 // mean error of a row, relative to the mean's
	}{{12, 0, 0.02}, {3, 0.1, 0.95}} {
		k := lifted(m, 200, tc.l, 0.05, rnd)
		guess, err := privacy.Unlift(imagesOf(k).of(x), k, mean, deviation, rnd)
		if err != nil {
			t.Fatal(err)
		}
		var off mat.Dense
		off.Sub(guess, x)
		if e := mat.Norm(&off, 2) / mat.Norm(x, 2); e < tc.from || e > tc.upto {
			t.Errorf("%d columns of %d features: error %.4f, want %g to %g", tc.l, m, e, tc.from, tc.upto)
		}
	}
}

func TestUnliftRefuses(t *testing.T) {
	rnd := rand.NewChaCha8([32]byte{82})
	k := lifted(3, 20, 4, 1, rnd)
	ok := []float64{0, 0, 0}
	if _, err := privacy.Unlift(linalg.Normal(6, 5, rnd), k, ok, ok, rnd); err == nil || !strings.Contains(err.Error(), "do not fit each other") {
		t.Errorf("images of another width: %v", err)
	}
	if _, err := privacy.Unlift(linalg.Normal(6, 4, rnd), k, ok[:2], ok, rnd); err == nil || !strings.Contains(err.Error(), "do not fit each other") {
		t.Errorf("too few means: %v", err)
	}
	z := linalg.Normal(6, 4, rnd)
	z.Set(2, 1, math.NaN())
	if _, err := privacy.Unlift(z, k, ok, ok, rnd); err == nil || !strings.Contains(err.Error(), "privacy: ") {
		t.Errorf("NaN: %v", err)
	}
	// Features that do not vary keep their mean.
	guess, err := privacy.Unlift(linalg.Normal(6, 4, rnd), k, ok, ok, rnd)
	if err != nil || linalg.CheckFinite(guess) != nil {
		t.Errorf("features that do not vary: %v", err)
	}
}
