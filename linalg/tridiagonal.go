package linalg

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/gonum"
)

// The reduction of a symmetric matrix to tridiagonal form by Householder
// reflectors,
//
//	A = Q T Qᵀ,  Q = H_0 H_1 … H_{n−2},  H_i = I − τ_i v_i v_iᵀ
//
// in panels of tridiagonalPanel rows ([dongarra1989]; LAPACK's dsytrd and dlatrd). Within a
// panel the rest of A stays as it is: with the v_j and w_j of the rows of the panel before i,
//
//	A_i = A − Σ_j (v_j w_jᵀ + w_j v_jᵀ)
//	w_i = τ_i (p − ½ τ_i (pᵀv_i) v_i),  p = A_i v_i
//
// and the rest is brought up to date by one product at the end of the panel. It
// takes 4n³/3 operations, half of them in products with a vector; Q by k vectors
// takes 2n²k.

// tridiagonalPanel is the number of rows of a panel, a multiple of maxRows: the
// v_j and w_j of order 1000 take half a megabyte.
const tridiagonalPanel = 32

// tridiagonal is the result of the reduction of a matrix of order n.
type tridiagonal struct {
	n    int
	d, e []float64 // the diagonal of T and what is above it
	// v holds v_i in row i, from column i + 1 on, and zeros before it as far as
	// block rows are multiplied at once.
	v   []float64
	ld  int
	tau []float64
}

// tridiagonalize reduces the symmetric matrix with the upper triangle a
// (n × n), which is not changed. No element may be so large that products of
// two overflow.
func tridiagonalize(a []float64, n int) *tridiagonal {
	size := roundUp(n) // with rows and columns of zeros at the end
	ld := size
	if ld%256 == 0 {
		ld += maxRows // or the rows of a kernel evict each other
	}
	t := &tridiagonal{n: n, d: make([]float64, n), e: make([]float64, max(0, n-1)), v: make([]float64, size*ld), ld: ld, tau: make([]float64, n)}
	for i := range n {
		copy(t.v[i*ld+i:i*ld+n], a[i*n+i:i*n+n])
	}
	p := &panel{tridiagonal: t, size: size, k: current.Load().rowsOf(), y: make([]float64, size), x: make([]float64, size)}
	p.vw, p.wv = make([]float64, 2*tridiagonalPanel*ld), make([]float64, 2*tridiagonalPanel*ld)
	for range symvParts(size) - 1 {
		p.part = append(p.part, make([]float64, size))
	}
	for at := 0; at < n; at += tridiagonalPanel {
		p.reduce(at, min(at+tridiagonalPanel, n))
	}
	return t
}

// panel is the state of the reduction.
type panel struct {
	*tridiagonal
	size   int
	k      *rowKernel
	vw, wv []float64 // v_j and w_j in rows 2j and 2j + 1, and the other way
	x, y   []float64 // v_i and A v_i, with zeros before them
	part   [][]float64
}

// reduce makes the rows from to to of T, and brings the rest of A up to date.
func (p *panel) reduce(from, to int) {
	n, ld := p.n, p.ld
	clear(p.vw)
	for i := from; i < to; i++ {
		row := p.v[i*ld : i*ld+p.size]
		p.update(row, i, i-from)
		p.d[i] = row[i]
		if i == n-1 {
			break
		}
		v := row[i+1 : n]
		p.e[i], p.tau[i] = gonum.Implementation{}.Dlarfg(len(v), v[0], v[1:], 1)
		v[0] = 1
		clear(p.x[:i+1])
		copy(p.x[i+1:], v)
		copy(p.vw[2*(i-from)*ld+i+1:][:len(v)], v)
		p.second(i, i-from)
	}
	if to < n {
		for j := range to - from {
			copy(p.wv[2*j*ld+to:][:n-to], p.vw[(2*j+1)*ld+to:])
			copy(p.wv[(2*j+1)*ld+to:][:n-to], p.vw[2*j*ld+to:])
		}
		p.rank(to, n, 2*(to-from))
	}
	start := from / reflectorBlock * reflectorBlock
	for i := from; i < to; i++ {
		clear(p.v[i*ld+start : i*ld+i+1])
	}
}

// update subtracts from row i of A what the j rows of the panel before it gave.
func (p *panel) update(row []float64, i, j int) {
	var c [maxRows]float64
	at, ld := i/maxRows*maxRows, p.ld
	for r := 0; r < 2*j; r += p.k.rows {
		for q := range p.k.rows {
			c[q] = -p.vw[((r+q)^1)*ld+i] // of the row's partner
		}
		p.k.add(p.size-at, p.vw[r*ld+at:], ld, row[at:], &c)
	}
}

// second makes w_i from v_i, which is in x, as the vector j of the panel.
func (p *panel) second(i, j int) {
	n, ld := p.n, p.ld
	p.k.symv(p.size, p.v, ld, i+1, p.x, p.y, p.part)
	var t [2 * tridiagonalPanel]float64
	var c [maxRows]float64
	at := (i + 1) / maxRows * maxRows
	if at < p.size {
		for r := 0; r < 2*j; r += p.k.rows {
			p.k.dot(p.size-at, p.vw[r*ld+at:], ld, p.x[at:], &c)
			copy(t[r:], c[:p.k.rows])
		}
		for r := 0; r < 2*j; r += p.k.rows {
			for q := range p.k.rows {
				c[q] = -t[(r+q)^1]
			}
			p.k.add(p.size-at, p.vw[r*ld+at:], ld, p.y[at:], &c)
		}
	}
	x, y := p.x[i+1:n], p.y[i+1:n]
	tau, dot := p.tau[i], 0.0
	for q, v := range x {
		dot += v * y[q]
	}
	half := tau * dot / 2
	w := p.vw[(2*j+1)*ld+i+1:][:len(x)]
	for q, v := range x {
		w[q] = tau * (y[q] - half*v)
	}
}

// rank subtracts the panel's k = 2j products from the upper triangle of the
// rows and columns from to to; what is below the diagonal near it means nothing.
func (p *panel) rank(from, to, k int) {
	const leaf = 64
	multiply := func(i, iTo, j, jTo int) {
		blas64.Implementation().Dgemm(blas.Trans, blas.NoTrans, iTo-i, jTo-j, k, -1, p.vw[i:], p.ld, p.wv[j:], p.ld, 1, p.v[i*p.ld+j:], p.ld)
	}
	if to-from <= leaf {
		multiply(from, to, from, to)
		return
	}
	mid := from + ((to-from)/2+leaf-1)/leaf*leaf
	multiply(from, mid, mid, to)
	both(to-from >= 4*leaf, func() { p.rank(from, mid, k) }, func() { p.rank(mid, to, k) })
}

// both calls f and g, at the same time if that is worth it and allowed.
func both(worth bool, f, g func()) {
	if !worth || threads() == 1 {
		f()
		g()
		return
	}
	var wg sync.WaitGroup
	wg.Go(f)
	g()
	wg.Wait()
}

// reflectorBlock is the number of reflectors that are multiplied at once, a
// multiple of tridiagonalPanel.
const reflectorBlock = 64

// apply overwrites the rows x of X (k × n) with the rows of X Qᵀ: a row that is
// an eigenvector of T becomes one of A.
//
// Reflectors of a block are I − VᵀT V with the v_i as the rows of V and a
// triangular T [schreiber1989].
func (t *tridiagonal) apply(x []float64, k int) {
	if k == 0 || t.n < 2 {
		return
	}
	last := (t.n - 2) / reflectorBlock * reflectorBlock
	xv, xvt := make([]float64, k*reflectorBlock), make([]float64, k*reflectorBlock)
	for at := last; at >= 0; at -= reflectorBlock {
		b, cols := min(reflectorBlock, t.n-1-at), t.n-at
		v, to := t.v[at*t.ld+at:], x[at:]
		tri := t.triangle(at, b)
		bi := blas64.Implementation()
		bi.Dgemm(blas.NoTrans, blas.Trans, k, b, cols, 1, to, t.n, v, t.ld, 0, xv, b)
		bi.Dgemm(blas.NoTrans, blas.Trans, k, b, b, 1, xv, b, tri, b, 0, xvt, b)
		bi.Dgemm(blas.NoTrans, blas.NoTrans, k, cols, b, -1, xvt, b, v, t.ld, 1, to, t.n)
	}
}

// triangle is the T (b × b, upper) of the reflectors from at on: column j is
//
//	T_jj = τ_j,  T_ij = −τ_j Σ_{i≤l<j} T_il (v_lᵀv_j)
func (t *tridiagonal) triangle(at, b int) []float64 {
	gram, tri := make([]float64, b*b), make([]float64, b*b)
	v, cols := t.v[at*t.ld+at:], t.n-at
	blas64.Implementation().Dgemm(blas.NoTrans, blas.Trans, b, b, cols, 1, v, t.ld, v, t.ld, 0, gram, b)
	for j := range b {
		tau := t.tau[at+j]
		tri[j*b+j] = tau
		for i := range j {
			sum := 0.0
			for l := i; l < j; l++ {
				sum += tri[i*b+l] * gram[l*b+j]
			}
			tri[i*b+j] = -tau * sum
		}
	}
	return tri
}

// norm is the largest sum of magnitudes in a row of T.
func (t *tridiagonal) norm() (largest float64) {
	for i, v := range t.d {
		sum := math.Abs(v)
		if i > 0 {
			sum += math.Abs(t.e[i-1])
		}
		if i < t.n-1 {
			sum += math.Abs(t.e[i])
		}
		largest = max(largest, sum)
	}
	return largest
}
