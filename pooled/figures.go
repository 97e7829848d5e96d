package pooled

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"concord/contract"
)

// A number x of a range [lo, hi] is summed as q, an integer: x − c exactly, c the middle of
// the range, in units of 2^(e−62), 2^e the power of two that is not below any |x − c|,
// rounded once. So |q| ≤ 2⁶², and
//
//	Σq and Σq²,  exact in 128 and 192 bits at a site,
//	mean = c + 2^(e−62)·Σq/N,  variance = 2^(2e−124)·(Σq²/N − (Σq/N)²),  exact until the end.
//
// Squares about the middle of the range lose digits where the deviation σ is far below the
// range: the variance is a difference of numbers of the size of the squared range. What is
// lost is what was rounded before, since nothing is rounded after: q, to half a unit, which
// changes the variance by 2^(e−62)·σ at most; and each site's Σq² when it is coded, to
// 2^(2e−f) in all for N rows of as many sites. With f of 90 or more both are below 10⁻⁹ of
// the variance for every σ above 10⁻⁹ of the range: a length given in kilometres from 0 to
// 1 that varies by nanometres. Below that, and it is below what float64 tells apart in
// most columns, digits are lost one by one, and a variance that is nothing but rounding
// comes out as 0.
const unitBits = 62

// maxFraction is that of Σq²: 2·unitBits.
const maxFraction = 2 * unitBits

// span is the middle c of a feature's range and the exponent e of its half width.
func span(f contract.Feature) (centre float64, exp int, err error) {
	lo, hi, ok := f.Bounds()
	if !ok {
		return 0, 0, fmt.Errorf("pooled: feature %q has no range, without which its values cannot be summed secretly", f.Name)
	}
	centre = lo/2 + hi/2
	exp = above(math.Max(hi-centre, centre-lo) * (1 + 0x1p-50))
	if exp < -900 || exp > 900 {
		return 0, 0, fmt.Errorf("pooled: feature %q has the range [%g, %g], of which no sums can be made; give it in other units", f.Name, lo, hi)
	}
	return centre, exp, nil
}

// numberSums are those of one number or date.
type numberSums struct {
	centre, scale float64 // q = round((x − centre)·scale)
	n             uint64
	sum           Word // Σq
	squares       wide // Σq²
}

// add takes a value in; false if it is outside of the range.
func (s *numberSums) add(x float64) bool {
	// d + rest is x − c exactly (two-sum, [knuth1997], section 4.2.2).
	d := x - s.centre
	b := d - x
	rest := (x - (d - b)) + (-s.centre - b)
	h := d * s.scale
	whole := math.RoundToEven(h)
	q := int64(0)
	if math.Abs(whole) <= 1<<unitBits {
		q = int64(whole) + int64(math.RoundToEven((h-whole)+rest*s.scale))
	} else {
		return false
	}
	abs := uint64(max(q, -q))
	if abs > 1<<unitBits {
		return false
	}
	s.sum = s.sum.Add(Word{Hi: uint64(q >> 63), Lo: uint64(q)})
	s.squares.addSquare(abs)
	s.n++
	return true
}

// figureSums are what a site sums for the stage figures.
type figureSums struct {
	rows    uint64
	missing []uint64     // by feature
	numbers []numberSums // by feature; those with levels have none
	levels  [][]uint64   // by feature
}

// sumFigures makes the sums of raw rows (p values, NaN for missing), in one pass:
// O(n p) time, O(p) memory besides the levels. The error names a feature, never a value.
func sumFigures(c *contract.Contract, rows Rows) (*figureSums, error) {
	p := len(c.Features)
	s := &figureSums{missing: make([]uint64, p), numbers: make([]numberSums, p), levels: make([][]uint64, p)}
	for j, f := range c.Features {
		if !f.Ranged() {
			s.levels[j] = make([]uint64, len(f.Spellings()))
			continue
		}
		centre, exp, err := span(f)
		if err != nil {
			return nil, err
		}
		s.numbers[j].centre, s.numbers[j].scale = centre, math.Ldexp(1, unitBits-exp)
	}
	err := rows(func(row []float64) error {
		if len(row) != p {
			return fmt.Errorf("pooled: a row has %d values, the contract has %d features", len(row), p)
		}
		s.rows++
		for j, x := range row {
			if math.IsNaN(x) {
				s.missing[j]++
				continue
			}
			if s.levels[j] == nil {
				if !s.numbers[j].add(x) {
					return fmt.Errorf("pooled: row %d: the value of %q is outside of its range, which sums of values that must stay hidden cannot be", s.rows, c.Features[j].Name)
				}
				continue
			}
			k := int(x)
			if x != float64(k) || k < 0 || k >= len(s.levels[j]) {
				return fmt.Errorf("pooled: row %d: the value of %q is none of its %d levels", s.rows, c.Features[j].Name, len(s.levels[j]))
			}
			s.levels[j][k]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.rows > uint64(c.MaxRows) {
		return nil, fmt.Errorf("pooled: there are %d rows, the contract allows %d", s.rows, c.MaxRows)
	}
	return s, nil
}

// figureNames are the names of the statistics of the stage figures, in order: the number
// of rows, those of each view, and for each feature the missing ones, and counts of levels, or values, their
// sum, and the sum of their squares.
func figureNames(c *contract.Contract) []string {
	names := append([]string{"rows"}, viewNames(c)...)
	for _, f := range c.Features {
		names = append(names, f.Name+": missing")
		if f.Ranged() {
			names = append(names, f.Name+": values", f.Name+": sum", f.Name+": squares")
		}
		for _, level := range f.Spellings() {
			names = append(names, f.Name+": "+level)
		}
	}
	return names
}

// figureFraction is the number of fraction bits of the stage's words.
func figureFraction(c *contract.Contract) int {
	return min(fraction(uint64(c.MaxRows)*uint64(c.Parties), 0), maxFraction)
}

// words codes the sums, in figureNames' order. No number exceeds rows, in units of 1.
func (s *figureSums) words(c *contract.Contract) []Word {
	f := figureFraction(c)
	count := func(n uint64) Word { return wordOf(float64(n), f) } // exact: below 2⁵³
	out := []Word{count(s.rows)}
	for j, feature := range c.Features {
		out = append(out, count(s.missing[j]))
		if feature.Ranged() {
			n := s.numbers[j]
			out = append(out, count(n.n), shiftLeft(n.sum, f-unitBits), n.squares.over(maxFraction-f))
		}
		for _, k := range s.levels[j] {
			out = append(out, count(k))
		}
	}
	return out
}

// shiftLeft is w·2^n, n from 0 to 63, for a w that leaves room.
func shiftLeft(w Word, n int) Word {
	if n == 0 {
		return w
	}
	return Word{Hi: w.Hi<<n | w.Lo>>(64-n), Lo: w.Lo << n}
}

// figuresOf decodes pooled sums of so many sites. The error names what cannot be: a party's
// program is broken, or it lies.
func figuresOf(c *contract.Contract, sum []Word, sites int) (*contract.Figures, error) {
	names := figureNames(c)
	if len(sum) != len(names) {
		return nil, fmt.Errorf("pooled: %d pooled figures, the contract has %d", len(sum), len(names))
	}
	f := figureFraction(c)
	one := new(big.Int).Lsh(big.NewInt(1), uint(f))
	at := 0
	most := int64(c.MaxRows) * int64(sites)
	var impossible []string
	next := func() (*big.Int, string) {
		at++
		return intOf(sum[at-1]), names[at-1]
	}
	count := func() int64 {
		v, name := next()
		q, r := new(big.Int).QuoRem(v, one, new(big.Int))
		if r.Sign() != 0 || q.Sign() < 0 || !q.IsInt64() || q.Int64() > most {
			impossible = append(impossible, name)
			return 0
		}
		return q.Int64()
	}
	out := &contract.Figures{Version: 1, Sites: sites, Rows: count()}
	for range c.Holdings(nil) {
		out.Views = append(out.Views, count())
	}
	for _, feature := range c.Features {
		g := contract.FeatureFigures{Missing: count()}
		if feature.Ranged() {
			g.Count = count()
			s, _ := next()
			q, name := next()
			mean, variance, ok := moment(feature, g.Count, sites, s, q, f)
			if !ok {
				impossible = append(impossible, name)
			}
			g.Mean, g.Variance = mean, variance
		}
		for range feature.Spellings() {
			k := count()
			g.Levels = append(g.Levels, k)
			g.Count += k
		}
		out.Features = append(out.Features, g)
	}
	if impossible != nil {
		return nil, impossibleError("figures", impossible)
	}
	if err := out.Check(c); err != nil {
		return nil, fmt.Errorf("pooled: %w: the program or the data of some party is broken, or it lies", err)
	}
	return out, nil
}

// impossibleError says which sums no rows have.
func impossibleError(what string, of []string) error {
	return fmt.Errorf("pooled: the pooled %s cannot be those of any rows (%s): the program or the data of some party is broken, or it lies; the sums do not show which",
		what, strings.Join(of[:min(3, len(of))], ", "))
}

// unfillable names a feature whose gaps are to be filled by a pooled figure that nobody's
// rows give: all of them lack it.
func unfillable(c *contract.Contract, figures *contract.Figures) error {
	for j, f := range c.Features {
		if figures.Features[j].Count == 0 && (f.Missing == contract.MissingMean || f.Missing == contract.MissingCommon) {
			return fmt.Errorf("pooled: the feature %q is missing in all rows of all parties, so that there is nothing to fill it with (missing: %s); leave it out, in a new contract", f.Name, f.Missing)
		}
	}
	return nil
}

// moment is mean and variance from Σq·2^(f−62) and Σq²·2^(f−124), in the feature's unit.
// ok is false if no values in the range have such sums.
func moment(feature contract.Feature, n int64, sites int, s, q *big.Int, f int) (mean, variance float64, ok bool) {
	if n == 0 {
		return 0, 0, s.Sign() == 0 && q.Sign() == 0
	}
	centre, exp, err := span(feature)
	if err != nil {
		return 0, 0, false
	}
	// With sums S and Q in units of 2^−f:  variance·N² = Q N·2^f − S², in units of 2^−2f.
	count := big.NewInt(n)
	v := new(big.Int).Mul(q, count)
	v.Lsh(v, uint(f))
	v.Sub(v, new(big.Int).Mul(s, s))
	// Each site rounded Q by half a unit at most: N·sites units of v·2^−f are rounding.
	noise := new(big.Int).Mul(count, big.NewInt(int64(sites)))
	noise.Lsh(noise, uint(f))
	limit := new(big.Int).Mul(count, count)
	limit.Lsh(limit, uint(2*f)) // |x − c| ≤ 2^e: variance + (mean − c)² ≤ 2^2e
	if v.Cmp(new(big.Int).Neg(noise)) < 0 || new(big.Int).Add(v, new(big.Int).Mul(s, s)).Cmp(new(big.Int).Add(limit, noise)) > 0 {
		return 0, 0, false
	}
	const digits = 400
	float := func(x *big.Int, exp int) *big.Float {
		y := new(big.Float).SetPrec(digits).SetInt(x)
		return y.SetMantExp(y, exp)
	}
	of := new(big.Float).SetPrec(digits).SetInt(count)
	m := float(s, exp-f)
	m.Quo(m, of)
	m.Add(m, new(big.Float).SetPrec(digits).SetFloat64(centre))
	mean, _ = m.Float64()
	lo, hi, _ := feature.Bounds()
	// The mean of rounded values may leave the range by half a unit.
	slack := math.Ldexp(1, exp-unitBits)
	if mean < lo-slack || mean > hi+slack {
		return 0, 0, false
	}
	mean = min(max(mean, lo), hi)
	if v.Cmp(noise) <= 0 {
		return mean, 0, true
	}
	w := float(v, 2*(exp-f))
	w.Quo(w, of)
	w.Quo(w, of)
	variance, _ = w.Float64()
	return mean, variance, true
}
