package privacy

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestMoments: columns whose moments are known exactly, at the ends of what a float64
// holds and with a mean that dwarfs the deviation.
func TestMoments(t *testing.T) {
	const n = 1024 // two blocks
	columns := []struct {
		name      string
		at        func(i int) float64
		mean, dev float64
		constant  bool
	}{
		{"alternating", func(i int) float64 { return float64(i%2)*2 - 1 }, 0, 1, false},
		{"far from zero", func(i int) float64 { return 1e9 + float64(i%2) }, 1e9 + 0.5, 0.5, false},
		{"huge", func(i int) float64 { return 1.5e308 * (float64(i%2)*2 - 1) }, 0, 1.5e308, false},
		{"tiny", func(i int) float64 { return 1e-300 * float64(i%2) }, 0.5e-300, 0.5e-300, false},
		{"one differs", func(i int) float64 { return float64(max(0, i-n+2)) }, 1. / n, math.Sqrt(n-1) / n, false},
		{"constant", func(int) float64 { return 0.1 }, 0.1, 0, true},
		{"zero", func(int) float64 { return 0 }, 0, 0, true},
		{"rounding", func(i int) float64 { return 0.1 * (1 + 0x1p-51*float64(i%2)) }, 0.1, 0, true},
	}
	x := mat.NewDense(n, len(columns), nil)
	for j, c := range columns {
		for i := range n {
			x.Set(i, j, c.at(i))
		}
	}
	s := momentsOf(x)
	out := mat.NewDense(n, len(columns), nil)
	s.standard(out, x, 0, n)
	for j, c := range columns {
		// Sums of 1024 terms in units of the larger of mean and deviation.
		tol := 1e-13
		if math.Abs(s.mean[j]-c.mean) > tol*max(math.Abs(c.mean), c.dev) || math.Abs(s.dev[j]-c.dev) > tol*c.dev || s.constant[j] != c.constant {
			t.Errorf("%s: mean %v, deviation %v, constant %v; want %v, %v, %v", c.name, s.mean[j], s.dev[j], s.constant[j], c.mean, c.dev, c.constant)
		}
		var squares float64
		for i := range n {
			squares += out.At(i, j) * out.At(i, j)
		}
		want := float64(n)
		if c.constant {
			want = 0
		}
		if math.Abs(squares-want) > 1e-13*n { // differences from the mean are exact
			t.Errorf("%s: squares of the standardised column sum to %v, want %v", c.name, squares, want)
		}
	}
}
