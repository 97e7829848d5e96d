package privacy

import (
	"math"
	"slices"
)

// shapePoints is the number of quantiles by which distributions are compared. It is even
// so that turning a distribution round maps them onto each other.
const shapePoints = 64

// quantiles are the quantiles of v at (q + ½)/64, between order statistics by linear
// interpolation of the position n(q + ½)/64 − ½ (Hazen's; [hyndman1996], type 5).
func quantiles(v []float64) []float64 {
	v = slices.Sorted(slices.Values(v))
	out := make([]float64, shapePoints)
	for q := range out {
		at := float64(len(v))*(float64(q)+0.5)/shapePoints - 0.5
		at = max(0, min(float64(len(v)-1), at))
		low := int(at)
		high := min(low+1, len(v)-1)
		out[q] = v[low] + (at-float64(low))*(v[high]-v[low])
	}
	return out
}

// quantiles are those of the scores of axis j about 0, in deviations: the mean's own
// score is added, as a linear map keeps it.
func (a axes) quantiles(j int) []float64 {
	n, _ := a.score.Dims()
	v := make([]float64, n)
	for i := range v {
		v[i] = a.score.At(i, j) + a.first[j]
	}
	return quantiles(v)
}

// quantileGap is the mean distance between the quantiles of sign times one variable and
// those of another: an estimate of their Wasserstein distance of order 1.
func quantileGap(a, b []float64, sign float64) float64 {
	sum := 0.0
	for q := range b {
		v := a[q]
		if sign < 0 {
			v = -a[len(a)-1-q]
		}
		sum += math.Abs(v - b[q])
	}
	return sum / float64(len(b))
}
