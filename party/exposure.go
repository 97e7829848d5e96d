package party

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/study"
)

// Exposure says how closely one feature follows a direction of what leaves.
type Exposure struct {
	Feature string `json:"feature"`
	// Correlation is the largest |Pearson correlation| of the feature with a
	// principal component of X̃, matched by person: 0 nothing, 1 everything.
	Correlation float64 `json:"correlation"`
}

// exposures compares every feature of the rows x (n × m, standardised) with the
// principal components of what leaves (z = X̃, n × l, in the same order), and
// returns the three that follow one of them most closely.
//
// An analyst alone computes these components: the basis hides which direction is
// which, not the directions in which the rows vary most. Where one of them is
// nearly a single feature, sorting by it sorts people by that feature
// (METHODS.md section 7). It is a figure for the site's own eyes.
//
// Cost: O(n l² + n m l).
func exposures(c *study.Contract, x, z *mat.Dense) ([]Exposure, error) {
	centred := centre(z)
	u, s, err := linalg.SVDLeft(centred)
	if err != nil {
		return nil, err
	}
	n, l := z.Dims()
	rank := linalg.NumericalRank(s, n, l, 0)
	xc := centre(x)
	_, m := x.Dims()
	out := make([]Exposure, m)
	for j := range m {
		col := mat.NewVecDense(n, mat.Col(nil, j, xc))
		out[j].Feature = c.Features[j].Name
		length := mat.Norm(col, 2)
		if length == 0 {
			continue
		}
		for k := range rank {
			r := math.Abs(mat.Dot(col, u.ColView(k))) / length
			out[j].Correlation = max(out[j].Correlation, min(1, r))
		}
	}
	slices.SortStableFunc(out, func(a, b Exposure) int {
		switch {
		case a.Correlation > b.Correlation:
			return -1
		case a.Correlation < b.Correlation:
			return 1
		}
		return 0
	})
	return out[:min(3, m)], nil
}

// centre returns a copy of a with zero column means.
func centre(a *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(a)
	n, cols := out.Dims()
	for j := range cols {
		var sum float64
		for i := range n {
			sum += out.At(i, j)
		}
		mean := sum / float64(n)
		for i := range n {
			out.Set(i, j, out.At(i, j)-mean)
		}
	}
	return out
}
