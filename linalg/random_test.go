package linalg_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// TestDistribution compares the empirical distribution functions of 40000
// numbers with the exact ones (Kolmogorov-Smirnov). The bound 2.2/√n is
// exceeded by a correct generator with probability 2·exp(−2·2.2²) = 1.3e-4;
// the source is fixed, so the test gives the same answer every time.
func TestDistribution(t *testing.T) {
	const rows, cols = 400, 100
	bound := 2.2 / math.Sqrt(rows*cols)
	for _, c := range []struct {
		name string
		m    *mat.Dense
		cdf  func(float64) float64
	}{
		{"uniform", linalg.Uniform(rows, cols, rand.NewChaCha8([32]byte{3})), func(x float64) float64 { return x }},
		{"normal", linalg.Normal(rows, cols, rand.NewChaCha8([32]byte{3})),
			func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }},
	} {
		x := slices.Sorted(slices.Values(c.m.RawMatrix().Data))
		worst := 0.0
		for i, v := range x {
			p := c.cdf(v)
			worst = max(worst, math.Abs(p-float64(i)/float64(len(x))), math.Abs(p-float64(i+1)/float64(len(x))))
		}
		if worst > bound {
			t.Errorf("%s: distribution function is off by %g, bound %g", c.name, worst, bound)
		}
	}
}

// TestHaar checks the traces of 4000 random matrices of O(3): under the Haar
// measure tr Q has mean 0 and variance 1, tr Q² has mean 1, and det Q = ±1 are
// equally likely. Bounds are five standard errors (false reject 6e-7 each);
// without the sign convention of QR, tr Q is off by far more.
func TestHaar(t *testing.T) {
	const n = 4000
	src := rand.NewChaCha8([32]byte{4})
	var trace, square, trace2, det float64
	for range n {
		q := linalg.Haar(3, src)
		tr := mat.Trace(q)
		trace += tr
		square += tr * tr
		trace2 += mat.Trace(product(q, q))
		det += mat.Det(q)
	}
	// Standard deviations: tr 1; tr² √(E tr⁴ − 1) ≤ √3; tr Q² at most 3 wide;
	// det 1.
	for _, c := range []struct {
		name            string
		got, want, sdev float64
	}{
		{"mean of the trace", trace / n, 0, 1},
		{"mean square of the trace", square / n, 1, math.Sqrt(3)},
		{"mean of tr Q²", trace2 / n, 1, 3},
		{"mean of the determinant", det / n, 0, 1},
	} {
		if math.Abs(c.got-c.want) > 5*c.sdev/math.Sqrt(n) {
			t.Errorf("%s is %g, want %g", c.name, c.got, c.want)
		}
	}
}

func TestStiefel(t *testing.T) {
	src := rand.NewChaCha8([32]byte{5})
	for _, s := range [][2]int{{0, 0}, {1, 1}, {5, 5}, {9, 2}, {80, 70}} {
		q := linalg.Stiefel(s[0], s[1], src)
		if r, c := size(q); r != s[0] || c != s[1] {
			t.Fatalf("shape %d × %d, want %d × %d", r, c, s[0], s[1])
		}
		if s[0] > 0 && orthonormalColumns(q) > tol(q) {
			t.Errorf("%d × %d: orthonormal to %g only", s[0], s[1], orthonormalColumns(q))
		}
	}
}

// TestDraws holds how many source words a matrix takes, since a stream that
// several matrices share depends on it.
func TestDraws(t *testing.T) {
	a, b := rand.NewChaCha8([32]byte{6}), rand.NewChaCha8([32]byte{6})
	linalg.Uniform(3, 5, a)
	for range 15 {
		b.Uint64()
	}
	if a.Uint64() != b.Uint64() {
		t.Error("Uniform does not take one word for each element")
	}
	one := linalg.Normal(1, 3, rand.NewChaCha8([32]byte{6}))
	two := linalg.Normal(2, 2, rand.NewChaCha8([32]byte{6}))
	if !slices.Equal(one.RawMatrix().Data, two.RawMatrix().Data[:3]) {
		t.Error("an odd number of normals does not start with the same numbers")
	}
	if !linalg.Normal(0, 4, a).IsEmpty() || !linalg.Uniform(4, 0, a).IsEmpty() {
		t.Error("a matrix without rows or columns is not empty")
	}
}
