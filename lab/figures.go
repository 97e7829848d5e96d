package lab

import (
	"fmt"
	"math"

	"concord/contract"
	"concord/table"
)

// Figures are what masked sums would say of the tables together: to rounding those of a
// study among their sites. Only the laboratory may compute them so.
func Figures(c *contract.Contract, tables []*table.Table) (*contract.Figures, error) {
	f := &contract.Figures{Version: 1, Sites: len(tables), Features: make([]contract.FeatureFigures, len(c.Features))}
	for j, feature := range c.Features {
		g := &f.Features[j]
		if k := len(feature.Spellings()); k > 0 {
			g.Levels = make([]int64, k)
		}
		var sum float64
		each := func(visit func(v float64)) {
			for _, t := range tables {
				x := t.X().Reveal()
				for i := range t.Rows() {
					visit(x.At(i, j))
				}
			}
		}
		each(func(v float64) {
			switch {
			case math.IsNaN(v):
				g.Missing++
			case g.Levels != nil:
				g.Count++
				g.Levels[int(v)]++
			default:
				g.Count++
				sum += v
			}
		})
		if g.Levels == nil && g.Count > 0 {
			g.Mean = sum / float64(g.Count)
			each(func(v float64) {
				if !math.IsNaN(v) {
					g.Variance += (v - g.Mean) * (v - g.Mean) / float64(g.Count)
				}
			})
		}
	}
	for _, t := range tables {
		f.Rows += int64(t.Rows())
	}
	if err := f.Check(c); err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return f, nil
}
