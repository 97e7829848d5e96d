package lab

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	anchorspec "concord/anchor/spec"
	"concord/secret"
)

// anchor makes A (a × m) of a case; l is the dimension of its bases. Cases with the
// same anchor get the same one.
func (t *trial) anchor(c Case, l int) (*mat.Dense, error) {
	_, m := t.test.Dims()
	a := c.Anchor
	rows := a.rows(m)
	src := func(purpose ...any) *rand.ChaCha8 {
		return t.source(append([]any{"anchor", a.Kind, rows}, purpose...)...)
	}
	switch a.Kind {
	case anchorspec.Uniform, anchorspec.Normal, anchorspec.Orthonormal:
		s, err := seedFrom(src())
		if err != nil {
			return nil, err
		}
		if t.up != nil && c.Protocol == "nri" {
			return t.liftedAnchor(a.Kind, s, rows)
		}
		made, err := anchor.Generate(a.spec(m), s, m)
		if err != nil {
			return nil, err
		}
		return made.Reveal(), nil
	}
	if rows == 0 {
		rows = usualRows(m)
	}
	var made secret.Matrix
	switch a.Kind {
	case anchorspec.Gaussian:
		s, err := seedFrom(src())
		if err != nil {
			return nil, err
		}
		var about anchor.Completed
		if made, about, err = anchor.Gaussian(s, t.pairs(m), rows); err != nil {
			return nil, err
		}
		if about.Blind > 0 {
			t.note("nothing relates some pairs of columns, which no party has together: the gaussian anchor is blind there")
		}
	case anchorspec.Public, publicMixed:
		public, err := t.publicRows(a.Data, m)
		if err != nil {
			return nil, err
		}
		if a.Kind == anchorspec.Public {
			made, err = anchor.Sample(public, rows, src())
		} else {
			made, err = anchor.Mix(public, rows, src())
		}
		if err != nil {
			return nil, err
		}
	case anchorspec.LowRank, anchorspec.SMOTE:
		pieces, err := t.pieces(a, l, src)
		if err != nil {
			return nil, err
		}
		if made, err = anchor.FromPieces(pieces, rows, src("rows")); err != nil {
			return nil, err
		}
	}
	return made.Reveal(), nil
}

// pieces are what each party makes of its own rows for an anchor that all have a part in.
func (t *trial) pieces(a Anchor, l int, src func(...any) *rand.ChaCha8) ([]secret.Matrix, error) {
	pieces := make([]secret.Matrix, len(t.parties))
	usual := a.spec(0).Defaults(0, l)
	rank, delta, neighbours := cmp.Or(a.Rank, usual.Rank), cmp.Or(a.Delta, usual.Delta), cmp.Or(a.Neighbours, usual.Neighbours)
	var err error
	for i, p := range t.parties {
		x := secret.NewMatrix(p.x)
		n, m := p.x.Dims()
		if a.Kind == anchorspec.SMOTE {
			pieces[i], err = anchor.SMOTEPiece(x, n, min(neighbours, n-1), src(i))
		} else {
			pieces[i], err = anchor.LowRankPiece(x, min(rank, n, m), delta, src(i))
		}
		if err != nil {
			return nil, fmt.Errorf("party %d: %w", i+1, err)
		}
	}
	return pieces, nil
}

func seedFrom(r *rand.ChaCha8) (anchor.Seed, error) {
	var seed [anchor.SeedSize]byte
	for i := 0; i < len(seed); i += 8 {
		v := r.Uint64()
		for k := range 8 {
			seed[i+k] = byte(v >> (8 * k))
		}
	}
	return anchor.SeedFromBytes(secret.NewBytes(seed[:]))
}

// pairs are the pooled moments that masked sums would give: each pair of columns over
// the parties that have both.
func (t *trial) pairs(m int) anchor.Pairs {
	p := anchor.Pairs{Sums: mat.NewSymDense(m, nil), Counts: mat.NewSymDense(m, nil), Means: make([]float64, m)}
	counts := make([]float64, m)
	for i, one := range t.parties {
		n, _ := one.x.Dims()
		var moments mat.SymDense
		moments.SymOuterK(1, one.x.T())
		p.Sums.AddSym(p.Sums, &moments)
		has := slices.Repeat([]bool{true}, m)
		if t.lacking != nil {
			for _, j := range t.lacking[i] {
				has[j] = false
			}
		}
		for j := range m {
			if has[j] {
				p.Means[j] += mat.Sum(one.x.ColView(j))
				counts[j] += float64(n)
			}
			for k := range j + 1 {
				if has[j] && has[k] {
					p.Counts.SetSym(j, k, p.Counts.At(j, k)+float64(n))
				}
			}
		}
	}
	for j, n := range counts {
		if n > 0 {
			p.Means[j] /= n
		}
	}
	return p
}

// rows is a for m columns; zero means the kind's default.
func (a Anchor) rows(m int) int {
	if a.Times > 0 {
		return int(math.Ceil(min(a.Times*float64(m), 1<<53)))
	}
	return a.Rows
}

// spec is a's for m columns, as a contract has it: without defaults.
func (a Anchor) spec(m int) anchorspec.Spec {
	return anchorspec.Spec{Kind: a.Kind, Rows: a.rows(m), Rank: a.Rank, Delta: a.Delta, Neighbours: a.Neighbours}
}

// usualRows are those of an anchor made of rows, as for the uniform and normal kinds.
func usualRows(m int) int { return anchorspec.Spec{}.Defaults(m, 0).Rows }

// publicRows are rows of all named data sets, brought to the scale of the parties'.
func (t *trial) publicRows(names []string, m int) (*mat.Dense, error) {
	var parts []*mat.Dense
	for _, name := range names {
		d, ok := t.public[name]
		if !ok {
			return nil, fmt.Errorf("lab: the public data set %q was not given", name)
		}
		n, columns := d.X.Dims()
		if columns != m {
			return nil, fmt.Errorf("lab: the public data set %s has %d columns, the parties have %d", name, columns, m)
		}
		// A few thousand rows of each suffice, and bits become 64 times as large.
		const most = 4000
		rows := rand.New(t.source("public", name)).Perm(n)
		parts = append(parts, d.X.Take(rows[:min(n, most)]))
	}
	x := stackRows(parts)
	prepare(x, t.common)
	return x, nil
}
