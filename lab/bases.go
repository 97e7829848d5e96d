package lab

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/linalg"
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
	if b.Kind == basis.KindRandom || b.Common == "pooled" || b.Common == "anchor" {
		return l, nil
	}
	most := m
	for i, p := range t.parties {
		if b.Common == "first" && i > 0 {
			break
		}
		n, _ := p.x.Dims()
		if b.Kind == basis.KindPCA {
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

// bases makes F_i = V E_i for every party.
func (t *trial) bases(c Case, l int, anchor *mat.Dense) ([]*mat.Dense, error) {
	v, err := t.directions(c.Basis, l, anchor)
	if err != nil {
		return nil, err
	}
	f := make([]*mat.Dense, len(t.parties))
	errs := make([]error, len(f))
	linalg.Parallel(len(f), func(i int) {
		made, err := basis.Mixed(secret.NewMatrix(v[i]), basis.Mix(c.Basis.Mix), t.source("mix", c.Basis.Mix, l, i))
		if err != nil {
			errs[i] = fmt.Errorf("party %d: %w", i+1, err)
			return
		}
		f[i] = made.Matrix().Reveal()
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// directions are V for each party. Cases that share them compute them once.
func (t *trial) directions(b Basis, l int, anchor *mat.Dense) ([]*mat.Dense, error) {
	key := fmt.Sprint(b.Kind, b.Common, b.Delta, l)
	if v, ok := t.vs[key]; ok && b.Common != "anchor" {
		return v, nil
	}
	v := make([]*mat.Dense, len(t.parties))
	switch b.Common {
	case "":
		errs := make([]error, len(v))
		linalg.Parallel(len(v), func(i int) {
			v[i], errs[i] = t.directionsOf(b, t.parties[i].x, l, i)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("party %d: %w", i+1, errs[i])
			}
		})
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
	case "first":
		one, err := t.directionsOf(b, t.parties[0].x, l, 0)
		if err != nil {
			return nil, err
		}
		fill(v, one)
	case "pooled":
		one, err := pooled(t.rows(), l)
		if err != nil {
			return nil, err
		}
		fill(v, one)
	case "anchor":
		one, err := pooled([]*mat.Dense{anchor}, l)
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
	delta := b.Delta
	if delta == 0 {
		delta = 0.05 // MM
	}
	v, report, err := basis.Directions(b.Kind, secret.NewMatrix(x), l, delta, t.source("directions", b.Kind, l, party))
	if err != nil {
		return nil, err
	}
	if l > report.Rank {
		return nil, fmt.Errorf("lab: rank %d is below the dimension %d", report.Rank, l)
	}
	return v.Reveal(), nil
}

// leastRank is the least number of directions that a party's rows have, which bases
// of its own must not exceed; 0 if that is not what limits them.
func (t *trial) leastRank(b Basis) int {
	least := 0
	for i, p := range t.parties {
		if b.Common == "first" && i > 0 || b.Common == "pooled" || b.Common == "anchor" {
			break
		}
		_, report, err := basis.Directions(b.Kind, secret.NewMatrix(p.x), 1, 0.05, t.source("rank", i))
		if err != nil {
			return 0
		}
		if i == 0 || report.Rank < least {
			least = report.Rank
		}
	}
	return least
}

// pooled are the l leading eigenvectors of the pooled second moments Σ XᵢᵀXᵢ (m × m),
// the common basis of METHODS.md section 9, as masked sums would agree it.
func pooled(x []*mat.Dense, l int) (*mat.Dense, error) {
	_, m := x[0].Dims()
	sum := mat.NewSymDense(m, nil)
	for _, xi := range x {
		var one mat.SymDense
		one.SymOuterK(1, xi.T())
		sum.AddSym(sum, &one)
	}
	_, v, err := linalg.EigSymRange(sum, m-l, m)
	if err != nil {
		return nil, err
	}
	return v, nil
}
