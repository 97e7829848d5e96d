package trees

import (
	"cmp"
	"math/bits"
	"slices"
)

// shareBits is b for a forest of T trees: leaves hold multiples of 2⁻ᵇ, with
//
//	T ≤ 2²³⁻ᵇ
//
// so that the sum of a class over all trees, at most T, is a whole number of at
// most 2²³ of them. A 32-bit number holds every such sum, in any order of the
// trees; and dividing by T keeps different sums different, since they differ by
// a part in 2²³ or more, and the quotients are no further apart than that. So
// classes with equal shares are equal, and others are not, whoever computes.
func shareBits(trees int) int { return 23 - bits.Len(uint(trees-1)) }

// shares appends the share of each class in a leaf, where weights are those of
// the classes: whole numbers below 2³², not all zero. They are rounded to
// multiples of 2⁻ᵇ that sum to 1, by the largest remainder, of equal ones to the
// classes that come first; each is within 2⁻ᵇ of the exact share. Cost O(k), and
// O(k log k) if anything is rounded.
func shares(values []float64, weights []float64, b int) []float64 {
	var total uint64
	for _, w := range weights {
		total += uint64(w)
	}
	unit := 1 / float64(uint64(1)<<b)
	type remainder struct {
		class int
		rest  uint64
	}
	var rests []remainder
	left := uint64(1) << b
	first := len(values)
	for c, w := range weights {
		scaled := uint64(w) << b // below 2³² 2²³
		whole, rest := scaled/total, scaled%total
		left -= whole
		values = append(values, float64(whole)*unit)
		if rest > 0 {
			rests = append(rests, remainder{c, rest})
		}
	}
	if left == 0 {
		return values
	}
	slices.SortStableFunc(rests, func(x, y remainder) int { return cmp.Compare(y.rest, x.rest) })
	for _, r := range rests[:left] {
		values[first+r.class] += unit
	}
	return values
}
