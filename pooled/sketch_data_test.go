//go:build data

package pooled

import (
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/lab/dataset"
)

// standardised are n rows of a data set with pooled mean 0 and variance 1.
func standardised(t *testing.T, name string, n int) *mat.Dense {
	t.Helper()
	folder := os.Getenv("CONCORD_DATA")
	if folder == "" {
		t.Fatal("CONCORD_DATA does not name the folder of the data sets")
	}
	data, err := dataset.Load(folder, name)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	x, _ := data.Take(rows)
	_, m := x.Dims()
	for j := range m {
		var sum, squares float64
		for i := range n {
			sum += x.At(i, j)
		}
		mean := sum / float64(n)
		for i := range n {
			squares += (x.At(i, j) - mean) * (x.At(i, j) - mean)
		}
		scale := math.Sqrt(squares / float64(n))
		if scale == 0 {
			scale = 1
		}
		for i := range n {
			x.Set(i, j, (x.At(i, j)-mean)/scale)
		}
	}
	return x
}

// TestDataSketch compares sketches with the exact eigenvectors on real rows: of pictures,
// and of molecules' fingerprints, whose spectrum is flat, so that one pass is weak. least
// is the share of the exact directions' energy that is kept after 0, 1 and 2 power steps.
func TestDataSketch(t *testing.T) {
	for _, set := range []struct {
		name  string
		n, l  int
		least [3]float64
	}{
		{"mnist", 5000, 50, [3]float64{0.88, 0.97, 0.985}},
		{"ames", 7255, 50, [3]float64{0.62, 0.85, 0.93}},
		{"ames", 7255, 200, [3]float64{0.74, 0.90, 0.95}},
	} {
		x := standardised(t, set.name, set.n)
		s := symmetric(x)
		v, about, err := principal(dense{s}, set.l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verify(dense{s}, set.l, v); err != nil {
			t.Errorf("%s: %v", set.name, err)
		}
		exact := kept(s, v)
		t.Logf("%s, %d rows, l = %d: %v", set.name, set.n, set.l, about)
		for power, least := range set.least {
			ny := pooledSketch(t, x, 5, set.l, power, source(1))
			w, told, err := principal(ny, set.l)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := verify(ny, set.l, w); err != nil {
				t.Errorf("%s: %v", set.name, err)
			}
			share := kept(s, w) / exact
			t.Logf("  %d power steps keep %.4f of that, the sketch itself tells %.4f", power, share, told.Energy/exact)
			if share < least {
				t.Errorf("%s, l = %d, %d power steps keep %.4f of the energy of the exact directions, want %g", set.name, set.l, power, share, least)
			}
			if told.Energy > exact*share+1e-9 {
				t.Errorf("%s: the sketch tells %g and keeps %g", set.name, told.Energy, exact*share)
			}
		}
	}
}
