package lab

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	basisspec "concord/basis/spec"
	"concord/pooled"
	"concord/secret"
)

// dim is l for a case: by its rule, but never more than fits the smallest party.
func (t *trial) dim(b Basis) (int, error) {
	_, m := t.test.Dims()
	l := b.Dim
	switch {
	case b.Fraction > 0:
		l = max(int(b.Fraction*float64(m)), 1)
	case b.Variance > 0:
		var err error
		if l, err = basis.DimVariance(secret.NewMatrix(t.parties[0].x), b.Variance); err != nil {
			return 0, err
		}
	}
	if l > m {
		return 0, fmt.Errorf("lab: dim %d exceeds the %d features", l, m)
	}
	if b.Kind == basisspec.Random || b.pools() {
		return l, nil
	}
	most := m
	for i, p := range t.parties {
		if b.Common == "first" && i > 0 {
			break
		}
		n, _ := p.x.Dims()
		if b.Kind == basisspec.PCA {
			n--
		}
		most = min(most, n)
	}
	if most < 1 {
		return 0, fmt.Errorf("lab: a party has one row, a %s basis needs more: give parties more rows, take fewer parties than a column has values, or a random or a common basis", b.Kind)
	}
	if l > most {
		t.note("dimension %d is cut to %d, what the rows of the smallest party span", l, most)
		l = most
	}
	return l, nil
}

// dims are the l_i of a case whose rule gives l: with views, and bases of their own,
// every party's own, the rule's share of the columns that it has, and never more than
// its rows span.
func (t *trial) dims(b Basis, l int) []int {
	out := make([]int, len(t.parties))
	for i := range out {
		out[i] = l
		if !t.viewed() || b.Common != "" {
			continue
		}
		m := t.columns(i)
		switch {
		case t.ViewDims != nil:
			out[i] = t.ViewDims[i%len(t.ViewDims)]
		case b.Fraction > 0:
			out[i] = max(int(b.Fraction*float64(m)), 1)
		}
		n, _ := t.parties[i].x.Dims()
		if b.Kind == basisspec.PCA {
			n--
		}
		if most := min(m, n); out[i] > most {
			t.note("a dimension is cut to %d, what a view's columns or its party's rows span", most)
			out[i] = most
		}
	}
	return out
}

// bases makes F_i = V E_i for every party.
func (t *trial) bases(c Case, dims []int, anchor *mat.Dense) ([]*mat.Dense, error) {
	v, err := t.directions(c.Basis, dims, anchor)
	if err != nil {
		return nil, err
	}
	f := make([]*mat.Dense, len(t.parties))
	return f, t.each(func(i int) error {
		made, err := basis.Mixed(secret.NewMatrix(v[i]), basisspec.Mix(c.Basis.Mix), t.source("mix", c.Basis.Mix, dims[i], i))
		if err != nil {
			return fmt.Errorf("party %d: %w", i+1, err)
		}
		f[i] = made.Matrix().Reveal()
		return nil
	})
}

// directions are V for each party. Cases that share them compute them once.
func (t *trial) directions(b Basis, dims []int, anchor *mat.Dense) ([]*mat.Dense, error) {
	l := dims[0]
	key := fmt.Sprint(b.Kind, b.Common, b.Delta, b.Sketch, b.Power, dims)
	if v, ok := t.vs[key]; ok && b.Common != "anchor" {
		return v, nil
	}
	v := make([]*mat.Dense, len(t.parties))
	switch b.Common {
	case "":
		err := t.each(func(i int) (err error) {
			if v[i], err = t.directionsOf(b, t.parties[i].x, dims[i], i); err != nil {
				err = fmt.Errorf("party %d: %w", i+1, err)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	case "first":
		one, err := t.directionsOf(b, t.parties[0].x, l, 0)
		if err != nil {
			return nil, err
		}
		fill(v, one)
	case "pooled", "pooled-equal":
		one, err := common(t.rows(), l, pooled.ClearOptions{
			Equal: b.Common == "pooled-equal", Sketch: b.sketch(l), Power: b.Power, Source: t.source("sketch", l),
		})
		if err != nil {
			return nil, err
		}
		fill(v, one)
	case "anchor":
		one, err := common([]*mat.Dense{anchor}, l, pooled.ClearOptions{})
		if err != nil {
			return nil, err
		}
		fill(v, one)
	}
	t.vs[key] = v
	return v, nil
}

func fill(v []*mat.Dense, one *mat.Dense) {
	for i := range v {
		v[i] = one
	}
}

func (t *trial) directionsOf(b Basis, x *mat.Dense, l, party int) (*mat.Dense, error) {
	delta := cmp.Or(b.Delta, basisspec.DefaultDelta)
	held := t.held(party, x)
	v, report, err := basis.Directions(b.Kind, secret.NewMatrix(held), l, delta, t.source("directions", b.Kind, l, party))
	if err != nil {
		return nil, err
	}
	if l > report.Rank {
		return nil, fmt.Errorf("lab: rank %d is below the dimension %d", report.Rank, l)
	}
	return t.embedded(party, v.Reveal()), nil
}

// leastRank is the least number of directions that a party's rows have, which bases
// of its own must not exceed; 0 if that is not what limits them.
func (t *trial) leastRank(b Basis) int {
	least := 0
	for i, p := range t.parties {
		if b.Common == "first" && i > 0 || b.pools() {
			break
		}
		_, report, err := basis.Directions(b.Kind, secret.NewMatrix(p.x), 1, basisspec.DefaultDelta, t.source("rank", i))
		if err != nil {
			return 0
		}
		if i == 0 || report.Rank < least {
			least = report.Rank
		}
	}
	return least
}

// pools says whether V comes of what all parties have together, so that no party's
// rows limit its dimension.
func (b Basis) pools() bool {
	return b.Common == "pooled" || b.Common == "pooled-equal" || b.Common == "anchor"
}

// sketch is the number of columns of a sketch, or 0 for all second moments.
func (b Basis) sketch(l int) int {
	if b.Sketch == 0 {
		return 0
	}
	return max(b.Sketch, l)
}

// common are the directions that the parties' masked sums agree, by the same code: the
// leading eigenvectors of the pooled second moments Σ XᵢᵀXᵢ (m × m), or Σ XᵢᵀXᵢ/nᵢ
// (docs/methods.md section 9.3). The strongest comes last, as in package linalg.
func common(x []*mat.Dense, l int, opt pooled.ClearOptions) (*mat.Dense, error) {
	v, _, err := pooled.Clear(x, l, opt)
	if err != nil {
		return nil, err
	}
	m, _ := v.Dims()
	out := mat.NewDense(m, l, nil)
	for i := range m {
		for j, x := range v.RawRowView(i) {
			out.Set(i, l-1-j, x)
		}
	}
	return out, nil
}
