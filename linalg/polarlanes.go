package linalg

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// The iteration of polariter.go for many matrices of one order side by side
// (lanes.go). All lanes take the same steps, for the smallest ℓ among them, which
// is a lower bound for each. The bound is
//
//	ℓ = 1 / ‖R⁻¹‖_F ≤ σ_min(X),  XᵀX = RᵀR
//
// exactly such, where one matrix alone is content with an estimate.

const (
	// smallestLanes is the order from which the iteration is faster than the
	// singular value decomposition.
	smallestLanes = 6
	// largestLanes is the order up to which the batches stay in the second-level
	// cache and lanes are the faster.
	largestLanes = 96
	// fewestLanes is the number of matrices from which a batch is faster than one
	// after another.
	fewestLanes = 3
)

// polarLanes is the workspace of a batch.
type polarLanes struct {
	*lanes
	m, x, g    laneMatrix
	p, y, s    laneMatrix // scratch
	chol       *laneCholesky
	v, u, z, t []float64 // vectors of n lanes
}

// lanePools has a pool of *polarLanes for each order.
var lanePools sync.Map

func newPolarLanes(k *laneKernel, n int) *polarLanes {
	l := newLanes(k, n)
	return &polarLanes{
		lanes: l, m: l.matrix(), x: l.matrix(), g: l.matrix(), p: l.matrix(), y: l.matrix(), s: l.matrix(),
		chol: l.newCholesky(),
		v:    make([]float64, n*k.width), u: make([]float64, n*k.width), z: make([]float64, n*k.width), t: make([]float64, n*k.width),
	}
}

// laneResult is what became of one lane; ok is false if it must be done alone.
type laneResult struct {
	q    *mat.Dense
	info PolarInfo
	ok   bool
}

// polarBatch computes the polar factors of up to width matrices, all n × n and
// finite.
func (k *laneKernel) polarBatch(m []*mat.Dense, estimate bool) []laneResult {
	n, _ := m[0].Dims()
	pool, _ := lanePools.LoadOrStore([2]int{k.width, n}, &sync.Pool{New: func() any { return newPolarLanes(k, n) }})
	w := pool.(*sync.Pool).Get().(*polarLanes)
	defer pool.(*sync.Pool).Put(w)
	return w.run(m, estimate)
}

func (w *polarLanes) run(m []*mat.Dense, estimate bool) []laneResult {
	out := make([]laneResult, len(m))
	norms := w.fill(m, out)
	bound, ok := w.lowerBound(out)
	if !ok {
		return out
	}
	steps, ok := w.iterate(bound)
	if !ok {
		for i := range out {
			out[i].ok = false
		}
		return out
	}
	var smallest, largest [maxLanes]float64
	if estimate {
		smallest, largest = w.estimate(out)
	} else {
		smallest, largest = w.check(out)
	}
	q := make([]*mat.Dense, len(m))
	for i := range out {
		info := PolarInfo{
			Smallest:   smallest[i] * norms[i],
			Largest:    largest[i] * norms[i],
			Rank:       w.n,
			Method:     PolarIteration,
			Iterations: steps,
			Estimated:  estimate,
		}
		info.Cond = info.Largest / info.Smallest
		out[i].info = info
		if out[i].ok {
			q[i] = mat.NewDense(w.n, w.n, nil)
			out[i].q = q[i]
		}
	}
	w.store(q, w.x)
	return out
}

// fill puts the matrices in w.m, scaled so that the deflated matrix, in w.x, has
// the norm ‖X‖_F = 1, and returns the factors. A matrix of extreme size is left
// out.
func (w *polarLanes) fill(m []*mat.Dense, out []laneResult) (norms [maxLanes]float64) {
	impl := blas64.Implementation()
	var f [maxLanes]float64
	for i := range m {
		raw := m[i].RawMatrix()
		square := 0.0
		for r := range w.n {
			row := raw.Data[r*raw.Stride:][:w.n]
			square += impl.Ddot(w.n, row, 1, row, 1)
		}
		norms[i] = math.Sqrt(square)
		if square > 0x1p-800 && square < 0x1p800 {
			f[i], out[i].ok = 1/norms[i], true
		}
	}
	w.load(w.m, m, f)
	for lane := range w.width {
		if f[lane] == 0 {
			w.identity(lane)
		}
	}
	// Deflation; see polardeflate.go. v holds vᵀ, u the vectors M v.
	const rounds = 5
	w.begin(0, w.v)
	var done, worth [maxLanes]bool
	var s, rest [maxLanes]float64
	for round := range rounds {
		w.normalise(w.v)
		w.vector(w.m, w.v, w.u)
		s = w.normalise(w.u)
		w.vector(w.m.t(), w.u, w.z)
		pending := false
		var less [maxLanes]float64
		for i := range w.width {
			rest[i] = deflated(s[i], 1, w.n)
			worth[i] = s[i] >= worthwhile*rest[i]
			less[i] = -s[i]
		}
		// ‖Mᵀu − s v‖
		copy(w.t, w.v)
		w.times(less, w.t)
		w.add(1, w.z, 1, w.t)
		apart := w.dots(w.n, w.t, w.t)
		for i := range w.width {
			done[i] = math.Sqrt(apart[i]) <= 4*Eps*s[i]
			pending = pending || worth[i] && !done[i]
		}
		if round > 0 && !pending {
			break
		}
		copy(w.v, w.z)
	}
	var lower, grow [maxLanes]float64
	for i := range w.width {
		grow[i] = 1
		if worth[i] && done[i] {
			lower[i] = rest[i] - s[i]
			grow[i] = 1 / math.Sqrt(max(0, 1-s[i]*s[i])+rest[i]*rest[i])
		}
		norms[i] /= grow[i]
	}
	w.normalise(w.v)
	w.times(lower, w.u)
	w.update(w.m, w.u, w.v, w.x)
	w.times(grow, w.x.data)
	w.times(grow, w.m.data)
	return norms
}

// lowerBound scales w.x anew, puts XᵀX − I in w.g and about the right singular
// vectors of the smallest singular values in w.v, and returns a lower bound of
// the singular values of all lanes. Lanes that are too ill-conditioned become
// the identity.
func (w *polarLanes) lowerBound(out []laneResult) (bound float64, any bool) {
	for {
		w.product(1, w.x.t(), w.x, 0, laneMatrix{}, w.g, true)
		copy(w.chol.r.data, w.g.data)
		w.chol.factor()
		w.chol.invert(w.p)
		norm := w.dots(w.n*w.n, w.p.data, w.p.data)
		again := false
		bound = math.Inf(1)
		for i := range w.width {
			ell := 1 / math.Sqrt(norm[i])
			if ell > minBound && !w.chol.bad[i] {
				bound = min(bound, ell)
				continue
			}
			if i < len(out) {
				out[i].ok = false
			}
			w.identity(i)
			again = true
		}
		if !again {
			break
		}
	}
	// σ_max(X)² ≤ ‖XᵀX‖_F, which is far below ‖X‖_F² = 1 for all but a matrix of
	// rank 1.
	largest := 0.0
	for _, square := range w.dots(w.n*w.n, w.g.data, w.g.data) {
		largest = max(largest, math.Sqrt(square))
	}
	largest *= 1 + 1e-12
	w.add(1/math.Sqrt(largest), w.x.data, 0, w.x.data)
	w.add(1/largest, w.g.data, 0, w.g.data)
	w.addDiagonal(w.g, -1)
	w.begin(0, w.v)
	w.inverse(3)
	for _, r := range out {
		any = any || r.ok
	}
	return min(1, bound/math.Sqrt(largest)), any
}

// begin sets every lane of v to the k-th of the vectors that iterations start
// from.
func (w *polarLanes) begin(k int, v []float64) {
	for i, x := range startAt(k, w.n) {
		for lane := range w.width {
			v[i*w.width+lane] = x
		}
	}
}

// identity replaces the matrices of a lane by I / √n.
func (w *polarLanes) identity(lane int) {
	for i := range w.n {
		for j := range w.n {
			v := 0.0
			if i == j {
				v = 1 / math.Sqrt(float64(w.n))
			}
			w.m.at(i, j).data[lane], w.x.at(i, j).data[lane] = v, v
		}
	}
}

// inverse makes rounds of inverse iteration on w.v with R⁻¹ in w.p.
func (w *polarLanes) inverse(rounds int) {
	w.normalise(w.v)
	for range rounds {
		w.triangleVector(w.p.t(), true, w.v, w.u)
		w.triangleVector(w.p, false, w.u, w.v)
		w.normalise(w.v)
	}
}

// iterate leaves the polar factors in w.x. It begins with XᵀX − I in w.g.
func (w *polarLanes) iterate(bound float64) (steps int, ok bool) {
	n := float64(w.n)
	limit := 4 * n * n
	for steps = 1; steps <= maxPolarSteps; steps++ {
		if steps > 1 {
			w.product(1, w.x.t(), w.x, 0, laneMatrix{}, w.g, true)
			w.addDiagonal(w.g, -1)
		}
		if bound < halleyBelow {
			if bound, ok = w.halley(bound, limit); !ok {
				return 0, false
			}
			continue
		}
		off := 0.0
		for _, square := range w.dots(w.n*w.n, w.g.data, w.g.data) {
			off = max(off, math.Sqrt(square))
			if math.IsNaN(square) {
				return 0, false
			}
		}
		// Each of n singular values is in [bound, 1], or bound was wrong.
		if off > math.Sqrt(n)*(1-bound*bound)*1.01+1e-8 {
			bound /= 50
			continue
		}
		next, step := nearStep(bound, off, w.n)
		w.polynomial(step.p)
		if bound = next; step.last {
			return steps, true
		}
	}
	return 0, false
}

// halley is the step of [polarWork.halley], with E = XᵀX − I in w.g:
//
//	I + c XᵀX = (1 + c) I + c E
func (w *polarLanes) halley(bound, limit float64) (next float64, ok bool) {
	a, b, c := halleyWeights(bound, limit)
	w.add(c, w.g.data, 0, w.chol.r.data)
	w.addDiagonal(w.chol.r, 1+c)
	w.chol.factor()
	for i := range w.width {
		if w.chol.bad[i] {
			return 0, false
		}
	}
	w.chol.solve(a-b/c, b/c, w.x, w.y, w.p)
	return min(1, bound*(a+b*bound*bound)/(1+c*bound*bound)), true
}

// polynomial computes X ← X p(E).
func (w *polarLanes) polynomial(p []float64) {
	none := laneMatrix{}
	switch len(p) {
	case 2:
		w.add(p[1], w.g.data, 0, w.p.data)
	case 3:
		w.product(p[2], w.g, w.g, p[1], w.g, w.p, true)
	case 5: // p₀ + p₁E + E² (p₂ + p₃E + p₄E²)
		w.product(1, w.g, w.g, 0, none, w.y, true)
		copy(w.s.data, w.y.data)
		w.add(p[3], w.g.data, p[4], w.s.data)
		w.addDiagonal(w.s, p[2])
		w.product(1, w.y, w.s, p[1], w.g, w.p, true)
	}
	w.addDiagonal(w.p, p[0])
	w.product(1, w.x, w.p, 0, none, w.y, false)
	w.x, w.y = w.y, w.x
}

// check is [polarWork.check] for all lanes.
func (w *polarLanes) check(out []laneResult) (smallest, largest [maxLanes]float64) {
	// H in w.g. Tiles above the diagonal are subtracted from the mirror image of
	// those below, and the skew part goes to w.p.
	none := laneMatrix{}
	clear(w.p.data)
	for i := range w.tiles() {
		i0, rows := w.span(i)
		for j := range i {
			j0, cols := w.span(j)
			hij := w.g.at(i0, j0)
			w.multiply(rows, cols, w.n, 1, w.x.at(0, i0).t(), w.m.at(0, j0), 0, none, hij, w.g.at(j0, i0))
			w.multiply(cols, rows, w.n, 1, w.x.at(0, j0).t(), w.m.at(0, i0), -1, hij.t(), w.p.at(j0, i0), none)
		}
		hii := w.g.at(i0, i0)
		w.multiply(rows, rows, w.n, 1, w.x.at(0, i0).t(), w.m.at(0, i0), 0, none, hii, none)
		w.multiply(rows, rows, w.n, 1, w.x.at(0, i0).t(), w.m.at(0, i0), -1, hii.t(), w.p.at(i0, i0), none)
	}
	skew := w.dots(w.n*w.n, w.p.data, w.p.data)
	size := w.dots(w.n*w.n, w.g.data, w.g.data)
	h := make([]*mat.Dense, len(out))
	for i := range out {
		if !(math.Sqrt(skew[i]) <= 16*float64(w.n)*Eps*math.Sqrt(size[i])) {
			out[i].ok = false
		}
		if out[i].ok {
			h[i] = mat.NewDense(w.n, w.n, nil)
		}
	}
	w.store(h, w.g)
	for i := range out {
		if !out[i].ok {
			continue
		}
		values, _, ok := eigSym(h[i].RawMatrix().Data, w.n, 0, w.n, false)
		if ok = ok && values[0] > 0; ok {
			smallest[i], largest[i] = values[0], values[w.n-1]
		}
		out[i].ok = ok
	}
	return smallest, largest
}

// estimate is [polarWork.estimate] for all lanes.
func (w *polarLanes) estimate(out []laneResult) (smallest, largest [maxLanes]float64) {
	w.vector(w.m, w.v, w.u) // v is normalised
	smallest = w.normalise(w.u)
	size := w.dots(w.n*w.n, w.m.data, w.m.data)
	var skew [maxLanes]float64
	for k := range probes(w.n) {
		w.begin(k, w.v)
		w.normalise(w.v)
		w.vector(w.m, w.v, w.u)
		w.vector(w.x.t(), w.u, w.t)
		w.vector(w.x, w.v, w.u)
		w.vector(w.m.t(), w.u, w.z)
		w.add(-1, w.z, 1, w.t)
		for i, square := range w.dots(w.n, w.t, w.t) {
			skew[i] += float64(w.n) * square / float64(4*probes(w.n))
		}
	}
	for i := range out {
		if !(math.Sqrt(skew[i]) <= 16*float64(w.n)*Eps*math.Sqrt(size[i])) {
			out[i].ok = false
		}
	}
	w.begin(0, w.v)
	for range powerRounds {
		w.normalise(w.v)
		w.vector(w.m, w.v, w.u)
		w.vector(w.m.t(), w.u, w.v)
	}
	for i, square := range w.normalise(w.v) {
		largest[i] = math.Sqrt(square)
	}
	return smallest, largest
}
