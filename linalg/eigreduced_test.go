package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/linalg/linalgtest"
)

// checkPairs holds that the columns of v are orthonormal and eigenvectors of a
// for w, to n times 8 ε, and 8 n ε ‖a‖: a backward stable method has a small
// multiple of √n ε to n ε ([golub2013], section 8.3; LAPACK's tests allow 30 n ε).
// The matrix is scaled to elements near 1 first, so that products do not
// overflow.
func checkPairs(t *testing.T, name string, a *mat.SymDense, w []float64, v *mat.Dense) {
	t.Helper()
	n, k := v.Dims()
	if n != a.SymmetricDim() || k != len(w) {
		t.Fatalf("%s: %d values and %d × %d vectors", name, len(w), n, k)
	}
	largest := mat.Max(a)
	largest = max(largest, -mat.Min(a))
	down := 0
	if largest > 0 {
		_, down = math.Frexp(largest)
	}
	s, norm := mat.NewSymDense(n, nil), 0.0
	for i := range n {
		sum := 0.0
		for j := range n {
			x := math.Ldexp(a.At(i, j), -down)
			s.SetSym(i, j, x)
			sum += math.Abs(x)
		}
		norm = max(norm, sum)
	}
	tol := 8 * float64(n) * linalg.Eps
	var gram, residual mat.Dense
	gram.Mul(v.T(), v)
	residual.Mul(s, v)
	for j := range k {
		wj := math.Ldexp(w[j], -down)
		if j > 0 && !(w[j-1] <= w[j]) {
			t.Fatalf("%s: eigenvalues %d and %d do not increase", name, j-1, j)
		}
		for i := range k {
			if x := gram.At(i, j); !(math.Abs(x-btof(i == j)) <= tol) {
				t.Fatalf("%s: vectors %d and %d have the product %g", name, i, j, x)
			}
		}
		// The smallest subnormal bounds what scaling w back rounds away.
		floor := math.Ldexp(math.SmallestNonzeroFloat64, -down)
		for i := range n {
			if r := residual.At(i, j) - wj*v.At(i, j); !(math.Abs(r) <= tol*norm+floor) {
				t.Fatalf("%s: element %d of the residual of vector %d is %g, norm %g", name, i, j, r, norm)
			}
		}
	}
}

func btof(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// agree holds that two lists of eigenvalues differ by no more than the error of
// each, 8 n ε ‖a‖ with ‖a‖ ≤ n times the largest element: Weyl's bound.
func agree(t *testing.T, name string, a *mat.SymDense, got, want []float64) {
	t.Helper()
	n := a.SymmetricDim()
	bound := 0.0
	for i := range n {
		for j := range n {
			bound = max(bound, math.Abs(a.At(i, j)))
		}
	}
	tol := float64(n)*bound*(8*float64(n)*linalg.Eps) + math.SmallestNonzeroFloat64
	if len(got) != len(want) {
		t.Fatalf("%s: %d eigenvalues, want %d", name, len(got), len(want))
	}
	for j, w := range want {
		if !(math.Abs(got[j]-w) <= tol) {
			t.Fatalf("%s: eigenvalue %d is %g, want %g", name, j, got[j], w)
		}
	}
}

// TestEigReduced runs the hard matrices in all small orders and around the sizes
// of panels, blocks and leaves: without a single one left to QL iterations.
func TestEigReduced(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	orders := []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 18, 21, 24, 31, 32, 33, 34, 40, 47, 48, 63, 64, 65, 66, 95,
		97, 128, 129, 150, 193, 255, 257, 300}
	type trial struct {
		name   string
		a      *mat.SymDense
		want   []float64
		lo, hi int
	}
	var trials []trial
	rnd := rand.New(rand.NewPCG(1, 2))
	for i, h := range hardSymmetric {
		for q, n := range orders {
			if n > 66 && q%7 != i%7 {
				continue
			}
			x := trial{name: fmt.Sprintf("%s, order %d", h.name, n), a: h.make(n, rnd)}
			if n <= 130 && !strings.Contains(h.name, "graded") { // dsteqr is wrong for some of those
				var ok bool
				if x.want, ok = linalg.EigByGonum(x.a); !ok {
					t.Fatalf("%s: no values by QL iterations", x.name)
				}
			}
			x.lo = rnd.IntN(n + 1)
			x.hi = x.lo + rnd.IntN(n+1-x.lo)
			trials = append(trials, x)
		}
	}
	linalgtest.Each(t, func(t *testing.T) {
		for _, x := range trials {
			n := x.a.SymmetricDim()
			w, v, ok := linalg.EigReduced(x.a, 0, n, true)
			if !ok {
				t.Fatalf("%s: no result", x.name)
			}
			checkPairs(t, x.name, x.a, w, v)
			if x.want != nil {
				agree(t, x.name, x.a, w, x.want)
			}
			values, _, ok := linalg.EigReduced(x.a, 0, n, false)
			if !ok {
				t.Fatalf("%s: no values", x.name)
			}
			agree(t, x.name, x.a, values, w)
			some, sub, ok := linalg.EigReduced(x.a, x.lo, x.hi, true)
			if !ok || !slices.Equal(some, w[x.lo:x.hi]) {
				t.Fatalf("%s: eigenvalues %d to %d differ from those of all", x.name, x.lo, x.hi)
			}
			if x.lo < x.hi {
				checkPairs(t, fmt.Sprintf("%s, %d to %d", x.name, x.lo, x.hi), x.a, some, sub)
			}
		}
	})
}

// TestEigReducedKnown compares with the eigenvalues 2 − 2 cos(jπ/(n+1)) of second
// differences, after a random rotation, for an order at which threads share
// every step, and holds that the number of threads does not change a bit.
func TestEigReducedKnown(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: an order of 530")
	}
	const n = 530
	want := make([]float64, n)
	for j := range want {
		want[j] = 2 - 2*math.Cos(float64(j+1)*math.Pi/(n+1))
	}
	a := symmetric(want, rand.NewChaCha8([32]byte{5}))
	linalgtest.Each(t, func(t *testing.T) {
		w, v, ok := linalg.EigReduced(a, 300, n, true)
		if !ok {
			t.Fatal("no result")
		}
		checkPairs(t, "second differences", a, w, v)
		agree(t, "second differences", a, w, want[300:])
		if linalg.Backend().Name != "Go" {
			return // a library promises no bits
		}
		linalg.Serial(func() {
			w1, v1, ok := linalg.EigReduced(a, 300, n, true)
			if !ok || !slices.Equal(w, w1) || !mat.Equal(v, v1) {
				t.Error("one thread gives another result than several")
			}
		})
	})
}
