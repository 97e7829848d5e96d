package party

import (
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/table"
	"concord/wire"
)

// Contribution is what Prepare makes: what would leave, and the basis that
// stays.
type Contribution struct {
	// X is X̃ = P X F (n × l), A is Ã = A F (a × l); the rows of X are in a
	// random order, so that a position in the file says nothing.
	X, A *mat.Dense
	// Labels are the classes of X's rows as indices into the contract's levels,
	// or nil.
	Labels []int64
	// Values are the numbers of X's rows (n × 1), or nil.
	Values *mat.Dense
	// Anchor is the id of the anchor's seed.
	Anchor wire.Hash
	// Basis is F (m × l). It stays. Under nri it is nil: F and the order of rows
	// are gone when Prepare returns.
	Basis *basis.Basis
	// Report is for the person who approves.
	Report Report
}

// Prepare computes what would leave from a table that has passed Check:
// prepared rows and the anchor, both through a new secret basis. src must
// be seeded by the operating system's entropy (see [basis.NewSource]): whoever
// can repeat it knows F and the order of rows.
//
// Under nri neither can be made again ([imakura2023], definition 1; docs/methods.md section
// 7.7), as long as what leaves does not lie beside the rows in the clear: F = X⁺X̃, and A⁺Ã
// too. The caller seals it at once. Memory that the garbage collector moved, swap and core
// dumps are not covered.
//
// Cost: O(n m min(n, m)) for the basis, O((n + a) m l) for the products, and
// the anchor's generation.
func Prepare(c *contract.Contract, t *table.Table, floors Floors, agreed Agreed, src rand.Source) (*Contribution, error) {
	report, err := Check(c, t, floors)
	if err != nil {
		return nil, err
	}
	prep, up, err := agreed.mapping(c)
	if err != nil {
		return nil, err
	}
	x := prepared(t, prep, up)
	defer func() { x.erase() }()
	f, about, err := basis.New(c.Basis, x.high, basis.Shared{Seed: agreed.Seed, V: agreed.Directions}, src)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	kept, err := x.far(f, floors.Eps)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	if dropped := t.Rows() - len(kept); dropped > 0 {
		t = t.Subset(kept)
		defer t.Erase()
		if report, err = Check(c, t, floors); err != nil {
			return nil, fmt.Errorf("party: after %d rows were dropped that the basis leaves less than %g of out: %w", dropped, floors.Eps, err)
		}
		report.Dropped = dropped
	}
	x.shuffle(kept, rand.New(src))
	report.Rank, report.Energy = about.Rank, about.Energy
	a, err := agreed.anchor(c)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	defer a.Erase()
	z, image := f.Project(x.high), f.Project(a)
	if c.Noise != nil {
		if z, err = report.addNoise(c.Noise, x.high, x.people, f, floors, src); err != nil {
			return nil, err
		}
	}
	if err := report.columns(c, t); err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	if c.Basis.Pooled() {
		report.shared(x.rows.Reveal(), agreed.Directions.Reveal())
	}
	err = measured{c, x.rows.Reveal(), x.high.Reveal(), up, x.people, z, f.Matrix().Reveal(), a.Reveal(), image, src}.attack(&report)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	if c.Protocol == "nri" {
		if err := report.regenerate(c.Basis, x.high, z, agreed, src); err != nil {
			return nil, fmt.Errorf("party: %w", err)
		}
	}
	if err := report.Keeps(c, floors); err != nil {
		return nil, err
	}
	report.round(floors)
	if c.Protocol == "nri" {
		defer f.Erase()
	}
	made := &Contribution{
		X:      z,
		A:      image,
		Labels: x.labels,
		Values: x.values,
		Anchor: agreed.ID(c),
		Report: report,
	}
	if c.Protocol != "nri" {
		made.Basis = f
	}
	return made, nil
}

// Erase overwrites what was made, the report excepted.
func (m *Contribution) Erase() {
	m.X.Zero()
	m.A.Zero()
	clear(m.Labels)
	if m.Values != nil {
		m.Values.Zero()
	}
	if m.Basis != nil {
		m.Basis.Erase()
	}
}
