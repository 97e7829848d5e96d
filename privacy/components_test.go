package privacy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

// bestRead is, for each feature of x, the largest correlation with a column of z d.
func bestRead(t *testing.T, x, z, d *mat.Dense) (mean, most float64) {
	t.Helper()
	var read mat.Dense
	read.Mul(z, d)
	r, err := privacy.Correlations(x, &read)
	if err != nil {
		t.Fatal(err)
	}
	m, k := r.Dims()
	for j := range m {
		best := 0.0
		for c := range k {
			best = math.Max(best, r.At(j, c))
		}
		mean += best / float64(m)
		most = math.Max(most, best)
	}
	return mean, most
}

// TestAnchorsShow: of the image of a uniform anchor, and nothing else, the analyst finds
// directions that read single features of normal rows, which have no directions of their
// own. Of a normal and of an orthonormal anchor it finds none that is better than any.
func TestAnchorsShow(t *testing.T) {
	src := rand.NewPCG(71, 72)
	const n, m, l, a = 3000, 10, 8, 4000
	x, f := linalg.Normal(n, m, src), linalg.Stiefel(m, l, src)
	var z mat.Dense
	z.Mul(x, f)
	any, _ := bestRead(t, x, &z, linalg.Haar(l, src)) // directions of nobody
	orthonormal := linalg.Stiefel(a, m, src)
	orthonormal.Scale(math.Sqrt(a), orthonormal)
	for _, tc := range []struct {
		name   string
		anchor *mat.Dense
		shows  bool
	}{{"uniform", linalg.Uniform(a, m, src), true}, {"normal", linalg.Normal(a, m, src), false}, {"orthonormal", orthonormal, false}} {
		var image mat.Dense
		image.Mul(tc.anchor, f)
		d, _, err := privacy.IndependentDirections(&image, src)
		if err != nil {
			t.Fatal(err)
		}
		mean, most := bestRead(t, x, &z, d)
		t.Logf("%s: features are read with a correlation of %.2f in the mean, %.2f at most; by any directions %.2f", tc.name, mean, most, any)
		if tc.shows && (mean < any+0.15 || most < 0.85) || !tc.shows && mean > any+0.12 {
			t.Errorf("%s: %.2f in the mean, %.2f at most, where any directions give %.2f", tc.name, mean, most, any)
		}
	}
}

// TestIndependentDirections: independent sources are found as they are.
func TestIndependentDirections(t *testing.T) {
	src := rand.NewPCG(73, 74)
	x, mix := linalg.Uniform(3000, 6, src), linalg.Normal(6, 6, src)
	var z mat.Dense
	z.Mul(x, mix)
	d, converged, err := privacy.IndependentDirections(&z, src)
	if err != nil || !converged {
		t.Fatal(converged, err)
	}
	if mean, _ := bestRead(t, x, &z, d); mean < 0.99 {
		t.Errorf("sources are found with a correlation of %.3f", mean)
	}
	same := mat.NewDense(5, 3, []float64{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3})
	if d, _, err := privacy.IndependentDirections(same, src); err != nil || d != nil {
		t.Errorf("rows that are all the same: %v, %v", d, err)
	}
	same.Set(1, 1, math.NaN())
	if _, _, err := privacy.IndependentDirections(same, src); err == nil {
		t.Error("NaN")
	}
	if _, _, err := privacy.IndependentDirections(mat.NewDense(1, 3, nil), src); err == nil {
		t.Error("one row")
	}
}
