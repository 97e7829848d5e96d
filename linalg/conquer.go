package linalg

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// conquer is the divide and conquer method for the eigenvectors of a symmetric
// tridiagonal T ([cuppen1981]; [gu1995]; LAPACK's dstedc). With β = e_{m−1} the matrix is torn in two,
//
//	T = [T_1 0; 0 T_2] + |β| u uᵀ,  u = e_{m−1} + sign(β) e_m
//
// and with T_i = Q_i D_i Q_iᵀ what remains is D + ρ z zᵀ, whose eigenvalues are
// the roots of a [secular] equation. Poles that nearly coincide and z_j that
// nearly vanish are deflated; the eigenvectors of the others are
//
//	s_i = (ẑ_j / (d_j − λ_i))_j / ‖·‖,  ẑ_j² = Π_i (λ_i − d_j) / Π_{i≠j} (d_i − d_j)
//
// where ẑ is the vector that has the computed λ_i as exact eigenvalues, so that
// the s_i are orthogonal however close they are.
//
// The cost is 4n³/3 operations in products of matrices for all vectors, less
// where much is deflated, and three n × n matrices. The eigenvalues of a block
// from ≤ j < to are in d[from:to], the vectors in the rows of q of the same
// index, in the columns from to to.
type conquer struct {
	n         int
	d, e      []float64
	q, old, s []float64
	order     []int // indices of d such that a solved block increases
	failed    atomic.Bool
}

// conquerLeaf is the order up to which QL iterations are used.
const conquerLeaf = 16

// conquerTridiagonal returns the eigenvalues lo ≤ j < hi, increasing, of the
// symmetric tridiagonal T with the diagonal d and e above it, and the
// eigenvectors as rows. ok is false if an iteration did not converge. The norm
// of T must be near 1, to a few powers of ten, or zero.
func conquerTridiagonal(d, e []float64, lo, hi int) (w, rows []float64, ok bool) {
	n := len(d)
	c := &conquer{
		n: n, d: slices.Clone(d), e: slices.Clone(e),
		q: make([]float64, n*n), old: make([]float64, n*n), s: make([]float64, n*n),
		order: make([]int, n),
	}
	c.solve(0, n, lo, hi)
	if c.failed.Load() {
		return nil, nil, false
	}
	w, rows = make([]float64, hi-lo), c.old[:(hi-lo)*n]
	for i, j := range c.order[lo:hi] {
		w[i] = c.d[j]
		copy(rows[i*n:][:n], c.q[j*n:])
	}
	return w, rows, true
}

// solve solves a block. Of its eigenvectors those in the places lo to hi are
// made, the other rows mean nothing.
func (c *conquer) solve(from, to, lo, hi int) {
	if to-from <= conquerLeaf {
		c.leaf(from, to)
		return
	}
	mid := (from + to) / 2
	beta := math.Abs(c.e[mid-1])
	c.d[mid-1] -= beta
	c.d[mid] -= beta
	both(to-from >= 8*conquerLeaf,
		func() { c.solve(from, mid, 0, mid-from) },
		func() { c.solve(mid, to, 0, to-mid) })
	if !c.failed.Load() {
		c.merge(from, mid, to, lo, hi)
	}
}

// leaf solves a small block, scaled to a norm near 1, by QL iterations.
func (c *conquer) leaf(from, to int) {
	m := to - from
	d, e, v := c.d[from:to], c.e[from:to-1], c.s[from*c.n:][:m*m]
	for i := range d {
		c.order[from+i] = from + i
	}
	exp := tame(d, e)
	if !(gonum.Implementation{}).Dsteqr(lapack.EVTridiag, m, d, e, v, m, make([]float64, max(1, 2*m-2))) {
		c.failed.Store(true)
	}
	shift(d, d, exp)
	for j := range m {
		row := c.q[(from+j)*c.n+from:][:m]
		for i := range row {
			row[i] = v[i*m+j]
		}
	}
}

// merge makes the eigenvectors of a block of those of its halves.
func (c *conquer) merge(from, mid, to, lo, hi int) {
	n, size := c.n, to-from
	z := make([]float64, size) // u in the basis of the halves' vectors, of length 1
	for j := range size {
		at, sign := mid-1, 1.0
		if from+j >= mid {
			at, sign = mid, math.Copysign(1, c.e[mid-1])
		}
		z[j] = sign * c.q[(from+j)*n+at] / math.Sqrt2
	}
	order := c.order[from:to]
	slices.SortStableFunc(order, c.byValue)
	p := c.deflate(from, mid, to, 2*math.Abs(c.e[mid-1]), z)
	if len(p.kept) == 0 {
		slices.SortStableFunc(order, c.byValue)
		return
	}
	k := len(p.kept)
	eq := &secular{d: make([]float64, k), z: make([]float64, k), rho: 2 * math.Abs(c.e[mid-1])}
	for i, j := range p.kept {
		eq.d[i], eq.z[i] = c.d[j], z[j-from]
	}
	s := c.s[from*n:][:k*k]
	lambda := make([]float64, k)
	workers(k, k*k, func(a, b int) {
		for i := a; i < b; i++ {
			var ok bool
			if lambda[i], ok = eq.root(i, s[i*k:][:k]); !ok {
				c.failed.Store(true)
				return
			}
		}
	})
	if c.failed.Load() {
		return
	}
	top, bottom, rest := c.compact(from, mid, to, p)
	for i, v := range lambda {
		c.d[from+i] = v
	}
	for i := range order {
		order[i] = from + i
	}
	slices.SortStableFunc(order, c.byValue)
	first, last := k, 0 // of the roots whose vectors are wanted
	for _, j := range order[lo:hi] {
		if j < from+k {
			first, last = min(first, j-from), max(last, j-from+1)
		}
	}
	if first < last {
		eq.vectors(s, p.column, first, last)
		rows, out := s[first*k:], c.q[(from+first)*n+from:]
		low, above := mid-from, p.count[inTop]+p.count[inBoth]
		combine(last-first, low, above, rows, k, top, out, n)
		combine(last-first, to-mid, k-p.count[inTop], rows[p.count[inTop]:], k, bottom, out[low:], n)
	}
	for j := range size - k {
		copy(c.q[(from+k+j)*n+from:][:size], rest[j*size:])
	}
}

// combine puts A B in C (m × n), where A is m × k; zeros for k = 0.
func combine(m, n, k int, a []float64, lda int, b, c []float64, ldc int) {
	if k == 0 {
		scale(m, n, 0, c, ldc)
		return
	}
	blas64.Implementation().Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, a, lda, b, n, 0, c, ldc)
}

func (c *conquer) byValue(i, j int) int { return cmp.Compare(c.d[i], c.d[j]) }

// compact copies what a merge multiplies: the upper parts of the kept vectors
// that are not zero there, the lower parts of those that are not zero there, and
// the deflated vectors. It moves the deflated eigenvalues behind the others.
func (c *conquer) compact(from, mid, to int, p *poles) (top, bottom, rest []float64) {
	n, size, low, high := c.n, to-from, mid-from, to-mid
	k, above := len(p.kept), p.count[inTop]+p.count[inBoth]
	below := k - p.count[inTop]
	space := c.old[from*n:]
	top, space = space[:above*low], space[above*low:]
	bottom, space = space[:below*high], space[below*high:]
	rest = space[:(size-k)*size]
	for i, j := range p.kept {
		row, at := c.q[j*n+from:][:size], p.column[i]
		if at < above {
			copy(top[at*low:][:low], row)
		}
		if at >= p.count[inTop] {
			copy(bottom[(at-p.count[inTop])*high:][:high], row[low:])
		}
	}
	values := make([]float64, size-k)
	for i, j := range p.deflated {
		copy(rest[i*size:][:size], c.q[j*n+from:])
		values[i] = c.d[j]
	}
	copy(c.d[from+k:to], values)
	return top, bottom, rest
}

// workers calls f for parts of 0 to n, on all threads if the work is worth it.
func workers(n, work int, f func(from, to int)) {
	const least = 1 << 14 // divisions, of a few nanoseconds each
	parts := min(threads(), work/least, n)
	if parts <= 1 {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() { f(p*n/parts, (p+1)*n/parts) })
	}
	wg.Wait()
}
