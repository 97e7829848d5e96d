package party

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/secret"
	"concord/study"
)

// Agreed is what the parties have in common and the analyst has not: all that the
// anchor is made of.
type Agreed struct {
	// Seed is of every anchor.
	Seed anchor.Seed
	// Public are the rows of the public file, standardised, for an anchor of kind
	// public.
	Public *mat.Dense
	// Pieces are those of all parties by their signing keys' order, this one's
	// included, for the kinds low-rank and smote.
	Pieces []secret.Matrix
}

// anchor generates A (a × m).
func (g Agreed) anchor(c *study.Contract) (secret.Matrix, error) {
	switch {
	case c.Anchor.Kind == "public":
		if g.Public == nil {
			return secret.Matrix{}, fmt.Errorf("party: the contract's anchor is made of a public file, and there are no rows of it")
		}
		return anchor.FromPublic(g.Seed, g.Public, c.Anchor.Rows)
	case c.Anchor.Pieces():
		if len(g.Pieces) < 2 {
			return secret.Matrix{}, fmt.Errorf("party: %d pieces of the anchor; 2 parties at least give one", len(g.Pieces))
		}
		for i, p := range g.Pieces {
			if _, m := p.Dims(); m != c.M() {
				return secret.Matrix{}, fmt.Errorf("party: piece %d of the anchor has %d columns for %d features", i+1, m, c.M())
			}
		}
		return anchor.FromSeedAndPieces(g.Seed, g.Pieces, c.Anchor.Rows)
	}
	return anchor.Generate(anchor.Spec{Kind: c.Anchor.Kind, Rows: c.Anchor.Rows}, g.Seed, c.M())
}

// ID names what the anchor is made of, for the analyst, and for members who admit
// another party, to compare.
func (g Agreed) ID(c *study.Contract) study.Hash {
	if c.Anchor.Pieces() {
		return anchor.PiecesID(g.Seed, g.Pieces)
	}
	return g.Seed.ID() // a public file is named by the contract
}
