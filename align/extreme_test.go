package align_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/align"
	_ "concord/internal/repeatable" // the same cases every time
	"concord/linalg"
)

// TestExtreme feeds every method with numbers from the ends of float64: it
// must return an error or finite matrices, and must not panic, since the
// numbers come from other people's machines.
func TestExtreme(t *testing.T) {
	numbers := []float64{0, 1, -1, 1e-8, 1e8, 1e-150, -1e150, 1e-300, 1e300, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1 + linalg.Eps}
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.IntRange(1, 4).Draw(t, "l")
		rows := rapid.IntRange(l, 9).Draw(t, "rows")
		var a []*mat.Dense
		for range rapid.IntRange(1, 3).Draw(t, "parties") {
			a = append(a, mat.NewDense(rows, l, rapid.SliceOfN(rapid.SampledFrom(numbers), rows*l, rows*l).Draw(t, "elements")))
		}
		for _, method := range align.Methods() {
			r, err := align.Run(method, a, align.Options{})
			if err != nil {
				continue
			}
			for i, g := range r.G {
				if err := linalg.CheckFinite(g); err != nil {
					t.Fatalf("%s: G_%d: %v", method, i+1, err)
				}
			}
			figures := append([]float64{r.Residual, r.Objective}, r.Conds...)
			figures = append(append(figures, r.Overlap...), r.Singular...)
			for _, x := range figures {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("%s: a figure is not finite: %+v", method, r)
				}
			}
		}
	})
}
