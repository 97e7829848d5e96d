package smo

import (
	"container/list"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// RBF is the kernel exp(−γ ‖x_i − x_j‖²) of the rows of a matrix, with a cache of
// the rows used last.
//
// ‖x − y‖² is ‖x‖² + ‖y‖² − 2 x·y, so the columns should be centred: what is lost
// is ε γ (‖x‖² + ‖y‖²). The diagonal is exactly 1.
type RBF struct {
	x       *mat.Dense
	gamma   float64
	squares []float64
	product []float64

	rows  [][]float32 // of the cache, nil where absent
	place []*list.Element
	used  *list.List // most recent first
	most  int        // rows that the cache holds
}

// leastRows are the rows that a cache holds at least: the two of a step, and one.
const leastRows = 3

// NewRBF has a cache of so many bytes for the rows of x (n × d), which it keeps.
func NewRBF(x *mat.Dense, gamma float64, cache int) *RBF {
	n, _ := x.Dims()
	k := &RBF{
		x: x, gamma: gamma, squares: make([]float64, n), product: make([]float64, n),
		rows: make([][]float32, n), place: make([]*list.Element, n), used: list.New(),
		most: max(leastRows, min(n, cache/(4*n))),
	}
	for i := range n {
		row := x.RawRowView(i)
		for _, v := range row {
			k.squares[i] += v * v
		}
	}
	return k
}

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
	raw := k.x.RawMatrix()
	blas64.Gemv(blas.NoTrans, 1, raw, blas64.Vector{N: raw.Cols, Data: k.x.RawRowView(i), Inc: 1}, 0, blas64.Vector{N: raw.Rows, Data: k.product, Inc: 1})
	for j, p := range k.product {
		row[j] = float32(math.Exp(-k.gamma * max(0, k.squares[i]+k.squares[j]-2*p)))
	}
	row[i] = 1
	return row
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
