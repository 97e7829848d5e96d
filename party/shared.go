package party

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// warnShared is the share of a row's length outside of the common directions below which
// a person is warned.
const warnShared = 0.05

// shared says what a common basis changes: every party knows its directions V, the analyst
// does not. x are prepared rows (n × m), v is V (m × l).
//
// What is beside V of a row nobody gets from what leaves; what is in it needs Eᵢ (l × l)
// alone, where a basis of one's own hides in m × l. That the analyst can work out Eᵢ with a
// party is what the reconstruction finds; the analyst without one has of V nothing.
func (r *Report) shared(x, v *mat.Dense) {
	var z mat.Dense
	z.Mul(x, v)
	defer z.Zero()
	n, _ := x.Dims()
	var out []float64
	for i := range n {
		var all, kept float64
		for _, u := range x.RawRowView(i) {
			all += u * u
		}
		for _, u := range z.RawRowView(i) {
			kept += u * u
		}
		if all > 0 {
			out = append(out, max(0, 1-kept/all))
		}
	}
	if out == nil {
		return
	}
	slices.Sort(out)
	median := out[len(out)/2]
	r.Findings = append(r.Findings, Finding{"common-directions", againstParties, 1 - median,
		fmt.Sprintf("the directions of the basis are known to all parties, not to the analyst: they keep %.1f %% of the sum of squares of half of the rows, or more; each party's secret is how they are turned. "+
			"All other parties together know this site's own second moments, by which the directions were pooled; one of them that colludes with the analyst learns no more of this site's rows than with a basis of its own", 100*(1-median)),
		median < warnShared})
}
