// Package lanes computes with many small matrices of one order side by side:
// element (i, j) of a batch is a vector with one number for each of its matrices,
// its lanes. Every operation on such vectors is full, whatever the order: no edges, no calls for little
// blocks, and the triangular operations run as fast as the products. For orders
// of 12 to about 100 that is three times the speed of one matrix after another.
//
// An order n is cut into tiles of tile and tile − 1 rows, so that nothing is
// padded.
package lanes

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// tileCall is one call of a tile kernel; see lanes_amd64.py. Strides are in
// bytes.
type tileCall struct {
	k           int
	a           *float64
	ar, ak      uintptr
	b           *float64
	bk, bc      uintptr
	c           *float64
	cr, cc      uintptr
	t           *float64 // where C is stored transposed, or nil
	d           *float64 // nil for β = 0
	dr, dc      uintptr
	alpha, beta float64
}

// Kernel is the code for one width of vectors.
type Kernel struct {
	Width   int // lanes of a vector
	tile    int // rows of the larger tile
	run     func(rows, cols int, t *tileCall)
	Dot     func(n int, x, y, sum *float64)
	scale   func(n int, f, x *float64)
	combine func(n int, alpha float64, x *float64, beta float64, y *float64)
}

// Max is the width of the widest kernel.
const Max = 8

const maxTile = 5

// Of lists the kernels of this processor with vectors of up to lanes numbers, the
// widest first.
func Of(lanes int) (ks []*Kernel) {
	for _, k := range Kernels() {
		if k.Width <= lanes {
			ks = append(ks, k)
		}
	}
	return ks
}

// Matrix is a batch of matrices with n columns, or a view of it, in place or
// transposed.
type Matrix struct {
	Data     []float64
	row, col int // strides in float64
}

// T is the transposed view.
func (m Matrix) T() Matrix { return Matrix{m.Data, m.col, m.row} }

// At is the view from element (i, j) on.
func (m Matrix) At(i, j int) Matrix {
	return Matrix{m.Data[i*m.row+j*m.col:], m.row, m.col}
}

// Batch holds the sizes of a batch, for one goroutine.
type Batch struct {
	*Kernel
	N     int
	edges []int    // 0, …, n: where tiles begin
	call  tileCall // of multiply, here so that it is not allocated anew
}

// Fits tells whether n can be cut into tiles; from tile (tile − 1) on every n can.
func (k *Kernel) Fits(n int) bool {
	tiles := (n + k.tile - 1) / k.tile
	return n > 0 && tiles*k.tile-n <= tiles
}

// New makes a batch of order n, which the kernel fits.
func New(k *Kernel, n int) *Batch {
	l := &Batch{Kernel: k, N: n}
	tiles := (n + k.tile - 1) / k.tile
	short := tiles*k.tile - n // tiles of tile − 1
	at := 0
	for i := range tiles {
		l.edges = append(l.edges, at)
		at += k.tile
		if i < short {
			at--
		}
	}
	l.edges = append(l.edges, n)
	return l
}

// Matrix is a new batch of n × n matrices, all zero.
func (l *Batch) Matrix() Matrix {
	return Matrix{make([]float64, l.N*l.N*l.Width), l.N * l.Width, l.Width}
}

// Tiles is the number of tiles in a row.
func (l *Batch) Tiles() int { return len(l.edges) - 1 }

// Span is where tile i begins and how long it is.
func (l *Batch) Span(i int) (at, size int) { return l.edges[i], l.edges[i+1] - l.edges[i] }

const wordBytes = 8

// Multiply sets c (rows × cols) to α A B + β D over k steps, and t, if it has
// data, to its transpose; d may be without data for β = 0.
func (l *Batch) Multiply(rows, cols, k int, alpha float64, a, b Matrix, beta float64, d, c, t Matrix) {
	call := &l.call
	call.k, call.alpha, call.beta = k, alpha, beta
	call.c, call.cr, call.cc = &c.Data[0], uintptr(wordBytes*c.row), uintptr(wordBytes*c.col)
	call.d, call.t = nil, nil
	if k > 0 {
		call.a, call.ar, call.ak = &a.Data[0], uintptr(wordBytes*a.row), uintptr(wordBytes*a.col)
		call.b, call.bk, call.bc = &b.Data[0], uintptr(wordBytes*b.row), uintptr(wordBytes*b.col)
	}
	if d.Data != nil {
		call.d, call.dr, call.dc = &d.Data[0], uintptr(wordBytes*d.row), uintptr(wordBytes*d.col)
	}
	if t.Data != nil {
		call.t = &t.Data[0]
	}
	l.run(rows, cols, call)
}

// Product sets c to α A B + β D. With symmetric, only tiles on and above the
// diagonal are computed and the others are their mirror images.
func (l *Batch) Product(alpha float64, a, b Matrix, beta float64, d, c Matrix, symmetric bool) {
	for i := range l.Tiles() {
		i0, rows := l.Span(i)
		first := 0
		if symmetric {
			first = i
		}
		for j := first; j < l.Tiles(); j++ {
			j0, cols := l.Span(j)
			var dij, t Matrix
			if d.Data != nil {
				dij = d.At(i0, j0)
			}
			if symmetric && j > i {
				t = c.At(j0, i0)
			}
			l.Multiply(rows, cols, l.N, alpha, a.At(i0, 0), b.At(0, j0), beta, dij, c.At(i0, j0), t)
		}
	}
}

// Update sets c to D + A Bᵀ for vectors A and B of n lanes.
func (l *Batch) Update(d Matrix, a, b []float64, c Matrix) {
	av, bv := Matrix{a, l.Width, l.Width}, Matrix{b, l.Width, l.Width}
	for i := range l.Tiles() {
		i0, rows := l.Span(i)
		for j := range l.Tiles() {
			j0, cols := l.Span(j)
			l.Multiply(rows, cols, 1, 1, av.At(i0, 0), bv.At(0, j0), 1, d.At(i0, j0), c.At(i0, j0), Matrix{})
		}
	}
}

// Add sets y to α x + β y; what y held does not matter for β = 0.
func (l *Batch) Add(alpha float64, x []float64, beta float64, y []float64) {
	if beta == 0 {
		copy(y, x)
		alpha, beta = 0, alpha
	}
	l.combine(len(y)/l.Width, alpha, &x[0], beta, &y[0])
}

// AddDiagonal adds s to the diagonal of m.
func (l *Batch) AddDiagonal(m Matrix, s float64) {
	for i := range l.N {
		v := m.At(i, i).Data[:l.Width]
		for q := range v {
			v[q] += s
		}
	}
}

// Dots returns for each lane Σ x y over n vectors.
func (l *Batch) Dots(n int, x, y []float64) (sum [Max]float64) {
	l.Dot(n, &x[0], &y[0], &sum[0])
	return sum
}

// Load fills m with f_w M_w, all n × n, or 0 where there is no matrix.
func (l *Batch) Load(dst Matrix, m []*mat.Dense, f [Max]float64) {
	zero := make([]float64, l.N)
	var rows [Max][]float64
	for i := range l.N {
		for w := range l.Width {
			rows[w] = zero
			if w < len(m) && m[w] != nil {
				rows[w] = m[w].RawRowView(i)
			}
		}
		out := dst.Data[i*dst.row:][:l.N*l.Width]
		for w := 0; w < l.Width; w += 4 {
			r0, r1, r2, r3 := rows[w][:l.N], rows[w+1][:l.N], rows[w+2][:l.N], rows[w+3][:l.N]
			f0, f1, f2, f3 := f[w], f[w+1], f[w+2], f[w+3]
			for j := range r0 {
				*(*[4]float64)(out[j*l.Width+w:]) = [4]float64{f0 * r0[j], f1 * r1[j], f2 * r2[j], f3 * r3[j]}
			}
		}
	}
}

// Store copies the lanes to matrices, n × n; those that are nil are left out.
func (l *Batch) Store(m []*mat.Dense, src Matrix) {
	spare := make([]float64, l.N)
	var rows [Max][]float64
	for i := range l.N {
		for w := range l.Width {
			rows[w] = spare
			if w < len(m) && m[w] != nil {
				rows[w] = m[w].RawRowView(i)
			}
		}
		in := src.Data[i*src.row:][:l.N*l.Width]
		for w := 0; w < l.Width; w += 4 {
			r0, r1, r2, r3 := rows[w][:l.N], rows[w+1][:l.N], rows[w+2][:l.N], rows[w+3][:l.N]
			for j := range r0 {
				v := (*[4]float64)(in[j*l.Width+w:])
				r0[j], r1[j], r2[j], r3[j] = v[0], v[1], v[2], v[3]
			}
		}
	}
}

// TriangleVector sets y to A x, where A is upper triangular, or lower.
func (l *Batch) TriangleVector(a Matrix, lower bool, x, y []float64) {
	xv, none := Matrix{x, l.Width, l.Width}, Matrix{}
	for i := range l.Tiles() {
		i0, rows := l.Span(i)
		yi := Matrix{y[i0*l.Width:], l.Width, l.Width}
		if lower {
			l.Multiply(rows, 1, i0+rows, 1, a.At(i0, 0), xv, 0, none, yi, none)
		} else {
			l.Multiply(rows, 1, l.N-i0, 1, a.At(i0, i0), xv.At(i0, 0), 0, none, yi, none)
		}
	}
}

// Vector sets y to A x.
func (l *Batch) Vector(a Matrix, x, y []float64) {
	for i := range l.Tiles() {
		i0, rows := l.Span(i)
		yi := Matrix{y[i0*l.Width:], l.Width, l.Width}
		l.Multiply(rows, 1, l.N, 1, a.At(i0, 0), Matrix{x, l.Width, l.Width}, 0, Matrix{}, yi, Matrix{})
	}
}

// Normalise divides each lane of x, n vectors, by its length, which it returns. A
// lane of length 0 stays as it is.
func (l *Batch) Normalise(x []float64) [Max]float64 {
	length := l.Dots(l.N, x, x)
	var f [Max]float64
	for w := range l.Width {
		length[w] = math.Sqrt(length[w])
		f[w] = 1
		if length[w] > 0 {
			f[w] = 1 / length[w]
		}
	}
	l.Times(f, x)
	return length
}

// Times multiplies each lane of x by its factor.
func (l *Batch) Times(f [Max]float64, x []float64) {
	l.scale(len(x)/l.Width, &f[0], &x[0])
}
