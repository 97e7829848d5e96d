package trees

import (
	"math/rand/v2"
	"slices"
	"sort"
)

// binSample is the number of rows from which thresholds are taken.
const binSample = 200000

// lanes is the number of columns whose bins share a word.
const lanes = 4

// binned is the columns of x in bins. Bin b of a column has the x with
//
//	thresholds[b−1] < x ≤ thresholds[b]
type binned struct {
	thresholds [][]float32 // of each column, strictly ascending, at most 254
	offsets    []int       // of each column's first bin among all bins
	bins       int         // in all columns
	// words has for each group of four columns a word for each row: the bins
	// of the columns, the first in the lowest byte.
	words [][]uint32
}

// bin chooses thresholds, as scikit-learn's _BinMapper: the midpoints between
// distinct values, or, if a column has more than limit of them, limit − 1
// quantiles. They are the largest 32-bit numbers not above those. Columns with
// more than 200,000 rows give thresholds from that many, drawn by r.
func bin(x [][]float32, limit, workers int, r *rand.Rand) *binned {
	n, d := len(x[0]), len(x)
	var sample []int
	if n > binSample {
		sample = r.Perm(n)[:binSample]
	}
	b := &binned{thresholds: make([][]float32, d), offsets: make([]int, d), words: make([][]uint32, (d+lanes-1)/lanes)}
	Parallel(workers, len(b.words), func(group int) {
		words := make([]uint32, n)
		for j := group * lanes; j < min(d, (group+1)*lanes); j++ {
			values := x[j]
			if sample != nil {
				values = make([]float32, len(sample))
				for i, row := range sample {
					values[i] = x[j][row]
				}
			}
			t := binThresholds(values, limit)
			b.thresholds[j] = t
			shift := 8 * (j % lanes)
			for i, v := range x[j] {
				words[i] |= uint32(sort.Search(len(t), func(k int) bool { return v <= t[k] })) << shift
			}
		}
		b.words[group] = words
	})
	for j, t := range b.thresholds {
		b.offsets[j] = b.bins
		b.bins += len(t) + 1
	}
	return b
}

func binThresholds(x []float32, limit int) []float32 {
	sorted := make([]float32, len(x))
	for i, s := range sortedRows(x) {
		sorted[i] = x[uint32(s)]
	}
	distinct := slices.Compact(slices.Clone(sorted))
	var t []float32
	if len(distinct) <= limit {
		for i, v := range distinct[1:] {
			t = append(t, between(distinct[i], v))
		}
		return t
	}
	// NumPy's percentile with the method "midpoint", in its order of operations.
	step := 100 / float64(limit)
	for i := 1; i < limit; i++ {
		q := float64(i) * step / 100
		h := q * float64(len(sorted)-1)
		lo := int(h)
		v := sorted[lo]
		if h != float64(lo) && sorted[lo+1] != v {
			v = between(v, sorted[lo+1])
		}
		t = append(t, v)
	}
	return slices.Compact(t)
}
