package trees

import "math"

// column is a column of x as ranks: the rank of a number is how many distinct
// numbers of the column lie below it. Splits depend on ranks only.
type column struct {
	values []float32 // the distinct numbers, ascending
	// The ranks of the rows, in one of three widths; the others are nil.
	narrow []uint8
	middle []uint16
	wide   []uint32
}

// rank is the type of ranks in a column.
type rank interface{ uint8 | uint16 | uint32 }

// levels is the number of distinct numbers.
func (c *column) levels() int { return len(c.values) }

// rankColumns ranks every column. Cost O(n) a column, by radix sort.
func rankColumns(x [][]float32, workers int) []column {
	cols := make([]column, len(x))
	Parallel(workers, len(x), func(j int) { cols[j] = ranked(x[j]) })
	return cols
}

func ranked(x []float32) column {
	sorted := sortedRows(x)
	var c column
	last := uint64(1) << 32 // no key
	for _, s := range sorted {
		if k := s >> 32; k != last {
			c.values = append(c.values, x[uint32(s)]+0) // −0 becomes 0
			last = k
		}
	}
	switch {
	case len(c.values) <= 1<<8:
		c.narrow = make([]uint8, len(x))
		rankRows(c.narrow, sorted)
	case len(c.values) <= 1<<16:
		c.middle = make([]uint16, len(x))
		rankRows(c.middle, sorted)
	default:
		c.wide = make([]uint32, len(x))
		rankRows(c.wide, sorted)
	}
	return c
}

// rankRows writes the rank of each row, given keys<<32 | row in ascending order.
func rankRows[T rank](ranks []T, sorted []uint64) {
	var r T
	last := sorted[0] >> 32
	for _, s := range sorted {
		if k := s >> 32; k != last {
			r++
			last = k
		}
		ranks[uint32(s)] = r
	}
}

// sortedRows is key(x)<<32 | row in ascending order: a radix sort by 11 bits,
// which leaves out what is the same in all keys.
func sortedRows(x []float32) []uint64 {
	const bits, size, mask = 11, 1 << 11, 1<<11 - 1
	a, b := make([]uint64, len(x)), make([]uint64, len(x))
	var count [3][size]uint32
	for i, v := range x {
		k := sortKey(v)
		a[i] = uint64(k)<<32 | uint64(i)
		count[0][k&mask]++
		count[1][k>>bits&mask]++
		count[2][k>>(2*bits)]++
	}
	for pass := range 3 {
		shift := 32 + bits*pass
		c := &count[pass]
		if c[a[0]>>shift&mask] == uint32(len(x)) {
			continue
		}
		var at uint32
		for i, n := range c {
			c[i] = at
			at += n
		}
		for _, s := range a {
			p := &c[s>>shift&mask]
			b[*p] = s
			*p++
		}
		a, b = b, a
	}
	return a
}

// sortKey has the order of the finite numbers v, with −0 = 0.
func sortKey(v float32) uint32 {
	k := math.Float32bits(v + 0)
	if k>>31 != 0 {
		return ^k
	}
	return k | 1<<31
}
