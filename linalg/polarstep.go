package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

// halley makes a Halley step with weights for singular values in [bound, 1]
// and c ≤ limit, and returns the new lower bound.
func (w *polarWork) halley(impl blas.Float64, bound, limit float64) (next float64, ok bool) {
	n := w.n
	a, b, c := halleyWeights(bound, limit)
	for i := range n {
		dst := w.p[i*n+i : i*n+n]
		for j, v := range w.g[i*n+i : i*n+n] {
			dst[j] = c * v
		}
		dst[0]++
	}
	if !potrf(w.p, n) {
		return 0, false
	}
	copy(w.y, w.x)
	impl.Dtrsm(blas.Right, blas.Upper, blas.NoTrans, blas.NonUnit, n, n, a-b/c, w.p, n, w.y, n)
	impl.Dtrsm(blas.Right, blas.Upper, blas.Trans, blas.NonUnit, n, n, 1, w.p, n, w.y, n)
	for i, v := range w.y {
		w.x[i] = b/c*w.x[i] + v
	}
	return min(1, bound*(a+b*bound*bound)/(1+c*bound*bound)), true
}

// halleyWeights are those for singular values in [bound, 1] and c ≤ limit.
func halleyWeights(bound, limit float64) (a, b, c float64) {
	a = halleyWeight(bound)
	b = (a - 1) * (a - 1) / 4
	c = a + b - 1
	if c > limit {
		c = limit
		a = 2*math.Sqrt(c+1) - 1
		b = c + 1 - a
	}
	return a, b, c
}

// halleyWeight is the a that makes the least σ over [ℓ, 1] largest (Nakatsukasa
// et al. 2010, eq. 3.16).
func halleyWeight(l float64) float64 {
	d := math.Cbrt(4 * (1 - l*l) / (l * l * l * l))
	r := math.Sqrt(1 + d)
	return r + math.Sqrt(8-4*d+8*(2-l*l)/(l*l*r))/2
}

// offUnit is ‖XᵀX − I‖_F.
func (w *polarWork) offUnit() float64 {
	sum := 0.0
	for i := range w.n {
		for j, v := range w.g[i*w.n:][:w.n] {
			if i == j {
				v--
			}
			sum += v * v
		}
	}
	return math.Sqrt(sum)
}

// polynomial computes X ← X (a I + b G + c G²), G = XᵀX.
func (w *polarWork) polynomial(impl blas.Float64, weights [3]float64) {
	n := w.n
	if n <= squareLeaf {
		impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, weights[2], w.g, n, w.g, n, 0, w.p, n)
	} else {
		impl.Dsyrk(blas.Upper, blas.Trans, n, n, weights[2], w.g, n, 0, w.p, n)
		mirror(w.p, n)
	}
	for i, v := range w.g {
		w.p[i] += weights[1] * v
	}
	for i := range n {
		w.p[i*n+i] += weights[0]
	}
	impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, w.x, n, w.p, n, 0, w.y, n)
	w.x, w.y = w.y, w.x
}

// minimax lists the odd polynomials a σ + b σ³ + c σ⁵ that are nearest to 1 on
// [l, 1], divided by their maximum, and their minimum: after the step all σ
// are in [next, 1]. Made by testdata/polar_steps.py.
var minimax = []struct {
	l       float64
	weights [3]float64
	next    float64
}{
	{0.28, [3]float64{3.200682621169, -5.670737576694, 3.470054954636}, 0.77767918},
	{0.36, [3]float64{2.958812973883, -4.556575154323, 2.597762179506}, 0.86828876},
	{0.45, [3]float64{2.723462501490, -3.618761845018, 1.895299342563}, 0.93077204},
	{0.55, [3]float64{2.502718118447, -2.859654123184, 1.356936003753}, 0.96901247},
	{0.65, [3]float64{2.318334824356, -2.307693688026, 0.989358862676}, 0.98796163},
	{0.8, [3]float64{2.096141598141, -1.733126004351, 0.636984405211}, 0.99827979},
	{0.9, [3]float64{1.976586121289, -1.461595277125, 0.485009154836}, 0.99981760},
	{0.95, [3]float64{1.923742850904, -1.349404898818, 0.425662046914}, 0.99997885},
	{0.98, [3]float64{1.893982548848, -1.288253203801, 0.394270653953}, 0.99999872},
}

// taylor is the polynomial whose error at σ = 1 is of third order,
//
//	σ (15 − 10σ² + 3σ⁴)/8 = 1 − (5/16)(1 − σ²)³ + …
//
// (the next after Newton and Schulz).
var taylor = [3]float64{15. / 8, -10. / 8, 3. / 8}

const (
	// taylorBelow is the ‖XᵀX − I‖_F from which the Taylor step is the better.
	taylorBelow = 1e-3
	// lastStep is the one whose third power, times 5/16, is below 2⁻⁵⁵.
	lastStep = 4e-6
)

// polynomialStep chooses the weights for singular values in [bound, 1] and
// off = ‖XᵀX − I‖_F, and returns the new lower bound.
func polynomialStep(bound, off float64) (next float64, weights [3]float64) {
	if off < taylorBelow {
		return 1 - off*off*off, taylor
	}
	best := minimax[0]
	for _, s := range minimax[1:] {
		if s.l <= bound {
			best = s
		}
	}
	return best.next, best.weights
}
