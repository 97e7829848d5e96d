package privacy

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// RankMatch says how well rows can be collated by sorting: the people by a feature,
// the shared rows by a column, and then place to place.
type RankMatch struct {
	// Column is the column of z, or its principal component where Component is true,
	// from 0, that has the largest correlation with the feature; −1 if the feature is
	// constant.
	Column    int
	Component bool
	// Correlation is Pearson's, of which −1 collates as well as 1.
	Correlation float64
	// Exact is the share of rows at the same place in both orders, Near that of rows
	// whose places differ by no more than Tolerance, n/100 rounded down.
	Exact, Near float64
	Tolerance   int
	// Chance and ChanceNear are the shares for an order that is random.
	Chance, ChanceNear float64
}

// RankMatching measures, for each feature of x (n × m), how many rows of z (n × l) find their
// person by their place: the rows are sorted by the column or principal component of z that has
// the largest correlation with the feature, in its direction, and the people by the feature. It
// speaks against an attacker who holds z, without the order of its rows, and a list of people
// with that feature: the collation that [imakura2023], definition 1, is to prevent
// (docs/methods.md section 7.4). Row i of z is that of row i of x.
//
// Equal values have no order of their own. They count as their share of all ways to
// order them: of k people of one age, a shared row whose place is among theirs is
// matched with 1/k. So a feature of few values never collates, whatever its
// correlation. That the attacker knows which column to sort by is assumed; without it
// there are 4l orders to try.
//
// The cost is O(n m l + n l² + (m + l) n) in time and O(n l) numbers of storage.
func RankMatching(x, z *mat.Dense) ([]RankMatch, error) {
	if err := checkRows("data", x, "representation", z); err != nil {
		return nil, err
	}
	n, m := x.Dims()
	_, l := z.Dims()
	candidates, err := withComponents(z)
	if err != nil {
		return nil, err
	}
	r := correlate(x, candidates)

	matches, used := make([]RankMatch, m), make([]bool, 2*l)
	for j := range matches {
		best := 0
		row := r.RawRowView(j)
		for k, v := range row {
			if math.Abs(v) > math.Abs(row[best]) {
				best = k
			}
		}
		match := RankMatch{Column: -1, Correlation: row[best], Tolerance: n / 100, Chance: 1 / float64(n)}
		match.ChanceNear = shareWithin(places{0, int32(n)}, places{0, int32(n)}, match.Tolerance)
		if row[best] != 0 {
			match.Column, match.Component = best%l, best >= l
			used[best] = true
		}
		matches[j] = match
	}
	orders := make([][]places, 2*l)
	linalg.Parallel(2*l, func(k int) {
		if used[k] {
			orders[k] = placesOf(candidates, k)
		}
	})
	linalg.Parallel(m, func(j int) {
		match := &matches[j]
		if match.Column < 0 {
			match.Exact, match.Near = match.Chance, match.ChanceNear
			return
		}
		column := match.Column
		if match.Component {
			column += l
		}
		for i, p := range placesOf(x, j) {
			q := orders[column][i]
			if match.Correlation < 0 {
				q = places{int32(n) - q.to, int32(n) - q.from}
			}
			match.Exact += shareWithin(p, q, 0)
			match.Near += shareWithin(p, q, match.Tolerance)
		}
		match.Exact /= float64(n)
		match.Near /= float64(n)
	})
	return matches, nil
}

// withComponents returns z (n × l) with its principal components (n × l) at its right:
// (Z − mean) V of the singular value decomposition of the centred Z, and zeros in
// place of those that are only rounding.
func withComponents(z *mat.Dense) (*mat.Dense, error) {
	n, l := z.Dims()
	s := momentsOf(z)
	both := mat.NewDense(n, 2*l, nil)
	both.Slice(0, n, 0, l).(*mat.Dense).Copy(z)
	centred := mat.NewDense(n, l, nil)
	var top float64
	for _, d := range s.dev {
		top = max(top, d)
	}
	scale := powerOf2(top)
	for i := range n {
		row := centred.RawRowView(i)
		for j, v := range z.RawRowView(i) {
			if !s.constant[j] {
				row[j] = v*scale - s.mean[j]*scale
			}
		}
	}
	values, v, err := linalg.SVDRight(centred)
	if err != nil {
		return nil, fmt.Errorf("privacy: principal components of the representation: %v", err)
	}
	if rank := linalg.NumericalRank(values, n, l, 0); rank > 0 {
		both.Slice(0, n, l, l+rank).(*mat.Dense).Mul(centred, v.Slice(0, l, 0, rank))
	}
	return both, nil
}

// shareWithin is the probability that |p − q| ≤ w for p and q that are uniform on a
// and b and independent.
func shareWithin(a, b places, w int) float64 {
	if a.to-a.from == 1 && b.to-b.from == 1 {
		if d := int(a.from - b.from); -w <= d && d <= w {
			return 1
		}
		return 0
	}
	pairs := pairsUpTo(a, b, w) - pairsUpTo(a, b, -w-1)
	return pairs / (float64(a.to-a.from) * float64(b.to-b.from))
}

// pairsUpTo counts the pairs of p in a and q in b with p − q ≤ t. With u = p − a.from
// and v = b.to − 1 − q they are those with u + v ≤ s, so a triangle without what lies
// beyond the two sides. Counts are exact in a float64: n² is below 2⁵³.
func pairsUpTo(a, b places, t int) float64 {
	triangle := func(s int) float64 {
		if s < 0 {
			return 0
		}
		return float64(s+1) * float64(s+2) / 2
	}
	u, v := int(a.to-a.from), int(b.to-b.from)
	s := t + int(b.to-1-a.from)
	return triangle(s) - triangle(s-u) - triangle(s-v) + triangle(s-u-v)
}
