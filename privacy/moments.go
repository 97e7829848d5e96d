package privacy

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// moments are what is known of the columns of a matrix.
type moments struct {
	mean []float64
	dev  []float64 // population deviation, √(Σ(x − mean)²/n); 0 if constant
	// constant is whether the values differ by no more than rounding: within 16 units
	// in the last place of the largest. Products of constants are so.
	constant []bool
}

// momentsOf reads x (n × m, finite) twice, in two passes as [chan1983]
// advises. Sums are formed block by block in one
// order, so the bits do not depend on the number of cores. The cost is O(n m).
func momentsOf(x *mat.Dense) moments {
	n, m := x.Dims()
	type part struct{ lo, hi, sum, square []float64 }
	parts := make([]part, blocksOf(n))
	// x/n, not x: a sum of n numbers could overflow.
	inverse := 1 / float64(n)
	eachBlock(n, func(b, from, to int) {
		p := part{lo: make([]float64, m), hi: make([]float64, m), sum: make([]float64, m)}
		copy(p.lo, x.RawRowView(from))
		copy(p.hi, p.lo)
		for i := from; i < to; i++ {
			for j, v := range x.RawRowView(i) {
				if v < p.lo[j] {
					p.lo[j] = v
				}
				if v > p.hi[j] {
					p.hi[j] = v
				}
				p.sum[j] += v * inverse
			}
		}
		parts[b] = p
	})
	s := moments{mean: make([]float64, m), dev: make([]float64, m), constant: make([]bool, m)}
	scale := make([]float64, m)
	for j := range m {
		lo, hi := parts[0].lo[j], parts[0].hi[j]
		for _, p := range parts {
			lo, hi = min(lo, p.lo[j]), max(hi, p.hi[j])
			s.mean[j] += p.sum[j]
		}
		// Halves, since the difference of two large numbers could overflow.
		half := hi/2 - lo/2
		s.constant[j] = half <= 8*linalg.Eps*max(math.Abs(lo), math.Abs(hi))
		if lo == hi {
			s.mean[j] = lo
		}
		scale[j] = powerOf2(half)
	}
	eachBlock(n, func(b, from, to int) {
		sum, square := make([]float64, m), make([]float64, m)
		for i := from; i < to; i++ {
			for j, v := range x.RawRowView(i) {
				d := v*scale[j] - s.mean[j]*scale[j]
				sum[j] += d
				square[j] += d * d
			}
		}
		parts[b].sum, parts[b].square = sum, square
	})
	for j := range m {
		if s.constant[j] {
			continue
		}
		var sum, square float64
		for _, p := range parts {
			sum += p.sum[j]
			square += p.square[j]
		}
		// The second term mends what rounding of the mean left.
		s.dev[j] = math.Sqrt((square-sum*sum*inverse)*inverse) / scale[j]
		s.mean[j] += sum * inverse / scale[j]
	}
	return s
}

// standard puts rows from ≤ i < to of x in the first rows of out, each number as
// (x − mean)/dev, and 0 in constant columns.
func (s moments) standard(out, x *mat.Dense, from, to int) {
	scale, shift := make([]float64, len(s.mean)), make([]float64, len(s.mean))
	factor := make([]float64, len(s.mean))
	for j, d := range s.dev {
		if !s.constant[j] {
			// Two factors: 1/dev itself may overflow.
			scale[j] = powerOf2(d)
			shift[j] = s.mean[j] * scale[j]
			factor[j] = 1 / (d * scale[j])
		}
	}
	for i := from; i < to; i++ {
		row := out.RawRowView(i - from)
		for j, v := range x.RawRowView(i) {
			row[j] = (v*scale[j] - shift[j]) * factor[j]
		}
	}
}
