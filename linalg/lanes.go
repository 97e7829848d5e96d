package linalg

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Many small matrices of one order side by side: element (i, j) of a batch is a
// vector with one number for each of its matrices, its lanes. Every operation on
// such vectors is full, whatever the order: no edges, no calls for little
// blocks, and the triangular operations run as fast as the products. For orders
// of 12 to about 100 that is three times the speed of one matrix after another.
//
// An order n is cut into tiles of tile and tile − 1 rows, so that nothing is
// padded.

// laneTile is one call of a tile kernel; see lanes_amd64.py. Strides are in
// bytes.
type laneTile struct {
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

// laneKernel is the code for one width of vectors.
type laneKernel struct {
	width   int // lanes of a vector
	tile    int // rows of the larger tile
	run     func(rows, cols int, t *laneTile)
	dot     func(n int, x, y, sum *float64)
	scale   func(n int, f, x *float64)
	combine func(n int, alpha float64, x *float64, beta float64, y *float64)
}

const maxLanes, maxTile = 8, 5

// lanesOf are the kernels with vectors as wide as those of mk, or narrower.
func lanesOf(mk *microKernel) (ks []*laneKernel) {
	for _, k := range laneKernels() {
		if k.width <= mk.lanes {
			ks = append(ks, k)
		}
	}
	return ks
}

// laneMatrix is a batch of matrices with n columns, or a view of it, in place or
// transposed.
type laneMatrix struct {
	data     []float64
	row, col int // strides in float64
}

func (m laneMatrix) t() laneMatrix { return laneMatrix{m.data, m.col, m.row} }

// at is the view from element (i, j) on.
func (m laneMatrix) at(i, j int) laneMatrix {
	return laneMatrix{m.data[i*m.row+j*m.col:], m.row, m.col}
}

// lanes are the sizes of a batch, for one goroutine.
type lanes struct {
	*laneKernel
	n     int
	edges []int    // 0, …, n: where tiles begin
	call  laneTile // of multiply, here so that it is not allocated anew
}

// fits tells whether n can be cut into tiles; from tile (tile − 1) on every n can.
func (k *laneKernel) fits(n int) bool {
	tiles := (n + k.tile - 1) / k.tile
	return n > 0 && tiles*k.tile-n <= tiles
}

func newLanes(k *laneKernel, n int) *lanes {
	l := &lanes{laneKernel: k, n: n}
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

// matrix is a new batch of n × n matrices, all zero.
func (l *lanes) matrix() laneMatrix {
	return laneMatrix{make([]float64, l.n*l.n*l.width), l.n * l.width, l.width}
}

// tiles is the number of tiles in a row.
func (l *lanes) tiles() int { return len(l.edges) - 1 }

// span is where tile i begins and how long it is.
func (l *lanes) span(i int) (at, size int) { return l.edges[i], l.edges[i+1] - l.edges[i] }

const wordBytes = 8

// multiply sets c (rows × cols) to α A B + β D over k steps, and t, if it has
// data, to its transpose; d may be without data for β = 0.
func (l *lanes) multiply(rows, cols, k int, alpha float64, a, b laneMatrix, beta float64, d, c, t laneMatrix) {
	call := &l.call
	call.k, call.alpha, call.beta = k, alpha, beta
	call.c, call.cr, call.cc = &c.data[0], uintptr(wordBytes*c.row), uintptr(wordBytes*c.col)
	call.d, call.t = nil, nil
	if k > 0 {
		call.a, call.ar, call.ak = &a.data[0], uintptr(wordBytes*a.row), uintptr(wordBytes*a.col)
		call.b, call.bk, call.bc = &b.data[0], uintptr(wordBytes*b.row), uintptr(wordBytes*b.col)
	}
	if d.data != nil {
		call.d, call.dr, call.dc = &d.data[0], uintptr(wordBytes*d.row), uintptr(wordBytes*d.col)
	}
	if t.data != nil {
		call.t = &t.data[0]
	}
	l.run(rows, cols, call)
}

// product sets c to α A B + β D. With symmetric, only tiles on and above the
// diagonal are computed and the others are their mirror images.
func (l *lanes) product(alpha float64, a, b laneMatrix, beta float64, d, c laneMatrix, symmetric bool) {
	for i := range l.tiles() {
		i0, rows := l.span(i)
		first := 0
		if symmetric {
			first = i
		}
		for j := first; j < l.tiles(); j++ {
			j0, cols := l.span(j)
			var dij, t laneMatrix
			if d.data != nil {
				dij = d.at(i0, j0)
			}
			if symmetric && j > i {
				t = c.at(j0, i0)
			}
			l.multiply(rows, cols, l.n, alpha, a.at(i0, 0), b.at(0, j0), beta, dij, c.at(i0, j0), t)
		}
	}
}

// update sets c to D + A Bᵀ for vectors A and B of n lanes.
func (l *lanes) update(d laneMatrix, a, b []float64, c laneMatrix) {
	av, bv := laneMatrix{a, l.width, l.width}, laneMatrix{b, l.width, l.width}
	for i := range l.tiles() {
		i0, rows := l.span(i)
		for j := range l.tiles() {
			j0, cols := l.span(j)
			l.multiply(rows, cols, 1, 1, av.at(i0, 0), bv.at(0, j0), 1, d.at(i0, j0), c.at(i0, j0), laneMatrix{})
		}
	}
}

// add sets y to α x + β y; what y held does not matter for β = 0.
func (l *lanes) add(alpha float64, x []float64, beta float64, y []float64) {
	if beta == 0 {
		copy(y, x)
		alpha, beta = 0, alpha
	}
	l.combine(len(y)/l.width, alpha, &x[0], beta, &y[0])
}

// addDiagonal adds s to the diagonal of m.
func (l *lanes) addDiagonal(m laneMatrix, s float64) {
	for i := range l.n {
		v := m.at(i, i).data[:l.width]
		for q := range v {
			v[q] += s
		}
	}
}

// dots returns for each lane Σ x y over n vectors.
func (l *lanes) dots(n int, x, y []float64) (sum [maxLanes]float64) {
	l.dot(n, &x[0], &y[0], &sum[0])
	return sum
}

// load fills m with f_w M_w, all n × n, or 0 where there is no matrix.
func (l *lanes) load(dst laneMatrix, m []*mat.Dense, f [maxLanes]float64) {
	zero := make([]float64, l.n)
	var rows [maxLanes][]float64
	for i := range l.n {
		for w := range l.width {
			rows[w] = zero
			if w < len(m) && m[w] != nil {
				rows[w] = m[w].RawRowView(i)
			}
		}
		out := dst.data[i*dst.row:][:l.n*l.width]
		for w := 0; w < l.width; w += 4 {
			r0, r1, r2, r3 := rows[w][:l.n], rows[w+1][:l.n], rows[w+2][:l.n], rows[w+3][:l.n]
			f0, f1, f2, f3 := f[w], f[w+1], f[w+2], f[w+3]
			for j := range r0 {
				*(*[4]float64)(out[j*l.width+w:]) = [4]float64{f0 * r0[j], f1 * r1[j], f2 * r2[j], f3 * r3[j]}
			}
		}
	}
}

// store copies the lanes to matrices, n × n; those that are nil are left out.
func (l *lanes) store(m []*mat.Dense, src laneMatrix) {
	spare := make([]float64, l.n)
	var rows [maxLanes][]float64
	for i := range l.n {
		for w := range l.width {
			rows[w] = spare
			if w < len(m) && m[w] != nil {
				rows[w] = m[w].RawRowView(i)
			}
		}
		in := src.data[i*src.row:][:l.n*l.width]
		for w := 0; w < l.width; w += 4 {
			r0, r1, r2, r3 := rows[w][:l.n], rows[w+1][:l.n], rows[w+2][:l.n], rows[w+3][:l.n]
			for j := range r0 {
				v := (*[4]float64)(in[j*l.width+w:])
				r0[j], r1[j], r2[j], r3[j] = v[0], v[1], v[2], v[3]
			}
		}
	}
}

// laneCholesky is RᵀR of a batch. Tiles on the diagonal are kept as their
// inverses.
type laneCholesky struct {
	*lanes
	r   laneMatrix // upper triangle of tiles; what lies below the diagonal is not used
	inv []float64  // tile × tile for every tile on the diagonal
	bad [maxLanes]bool
}

func (l *lanes) newCholesky() *laneCholesky {
	return &laneCholesky{lanes: l, r: l.matrix(), inv: make([]float64, l.tiles()*l.tile*l.tile*l.width)}
}

// inverse is the inverse of tile i on the diagonal of R, upper triangular.
func (f *laneCholesky) inverse(i int) laneMatrix {
	size := f.tile * f.tile * f.width
	return laneMatrix{f.inv[i*size:][:size], f.tile * f.width, f.width}
}

// factor overwrites f.r, of which the upper triangle is read, with R. A lane
// that is not positive definite is marked in f.bad; its numbers mean nothing, and
// are finite.
func (f *laneCholesky) factor() {
	f.bad = [maxLanes]bool{}
	for i := range f.tiles() {
		i0, rows := f.span(i)
		for j := i; i0 > 0 && j < f.tiles(); j++ {
			j0, cols := f.span(j)
			s := f.r.at(i0, j0)
			f.multiply(rows, cols, i0, -1, f.r.at(0, i0).t(), f.r.at(0, j0), 1, s, s, laneMatrix{})
		}
		f.diagonal(i)
		for j := i + 1; j < f.tiles(); j++ {
			j0, cols := f.span(j)
			s := f.r.at(i0, j0)
			f.multiply(rows, cols, rows, 1, f.inverse(i).t(), s, 0, laneMatrix{}, s, laneMatrix{})
		}
	}
}

// diagonal factors tile i on the diagonal and inverts it.
func (f *laneCholesky) diagonal(i int) {
	i0, size := f.span(i)
	var s, inv [maxTile][maxTile][maxLanes]float64
	for p := range size {
		for q := p; q < size; q++ {
			copy(s[p][q][:], f.r.at(i0+p, i0+q).data[:f.width])
		}
	}
	var one [maxLanes]float64 // 1 / R[p, p]
	for p := range size {
		for w := range f.width {
			d := s[p][p][w]
			if !(d > 0) || math.IsInf(d, 0) {
				f.bad[w] = true
				d = 1
			}
			d = math.Sqrt(d)
			s[p][p][w] = d
			one[w] = 1 / d
		}
		inv[p][p] = one
		for q := p + 1; q < size; q++ {
			times(&s[p][q], &one, &s[p][q])
		}
		for q := p + 1; q < size; q++ {
			for r := q; r < size; r++ {
				minus(&s[q][r], &s[p][q], &s[p][r])
			}
		}
	}
	for q := range size { // column q of the inverse, upwards
		for p := q - 1; p >= 0; p-- {
			var sum [maxLanes]float64
			for r := p + 1; r <= q; r++ {
				minus(&sum, &s[p][r], &inv[r][q])
			}
			times(&inv[p][q], &sum, &inv[p][p])
		}
	}
	out := f.inverse(i)
	for p := range size {
		for q := range size {
			copy(out.at(p, q).data[:f.width], inv[p][q][:])
			if q >= p {
				copy(f.r.at(i0+p, i0+q).data[:f.width], s[p][q][:])
			}
		}
	}
}

func times(z, x, y *[maxLanes]float64) {
	for w := range z {
		z[w] = x[w] * y[w]
	}
}

func minus(z, x, y *[maxLanes]float64) {
	for w := range z {
		z[w] -= x[w] * y[w]
	}
}

// solve sets, for S = RᵀR,
//
//	X ← β X + α X S⁻¹
//
// y and z are scratch.
func (f *laneCholesky) solve(alpha, beta float64, x, y, z laneMatrix) {
	none := laneMatrix{}
	for i := range f.tiles() {
		i0, rows := f.span(i)
		for j := range f.tiles() { // Y R = α X
			j0, cols := f.span(j)
			yij := y.at(i0, j0)
			f.multiply(rows, cols, j0, -1, y.at(i0, 0), f.r.at(0, j0), alpha, x.at(i0, j0), yij, none)
			f.multiply(rows, cols, cols, 1, yij, f.inverse(j), 0, none, yij, none)
		}
		for j := f.tiles() - 1; j >= 0; j-- { // Z Rᵀ = Y
			j0, cols := f.span(j)
			yij, zij := y.at(i0, j0), z.at(i0, j0)
			if next := j0 + cols; next < f.n {
				f.multiply(rows, cols, f.n-next, -1, z.at(i0, next), f.r.at(j0, next).t(), 1, yij, yij, none)
			}
			f.multiply(rows, cols, cols, 1, yij, f.inverse(j).t(), 0, none, zij, none)
			xij := x.at(i0, j0)
			f.multiply(rows, cols, cols, 1, yij, f.inverse(j).t(), beta, xij, xij, none)
		}
	}
}

// invert sets w to R⁻¹, upper triangular with zeros below; scratch is a tile.
func (f *laneCholesky) invert(w laneMatrix) {
	none := laneMatrix{}
	clear(w.data)
	for j := range f.tiles() {
		j0, cols := f.span(j)
		inv := f.inverse(j)
		for p := range cols {
			for q := p; q < cols; q++ {
				copy(w.at(j0+p, j0+q).data[:f.width], inv.at(p, q).data[:f.width])
			}
		}
		for i := j - 1; i >= 0; i-- {
			i0, rows := f.span(i)
			next := i0 + rows
			wij := w.at(i0, j0)
			f.multiply(rows, cols, j0+cols-next, -1, f.r.at(i0, next), w.at(next, j0), 0, none, wij, none)
			f.multiply(rows, cols, rows, 1, f.inverse(i), wij, 0, none, wij, none)
		}
	}
}

// triangleVector sets y to A x, where A is upper triangular, or lower.
func (l *lanes) triangleVector(a laneMatrix, lower bool, x, y []float64) {
	xv, none := laneMatrix{x, l.width, l.width}, laneMatrix{}
	for i := range l.tiles() {
		i0, rows := l.span(i)
		yi := laneMatrix{y[i0*l.width:], l.width, l.width}
		if lower {
			l.multiply(rows, 1, i0+rows, 1, a.at(i0, 0), xv, 0, none, yi, none)
		} else {
			l.multiply(rows, 1, l.n-i0, 1, a.at(i0, i0), xv.at(i0, 0), 0, none, yi, none)
		}
	}
}

// vector sets y to A x.
func (l *lanes) vector(a laneMatrix, x, y []float64) {
	for i := range l.tiles() {
		i0, rows := l.span(i)
		yi := laneMatrix{y[i0*l.width:], l.width, l.width}
		l.multiply(rows, 1, l.n, 1, a.at(i0, 0), laneMatrix{x, l.width, l.width}, 0, laneMatrix{}, yi, laneMatrix{})
	}
}

// normalise divides each lane of x, n vectors, by its length, which it returns. A
// lane of length 0 stays as it is.
func (l *lanes) normalise(x []float64) [maxLanes]float64 {
	length := l.dots(l.n, x, x)
	var f [maxLanes]float64
	for w := range l.width {
		length[w] = math.Sqrt(length[w])
		f[w] = 1
		if length[w] > 0 {
			f[w] = 1 / length[w]
		}
	}
	l.times(f, x)
	return length
}

// times multiplies each lane of x by its factor.
func (l *lanes) times(f [maxLanes]float64, x []float64) {
	l.scale(len(x)/l.width, &f[0], &x[0])
}
