package pooled

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/contract"
)

// ClearOptions say how [Clear] pools. The zero value pools all second moments, each row
// counting the same.
type ClearOptions struct {
	// Equal lets each party count the same, whatever the number of its rows.
	Equal bool
	// Sketch is the number of columns of a sketch, 0 for none. Power is how many power
	// steps follow, and Source what its test matrix is drawn from; both belong to a sketch.
	Sketch, Power int
	Source        rand.Source
}

// Clear returns the common directions V (m × l), the strongest first, of prepared rows that
// lie open, one matrix (nᵢ × m) a party: what masked sums of the same rows agree, to some
// 10⁻¹² where the eigenvalues are apart. It is for laboratories and comparisons.
//
// The errors are those of the parties' way: rows of different widths or not finite, and a
// *RankError.
func Clear(x []*mat.Dense, l int, opt ClearOptions) (*mat.Dense, Spectrum, error) {
	if len(x) == 0 {
		return nil, Spectrum{}, fmt.Errorf("pooled: no party's rows")
	}
	_, m := x[0].Dims()
	exps := make([]int, m)
	for j := range exps {
		exps[j] = math.MinInt32
	}
	for i, xi := range x {
		n, cols := xi.Dims()
		if cols != m || n == 0 {
			return nil, Spectrum{}, fmt.Errorf("pooled: party %d has %d × %d rows, the first has %d columns", i+1, n, cols, m)
		}
		for r := range n {
			for j, v := range xi.RawRowView(r) {
				if v != 0 {
					exps[j] = max(exps[j], above(v))
				}
			}
		}
	}
	for j, e := range exps {
		if e == math.MinInt32 {
			exps[j] = 0
		}
		if e > 400 {
			return nil, Spectrum{}, fmt.Errorf("pooled: column %d has values beyond 2^400, or no finite ones", j+1)
		}
		exps[j] = max(exps[j], -400) // smaller ones do not count
	}
	name := func(j int) string { return fmt.Sprintf("column %d", j+1) }
	weight := func(n int) float64 {
		if opt.Equal {
			return 1 / float64(n)
		}
		return 1
	}
	if opt.Sketch > 0 {
		s, err := clearSketch(x, exps, opt, name, weight)
		if err != nil {
			return nil, Spectrum{}, err
		}
		return principal(s, l)
	}
	sum := mat.NewSymDense(m, nil)
	for _, xi := range x {
		s, n, err := gram(MatrixRows(xi), exps, name)
		if err != nil {
			return nil, Spectrum{}, err
		}
		for i := range m {
			for j := i; j < m; j++ {
				sum.SetSym(i, j, sum.At(i, j)+math.Ldexp(s.At(i, j)*weight(n), exps[i]+exps[j]))
			}
		}
	}
	return principal(dense{sum}, l)
}

func clearSketch(x []*mat.Dense, exps []int, opt ClearOptions, name func(int) string, weight func(int) float64) (moments, error) {
	m := len(exps)
	q := testMatrix(m, min(opt.Sketch, m), opt.Source)
	for step := 0; ; step++ {
		_, k := q.Dims()
		_, bound := scaledDirections(q, exps)
		y, trace := mat.NewDense(m, k, nil), 0.0
		for _, xi := range x {
			s, err := sketch(MatrixRows(xi), exps, q, name)
			if err != nil {
				return nil, err
			}
			w := weight(s.n)
			for j := range m {
				for c := range k {
					y.Set(j, c, y.At(j, c)+math.Ldexp(s.y.At(j, c)*w, exps[j]+bound[c]))
				}
			}
			trace += math.Ldexp(s.trace*w, traceBound(exps))
		}
		if step == opt.Power {
			return newNystrom(q, y, trace)
		}
		if q = orthonormal(y); q.IsEmpty() {
			return nil, fmt.Errorf("pooled: the pooled sketch is zero: no row varies")
		}
	}
}

// InClear plays all stages over raw rows that lie open, those of each party, and takes the
// directions: what every party of them would know after masked sums, to the last bit. Where the
// contract has views, views names that of each party. It is for laboratories and tests.
func InClear(c *contract.Contract, seed anchor.Seed, parties []Rows, views ...string) (*Pool, error) {
	if len(c.Views) > 0 && len(views) != len(parties) {
		return nil, fmt.Errorf("pooled: %d views for %d parties", len(views), len(parties))
	}
	p, err := New(c, seed)
	if err != nil {
		return nil, err
	}
	as := func(i int) error { // takes a party's place
		if len(c.Views) == 0 {
			return nil
		}
		if p.own, err = c.Through(views[i]); err != nil {
			return err
		}
		if k := p.known(); k.figures != nil {
			_, k.columns, err = p.multiplied(k.figures, k.prepare)
		}
		return err
	}
	for stage, more := p.Next(); more; stage, more = p.Next() {
		var sum []Word
		for i, rows := range parties {
			if err := as(i); err != nil {
				return nil, err
			}
			words, err := p.words(stage, rows)
			if err != nil {
				return nil, fmt.Errorf("party %d: %w", i+1, err)
			}
			if sum == nil {
				sum = make([]Word, len(words))
			}
			for j, w := range words {
				sum[j] = sum[j].Add(w)
			}
		}
		if err := p.take(stage, sum, len(parties)); err != nil {
			return nil, err
		}
	}
	if c.Basis.Kind != "common" {
		return p, nil
	}
	v, _, err := p.Directions()
	if err == nil {
		_, err = p.TakeDirections(v)
	}
	return p, err
}
