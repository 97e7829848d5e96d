package smo

import (
	"container/list"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// RBF is the kernel exp(−γ ‖x_i − x_j‖²) of the rows of a matrix, with a cache of
// the rows used last.
//
// ‖x − y‖² is ‖x‖² + ‖y‖² − 2 x·y, by products of the matrix with a vector, so
// the columns should be centred: what is lost is 4 ε γ max ‖x‖². Where that is more
// than what 32 bits lose, differences are squared instead, which takes about
// three times as long. The diagonal is exactly 1.
type RBF struct {
	x        *mat.Dense
	gamma    float64
	squares  []float64
	product  []float64
	exact    bool
	parallel bool

	rows  [][]float32 // of the cache, nil where absent
	place []*list.Element
	used  *list.List // most recent first
	most  int        // rows that the cache holds
}

// leastRows are the rows that a cache holds at least: the two of a step, and one.
const leastRows = 3

// NewRBF has a cache of so many bytes, but at least three rows, for the rows of x
// (n × d), which it keeps. parallel makes long rows on all cores; their bits do not
// depend on it.
func NewRBF(x *mat.Dense, gamma float64, cache int, parallel bool) *RBF {
	n, _ := x.Dims()
	k := &RBF{
		x: x, gamma: gamma, squares: make([]float64, n), product: make([]float64, n), parallel: parallel,
		rows: make([][]float32, n), place: make([]*list.Element, n), used: list.New(),
		most: max(leastRows, min(n, cache/(4*n))),
	}
	largest := 0.0
	for i := range n {
		row := x.RawRowView(i)
		k.squares[i] = dot(row, row)
		largest = max(largest, k.squares[i])
	}
	k.exact = Loss(gamma, largest) > 0x1p-24
	return k
}

// Loss bounds, about, what kernel values lose to rounding when distances are
// computed from products of vectors of at most so large a square: 4 ε γ ‖x‖².
func Loss(gamma, square float64) float64 { return 4 * 0x1p-53 * gamma * square }

// Diagonal is 1.
func (k *RBF) Diagonal(int) float64 { return 1 }

// Row is row i. Cost O(n d) unless it is in the cache.
func (k *RBF) Row(i int) []float32 {
	if row := k.rows[i]; row != nil {
		k.used.MoveToFront(k.place[i])
		return row
	}
	var row []float32
	if k.used.Len() >= k.most {
		last := k.used.Back()
		old := last.Value.(int)
		row, k.rows[old] = k.rows[old], nil
		last.Value = i
		k.used.MoveToFront(last)
		k.place[i] = last
	} else {
		row = make([]float32, len(k.rows))
		k.place[i] = k.used.PushFront(i)
	}
	k.rows[i] = row
	k.fill(i, row)
	return row
}

// stretchWork is about how many multiplications a stretch of a row costs: 15 µs,
// some times what it takes to start a goroutine. An exponential counts as expWork.
const (
	stretchWork = 1 << 17
	expWork     = 50
)

// fill computes row i in stretches of a length that depends on d alone, and so
// do the bits.
func (k *RBF) fill(i int, row []float32) {
	n, d := k.x.Dims()
	length := max(64, stretchWork/(d+expWork)/8*8)
	stretches := (n + length - 1) / length
	one := func(s int) {
		k.stretch(i, s*length, min(n, (s+1)*length), row)
	}
	if k.parallel {
		linalg.Parallel(stretches, one)
	} else {
		for s := range stretches {
			one(s)
		}
	}
	row[i] = 1
}

// stretch computes elements from to to − 1 of row i.
func (k *RBF) stretch(i, from, to int, row []float32) {
	raw, own := k.x.RawMatrix(), k.x.RawRowView(i)
	product, squares, row := k.product[from:to], k.squares[from:to], row[from:to]
	if k.exact {
		for j := range product {
			sum := 0.0
			for c, v := range k.x.RawRowView(from + j) {
				sum += (v - own[c]) * (v - own[c])
			}
			row[j] = float32(math.Exp(-k.gamma * sum))
		}
		return
	}
	part := blas64.General{Rows: to - from, Cols: raw.Cols, Stride: raw.Stride, Data: raw.Data[from*raw.Stride : (to-1)*raw.Stride+raw.Cols]}
	blas64.Gemv(blas.NoTrans, 1, part, blas64.Vector{N: raw.Cols, Data: own, Inc: 1}, 0, blas64.Vector{N: to - from, Data: product, Inc: 1})
	square := k.squares[i]
	for j, p := range product {
		row[j] = float32(math.Exp(-k.gamma * max(0, square+squares[j]-2*p)))
	}
}

// Doubled is the kernel of a regression, whose n rows stand for 2n variables.
type Doubled struct {
	Kernel
	n      int
	buffer [2][]float32
	next   int
}

// NewDoubled repeats k, of n rows.
func NewDoubled(k Kernel, n int) *Doubled {
	return &Doubled{Kernel: k, n: n, buffer: [2][]float32{make([]float32, 2*n), make([]float32, 2*n)}}
}

// Row is row i mod n, twice.
func (d *Doubled) Row(i int) []float32 {
	out := d.buffer[d.next]
	d.next = 1 - d.next
	row := d.Kernel.Row(i % d.n)
	copy(out, row)
	copy(out[d.n:], row)
	return out
}

// Diagonal is that of row i mod n.
func (d *Doubled) Diagonal(i int) float64 { return d.Kernel.Diagonal(i % d.n) }
