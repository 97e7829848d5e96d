package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

// halley makes a Halley step, I + c XᵀX = (1 + c) I + c E, with weights for singular values in [bound, 1]
// and c ≤ limit, and returns the new lower bound.
func (w *polarWork) halley(impl blas.Float64, bound, limit float64) (next float64, ok bool) {
	n := w.n
	a, b, c := halleyWeights(bound, limit)
	for i := range n {
		dst := w.p[i*n+i : i*n+n]
		for j, v := range w.g[i*n+i : i*n+n] {
			dst[j] = c * v
		}
		dst[0] += 1 + c
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

// halleyWeight is the a that makes the least σ over [ℓ, 1] largest ([nakatsukasa2010], eq. (3.16)).
func halleyWeight(l float64) float64 {
	d := math.Cbrt(4 * (1 - l*l) / (l * l * l * l))
	r := math.Sqrt(1 + d)
	return r + math.Sqrt(8-4*d+8*(2-l*l)/(l*l*r))/2
}

// Near to 1 the step is X ← X p(E), E = XᵀX − I, with a polynomial of low degree.

// near is a polynomial p(E) = Σ_k p[k] Eᵏ, up to E² or up to E⁴.
type near struct {
	p []float64
	// last says that the singular values are 1 to rounding after the step.
	last bool
}

// Expansions of (I + E)^(−1/2). What is left out is, for one singular value,
// at most the next term.
var expansion = []float64{1, -1. / 2, 3. / 8, -5. / 16, 35. / 128, 63. / 256}

// nearStep chooses p for singular values in [bound, 1] and off = ‖E‖_F of order
// n, and returns the new lower bound. The last step is the cheapest whose error,
// summed over the singular values, is below n ε/4.
func nearStep(bound, off float64, n int) (next float64, step near) {
	tol := float64(n) * Eps / 4
	for _, terms := range []int{2, 3, 5} {
		if math.Pow(off, float64(terms))*math.Abs(expansion[terms]) < tol {
			return 1, near{expansion[:terms], true}
		}
	}
	best := minimax[0]
	for _, s := range minimax[1:] {
		if s.l <= bound {
			best = s
		}
	}
	// The third power of E that the expansion leaves out.
	if left := 5. / 16 * math.Pow(min(off, 1-bound*bound), 3); left < 1-best.next {
		return 1 - left, near{expansion[:3], false}
	}
	a, b, c := best.weights[0], best.weights[1], best.weights[2]
	return best.next, near{[]float64{a + b + c, b + 2*c, c}, false}
}

// polynomial computes X ← X p(E).
func (w *polarWork) polynomial(impl blas.Float64, p []float64) {
	n := w.n
	switch len(p) {
	case 2:
		for i, v := range w.g {
			w.p[i] = p[1] * v
		}
	case 3:
		w.square(impl, p[2])
		for i, v := range w.g {
			w.p[i] += p[1] * v
		}
	case 5: // p₀ + p₁E + E² (p₂ + p₃E + p₄E²)
		w.square(impl, 1)
		for i, v := range w.g {
			w.y[i] = p[3]*v + p[4]*w.p[i]
		}
		for i := range n {
			w.y[i*n+i] += p[2]
		}
		impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, w.p, n, w.y, n, 0, w.q, n)
		w.p, w.q = w.q, w.p
		for i, v := range w.g {
			w.p[i] += p[1] * v
		}
	}
	for i := range n {
		w.p[i*n+i] += p[0]
	}
	impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, w.x, n, w.p, n, 0, w.y, n)
	w.x, w.y = w.y, w.x
}

// square puts α E² in w.p.
func (w *polarWork) square(impl blas.Float64, alpha float64) {
	n := w.n
	if n <= squareLeaf {
		impl.Dgemm(blas.NoTrans, blas.NoTrans, n, n, n, alpha, w.g, n, w.g, n, 0, w.p, n)
		return
	}
	impl.Dsyrk(blas.Upper, blas.Trans, n, n, alpha, w.g, n, 0, w.p, n)
	mirror(w.p, n)
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
