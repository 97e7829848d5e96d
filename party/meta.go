package party

import (
	"slices"

	"concord/onnx"
	"concord/study"
)

// meta names a model's inputs and outputs. Where a contract has more than numbers
// without gaps it says how a cell becomes a number, so that rows can be coded without
// the contract.
func meta(c *study.Contract, hash study.Hash) onnx.Meta {
	m := onnx.Meta{Study: c.Name, Contract: hash.String(), Features: c.FeatureNames(), Label: c.Label.Name, Classes: c.Label.Levels}
	plain := len(c.MissingValues) == 0
	for _, f := range c.Features {
		m.Units = append(m.Units, f.UnitText())
		plain = plain && f.Type == study.Numeric && f.Missing == study.MissingRefuse
	}
	if plain {
		return m
	}
	m.MissingCells = slices.Clone(c.MissingValues)
	for _, f := range c.Features {
		levels := slices.Clone(f.Spellings())
		if f.Missing == study.MissingOwn {
			levels = append(levels, study.OwnLevel)
		}
		m.Levels = append(m.Levels, levels)
		missing := f.Missing
		if missing == study.MissingRefuse {
			missing = "refuse"
		}
		m.Coding = append(m.Coding, onnx.Coding{Type: f.Type, Missing: missing, As: f.As, From: f.From, Layout: f.Layout})
	}
	return m
}
