package faces

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/lab"
	"concord/linalg"
)

func TestTiles(t *testing.T) {
	for name, c := range map[string]struct {
		z             []float64
		width, height int
		want          []float64
	}{
		"square":         {[]float64{1, 2, 3, 5}, 4, 4, []float64{0, 0, .25, .25, 0, 0, .25, .25, .5, .5, 1, 1, .5, .5, 1, 1}},
		"last missing":   {[]float64{1, 3, 5}, 2, 2, []float64{0, .5, 1, 1}},
		"wide":           {[]float64{5, 1}, 4, 1, []float64{1, 1, 0, 0}},
		"one a pixel":    {[]float64{1, 2, 3, 4, 5, 5}, 2, 3, []float64{0, .25, .5, .75, 1, 1}},
		"one number":     {[]float64{3}, 2, 1, []float64{.5, .5}},
		"tall and a few": {[]float64{1, 5, 3}, 1, 6, []float64{0, 0, 1, 1, .5, .5}},
	} {
		if got := tiles(c.z, 1, 5, c.width, c.height); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := tiles([]float64{2, 2}, 2, 2, 2, 1); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("equal numbers: %v", got)
	}
	// Every number has a pixel, whatever the shape.
	for width := 1; width <= 7; width++ {
		for height := 1; height <= 7; height++ {
			for l := 1; l <= width*height; l++ {
				z := make([]float64, l)
				for k := range z {
					z[k] = float64(k)
				}
				cell := tiles(z, 0, float64(l), width, height)
				for _, v := range z {
					if !slices.Contains(cell, v/float64(l)) {
						t.Fatalf("%d × %d, l = %d: number %g is not drawn", width, height, l, v)
					}
				}
			}
		}
	}
}

// TestCleaner compares with the formula in full, Σ(Σ + σ²I)⁻¹.
func TestCleaner(t *testing.T) {
	const n, m, sigma = 9, 14, 0.7
	x := linalg.Normal(n, m, lab.Stream(1, "x"))
	y := linalg.Normal(5, m, lab.Stream(1, "y"))
	c, err := newCleaner(x)
	if err != nil {
		t.Fatal(err)
	}
	got := c.guess(y, sigma)

	mean := linalg.ColumnMeans(x)
	cov := mat.NewDense(m, m, nil)
	for a := range m {
		for b := range m {
			v := 0.0
			for i := range n {
				v += (x.At(i, a) - mean[a]) * (x.At(i, b) - mean[b]) / (n - 1)
			}
			cov.Set(a, b, v)
		}
	}
	var with, weights mat.Dense
	with.CloneFrom(cov)
	for a := range m {
		with.Set(a, a, with.At(a, a)+sigma*sigma)
	}
	if err := weights.Solve(&with, cov); err != nil { // (Σ + σ²I)⁻¹Σ, transposed for rows
		t.Fatal(err)
	}
	for i := range 5 {
		for b := range m {
			want := mean[b]
			for a := range m {
				want += (y.At(i, a) - mean[a]) * weights.At(a, b)
			}
			// Sums of 14 numbers of size 1, by a matrix of condition below 100.
			if math.Abs(got.At(i, b)-want) > 1e-12 {
				t.Fatalf("row %d, column %d: %g, want %g", i, b, got.At(i, b), want)
			}
		}
	}
}
