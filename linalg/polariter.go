package linalg

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// The polar factor as the limit of X ← X f(XᵀX), which takes every singular
// value σ of X from [ℓ, 1] nearer to 1. Far from 1 the steps are the
// dynamically weighted Halley steps of QDWH by Cholesky decomposition
// [nakatsukasa2010],
//
//	σ ← σ (a + bσ²) / (1 + cσ²),   b = (a − 1)²/4,  c = a + b − 1
//	X ← (b/c) X + (a − b/c) X (I + c XᵀX)⁻¹
//
// and near to 1 polynomials of degree 5 (polarstep.go), which are products only.
//
// Three things differ from the published method. A largest singular value far
// above the others is lowered first (polardeflate.go). The bound ℓ comes from inverse
// iteration with the Cholesky factor of MᵀM. And where QDWH takes a QR
// decomposition in steps with c > 100, here c is cut off: with the Gram matrix
// known to ε = 2⁻⁵², such a step has a backward error of about 2√c ε, so c up to
// (2n)² keeps it at 4n ε, what the method promises, at the price of one more
// step where ℓ < 10⁻³ or so. The result is checked all the same.

const (
	// maxPolarSteps bounds the steps; 12 are the most for a condition number of
	// 10⁷ and a right ℓ.
	maxPolarSteps = 40
	// minBound is the least ℓ that the Gram matrix shows: its eigenvalue ℓ² is
	// then some hundred times the rounding of it.
	minBound = 1e-7
	// halleyBelow is the ℓ up to which a Halley step gains more than two
	// polynomial ones, which cost about the same.
	halleyBelow = 0.36
)

// polarWork is the workspace of an iteration: X, G = XᵀX or E = G − I, the scaled
// M, and scratch.
type polarWork struct {
	n                int
	x, g, m, y, p, q []float64
}

var polarPool = sync.Pool{New: func() any { return new(polarWork) }}

func (w *polarWork) resize(n int) {
	w.n = n
	for _, s := range []*[]float64{&w.x, &w.g, &w.m, &w.y, &w.p, &w.q} {
		if cap(*s) < n*n {
			*s = make([]float64, n*n)
		}
		*s = (*s)[:n*n]
	}
}

// polarByIteration is the polar factor of a finite matrix that is not empty;
// ok is false if the matrix is too ill-conditioned.
func polarByIteration(m *mat.Dense, estimate bool) (q *mat.Dense, info PolarInfo, ok bool) {
	rows, cols := m.Dims()
	switch {
	case rows < cols:
		q, info, ok = polarByIteration(mat.DenseCopyOf(m.T()), estimate)
		if ok {
			q = mat.DenseCopyOf(q.T())
		}
		return q, info, ok
	case rows > cols: // the factor of M = Q₀ R is Q₀ times that of R
		q0, r, err := QR(m)
		if err != nil {
			return nil, PolarInfo{}, false
		}
		small, info, ok := polarByIteration(r, estimate)
		if !ok {
			return nil, PolarInfo{}, false
		}
		q = new(mat.Dense)
		q.Mul(q0, small)
		return q, info, true
	}
	w := polarPool.Get().(*polarWork)
	defer polarPool.Put(w)
	w.resize(cols)
	// A power of two brings the size of M near 1, exactly.
	size := math.Sqrt(SumSquares(m))
	if !(size > 0x1p-400 && size < 0x1p400) { // as good as any, where squares overflow
		size = mat.Max(m)
		size = max(size, -mat.Min(m))
	}
	if size == 0 {
		return nil, PolarInfo{}, false
	}
	_, exp := math.Frexp(size)
	scaled := mat.NewDense(cols, cols, w.m)
	for i := range rows {
		shift(scaled.RawRowView(i), m.RawRowView(i), -exp)
	}
	steps, direction, known, ok := w.iterate(scaled)
	if !ok {
		return nil, PolarInfo{}, false
	}
	q = mat.NewDense(cols, cols, append([]float64(nil), w.x...))
	var smallest, top float64
	if estimate {
		smallest, top, ok = w.estimate(scaled, direction, known)
	} else {
		smallest, top, ok = w.check(scaled)
	}
	if !ok {
		return nil, PolarInfo{}, false
	}
	info = PolarInfo{
		Smallest:   math.Ldexp(smallest, exp),
		Largest:    math.Ldexp(top, exp),
		Rank:       cols,
		Method:     PolarIteration,
		Iterations: steps,
		Estimated:  estimate,
	}
	info.Cond = info.Largest / info.Smallest
	return q, info, !math.IsInf(info.Largest, 0) && info.Smallest > 0
}

// iterate leaves the polar factor of m in w.x. It returns the number of steps,
// about the right singular vector of the smallest singular value, and the largest
// singular value if it came out by the way, else 0.
func (w *polarWork) iterate(m *mat.Dense) (steps int, direction []float64, largest float64, ok bool) {
	n := w.n
	for i := range n {
		copy(w.x[i*n:], m.RawRowView(i))
	}
	largest = deflate(mat.NewDense(n, n, w.x))
	f := 1 / math.Sqrt(sumSquares(w.x))
	for i := range w.x {
		w.x[i] *= f
	}
	impl := blas64.Implementation()
	w.gram(impl)
	bound, direction, ok := w.lowerBound(impl)
	if !ok {
		return 0, nil, 0, false
	}
	bound *= w.tighten()
	limit := 4 * float64(n) * float64(n)
	for steps = 1; steps <= maxPolarSteps; steps++ {
		if steps > 1 {
			w.gram(impl)
		}
		for i := range n {
			w.g[i*n+i]--
		}
		if bound < halleyBelow {
			bound, ok = w.halley(impl, bound, limit)
			if !ok {
				return 0, nil, 0, false
			}
			continue
		}
		if n > squareLeaf {
			mirror(w.g, n)
		}
		off := math.Sqrt(sumSquares(w.g))
		// Each of n singular values is in [bound, 1], or bound was wrong.
		if !(off <= math.Sqrt(float64(n))*(1-bound*bound)*1.01+1e-8) {
			bound /= 50
			continue
		}
		next, step := nearStep(bound, off, n)
		w.polynomial(impl, step.p)
		if bound = next; step.last {
			return steps, direction, largest, true
		}
	}
	return 0, nil, 0, false
}

// tighten scales X, and G = XᵀX in w.g, by a bound of σ_max(X) that is far below
// ‖X‖_F unless X has rank 1,
//
//	σ_max(X)² ≤ ‖XᵀX‖_F
//
// and returns the factor of X.
func (w *polarWork) tighten() float64 {
	n, square := w.n, 0.0
	for i := range n {
		square += w.g[i*n+i] * w.g[i*n+i]
		for _, v := range w.g[i*n+i+1 : i*n+n] {
			square += 2 * v * v
		}
	}
	largest := math.Sqrt(square) * (1 + 1e-12)
	if !(largest < 1) {
		return 1
	}
	f := 1 / math.Sqrt(largest)
	for i := range w.x {
		w.x[i] *= f
	}
	for i := range w.g {
		w.g[i] /= largest
	}
	return f
}

// shift puts 2^exp src in dst, for an exp that brings the largest element of
// src near 1. Two factors keep each power within the range of float64.
func shift(dst, src []float64, exp int) {
	f, g := math.Ldexp(1, exp/2), math.Ldexp(1, exp-exp/2)
	for i, v := range src {
		dst[i] = v * f * g
	}
}

// gram puts XᵀX in w.g; above squareLeaf its upper triangle only.
func (w *polarWork) gram(impl blas.Float64) {
	n := w.n
	if n <= squareLeaf {
		impl.Dgemm(blas.Trans, blas.NoTrans, n, n, n, 1, w.x, n, w.x, n, 0, w.g, n)
		return
	}
	impl.Dsyrk(blas.Upper, blas.Trans, n, n, 1, w.x, n, 0, w.g, n)
}

// mirror copies the upper triangle to the lower, in blocks that stay in the
// cache.
func mirror(g []float64, n int) {
	const size = 32
	for i0 := 0; i0 < n; i0 += size {
		for j0 := i0; j0 < n; j0 += size {
			for i := i0; i < min(i0+size, n); i++ {
				for j := max(i+1, j0); j < min(j0+size, n); j++ {
					g[j*n+i] = g[i*n+j]
				}
			}
		}
	}
}

// lowerBound estimates the smallest singular value of X by inverse iteration
// with the Cholesky factor of XᵀX and returns half of it, or less than that
// with the vector. Inverse iteration finds it too large, by less than two
// except for a start that misses the direction.
func (w *polarWork) lowerBound(impl blas.Float64) (bound float64, v []float64, ok bool) {
	n := w.n
	copy(w.p, w.g)
	if !potrf(w.p, n) {
		return 0, nil, false
	}
	v = start(n)
	smallest := w.inverse(impl, v, 3)
	if !(smallest > minBound*minBound) {
		return 0, nil, false
	}
	return math.Sqrt(smallest) / 2, v, true
}

// start is a fixed vector without structure.
func start(n int) []float64 { return startAt(0, n) }

// startAt is the k-th of several such vectors.
func startAt(k, n int) []float64 {
	v := make([]float64, n)
	state := uint64(2*k + 1)
	for i := range v {
		state = state*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
		v[i] = float64(int64(state>>33)-1<<30) * 0x1p-30
	}
	return v
}

// inverse makes rounds of inverse iteration with RᵀR in w.p on v, which it
// normalises, and returns the estimate of the smallest eigenvalue.
func (w *polarWork) inverse(impl blas.Float64, v []float64, rounds int) float64 {
	n, length := w.n, 0.0
	impl.Dscal(n, 1/impl.Dnrm2(n, v, 1), v, 1)
	for range rounds {
		impl.Dtrsv(blas.Upper, blas.Trans, blas.NonUnit, n, w.p, n, v, 1)
		impl.Dtrsv(blas.Upper, blas.NoTrans, blas.NonUnit, n, w.p, n, v, 1)
		length = impl.Dnrm2(n, v, 1)
		impl.Dscal(n, 1/length, v, 1)
	}
	return 1 / length
}

func potrf(a []float64, n int) bool {
	_, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Upper})
	return ok
}

// check holds that H = QᵀM is symmetric and positive definite, which it is for
// the polar factor Q in w.x and no other orthogonal matrix, to 16 n ε ‖M‖_F, and
// returns the extreme eigenvalues of H, which are singular values of M.
func (w *polarWork) check(m *mat.Dense) (smallest, largest float64, ok bool) {
	n := w.n
	impl := blas64.Implementation()
	raw := m.RawMatrix()
	impl.Dgemm(blas.Trans, blas.NoTrans, n, n, n, 1, w.x, n, raw.Data, raw.Stride, 0, w.g, n)
	skew, size := 0.0, 0.0
	for i := range n {
		for j := range i {
			up, low := w.g[j*n+i], w.g[i*n+j]
			d := (up - low) / 2
			skew += 2 * d * d
			size += up*up + low*low
			w.g[j*n+i], w.g[i*n+j] = (up+low)/2, (up+low)/2
		}
		size += w.g[i*n+i] * w.g[i*n+i]
	}
	if !(math.Sqrt(skew) <= 16*float64(n)*Eps*math.Sqrt(size)) {
		return 0, 0, false
	}
	values, _, ok := eigSym(w.g, n, 0, n, false)
	if !ok {
		return 0, 0, false
	}
	return values[0], values[n-1], values[0] > 0
}

// powerRounds of MᵀM make the estimate of the largest singular value.
const powerRounds = 4

// probes is the number of vectors that stand for ‖H − Hᵀ‖_F: the longer they are
// the better does one.
func probes(n int) int {
	if n < 128 {
		return 3
	}
	return 1
}

// estimate is check with products of vectors in place of those of matrices: for
// a vector v without structure, ‖(H − Hᵀ) v‖ is about ‖H − Hᵀ‖_F ‖v‖/√n. That H is
// positive definite follows from the steps, which keep every singular value
// positive. With a direction near to the singular vector of the smallest
// singular value, ‖M v‖ is that to second order. The largest may be known, else 0.
func (w *polarWork) estimate(m *mat.Dense, direction []float64, known float64) (smallest, largest float64, ok bool) {
	n := w.n
	impl := blas64.Implementation()
	raw := m.RawMatrix()
	times := func(t blas.Transpose, x, y []float64, a []float64, lda int) {
		impl.Dgemv(t, n, n, 1, a, lda, x, 1, 0, y, 1)
	}
	u, left, right := w.y[:n], w.p[:n], w.q[:n]
	skew, size := 0.0, math.Sqrt(sumSquares(raw.Data[:n*n]))
	for k := range probes(n) {
		v := startAt(k, n)
		impl.Dscal(n, math.Sqrt(float64(n))/impl.Dnrm2(n, v, 1), v, 1)
		times(blas.NoTrans, v, u, raw.Data, raw.Stride)
		times(blas.Trans, u, left, w.x, n)
		times(blas.NoTrans, v, u, w.x, n)
		times(blas.Trans, u, right, raw.Data, raw.Stride)
		impl.Daxpy(n, -1, right, 1, left, 1)
		skew += impl.Ddot(n, left, 1, left, 1) / float64(4*probes(n))
	}
	if !(math.Sqrt(skew) <= 16*float64(n)*Eps*size) {
		return 0, 0, false
	}
	times(blas.NoTrans, direction, u, raw.Data, raw.Stride)
	smallest = impl.Dnrm2(n, u, 1)
	if known > 0 {
		return smallest, known, true
	}
	v := start(n)
	for range powerRounds {
		impl.Dscal(n, 1/impl.Dnrm2(n, v, 1), v, 1)
		times(blas.NoTrans, v, u, raw.Data, raw.Stride)
		times(blas.Trans, u, v, raw.Data, raw.Stride)
	}
	return smallest, math.Sqrt(impl.Dnrm2(n, v, 1)), true
}
