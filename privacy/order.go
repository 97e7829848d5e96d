package privacy

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// entry is a number of a column, as a key of the same order, and its row.
type entry struct {
	key uint64
	row int32
}

// keyOf maps finite numbers to integers of the same order, and both zeros to one: the
// bits of a positive number, after the sign bit is turned, increase with it, those of
// a negative one decrease.
func keyOf(v float64) uint64 {
	b := math.Float64bits(v + 0) // −0 + 0 is 0
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

// ordered returns column j of x (n × m, finite) in increasing order; equal numbers keep
// the order of their rows. The cost is O(n): digits of 11 bits are sorted from the
// last to the first ([knuth1997], volume 3,
// section 5.2.5).
func ordered(x *mat.Dense, j int) []entry {
	raw := x.RawMatrix()
	list := make([]entry, raw.Rows)
	for i := range list {
		list[i] = entry{keyOf(raw.Data[i*raw.Stride+j]), int32(i)}
	}
	const bits, digits = 11, 6 // 66 bits
	if len(list) < 1<<bits {
		slices.SortStableFunc(list, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
		return list
	}
	var counts [digits][1 << bits]int32
	for _, e := range list {
		for d := range digits {
			counts[d][e.key>>(bits*d)&(1<<bits-1)]++
		}
	}
	other := make([]entry, len(list))
	for d := range digits {
		count := &counts[d]
		if int(count[list[0].key>>(bits*d)&(1<<bits-1)]) == len(list) {
			continue // all have this digit
		}
		var at int32
		for v, c := range count {
			count[v] = at
			at += c
		}
		for _, e := range list {
			to := &count[e.key>>(bits*d)&(1<<bits-1)]
			other[*to] = e
			*to++
		}
		list, other = other, list
	}
	return list
}

// places are those from ≤ p < to that a row may have in an order: more than one if its
// value is not unique.
type places struct{ from, to int32 }

// placesOf returns those of every row of x in the increasing order of column j.
func placesOf(x *mat.Dense, j int) []places {
	list := ordered(x, j)
	p := make([]places, len(list))
	for run := range runs(list) {
		for _, e := range list[run.from:run.to] {
			p[e.row] = run
		}
	}
	return p
}

// runs gives the places of equal keys of a list in order.
func runs(list []entry) func(yield func(places) bool) {
	return func(yield func(places) bool) {
		n := int32(len(list))
		for from := int32(0); from < n; {
			to := from + 1
			for to < n && list[to].key == list[from].key {
				to++
			}
			if !yield(places{from, to}) {
				return
			}
			from = to
		}
	}
}
