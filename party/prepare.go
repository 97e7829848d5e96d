package party

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/privacy"
	"concord/secret"
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
	f, about, kept, err := basisFor(c, t, prep, up, floors, agreed, src)
	if err != nil {
		return nil, err
	}
	if dropped := t.Rows() - kept.Rows(); dropped > 0 {
		t = kept
		defer t.Erase()
		if report, err = Check(c, t, floors); err != nil {
			return nil, fmt.Errorf("party: after %d rows were dropped that the basis leaves less than %g of out: %w", dropped, floors.Eps, err)
		}
		report.Dropped = dropped
	}
	x := permuted(t, prep, rand.New(src))
	defer x.rows.Erase()
	high := lifted(up, x.rows) // what the basis sees
	defer high.Erase()
	report.Rank, report.Energy = about.Rank, about.Energy
	a, err := agreed.anchor(c)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	defer a.Erase()
	z, image := f.Project(high), f.Project(a)
	if c.Noise != nil {
		if z, err = report.addNoise(c.Noise, high, x.people, f, floors, src); err != nil {
			return nil, err
		}
	}
	if err := report.columns(c, t); err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	if c.Basis.Pooled() {
		report.shared(x.rows.Reveal(), agreed.Directions.Reveal())
	}
	err = measured{c, x.rows.Reveal(), high.Reveal(), up, x.people, z, f.Matrix().Reveal(), a.Reveal(), image, src}.attack(&report)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	if c.Protocol == "nri" {
		if err := report.regenerate(c.Basis, high, z, agreed, src); err != nil {
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

// basisFor makes the basis, and drops the rows of which it leaves out less than the
// floor of eps ([nosaka2024mm], section 2.3, down-sampling).
func basisFor(c *contract.Contract, t *table.Table, prep *contract.Preparation, up *basis.Lift, floors Floors, agreed Agreed, src rand.Source) (*basis.Basis, basis.Report, *table.Table, error) {
	rows := t.Prepared(prep)
	defer rows.Erase()
	x := lifted(up, rows)
	defer x.Erase()
	f, about, err := newBasis(c.Basis, x, agreed, src)
	if err != nil {
		return nil, about, nil, fmt.Errorf("party: %w", err)
	}
	if floors.Eps == 0 {
		return f, about, t, nil
	}
	dr, err := privacy.DR(x.Reveal(), f.Matrix().Reveal())
	if err != nil {
		return nil, about, nil, fmt.Errorf("party: %w", err)
	}
	if drop := privacy.Below(dr, floors.Eps); len(drop) > 0 {
		keep := make([]int, 0, len(dr)-len(drop))
		for i := range dr {
			if _, dropped := slices.BinarySearch(drop, i); !dropped {
				keep = append(keep, i)
			}
		}
		t = t.Subset(keep)
	}
	return f, about, t, nil
}

func newBasis(b basis.Spec, x secret.Matrix, agreed Agreed, src rand.Source) (*basis.Basis, basis.Report, error) {
	return basis.New(b, x, basis.Shared{Seed: agreed.Seed, V: agreed.Directions}, src)
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

type labelled struct {
	rows   secret.Matrix
	labels []int64
	values *mat.Dense
	people []int // whose each row is, or nil for a row a person
}

// permuted returns the prepared rows and their labels in a random order.
func permuted(t *table.Table, prep *contract.Preparation, rnd *rand.Rand) labelled {
	all := t.Prepared(prep)
	defer all.Erase()
	n, m := all.Dims()
	order := rnd.Perm(n)
	rows := mat.NewDense(n, m, nil)
	for to, from := range order {
		rows.SetRow(to, all.Reveal().RawRowView(from))
	}
	out := labelled{rows: secret.NewMatrix(rows)}
	if labels := t.Labels(); labels != nil {
		out.labels = make([]int64, n)
		for to, from := range order {
			out.labels[to] = int64(labels[from])
		}
	}
	if people := t.Persons(); people != nil {
		out.people = make([]int, n)
		for to, from := range order {
			out.people[to] = people[from]
		}
	}
	if values := t.Values(); values != nil {
		out.values = mat.NewDense(n, 1, nil)
		for to, from := range order {
			out.values.Set(to, 0, values[from])
		}
	}
	return out
}
