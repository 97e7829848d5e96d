package symeig

import (
	"math"
	"sync"

	"concord/linalg/internal/kernel"
)

// Products of a matrix with a vector for the reduction to tridiagonal form.
// Half of that reduction's work is y = S v for a symmetric S that does not fit
// in the first-level cache, so what counts is that each element is read once: a
// kernel goes along a few rows of the upper triangle and adds what they give to
// y by rows and by columns at the same time.

// Kernel makes products with rows rows of A over n columns, n a multiple of
// lanes:
//
//	both  sum_r = Σ_j a_rj x_j,  y_j += Σ_r c_r a_rj
//	dot   the first              add  the second
//
// Of sum and c only the first rows elements are used.
type Kernel struct {
	lanes, rows int
	both        func(n int, a []float64, ld int, x, y []float64, c, sum *[maxRows]float64)
	dot         func(n int, a []float64, ld int, x []float64, sum *[maxRows]float64)
	add         func(n int, a []float64, ld int, y []float64, c *[maxRows]float64)
}

// maxRows is a multiple of the rows and lanes of every kernel.
const maxRows = 8

// roundUp is the least multiple of maxRows from n on.
func roundUp(n int) int { return (n + maxRows - 1) / maxRows * maxRows }

// Of is the kernel with vectors of the given number of lanes, or [Plain].
func Of(lanes int) *Kernel {
	for _, k := range kernels() {
		if k.lanes == lanes {
			return k
		}
	}
	return Plain
}

// Plain is in Go, two rows at a time.
var Plain = &Kernel{
	lanes: 1, rows: 2,
	both: func(n int, a []float64, ld int, x, y []float64, c, sum *[maxRows]float64) {
		r0, r1, x, y := a[:n], a[ld:][:n], x[:n], y[:n]
		var s0, s1 float64
		for j, v := range r0 {
			w := r1[j]
			s0 += v * x[j]
			s1 += w * x[j]
			y[j] += c[0]*v + c[1]*w
		}
		sum[0], sum[1] = s0, s1
	},
	dot: func(n int, a []float64, ld int, x []float64, sum *[maxRows]float64) {
		r0, r1, x := a[:n], a[ld:][:n], x[:n]
		var s0, s1 float64
		for j, v := range r0 {
			s0 += v * x[j]
			s1 += r1[j] * x[j]
		}
		sum[0], sum[1] = s0, s1
	},
	add: func(n int, a []float64, ld int, y []float64, c *[maxRows]float64) {
		r0, r1, y := a[:n], a[ld:][:n], y[:n]
		for j, v := range r0 {
			y[j] += c[0]*v + c[1]*r1[j]
		}
	},
}

// symvParts is how many sums a product with a symmetric matrix of order n is
// cut into, so that several threads can make them. It depends on n alone: so do
// the bits of the result.
func symvParts(n int) int {
	switch {
	case n < 512:
		return 1
	case n < 2048:
		return 2
	case n < 4096:
		return 4
	}
	return maxSymvParts
}

const maxSymvParts = 8

// symv is y = S x for the rows and columns of a symmetric S (n × n, n a multiple
// of maxRows, upper triangle) from row from on. The elements of x before it must
// be 0, what is in y before it means nothing afterwards; from may be any row of
// a group of maxRows. part is for maxSymvParts − 1 more vectors like y.
func (k *Kernel) symv(n int, s []float64, ld, from int, x, y []float64, part [][]float64) {
	from = from / maxRows * maxRows
	parts := symvParts(n - from)
	if parts == 1 {
		clear(y[from:n])
		k.symvRows(n, s, ld, from, n, x, y)
		return
	}
	// Part p has a p-th of the triangle above row at(p).
	at := func(p int) int {
		left := math.Sqrt(1 - float64(p)/float64(parts))
		return n - int(left*float64(n-from))/maxRows*maxRows
	}
	one := func(p int) {
		sum := y
		if p > 0 {
			sum = part[p-1]
		}
		clear(sum[at(p):n])
		k.symvRows(n, s, ld, at(p), at(p+1), x, sum)
	}
	if kernel.Threads() == 1 {
		for p := range parts {
			one(p)
		}
	} else {
		var wg sync.WaitGroup
		for p := 1; p < parts; p++ {
			wg.Go(func() { one(p) })
		}
		one(0)
		wg.Wait()
	}
	for p := 1; p < parts; p++ {
		sum := part[p-1]
		for j := at(p); j < n; j++ {
			y[j] += sum[j]
		}
	}
}

// symvRows adds to y what the upper triangle of rows from to to gives.
func (k *Kernel) symvRows(n int, s []float64, ld, from, to int, x, y []float64) {
	var c, sum [maxRows]float64
	for r := from; r < to; r += k.rows {
		sum = [maxRows]float64{}
		copy(c[:k.rows], x[r:])
		if next := r + k.rows; next < n {
			k.both(n-next, s[r*ld+next:], ld, x[next:], y[next:], &c, &sum)
		}
		for p := range k.rows { // the square on the diagonal
			row := s[(r+p)*ld+r : (r+p)*ld+r+k.rows]
			t := sum[p] + row[p]*c[p]
			for q := p + 1; q < len(row); q++ {
				t += row[q] * c[q]
				sum[q] += row[q] * c[p]
			}
			y[r+p] += t
		}
	}
}
