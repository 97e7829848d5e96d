package linalg

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/linalg/internal/lanes"
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
	*lanes.Batch
	m, x, g    lanes.Matrix
	p, y, s    lanes.Matrix // scratch
	chol       *lanes.Cholesky
	v, u, z, t []float64 // vectors of n lanes
}

// lanePools has a pool of *polarLanes for each order.
var lanePools sync.Map

func newPolarLanes(k *lanes.Kernel, n int) *polarLanes {
	l := lanes.New(k, n)
	return &polarLanes{
		Batch: l, m: l.Matrix(), x: l.Matrix(), g: l.Matrix(), p: l.Matrix(), y: l.Matrix(), s: l.Matrix(),
		chol: l.NewCholesky(),
		v:    make([]float64, n*k.Width), u: make([]float64, n*k.Width), z: make([]float64, n*k.Width), t: make([]float64,
			n*k.Width),
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
func polarBatch(k *lanes.Kernel, m []*mat.Dense, estimate bool) []laneResult {
	n, _ := m[0].Dims()
	pool, _ := lanePools.LoadOrStore([2]int{k.Width, n}, &sync.Pool{New: func() any { return newPolarLanes(k, n) }})
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
	var smallest, largest [lanes.Max]float64
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
			Rank:       w.N,
			Method:     PolarIteration,
			Iterations: steps,
			Estimated:  estimate,
		}
		info.Cond = info.Largest / info.Smallest
		out[i].info = info
		if out[i].ok {
			q[i] = mat.NewDense(w.N, w.N, nil)
			out[i].q = q[i]
		}
	}
	w.Store(q, w.x)
	return out
}

// fill puts the matrices in w.m, scaled so that the deflated matrix, in w.x, has
// the norm ‖X‖_F = 1, and returns the factors. A matrix of extreme size is left
// out.
func (w *polarLanes) fill(m []*mat.Dense, out []laneResult) (norms [lanes.Max]float64) {
	impl := blas64.Implementation()
	var f [lanes.Max]float64
	for i := range m {
		raw := m[i].RawMatrix()
		square := 0.0
		for r := range w.N {
			row := raw.Data[r*raw.Stride:][:w.N]
			square += impl.Ddot(w.N, row, 1, row, 1)
		}
		norms[i] = math.Sqrt(square)
		if square > 0x1p-800 && square < 0x1p800 {
			f[i], out[i].ok = 1/norms[i], true
		}
	}
	w.Load(w.m, m, f)
	for lane := range w.Width {
		if f[lane] == 0 {
			w.identity(lane)
		}
	}
	// Deflation; see polardeflate.go. v holds vᵀ, u the vectors M v.
	const rounds = 5
	w.begin(0, w.v)
	var done, worth [lanes.Max]bool
	var s, rest [lanes.Max]float64
	for round := range rounds {
		w.Normalise(w.v)
		w.Vector(w.m, w.v, w.u)
		s = w.Normalise(w.u)
		w.Vector(w.m.T(), w.u, w.z)
		pending := false
		var less [lanes.Max]float64
		for i := range w.Width {
			rest[i] = deflated(s[i], 1, w.N)
			worth[i] = s[i] >= worthwhile*rest[i]
			less[i] = -s[i]
		}
		// ‖Mᵀu − s v‖
		copy(w.t, w.v)
		w.Times(less, w.t)
		w.Add(1, w.z, 1, w.t)
		apart := w.Dots(w.N, w.t, w.t)
		for i := range w.Width {
			done[i] = math.Sqrt(apart[i]) <= 4*Eps*s[i]
			pending = pending || worth[i] && !done[i]
		}
		if round > 0 && !pending {
			break
		}
		copy(w.v, w.z)
	}
	var lower, grow [lanes.Max]float64
	for i := range w.Width {
		grow[i] = 1
		if worth[i] && done[i] {
			lower[i] = rest[i] - s[i]
			grow[i] = 1 / math.Sqrt(max(0, 1-s[i]*s[i])+rest[i]*rest[i])
		}
		norms[i] /= grow[i]
	}
	w.Normalise(w.v)
	w.Times(lower, w.u)
	w.Update(w.m, w.u, w.v, w.x)
	w.Times(grow, w.x.Data)
	w.Times(grow, w.m.Data)
	return norms
}

// lowerBound scales w.x anew, puts XᵀX − I in w.g and about the right singular
// vectors of the smallest singular values in w.v, and returns a lower bound of
// the singular values of all lanes. Lanes that are too ill-conditioned become
// the identity.
func (w *polarLanes) lowerBound(out []laneResult) (bound float64, any bool) {
	for {
		w.Product(1, w.x.T(), w.x, 0, lanes.Matrix{}, w.g, true)
		copy(w.chol.R.Data, w.g.Data)
		w.chol.Factor()
		w.chol.Invert(w.p)
		norm := w.Dots(w.N*w.N, w.p.Data, w.p.Data)
		again := false
		bound = math.Inf(1)
		for i := range w.Width {
			ell := 1 / math.Sqrt(norm[i])
			if ell > minBound && !w.chol.Bad[i] {
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
	for _, square := range w.Dots(w.N*w.N, w.g.Data, w.g.Data) {
		largest = max(largest, math.Sqrt(square))
	}
	largest *= 1 + 1e-12
	w.Add(1/math.Sqrt(largest), w.x.Data, 0, w.x.Data)
	w.Add(1/largest, w.g.Data, 0, w.g.Data)
	w.AddDiagonal(w.g, -1)
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
	for i, x := range startAt(k, w.N) {
		for lane := range w.Width {
			v[i*w.Width+lane] = x
		}
	}
}

// identity replaces the matrices of a lane by I / √n.
func (w *polarLanes) identity(lane int) {
	for i := range w.N {
		for j := range w.N {
			v := 0.0
			if i == j {
				v = 1 / math.Sqrt(float64(w.N))
			}
			w.m.At(i, j).Data[lane], w.x.At(i, j).Data[lane] = v, v
		}
	}
}

// inverse makes rounds of inverse iteration on w.v with R⁻¹ in w.p.
func (w *polarLanes) inverse(rounds int) {
	w.Normalise(w.v)
	for range rounds {
		w.TriangleVector(w.p.T(), true, w.v, w.u)
		w.TriangleVector(w.p, false, w.u, w.v)
		w.Normalise(w.v)
	}
}

// iterate leaves the polar factors in w.x. It begins with XᵀX − I in w.g.
func (w *polarLanes) iterate(bound float64) (steps int, ok bool) {
	n := float64(w.N)
	limit := 4 * n * n
	for steps = 1; steps <= maxPolarSteps; steps++ {
		if steps > 1 {
			w.Product(1, w.x.T(), w.x, 0, lanes.Matrix{}, w.g, true)
			w.AddDiagonal(w.g, -1)
		}
		if bound < halleyBelow {
			if bound, ok = w.halley(bound, limit); !ok {
				return 0, false
			}
			continue
		}
		off := 0.0
		for _, square := range w.Dots(w.N*w.N, w.g.Data, w.g.Data) {
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
		next, step := nearStep(bound, off, w.N)
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
	w.Add(c, w.g.Data, 0, w.chol.R.Data)
	w.AddDiagonal(w.chol.R, 1+c)
	w.chol.Factor()
	for i := range w.Width {
		if w.chol.Bad[i] {
			return 0, false
		}
	}
	w.chol.Solve(a-b/c, b/c, w.x, w.y, w.p)
	return min(1, bound*(a+b*bound*bound)/(1+c*bound*bound)), true
}

// polynomial computes X ← X p(E).
func (w *polarLanes) polynomial(p []float64) {
	none := lanes.Matrix{}
	switch len(p) {
	case 2:
		w.Add(p[1], w.g.Data, 0, w.p.Data)
	case 3:
		w.Product(p[2], w.g, w.g, p[1], w.g, w.p, true)
	case 5: // p₀ + p₁E + E² (p₂ + p₃E + p₄E²)
		w.Product(1, w.g, w.g, 0, none, w.y, true)
		copy(w.s.Data, w.y.Data)
		w.Add(p[3], w.g.Data, p[4], w.s.Data)
		w.AddDiagonal(w.s, p[2])
		w.Product(1, w.y, w.s, p[1], w.g, w.p, true)
	}
	w.AddDiagonal(w.p, p[0])
	w.Product(1, w.x, w.p, 0, none, w.y, false)
	w.x, w.y = w.y, w.x
}

// check is [polarWork.check] for all lanes.
func (w *polarLanes) check(out []laneResult) (smallest, largest [lanes.Max]float64) {
	// H in w.g. Tiles above the diagonal are subtracted from the mirror image of
	// those below, and the skew part goes to w.p.
	none := lanes.Matrix{}
	clear(w.p.Data)
	for i := range w.Tiles() {
		i0, rows := w.Span(i)
		for j := range i {
			j0, cols := w.Span(j)
			hij := w.g.At(i0, j0)
			w.Multiply(rows, cols, w.N, 1, w.x.At(0, i0).T(), w.m.At(0, j0), 0, none, hij, w.g.At(j0, i0))
			w.Multiply(cols, rows, w.N, 1, w.x.At(0, j0).T(), w.m.At(0, i0), -1, hij.T(), w.p.At(j0, i0), none)
		}
		hii := w.g.At(i0, i0)
		w.Multiply(rows, rows, w.N, 1, w.x.At(0, i0).T(), w.m.At(0, i0), 0, none, hii, none)
		w.Multiply(rows, rows, w.N, 1, w.x.At(0, i0).T(), w.m.At(0, i0), -1, hii.T(), w.p.At(i0, i0), none)
	}
	skew := w.Dots(w.N*w.N, w.p.Data, w.p.Data)
	size := w.Dots(w.N*w.N, w.g.Data, w.g.Data)
	h := make([]*mat.Dense, len(out))
	for i := range out {
		if !(math.Sqrt(skew[i]) <= 16*float64(w.N)*Eps*math.Sqrt(size[i])) {
			out[i].ok = false
		}
		if out[i].ok {
			h[i] = mat.NewDense(w.N, w.N, nil)
		}
	}
	w.Store(h, w.g)
	for i := range out {
		if !out[i].ok {
			continue
		}
		values, _, ok := eigSym(h[i].RawMatrix().Data, w.N, 0, w.N, false)
		if ok = ok && values[0] > 0; ok {
			smallest[i], largest[i] = values[0], values[w.N-1]
		}
		out[i].ok = ok
	}
	return smallest, largest
}

// estimate is [polarWork.estimate] for all lanes.
func (w *polarLanes) estimate(out []laneResult) (smallest, largest [lanes.Max]float64) {
	w.Vector(w.m, w.v, w.u) // v is normalised
	smallest = w.Normalise(w.u)
	size := w.Dots(w.N*w.N, w.m.Data, w.m.Data)
	var skew [lanes.Max]float64
	for k := range probes(w.N) {
		w.begin(k, w.v)
		w.Normalise(w.v)
		w.Vector(w.m, w.v, w.u)
		w.Vector(w.x.T(), w.u, w.t)
		w.Vector(w.x, w.v, w.u)
		w.Vector(w.m.T(), w.u, w.z)
		w.Add(-1, w.z, 1, w.t)
		for i, square := range w.Dots(w.N, w.t, w.t) {
			skew[i] += float64(w.N) * square / float64(4*probes(w.N))
		}
	}
	for i := range out {
		if !(math.Sqrt(skew[i]) <= 16*float64(w.N)*Eps*math.Sqrt(size[i])) {
			out[i].ok = false
		}
	}
	w.begin(0, w.v)
	for range powerRounds {
		w.Normalise(w.v)
		w.Vector(w.m, w.v, w.u)
		w.Vector(w.m.T(), w.u, w.v)
	}
	for i, square := range w.Normalise(w.v) {
		largest[i] = math.Sqrt(square)
	}
	return smallest, largest
}
