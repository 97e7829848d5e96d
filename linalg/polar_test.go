package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/linalg/linalgtest"
)

// withCond returns a rows × cols matrix with random singular vectors and
// singular values from 1 to 1/cond in geometric steps.
func withCond(rows, cols int, cond float64, src rand.Source) *mat.Dense {
	k := min(rows, cols)
	s := make([]float64, k)
	for i := range s {
		s[i] = math.Pow(cond, -float64(i)/float64(max(1, k-1)))
	}
	return product(linalg.Stiefel(rows, k, src), mat.NewDiagDense(k, s), linalg.Stiefel(cols, k, src).T())
}

// checkPolar checks the two properties that make q the polar factor of a, with
// the backward error that Polar promises, and returns that error.
func checkPolar(t *testing.T, q, a *mat.Dense) {
	t.Helper()
	r, c := a.Dims()
	if r < c {
		q, a = mat.DenseCopyOf(q.T()), mat.DenseCopyOf(a.T())
	}
	n := float64(max(r, c))
	if e := orthonormalColumns(q); e > 8*(n+1)*linalg.Eps {
		t.Errorf("orthonormal to %g only", e)
	}
	h := product(q.T(), a)
	var skew mat.Dense
	skew.Sub(h, h.T())
	// Half of H − Hᵀ, and the rounding of the product that is checked here.
	if e := mat.Norm(&skew, 2) / 2; e > 18*n*linalg.Eps*mat.Norm(a, 2) {
		t.Errorf("QᵀM is symmetric to %g of %g only", e, mat.Norm(a, 2))
	}
	k, _ := h.Dims()
	sym := mat.NewSymDense(k, nil)
	for i := range k {
		for j := i; j < k; j++ {
			sym.SetSym(i, j, (h.At(i, j)+h.At(j, i))/2)
		}
	}
	w, err := linalg.EigSymValues(sym)
	if err != nil {
		t.Fatal(err)
	}
	if w[0] < -18*n*linalg.Eps*mat.Norm(a, 2) {
		t.Errorf("QᵀM has the eigenvalue %g: not positive semidefinite", w[0])
	}
}

// TestPolarIteration compares the iteration with the decomposition over
// orders and condition numbers up to where it must give up.
func TestPolarIteration(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{7})
		for _, s := range [][2]int{{1, 1}, {2, 2}, {3, 3}, {7, 7}, {16, 16}, {33, 33}, {50, 50}, {65, 65}, {100, 100}, {40,
			20}, {20, 40}, {120, 17}} {
			for _, cond := range []float64{1, 1.5, 30, 1e3, 1e5, 3e6, 1e9, 1e14} {
				a := withCond(s[0], s[1], cond, src)
				name := fmt.Sprintf("%d × %d, condition %.1g", s[0], s[1], cond)
				if min(s[0], s[1]) == 1 {
					cond = 1
				}
				want, exact, err := linalg.PolarWith(a, linalg.PolarOptions{Method: linalg.PolarSVD})
				if err != nil || exact.Method != linalg.PolarSVD {
					t.Fatalf("%s: %v, %+v", name, err, exact)
				}
				for _, estimate := range []bool{false, true} {
					q, info, err := linalg.PolarWith(a, linalg.PolarOptions{Method: linalg.PolarIteration, Estimate: estimate})
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					method := linalg.PolarIteration
					if cond > 1e8 {
						method = linalg.PolarSVD // the Gram matrix does not show such a singular value
					}
					if info.Method != method || (info.Iterations > 0) != (method == linalg.PolarIteration) ||
						info.Estimated != (estimate && method == linalg.PolarIteration) {
						t.Errorf("%s: %+v, want the method %s", name, info, method)
					}
					checkPolar(t, q, a)
					// Two factors with a backward error e differ by up to 2 e cond: here
					// e is 16 n ε ‖M‖_F, and ‖M‖_F ≤ √n.
					n := float64(max(s[0], s[1]))
					if d := distance(q, want); d > 64*n*math.Sqrt(n)*linalg.Eps*cond {
						t.Errorf("%s: differs from U Vᵀ by %g", name, d)
					}
					if info.Rank != exact.Rank {
						t.Errorf("%s: rank %d, want %d", name, info.Rank, exact.Rank)
					}
					if !info.Estimated {
						// Singular values are exact to the same backward error.
						if d := max(math.Abs(info.Smallest-exact.Smallest),
							math.Abs(info.Largest-exact.Largest)); d > 32*n*math.Sqrt(n)*linalg.Eps {
							t.Errorf("%s: singular values %g and %g, want %g and %g", name, info.Smallest, info.Largest, exact.Smallest,
								exact.Largest)
						}
						continue
					}
					// The estimates bound the values from inside, and five rounds of
					// inverse iteration, eight of power iteration, leave less than a
					// factor of two.
					low, high := info.Smallest/exact.Smallest, info.Largest/exact.Largest
					if low < 1-1e-6 || low > 2 || high > 1+1e-6 || high < 0.5 {
						t.Errorf("%s: estimates are %g and %g times the singular values", name, low, high)
					}
				}
			}
		}
	})
}

// TestPolarDefective holds that matrices that the iteration cannot do fall back
// to the decomposition: rank-deficient, zero, and of extreme size.
func TestPolarDefective(t *testing.T) {
	src := rand.NewChaCha8([32]byte{8})
	for name, a := range map[string]*mat.Dense{
		"rank 19 of 20": product(linalg.Normal(20, 19, src), linalg.Normal(19, 20, src)),
		"rank 1":        product(linalg.Normal(20, 1, src), linalg.Normal(1, 20, src)),
		"zero":          mat.NewDense(20, 20, nil),
	} {
		q, info, err := linalg.Polar(a)
		if err != nil || info.Method != linalg.PolarSVD || info.Rank == 20 {
			t.Errorf("%s: %+v, %v", name, info, err)
			continue
		}
		checkPolar(t, q, a)
	}
	a := withCond(20, 20, 100, src)
	want, plain, err := linalg.Polar(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, exp := range []int{-1030, -1000, 1000} { // −1030: largest elements 2⁻¹⁰³², partly denormal
		b := mat.DenseCopyOf(a)
		b.Apply(func(_, _ int, v float64) float64 { return math.Ldexp(v, exp) }, b)
		q, info, err := linalg.Polar(b)
		if err != nil {
			t.Fatal(err)
		}
		bound := 1e-12 // 100 times 64 n ε, less than half of it: see TestPolarIteration
		if exp < -1022 {
			bound = 1e-10 // elements are known to 2⁻¹⁰⁷⁴ only, 2⁻⁴² of the largest; times 100
		}
		if d := distance(q, want); d > bound {
			t.Errorf("scaled by 2^%d: factor differs by %g", exp, d)
		}
		if r := math.Ldexp(info.Largest, -exp) / plain.Largest; math.Abs(r-1) > bound {
			t.Errorf("scaled by 2^%d: largest singular value is off by a factor of %g", exp, r)
		}
	}
}

// TestPolarDominant checks matrices with one singular value far above the
// others, which the iteration lowers first: products of uniform anchors, and
// made ones up to where it no longer can.
func TestPolarDominant(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{22})
		for _, n := range []int{16, 40, 70} {
			cases := []*mat.Dense{product(linalg.Uniform(4*n, n, src).T(), linalg.Uniform(4*n, n, src))}
			for _, top := range []float64{20, 1e3, 1e5, 1e6} {
				s := make([]float64, n)
				for i := range s {
					s[i] = 2 - float64(i)/float64(n)
				}
				s[0] = top
				cases = append(cases, product(linalg.Haar(n, src), mat.NewDiagDense(n, s), linalg.Haar(n, src)))
			}
			for _, m := range cases {
				q, info, err := linalg.PolarWith(m, linalg.PolarOptions{Method: linalg.PolarIteration})
				if err != nil || info.Method != linalg.PolarIteration {
					t.Errorf("order %d, condition %.1g: %+v, %v", n, info.Cond, info, err)
					continue
				}
				checkPolar(t, q, m)
			}
		}
	})
}

func TestPolarEachOfManyOrders(t *testing.T) {
	src := rand.NewChaCha8([32]byte{9})
	var m []*mat.Dense
	for i := range 20 {
		m = append(m, linalg.Normal(10+i, 10+i, src))
	}
	q, info, err := linalg.PolarEach(m, linalg.PolarOptions{})
	if err != nil || len(q) != 20 || len(info) != 20 {
		t.Fatal(len(q), len(info), err)
	}
	for i := range m {
		checkPolar(t, q[i], m[i])
	}
	m[3].Set(1, 2, math.NaN())
	if _, _, err := linalg.PolarEach(m, linalg.PolarOptions{}); err == nil || !strings.Contains(err.Error(),
		"matrix 4: linalg: element at row 2, column 3") {
		t.Errorf("a NaN in the fourth matrix: %v", err)
	}
	defer func() {
		if r := recover(); r == nil {
			t.Error("an unknown method does not panic")
		}
	}()
	linalg.PolarWith(m[0], linalg.PolarOptions{Method: "guess"})
}

// BenchmarkPolar times the factor of A_iᵀA_1 for uniform random A (1000 × l),
// which has a condition number of about 10⁵, on one thread.
func BenchmarkPolar(b *testing.B) {
	src := rand.NewChaCha8([32]byte{10})
	engines, _ := linalgtest.Engines()
	for _, l := range []int{6, 17, 50, 300} {
		m := product(linalg.Uniform(1000, l, src).T(), linalg.Uniform(1000, l, src))
		for _, e := range engines {
			for _, opt := range []linalg.PolarOptions{{Method: linalg.PolarSVD}, {Method: linalg.PolarIteration},
				{Method: linalg.PolarIteration, Estimate: true}} {
				name := string(opt.Method)
				if opt.Estimate {
					name += "-estimate"
				}
				b.Run(fmt.Sprintf("%dx%d/%s/%s", l, l, name, e.Name), func(b *testing.B) {
					defer e.Use()()
					linalg.Serial(func() {
						for b.Loop() {
							if _, _, err := linalg.PolarWith(m, opt); err != nil {
								b.Fatal(err)
							}
						}
					})
				})
			}
		}
	}
}
