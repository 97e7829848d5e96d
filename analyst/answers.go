package analyst

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/contract"
	"concord/learn"
	"concord/linalg"
)

// Answers is what one party gets under nri: the model's predictions for its image of
// the anchor, Yᵢ^anc = h(Ãᵢ Gᵢ) ([imakura2023], algorithm 2).
type Answers struct {
	// Labels are a indices into the contract's levels, for hard answers.
	Labels []int64
	// Scores are a × k scores of the levels, or a × 1 numbers, for soft ones.
	Scores *mat.Dense
}

// Answer predicts every party's image of the anchor, in the order of parts. Neither Gᵢ
// nor the model leaves with them. What a model that carries rows says of the anchor
// shows them less than the model does, yet something: answers are functions of rows.
//
// Cost: what the model needs for a rows, and O(a l d), for each party.
func Answer(c *contract.Contract, h learn.Model, parts []Contribution, g *align.Result) ([]Answers, error) {
	out := make([]Answers, len(parts))
	for i, p := range parts {
		var aligned mat.Dense
		aligned.Mul(p.A, g.G[i])
		scores, err := h.Scores(&aligned)
		if err != nil {
			return nil, fmt.Errorf("analyst: answers for %q: %w", p.Party, err)
		}
		if err := linalg.CheckFinite(scores); err != nil {
			return nil, fmt.Errorf("analyst: answers for %q: %w", p.Party, err)
		}
		if c.Answers == "soft" {
			out[i].Scores = scores
			continue
		}
		for _, k := range learn.Predicted(scores) {
			out[i].Labels = append(out[i].Labels, int64(k))
		}
	}
	return out, nil
}
