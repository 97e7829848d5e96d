package analyst

import (
	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/wire"
)

// Contribution is what one party sent.
type Contribution struct {
	// Party is the sender's name, for messages.
	Party string
	// X is X̃ᵢ (nᵢ × lᵢ) and A is Ãᵢ (a × lᵢ).
	X, A *mat.Dense
	// Labels are nᵢ indices into the contract's levels, for class labels.
	Labels []int64
	// Values are nᵢ × 1 numbers, for number labels.
	Values *mat.Dense
	// Anchor is the id of the anchor that the party used.
	Anchor wire.Hash
	// View names its features, where the contract has views.
	View string
}

// Check compares a contribution with the contract: shapes, finite numbers,
// labels that exist, floors that its sender promised. Errors name the party and
// the member, never a value.
func (p *Contribution) Check(c *contract.Contract) error {
	s := Inspect(c, p.Party)
	y := Shape{len(p.Labels), 1}
	if c.Label.Type == "class" {
		s.Labels(0, p.Labels)
	} else {
		y = s.matrix("Y", p.Values)
	}
	return s.Verdict(p.View, s.matrix("X", p.X), s.matrix("A", p.A), y)
}

// matrix inspects a member that is in memory; nil has neither rows nor columns.
func (s *Inspection) matrix(member string, m *mat.Dense) Shape {
	if m == nil || m.IsEmpty() {
		return Shape{}
	}
	rows, cols := m.Dims()
	for i := range rows {
		s.Numbers(member, m.RawRowView(i), func(j int) (row, col int64) { return int64(i) + 1, int64(j) + 1 })
	}
	return Shape{rows, cols}
}
