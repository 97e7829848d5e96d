package profile

import (
	"fmt"

	"concord/contract"
)

// compareLevels holds the shares of levels against the other sites'.
func (r *Report) compareLevels(f contract.Feature, of *collected, pooled contract.FeatureFigures) {
	if len(pooled.Levels) != len(of.levels) {
		return
	}
	n, others := float64(of.count()), 0.0
	rest := make([]float64, len(of.levels))
	for k := range rest {
		rest[k] = float64(pooled.Levels[k] - of.levels[k])
		if rest[k] < 0 {
			return // this file's rows are not in the pooled figures
		}
		others += rest[k]
	}
	if n < leastCompared || others < leastCompared {
		return
	}
	if len(rest) == 2 {
		if evidence, ok := Flipped([2]float64{float64(of.levels[0]), float64(of.levels[1])}, [2]float64{rest[0], rest[1]}); ok {
			r.Remark(Finding{Kind: "unit", Feature: f.Name, Evidence: evidence,
				Text: fmt.Sprintf("%s in %.0f %% of the rows here and in %.0f %% at the other sites together: as if the two levels were the other way round on one side",
					f.Spellings()[1], 100*float64(of.levels[1])/n, 100*rest[1]/others),
				Cure: "look at how the column is coded here; if it is as in the contract, tell the others"})
		}
		return
	}
	for k, level := range f.Spellings() {
		// A level that nobody has here and that ought to be in forty rows.
		if share := rest[k] / others; of.levels[k] == 0 && share*n >= 40 && share >= 0.05 {
			r.Remark(Finding{Kind: "level", Feature: f.Name, Text: fmt.Sprintf("no row here has the level %s, which %.0f %% have at the other sites together: is it coded otherwise here?", level, 100*share)})
		}
	}
}
