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

// symmetric returns V diag(w) Vᵀ for a random orthogonal V.
func symmetric(w []float64, src rand.Source) *mat.SymDense {
	v := linalg.Haar(len(w), src)
	m := product(v, mat.NewDiagDense(len(w), w), v.T())
	s := mat.NewSymDense(len(w), nil)
	for i := range w {
		for j := i; j < len(w); j++ {
			s.SetSym(i, j, m.At(i, j))
		}
	}
	return s
}

// spectra are eigenvalues, increasing: distinct, multiple, of low rank, of
// both signs, of extreme size.
func spectra() map[string][]float64 {
	geometric := make([]float64, 40)
	for i := range geometric {
		geometric[i] = math.Pow(1.5, float64(i-39))
	}
	large := make([]float64, 120)
	for i := range large {
		large[i] = float64(i/3) - 10
	}
	return map[string][]float64{
		"one":       {-3},
		"two":       {1, 2},
		"signs":     {-5, -1, 0, 2, 7},
		"multiple":  {1, 1, 1, 4, 4},
		"rank 1":    {0, 0, 0, 0, 0, 9},
		"zero":      {0, 0, 0},
		"geometric": geometric,
		"large":     large,
		"huge":      {1e290, 2e290, 3e290},
		"tiny":      {1e-210, 2e-210, 3e-210, 5e-210},
	}
}

func diagonal(w []float64) *mat.DiagDense { return mat.NewDiagDense(len(w), w) }

func TestEigSym(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{11})
		for name, want := range spectra() {
			a := symmetric(want, src)
			n := len(want)
			top := max(math.Abs(want[0]), math.Abs(want[n-1]))
			bound := 16 * float64(n) * linalg.Eps // relative to ‖A‖, twice tol
			check := func(lo, hi int, w []float64, v *mat.Dense) {
				t.Helper()
				if len(w) != hi-lo {
					t.Fatalf("%s: %d eigenvalues for %d to %d", name, len(w), lo, hi)
				}
				for j, x := range w {
					if math.Abs(x-want[lo+j]) > bound*top {
						t.Errorf("%s: eigenvalue %d is %g, want %g", name, lo+j, x, want[lo+j])
					}
				}
				if v == nil {
					return
				}
				if e := orthonormalColumns(v); e > bound {
					t.Errorf("%s: eigenvectors are orthonormal to %g only", name, e)
				}
				var r mat.Dense
				r.Sub(product(a, v), product(v, diagonal(w)))
				if e := max(mat.Max(&r), -mat.Min(&r)); e > bound*top {
					t.Errorf("%s: A V differs from V diag(w) by %g", name, e)
				}
				for j := range w {
					if lead(v.ColView(j)) < 0 {
						t.Errorf("%s: leading element of eigenvector %d is negative", name, j)
					}
				}
			}
			w, v, err := linalg.EigSym(a)
			if err != nil {
				t.Fatal(name, err)
			}
			check(0, n, w, v)
			for _, r := range [][2]int{{0, 1}, {n - 1, n}, {n / 2, n}, {0, (n + 4) / 5}} {
				if w, v, err = linalg.EigSymRange(a, r[0], r[1]); err != nil {
					t.Fatal(name, err)
				}
				check(r[0], r[1], w, v)
			}
			if w, err = linalg.EigSymValues(a); err != nil {
				t.Fatal(name, err)
			}
			check(0, n, w, nil)
		}
	})
	if w, v, err := linalg.EigSym(&mat.SymDense{}); len(w) != 0 || !v.IsEmpty() || err != nil {
		t.Errorf("empty matrix: %v, %v, %v", w, v, err)
	}
	if w, err := linalg.EigSymValues(nil); len(w) != 0 || err != nil {
		t.Errorf("no matrix: %v, %v", w, err)
	}
	if _, _, err := linalg.EigSym(mat.NewSymDense(2, []float64{math.MaxFloat64, math.MaxFloat64, 0,
		math.MaxFloat64})); err == nil || !strings.Contains(err.Error(), "overflows") {
		t.Errorf("eigenvalue beyond float64: %v", err)
	}
}

func TestSymmetricNotFinite(t *testing.T) {
	bad := mat.NewSymDense(3, nil)
	bad.SetSym(1, 2, math.NaN())
	errs := map[string]error{"CheckFiniteSym": linalg.CheckFiniteSym(bad)}
	_, _, errs["EigSym"] = linalg.EigSym(bad)
	_, errs["EigSymValues"] = linalg.EigSymValues(bad)
	for name, err := range errs {
		if err == nil || !strings.Contains(err.Error(), "row 2, column 3 is not a finite number") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkEigen times the symmetric eigenproblem, all and a few.
func BenchmarkEigen(b *testing.B) {
	src := rand.NewChaCha8([32]byte{15})
	engines, _ := linalgtest.Engines()
	for _, n := range []int{50, 300} {
		w := make([]float64, n)
		for i := range w {
			w[i] = float64(i)
		}
		a := symmetric(w, src)
		for _, e := range engines {
			for _, k := range []int{n, n / 10} {
				b.Run(fmt.Sprintf("%dx%d/top=%d/%s", n, n, k, e.Name), func(b *testing.B) {
					defer e.Use()()
					for b.Loop() {
						if _, _, err := linalg.EigSymRange(a, n-k, n); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
