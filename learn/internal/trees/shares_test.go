package trees

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestShares: shares are multiples of the unit, less than one unit from the exact
// ones, sum to exactly 1, and of two classes the larger has no less.
func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := shareBits(rapid.IntRange(1, 1<<20).Draw(t, "trees"))
		counts := rapid.SliceOfN(rapid.Uint32Range(0, 9), 1, 40).Draw(t, "counts")
		counts[0] += rapid.Uint32Range(1, math.MaxUint32-9).Draw(t, "more")
		weights := make([]float64, len(counts))
		var total float64
		for c, w := range counts {
			weights[c] = float64(w)
			total += weights[c]
		}
		values := shares([]float64{7}, weights, b)
		if values[0] != 7 || len(values) != 1+len(weights) {
			t.Fatalf("%d values are appended to one for %d classes", len(values), len(weights))
		}
		values = values[1:]
		units := math.Ldexp(1, b)
		var sum float64
		for c, v := range values {
			if u := v * units; u != math.Trunc(u) || math.Abs(v-weights[c]/total) >= 1/units {
				t.Errorf("share %d of %v in units of 2^-%d is %g", c, counts, b, u)
			}
			if weights[c] > weights[0] && v < values[0] {
				t.Errorf("class %d has a larger weight and a smaller share than class 0", c)
			}
			sum += v // exact: a whole number of units
		}
		if sum != 1 {
			t.Errorf("shares sum to %.17g", sum)
		}
	})
	if got := shares(nil, []float64{1, 1, 1}, 3); !slices.Equal(got, []float64{.375, .375, .25}) {
		t.Errorf("thirds in eighths are %v", got)
	}
}

// TestShareBits: the sums of as many trees as there may be, whole numbers of
// units up to 2²³, differ in 32 bits after division by the number of trees.
func TestShareBits(t *testing.T) {
	for _, trees := range []int{1, 2, 3, 5, 100, 127, 128, 129, 1000, 1<<20 - 1, 1 << 20} {
		most := trees << shareBits(trees)
		if most > 1<<23 || 2*most <= 1<<22 {
			t.Errorf("%d trees: sums are up to %d units, want at most 2^23 and no less than needed", trees, most)
		}
		last := float32(-1)
		for units := max(0, most-1<<16); units <= most; units++ {
			q := float32(math.Ldexp(float64(units), -shareBits(trees))) / float32(trees)
			if !(q > last) {
				t.Fatalf("%d trees: %d units give %g, as one less", trees, units, q)
			}
			last = q
		}
	}
}
