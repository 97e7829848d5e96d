// Package symeig solves the symmetric eigenproblem: reduction to tridiagonal form,
// divide and conquer on that, and a check of the result.
//
// It stays beside gonum's dsyev for its speed. All eigenpairs of a random matrix, on one
// thread of a processor with AVX-512, in milliseconds:
//
//	order                50    100   200   400   800
//	this, own products   0.33  1.1   3.8   15    98
//	gonum                0.38  2.3   16    158   1618
//	this in plain Go     0.48  1.9   9.7   49    357
//	OpenBLAS 0.3.21      0.28  0.96  4.2   16    97
//
// gonum's iteration also fails, or is wrong, on some matrices of extreme grading, and is
// what is left when this one does not pass its check.
package symeig

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/lapack/gonum"

	"concord/linalg/internal/kernel"
)

// eps is 2⁻⁵², the distance from 1 to the next float64.
const eps = 0x1p-52

// Reduced returns the eigenvalues lo ≤ j < hi, increasing, of the symmetric matrix
// with the upper triangle a (n × n), and the eigenvectors as rows, nil unless
// vectors. a must have elements of magnitudes below 1 of which one is 1/2 at least, or
// be zero; it is not changed. ok is false, and nothing is lost, if an iteration does not converge or
// the result does not pass a check.
//
// The cost is 4n³/3 operations for the form, up to 4n³/3 for the eigenvectors of
// T and 2n²(hi − lo) for those of a; four n × n matrices.
func Reduced(k *Kernel, a []float64, n, lo, hi int, vectors bool) (w, rows []float64, ok bool) {
	t := tridiagonalize(k, a, n)
	if !vectors {
		exp := tame(t.d, t.e)
		ok = gonum.Implementation{}.Dsterf(n, t.d, t.e)
		kernel.Shift(t.d, t.d, exp)
		return t.d[lo:hi], nil, ok && finite(t.d)
	}
	w, rows, ok = conquerTridiagonal(t.d, t.e, lo, hi)
	if !ok || !t.holds(w, rows) {
		return nil, nil, false
	}
	t.apply(rows, hi-lo)
	return w, rows, orthonormalRows(rows, n)
}

// holds says whether the w increase and ‖T q_j − w_j q_j‖ ≤ 100 n ε max(1, ‖T‖)
// for the rows q_j: ten times n ε is what divide and conquer guarantees.
func (t *tridiagonal) holds(w, rows []float64) bool {
	n := t.n
	limit := 100 * float64(n) * eps * max(1, t.norm())
	for j, v := range w {
		if j > 0 && !(w[j-1] <= v) {
			return false
		}
		q, sum := rows[j*n:][:n], 0.0
		for i, x := range q {
			r := (t.d[i] - v) * x
			if i > 0 {
				r += t.e[i-1] * q[i-1]
			}
			if i < n-1 {
				r += t.e[i] * q[i+1]
			}
			sum += r * r
		}
		if !(sum <= limit*limit) {
			return false
		}
	}
	return true
}

// orthonormalRows says whether ‖Q Qᵀ x − x‖ ≤ 100 n ε ‖x‖ for the rows of Q
// (k × n) and a vector x of random signs. Were a product of two rows δ too large,
// it would be seen with a probability of a half or more if δ is above 100 n^1.5 ε.
func orthonormalRows(rows []float64, n int) bool {
	k := len(rows) / n
	src := rand.New(rand.NewPCG(1, uint64(n)))
	x, y := make([]float64, k), make([]float64, n)
	for j := range x {
		x[j] = float64(src.IntN(2)*2 - 1)
		for i, v := range rows[j*n:][:n] {
			y[i] += x[j] * v
		}
	}
	sum := 0.0
	for j := range x {
		s := -x[j]
		for i, v := range rows[j*n:][:n] {
			s += v * y[i]
		}
		sum += s * s
	}
	limit := 100 * float64(n) * eps
	return sum <= limit*limit*float64(k)
}

// tame scales the tridiagonal matrix with the diagonal d and e above it to elements
// up to 1, by 2^−exp, and sets to zero what is negligible beside that: on blocks
// below 1e−122, which have to be scaled again, gonum's dsterf panics, and dsteqr
// returns false eigenvalues of the blocks that follow.
func tame(d, e []float64) (exp int) {
	const negligible = 0x1p-200
	largest := 0.0
	for _, x := range d {
		largest = max(largest, math.Abs(x))
	}
	for _, x := range e {
		largest = max(largest, math.Abs(x))
	}
	_, exp = math.Frexp(largest)
	kernel.Shift(d, d, -exp)
	kernel.Shift(e, e, -exp)
	for i, x := range e {
		if math.Abs(x) < negligible {
			e[i] = 0
		}
	}
	return exp
}

func finite(w []float64) bool {
	for _, v := range w {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
