package party

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	anchorspec "concord/anchor/spec"
	"concord/basis"
	"concord/contract"
	"concord/secret"
	"concord/wire"
)

// Agreed is what the parties have in common and the analyst has not: all that the
// anchor is made of, and what they pooled.
type Agreed struct {
	// Seed is of every anchor.
	Seed anchor.Seed
	// Public are the rows of the public file, standardised, for an anchor of kind
	// public.
	Public *mat.Dense
	// Pieces are those of all parties by their signing keys' order, this one's
	// included, for the kinds low-rank and smote.
	Pieces []secret.Matrix
	// Figures are the pooled ones by which rows are prepared; nil where none are.
	Figures *contract.Figures
	// Directions are V (m × l) of a basis of kind common; empty for the others.
	Directions secret.Matrix
	// Moments are the pooled second moments of prepared columns over the pooled rows
	// (m × m), of an anchor of kind gaussian; where there are views, of each two columns less
	// their pooled means, over the rows that have both, and 0 where no view has both.
	Moments secret.Matrix
}

// preparation is what becomes of this party's rows.
func (g Agreed) preparation(c *contract.Contract) (*contract.Preparation, error) {
	p, err := c.Preparation(g.Figures)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	return p, nil
}

// mapping is what becomes of this party's rows before its basis: their preparation, and the
// lift, nil for none.
func (g Agreed) mapping(c *contract.Contract) (*contract.Preparation, *basis.Lift, error) {
	p, err := g.preparation(c)
	if err != nil {
		return nil, nil, err
	}
	up, err := g.lift(c)
	return p, up, err
}

// anchor generates A (a × m), and of a site with a view of the features keeps the columns
// that it has.
//
// Under a lift it has the lifted columns (a × D): an anchor that follows from the seed alone
// is made there, so that an orthonormal one is; one that has to lie where rows lie, which is
// any under nri and any made of rows, is made of the columns before, and lifted as they are.
func (g Agreed) anchor(c *contract.Contract) (secret.Matrix, error) {
	if c.Lift != nil {
		if c.Protocol != "nri" && c.Anchor.Seeded() {
			return anchor.Generate(c.Anchor, g.Seed, c.Lift.Dim)
		}
		up, err := g.lift(c)
		if err != nil {
			return secret.Matrix{}, err
		}
		raw, err := g.wholeAnchor(c)
		if err != nil {
			return raw, err
		}
		defer raw.Erase()
		return up.Apply(raw), nil
	}
	a, err := g.wholeAnchor(c.Whole())
	if err != nil || c.Within == nil {
		return a, err
	}
	defer a.Erase()
	rows, _ := a.Dims()
	columns := c.ViewColumns()
	part := mat.NewDense(rows, len(columns), nil)
	for i := range rows {
		from, to := a.Reveal().RawRowView(i), part.RawRowView(i)
		for k, j := range columns {
			to[k] = from[j]
		}
	}
	return secret.NewMatrix(part), nil
}

// wholeAnchor generates A over all columns, the same at every party.
func (g Agreed) wholeAnchor(c *contract.Contract) (secret.Matrix, error) {
	shared := anchor.Shared{Seed: g.Seed, Public: g.Public, Pieces: g.Pieces}
	if c.Anchor.Kind == anchorspec.Gaussian {
		var err error
		if shared.Pairs, err = g.pairs(c); err != nil {
			return secret.Matrix{}, err
		}
		defer shared.Pairs.Sums.Zero()
	}
	return anchor.New(c.Anchor, shared, c.M())
}

// Completed says how the covariances of a gaussian anchor are completed where there are views
// and no party has two columns together: for people, after the second moments are pooled.
func (g Agreed) Completed(c *contract.Contract) (anchor.Completed, error) {
	pairs, err := g.pairs(c.Whole())
	if err != nil {
		return anchor.Completed{}, err
	}
	defer pairs.Sums.Zero()
	covariance, about, err := anchor.Covariance(pairs)
	if covariance != nil {
		covariance.Zero()
	}
	return about, err
}

// pairs are the pooled second moments of prepared columns, those with a count that a party
// has together.
func (g Agreed) pairs(c *contract.Contract) (anchor.Pairs, error) {
	m := c.M()
	if rows, columns := g.Moments.Dims(); rows != m || columns != m {
		return anchor.Pairs{}, fmt.Errorf("party: the contract's anchor is gaussian, and the pooled moments are %d × %d, not %d × %d", rows, columns, m, m)
	}
	means, err := c.PooledMeans(g.Figures)
	if err != nil {
		return anchor.Pairs{}, err
	}
	sums, counts := mat.NewSymDense(m, nil), mat.NewSymDense(m, nil)
	views := len(c.Views) > 0
	together, columns := g.Figures.RowsOfBoth(c), c.Columns()
	for i := range m {
		for j := i; j < m; j++ {
			v := g.Moments.Reveal().At(i, j)
			switch {
			case !views:
			case together(columns[i].Feature, columns[j].Feature) == 0:
				continue // nobody has both
			default:
				v += float64(means[i] * means[j]) // they are taken off again
			}
			sums.SetSym(i, j, v)
			counts.SetSym(i, j, 1) // moments are over the rows already
		}
	}
	return anchor.Pairs{Sums: sums, Counts: counts, Means: means}, nil
}

// ID names what the anchor is made of, and where figures are pooled those and the common
// directions too, for the analyst, and for members who admit another party, to compare:
// parties that prepare rows in different ways, or have different V, are found before
// anything is aligned. It is keyed with the seed, without which nobody can test a guess.
func (g Agreed) ID(c *contract.Contract) wire.Hash {
	id := wire.Hash(g.Seed.ID()) // a public file is named by the contract
	if c.Anchor.Pieces() {
		id = anchor.PiecesID(g.Seed, g.Pieces)
	}
	if c.Pooling == nil || g.Figures == nil {
		return id
	}
	figures, err := g.Figures.Hash()
	if err != nil {
		panic("party: " + err.Error()) // of numbers that Figures.Check has seen
	}
	id = anchor.PooledID(g.Seed, id, figures, g.Directions)
	if c.Anchor.Kind == anchorspec.Gaussian {
		id = anchor.PooledID(g.Seed, id, figures, g.Moments)
	}
	return id
}
