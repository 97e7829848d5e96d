package party

import (
	"fmt"
	"math"

	"concord/contract"
)

// Report holds the figures of a table that a person at the site looks at before
// anything leaves. They speak of the site's own rows and stay there; of them only
// Rows, Dim and the counts of the labels can be read off what leaves.
//
// Figures that depend on the basis are rounded to a thousandth, those with a floor to
// its unsafe side. With all their digits they would be equations for the basis, which
// under nri must not lie beside the rows.
type Report struct {
	Rows     int     `json:"rows"`
	Dropped  int     `json:"dropped,omitempty"` // rows that the floor of eps keeps back
	People   int     `json:"people"`            // different subjects, or rows where the contract names none
	Features int     `json:"features"`
	Dim      int     `json:"dim"`               // l
	Classes  []int   `json:"classes,omitempty"` // rows of each level, in the contract's order
	Rank     int     `json:"rank,omitempty"`    // directions that the standardised rows span
	Energy   float64 `json:"energy,omitempty"`  // share of them that the basis keeps, 0 to 1
	// Eps is the least share of a row's length that the basis leaves out, 0 to 1.
	Eps float64 `json:"eps,omitempty"`
	// Exposed are the features that follow a direction of X̃ most closely.
	Exposed []Exposure `json:"exposed,omitempty"`
	// Reconstructed has for every feature how well it comes back when the analyst and
	// one party undo the projection, the best known first.
	Reconstructed []FeatureRatio `json:"reconstructed,omitempty"`
	// Linked is the share of people whose row, so reconstructed, is nearest to theirs.
	Linked float64 `json:"linked,omitempty"`
	// Findings are the figures in words.
	Findings []Finding `json:"findings,omitempty"`
}

// Exposure says how closely one feature follows a direction of what leaves.
type Exposure struct {
	Feature string `json:"feature"`
	// Correlation is the largest |Pearson correlation| of the feature with a column or
	// principal component of X̃, matched by person: 0 nothing, 1 everything.
	Correlation float64 `json:"correlation"`
	// Near is the share of rows that find their person to 1% of all places when both
	// are sorted, Chance that of a random order.
	Near   float64 `json:"near"`
	Chance float64 `json:"chance"`
}

// FeatureRatio is the error of a reconstructed feature in units of its deviation: 0 is
// exact, 1 as good as guessing the mean.
type FeatureRatio struct {
	Feature string  `json:"feature"`
	Ratio   float64 `json:"ratio"`
}

// Keeps returns a *FloorError unless all figures of the report keep the floors. Rows
// below a floor of eps were dropped when the report was made: none may be left.
func (r Report) Keeps(c *contract.Contract, floors Floors) error {
	problems := r.counts(c, floors)
	if r.Eps < floors.Eps {
		who := "the basis"
		if r.Rank == 0 {
			who = "the piece" // has no basis
		}
		problems = append(problems, fmt.Sprintf("%s leaves only %.3f out of some row, the floor of eps is %g", who, r.Eps, floors.Eps))
	}
	if len(r.Exposed) > 0 && floors.Correlation > 0 && r.Exposed[0].Correlation > floors.Correlation {
		problems = append(problems, fmt.Sprintf("%s follows one direction of what leaves with a correlation of %.3f, this site allows %g",
			r.Exposed[0].Feature, r.Exposed[0].Correlation, floors.Correlation))
	}
	if floors.Linkage > 0 && r.Linked > floors.Linkage {
		what := "reconstructed rows"
		if r.Rank == 0 {
			what = "piece's rows"
		}
		problems = append(problems, fmt.Sprintf("%.1f %% of the %s are nearest to their own person, this site allows %g %%", 100*r.Linked, what, 100*floors.Linkage))
	}
	if problems != nil {
		return &FloorError{problems}
	}
	return nil
}

// round cuts all figures that depend on the basis to what people are shown. A figure
// that keeps its floor still does so.
func (r *Report) round(floors Floors) {
	r.Energy = thousandth(r.Energy, math.Round)
	if eps := thousandth(r.Eps, math.Floor); r.Eps >= floors.Eps {
		r.Eps = max(eps, floors.Eps)
	} else {
		r.Eps = eps
	}
	most := func(v, bound float64) float64 {
		up := thousandth(v, math.Ceil)
		if v <= bound {
			return min(up, bound)
		}
		return up
	}
	r.Linked = most(r.Linked, floors.Linkage)
	for i := range r.Exposed {
		e := &r.Exposed[i]
		e.Correlation, e.Near = most(e.Correlation, floors.Correlation), thousandth(e.Near, math.Round)
	}
	for i := range r.Reconstructed {
		r.Reconstructed[i].Ratio = thousandth(r.Reconstructed[i].Ratio, math.Round)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Value = thousandth(f.Value, math.Round)
	}
}

// thousandth rounds v to three decimals; what was rounded stays as it is.
func thousandth(v float64, by func(float64) float64) float64 {
	if nearest := math.Round(v*1000) / 1000; math.Abs(v-nearest) < 1e-12 {
		return nearest // 0.57*1000 is a little more than 570
	}
	return by(v*1000) / 1000
}

// counts says which counts are below their floors.
func (r Report) counts(c *contract.Contract, floors Floors) []string {
	var problems []string
	problems = append(problems, floors.Rows.below(r.Rows, "the table has %s", plural(r.Rows, "row", "rows"))...)
	problems = append(problems, floors.People.below(r.People, "the table has rows of %s", plural(r.People, "person", "people"))...)
	for k, n := range r.Classes {
		problems = append(problems, floors.PerClass.below(n, "class %q has %s", c.Label.Levels[k], plural(n, "row", "rows"))...)
	}
	return problems
}
