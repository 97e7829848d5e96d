package analyst

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/study"
)

// Contribution is what one party sent.
type Contribution struct {
	// Party is the sender's name, for messages.
	Party string
	// X is X̃ᵢ (nᵢ × l) and A is Ãᵢ (a × l).
	X, A *mat.Dense
	// Labels are nᵢ indices into the contract's levels, for class labels.
	Labels []int64
	// Values are nᵢ × 1 numbers, for number labels.
	Values *mat.Dense
	// Anchor is the id of the anchor that the party used.
	Anchor study.Hash
}

// Check compares a contribution with the contract: shapes, finite numbers,
// labels that exist, floors that its sender promised. Errors name the party and
// the member, never a value.
func (p *Contribution) Check(c *study.Contract) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("analyst: contribution of %q: %w", p.Party, fmt.Errorf(format, args...))
	}
	n, l := p.X.Dims()
	a, la := p.A.Dims()
	switch {
	case l != c.Basis.Dim || la != l:
		return wrong("X is %d × %d and A is %d × %d, the contract says %d columns", n, l, a, la, c.Basis.Dim)
	case a != c.Anchor.Rows:
		return wrong("A has %d rows, the contract says %d", a, c.Anchor.Rows)
	case n < c.Floors.Rows || n > c.MaxRows:
		return wrong("X has %d rows, the contract says %d to %d", n, c.Floors.Rows, c.MaxRows)
	}
	if err := linalg.CheckFinite(p.X); err != nil {
		return wrong("X: %w", err)
	}
	if err := linalg.CheckFinite(p.A); err != nil {
		return wrong("A: %w", err)
	}
	if c.Label.Type == "class" {
		return p.checkLabels(c, n, wrong)
	}
	if p.Values == nil {
		return wrong("Y holds no numbers, the label %q is a number", c.Label.Name)
	}
	if rows, q := p.Values.Dims(); rows != n || q != 1 {
		return wrong("Y is %d × %d, X has %d rows", rows, q, n)
	}
	if err := linalg.CheckFinite(p.Values); err != nil {
		return wrong("Y: %w", err)
	}
	return nil
}

func (p *Contribution) checkLabels(c *study.Contract, n int, wrong func(string, ...any) error) error {
	if len(p.Labels) != n {
		return wrong("Y has %d labels, X has %d rows", len(p.Labels), n)
	}
	counts := make([]int, len(c.Label.Levels))
	for i, k := range p.Labels {
		if k < 0 || k >= int64(len(counts)) {
			return wrong("the label of row %d is none of the %d classes", i+1, len(counts))
		}
		counts[k]++
	}
	for k, count := range counts {
		if count < c.Floors.PerClass {
			return wrong("class %q has %d rows, the floor is %d", c.Label.Levels[k], count, c.Floors.PerClass)
		}
	}
	return nil
}
