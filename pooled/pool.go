package pooled

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/contract"
	"concord/masked"
	"concord/secret"
	"concord/wire"
)

// Pool is one party's knowledge of what is pooled. It is made anew from the contract, the
// seed and the sums whenever it is needed: it writes nothing down, and prints nothing.
// A Pool is not for use by several goroutines.
type Pool struct {
	contract *contract.Contract // the whole
	own      *contract.Contract // as this party has it: through its view, if there are views
	seed     anchor.Seed
	stages   []contract.Stage
	// Behind a function, of which fmt can print nothing (see package secret).
	known func() *known
}

// known is what the sums gave.
type known struct {
	taken   int // stages
	figures *contract.Figures
	hash    wire.Hash
	prepare *contract.Preparation
	// columns are what a party's own rows become before second moments are made of them.
	columns *contract.Preparation
	exps    []int      // a value of column j there is at most 2^exps[j]
	q       *mat.Dense // the directions of the next sketch
	moments moments    // after the last stage of a common basis
	// sites is how many parties are in the second moments.
	sites int
	// together says how many rows have two columns, where there are views.
	together func(i, j int) int64
	v        *mat.Dense
}

// New begins to pool for a contract. Where it has views, c is as this party has it
// ([contract.Contract.Through]); the whole one does for who only takes sums. The seed is that of
// the anchor; only a sketch needs it. The error says that the contract pools nothing, or names a range of which no sums
// can be made.
func New(c *contract.Contract, seed anchor.Seed) (*Pool, error) {
	own := c
	c = c.Whole()
	stages := c.Stages()
	if stages == nil {
		return nil, fmt.Errorf("pooled: the contract pools nothing")
	}
	for _, f := range c.Features {
		if f.Ranged() {
			if _, _, err := span(f); err != nil {
				return nil, err
			}
		}
	}
	k := new(known)
	return &Pool{c, own, seed, stages, func() *known { return k }}, nil
}

// Stages are those of the contract, in their order.
func (p *Pool) Stages() []contract.Stage { return p.stages }

// Next is the stage whose sums are not there yet; ok is false when all are.
func (p *Pool) Next() (stage contract.Stage, ok bool) {
	if n := p.known().taken; n < len(p.stages) {
		return p.stages[n], true
	}
	return contract.Stage{}, false
}

// next wants a stage to be the next one.
func (p *Pool) next(stage contract.Stage) error {
	next, ok := p.Next()
	if !ok {
		return fmt.Errorf("pooled: the sums of %q are asked for, and all stages have theirs", stage)
	}
	if stage != next {
		return fmt.Errorf("pooled: the sums of %q are asked for, those of %q come before", stage, next)
	}
	return nil
}

// weighted is how many units of at most 1 a party's number has, and all of them together:
// rows, or parties.
func (p *Pool) weighted(stage contract.Stage) (own, all uint64) {
	c := p.contract
	if stage.Kind != contract.StageFigures && c.Pooling.Weights == "equal" {
		return 1, uint64(c.Parties)
	}
	return uint64(c.MaxRows), uint64(c.MaxRows) * uint64(c.Parties)
}

func (p *Pool) fraction(stage contract.Stage) int {
	if stage.Kind == contract.StageFigures {
		return figureFraction(p.contract)
	}
	_, all := p.weighted(stage)
	return min(fraction(all, 0), maxFraction)
}

// Statistics says what the stage sums: names of all numbers, for the figures, and a digest
// for the others, which parties compare by their hash, and their bound. The stages before
// it must have been taken.
func (p *Pool) Statistics(stage contract.Stage) (masked.Statistics, error) {
	if err := p.next(stage); err != nil {
		return masked.Statistics{}, err
	}
	k := p.known()
	own, _ := p.weighted(stage)
	s := masked.Statistics{Bound: math.Ldexp(float64(own), p.fraction(stage)-masked.FractionBits)}
	switch stage.Kind {
	case contract.StageFigures:
		names := figureNames(p.contract)
		s.N, s.Name = len(names), func(i int) string { return names[i] }
	case contract.StageMoments:
		m := len(k.exps)
		columns := p.contract.ColumnNames()
		views := viewNames(p.contract)
		starts := make([]int, m) // of each row of the triangle
		for i := 1; i < m; i++ {
			starts[i] = starts[i-1] + m - i + 1
		}
		s.N, s.Digest = len(views)+triangle(m), digest("moments", slices.Concat(views, columns), k.hash)
		s.Name = func(at int) string {
			if at < len(views) {
				return views[at]
			}
			at -= len(views)
			i := rowOf(starts, at)
			return columns[i] + " × " + columns[i+at-starts[i]]
		}
	case contract.StageSketch:
		m, width := k.q.Dims()
		columns := p.contract.ColumnNames()
		s.N, s.Digest = m*width+1, digest("sketch", columns, k.hash, matrixHash(k.q))
		s.Name = func(at int) string {
			if at == m*width {
				return "sum of squares"
			}
			return columns[at/width] + " in sketched direction " + strconv.Itoa(at%width+1)
		}
	}
	return s, nil
}

// digest stands for the names of millions of numbers: by the columns, the pooled figures, and
// the directions of a sketch everything that is summed is scaled.
//
//	SHA-256("concord/pooled/" ‖ stage ‖ "/v1" ‖ 0 ‖ SHA-256 of the figures ‖ for a sketch of its directions ‖
//	        u32 columns ‖ for each u32 length ‖ name)
//
// Where there are views, the rows of each stand before the columns.
func digest(stage string, columns []string, of ...wire.Hash) wire.Hash {
	b := append([]byte("concord/pooled/"+stage+"/v1"), 0)
	for _, h := range of {
		b = append(b, h[:]...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(columns)))
	for _, name := range columns {
		b = binary.BigEndian.AppendUint32(b, uint32(len(name)))
		b = append(b, name...)
	}
	return wire.HashOf(b)
}

// rowOf is the last i with starts[i] ≤ at.
func rowOf(starts []int, at int) int {
	lo, hi := 0, len(starts)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; starts[mid] <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// Local makes this party's vector for the stage from its raw rows (p values of the
// features that it has, NaN for missing) in one pass. What belongs to features that it has
// not is 0. The errors name a feature and never a
// value: one outside its range, or more rows than the contract allows.
//
// Cost: O(n p) for figures, O(n m²) time and O(m²) memory for moments, O(n m k) and O(m k)
// for a sketch of k columns.
func (p *Pool) Local(stage contract.Stage, rows Rows) (masked.Vector, error) {
	words, err := p.words(stage, rows)
	if err != nil {
		return masked.Vector{}, err
	}
	statistics, err := p.Statistics(stage)
	if err != nil {
		return masked.Vector{}, err
	}
	return masked.FromWords(statistics, words)
}

func (p *Pool) words(stage contract.Stage, rows Rows) ([]Word, error) {
	if err := p.next(stage); err != nil {
		return nil, err
	}
	c, k := p.own, p.known()
	if len(c.Views) > 0 && c.Within == nil {
		return nil, fmt.Errorf("pooled: the contract has views, and it is not said which one these rows have")
	}
	equal, f := c.Pooling.Weights == "equal", p.fraction(stage)
	columns := c.ColumnNames()
	name := func(j int) string { return fmt.Sprintf("%q", columns[j]) }
	check := func(n int) error {
		if n < 1 || n > c.MaxRows {
			return fmt.Errorf("pooled: there are %d rows, the contract allows 1 to %d", n, c.MaxRows)
		}
		return nil
	}
	switch stage.Kind {
	case contract.StageFigures:
		s, err := sumFigures(c, rows)
		if err != nil {
			return nil, err
		}
		return spreadFigures(c, s.rows, s.words(c), f), nil
	case contract.StageMoments:
		s, n, err := gram(p.prepared(rows), p.ownExps(), name)
		if err == nil {
			err = check(n)
		}
		if err != nil {
			return nil, err
		}
		return spreadMoments(c, n, momentWords(s, n, equal, f), f), nil
	default:
		s, err := sketch(p.prepared(rows), k.exps, k.q, name)
		if err == nil {
			err = check(s.n)
		}
		if err != nil {
			return nil, err
		}
		return sketchWords(s, equal, f), nil
	}
}

// prepared are raw rows as the pooled figures prepare them.
func (p *Pool) prepared(rows Rows) Rows {
	k := p.known()
	return func(visit func([]float64) error) error {
		z := make([]float64, k.columns.M())
		defer clear(z)
		return rows(func(row []float64) error {
			if len(row) != len(p.own.Features) {
				return fmt.Errorf("pooled: a row has %d values, the contract has %d features", len(row), len(p.own.Features))
			}
			k.columns.Row(z, row)
			return visit(z)
		})
	}
}

// Take takes the sums of the next stage. The errors say that they are of another stage, or
// cannot be those of any rows.
func (p *Pool) Take(stage contract.Stage, sums masked.Sums) error {
	words := make([]Word, sums.Len())
	for i := range words {
		words[i] = sums.At(i)
	}
	return p.take(stage, words, len(sums.Set))
}

func (p *Pool) take(stage contract.Stage, sum []Word, sites int) error {
	if err := p.next(stage); err != nil {
		return err
	}
	c, k := p.contract, p.known()
	f := p.fraction(stage)
	switch stage.Kind {
	case contract.StageFigures:
		figures, err := figuresOf(c, sum, sites)
		if err != nil {
			return err
		}
		if err := unfillable(c, figures); err != nil {
			return err
		}
		prepare, err := c.Preparation(figures)
		if err != nil {
			return err
		}
		all, columns, err := p.multiplied(figures, prepare)
		if err != nil {
			return err
		}
		exps, err := bounds(c, all)
		if err != nil {
			return err
		}
		hash, err := figures.Hash()
		if err != nil {
			return err
		}
		k.figures, k.prepare, k.columns, k.exps, k.hash = figures, prepare, columns, exps, hash
		if len(p.stages) > 1 && p.stages[1].Kind == contract.StageSketch {
			k.q = testMatrix(len(exps), c.Pooling.Sketch, p.seed.Sketch())
		}
	case contract.StageMoments:
		views := len(c.Holdings(nil))
		if len(sum) < views {
			return fmt.Errorf("pooled: %d second moments for %d views", len(sum), views)
		}
		s, err := momentsOf(sum[views:], k.exps, f)
		if err != nil {
			return err
		}
		if k.together, err = p.checkMoments(s, sum[:views], f, sites); err != nil {
			return err
		}
		k.moments, k.sites = dense{s}, sites
	case contract.StageSketch:
		y, trace, err := sketchOf(sum, k.exps, k.q, f)
		if err != nil {
			return err
		}
		if k.taken+1 < len(p.stages) {
			k.q = orthonormal(y)
			if k.q.IsEmpty() {
				return fmt.Errorf("pooled: the pooled sketch is zero: no party's rows vary")
			}
			break
		}
		n, err := newNystrom(k.q, y, trace)
		if err != nil {
			return fmt.Errorf("pooled: sketch: %v", err)
		}
		k.moments = n
	}
	k.taken++
	return nil
}

// bounds are exponents e of |z| ≤ 2^e for every prepared value z of a column. Preparing is
// monotone, in real numbers and in rounded ones, so that a feature's ends have the extreme
// values; what fills a gap is no further out, or counted too.
func bounds(c *contract.Contract, prepare *contract.Preparation) ([]int, error) {
	var out []int
	columns := c.Columns()
	raw := make([]float64, len(c.Features))
	ends := make([]float64, prepare.M())
	most := make([]float64, prepare.M())
	see := func() {
		prepare.Row(ends, raw)
		for j, v := range ends {
			most[j] = max(most[j], math.Abs(v))
		}
	}
	for end := range 3 {
		for j, f := range c.Features {
			lo, hi, _ := f.Bounds()
			raw[j] = []float64{lo, hi, math.NaN()}[end]
			if end == 2 && math.IsNaN(prepare.Fill[j]) {
				raw[j] = lo // nothing fills it
			}
		}
		see()
	}
	for j, column := range columns {
		if column.Level >= 0 { // 0 or 1, whatever the level
			for _, v := range []float64{0, 1} {
				most[j] = max(most[j], math.Abs((v-prepare.Centre[j])/prepare.Scale[j]))
			}
		}
		e := above(most[j])
		if e > 400 || e < -400 {
			return nil, fmt.Errorf("pooled: %q has prepared values up to %.1g, with which nothing can be computed; give it in other units or another range", column.Name, most[j])
		}
		out = append(out, e)
	}
	return out, nil
}

// Figures are the pooled figures, nil before their stage was taken.
func (p *Pool) Figures() *contract.Figures { return p.known().figures }

// Preparation is what all parties do to a raw row, nil before the stage figures was taken.
func (p *Pool) Preparation() *contract.Preparation { return p.known().prepare }

// Moments are the pooled second moments over the pooled rows, S/N (m × m), of prepared
// columns; ok is false unless the stage moments was taken, with rows as weights. Where a party
// is in the figures and not in them, they have the mean squares that the figures say. Where there
// are views, each is over the rows that have both columns, less the columns' pooled means
// ([contract.Contract.Centred]), and 0 for two columns that no view has together.
func (p *Pool) Moments() (*mat.SymDense, bool) {
	k := p.known()
	d, ok := k.moments.(dense)
	if !ok || p.contract.Pooling.Weights == "equal" {
		return nil, false
	}
	out := mat.NewSymDense(d.columns(), nil)
	if k.together == nil && k.sites == k.figures.Sites {
		out.ScaleSym(1/float64(k.figures.Rows), d.s)
		return out, true
	}
	if k.together == nil {
		return p.rescaled(d.s)
	}
	for i := range d.columns() {
		for j := range i + 1 {
			if n := k.together(i, j); n > 0 {
				out.SetSym(i, j, d.s.At(i, j)/float64(n))
			}
		}
	}
	return out, true
}

// rescaled are second moments of fewer parties than the figures are of, of whose rows nobody
// knows how many they are: each column is scaled to have the mean square that the figures say.
// Divided by the rows of all they would be below the squares of the means.
func (p *Pool) rescaled(s *mat.SymDense) (*mat.SymDense, bool) {
	squares, err := p.contract.PooledSquares(p.known().figures)
	if err != nil {
		return nil, false
	}
	scale := make([]float64, len(squares))
	for j, v := range squares {
		if s.At(j, j) > 0 {
			scale[j] = math.Sqrt(v / s.At(j, j))
		}
	}
	out := mat.NewSymDense(len(scale), nil)
	for i := range scale {
		for j := range i + 1 {
			out.SetSym(i, j, float64(s.At(i, j)*scale[i])*scale[j])
		}
	}
	return out, true
}

// Directions makes V (m × l) from the sums: what the party that comes first in the roster
// sends to the others. It does not take it: [Pool.TakeDirections] does.
//
// Cost O(m³), of a sketch O(m k²).
func (p *Pool) Directions() (secret.Matrix, Spectrum, error) {
	if err := p.summed(); err != nil {
		return secret.Matrix{}, Spectrum{}, err
	}
	v, about, err := principal(p.known().moments, p.contract.Basis.Dim)
	if err != nil {
		return secret.Matrix{}, Spectrum{}, err
	}
	return secret.NewMatrix(v), about, nil
}

// TakeDirections checks that v are the leading eigenvectors of what was summed, and keeps
// it. A *DirectionsError says why it is refused.
func (p *Pool) TakeDirections(v secret.Matrix) (Spectrum, error) {
	if err := p.summed(); err != nil {
		return Spectrum{}, err
	}
	m := v.Reveal()
	if m == nil {
		m = &mat.Dense{}
	}
	about, err := verify(p.known().moments, p.contract.Basis.Dim, m)
	if err == nil {
		p.known().v = m
	}
	return about, err
}

// V are the directions that were taken, or the zero value.
func (p *Pool) V() secret.Matrix {
	if v := p.known().v; v != nil {
		return secret.NewMatrix(v)
	}
	return secret.Matrix{}
}

func (p *Pool) summed() error {
	if p.contract.Basis.Kind != "common" {
		return fmt.Errorf("pooled: the contract has no common basis")
	}
	if stage, more := p.Next(); more {
		return fmt.Errorf("pooled: there are no common directions before the sums of %q", stage)
	}
	return nil
}

// Done says whether all is there that the contract pools.
func (p *Pool) Done() bool {
	_, more := p.Next()
	return !more && (p.contract.Basis.Kind != "common" || p.known().v != nil)
}

// String says only how far it is.
func (p *Pool) String() string {
	return fmt.Sprintf("pooled(%d of %d stages)", p.known().taken, len(p.stages))
}

// Format prints like String whatever the verb.
func (p *Pool) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

// LogValue prints like String in structured logs.
func (p *Pool) LogValue() slog.Value { return slog.StringValue(p.String()) }

// MarshalText refuses with [secret.ErrEncode]. encoding/json uses it too.
func (p *Pool) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with [secret.ErrEncode]. encoding/gob uses it too.
func (p *Pool) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }

// matrixHash is SHA-256 over sizes and elements, see [anchor.MatrixHash].
func matrixHash(a *mat.Dense) wire.Hash { return anchor.MatrixHash(secret.NewMatrix(a)) }
