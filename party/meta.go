package party

import (
	"slices"

	"concord/contract"
	"concord/onnx"
	"concord/wire"
)

// meta names a model's inputs and outputs. Where a contract has more than numbers
// without gaps it says how a cell becomes a number, so that rows can be coded without
// the contract.
func meta(c *contract.Contract, hash wire.Hash) onnx.Meta {
	m := onnx.Meta{Study: c.Name, Contract: hash.String(), Features: c.FeatureNames(), Label: c.Label.Name, Classes: c.Label.Levels}
	plain := len(c.MissingValues) == 0
	for _, f := range c.Features {
		m.Units = append(m.Units, f.UnitText())
		plain = plain && f.Type == contract.Numeric && f.Missing == contract.MissingRefuse
	}
	if plain {
		return m
	}
	m.MissingCells = slices.Clone(c.MissingValues)
	for _, f := range c.Features {
		levels := slices.Clone(f.Spellings())
		if f.Missing == contract.MissingOwn {
			levels = append(levels, contract.OwnLevel)
		}
		m.Levels = append(m.Levels, levels)
		missing := f.Missing
		if missing == contract.MissingRefuse {
			missing = "refuse"
		}
		m.Coding = append(m.Coding, onnx.Coding{Type: f.Type, Missing: missing, As: f.As, From: f.From, Layout: f.Layout})
	}
	return m
}
