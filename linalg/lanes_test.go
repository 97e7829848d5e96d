package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/linalg/linalgtest"
)

// TestPolarEach holds that matrices done side by side have the factors that each
// has alone, over all orders of tiles, numbers of matrices and conditions, with
// matrices among them that cannot be done side by side.
func TestPolarEach(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{9})
		conds := []float64{1, 2, 100, 1e4, 1e6, 1.5, 1e10, 30, 1e15}
		for n := 1; n <= 100; n += 1 + n/23 {
			count := 1 + n%19
			m := make([]*mat.Dense, count)
			cond := make([]float64, count)
			for i := range m {
				cond[i] = conds[(i*7+n)%len(conds)]
				m[i] = withCond(n, n, cond[i], src)
				m[i].Scale(math.Pow(10, float64(i%5*40-80)), m[i])
			}
			if count > 4 {
				m[4].Zero()
			}
			for _, estimate := range []bool{false, true} {
				q, info, err := linalg.PolarEach(m, linalg.PolarOptions{Estimate: estimate})
				if err != nil {
					t.Fatal(err)
				}
				for i := range m {
					name := fmt.Sprintf("order %d, %d of %d, condition %g", n, i+1, count, cond[i])
					checkPolar(t, q[i], m[i])
					_, exact, err := linalg.PolarWith(m[i], linalg.PolarOptions{Method: linalg.PolarSVD})
					if err != nil {
						t.Fatal(err)
					}
					if info[i].Rank != exact.Rank {
						t.Errorf("%s: rank %d, want %d", name, info[i].Rank, exact.Rank)
					}
					low, high := info[i].Smallest/exact.Largest, info[i].Largest/exact.Largest
					want := exact.Smallest / exact.Largest
					slack, factor := 32*float64(n)*math.Sqrt(float64(n))*linalg.Eps, 1.0
					if info[i].Estimated {
						factor = 2
					}
					if exact.Largest > 0 && (low < want*(1-1e-6)-slack || low > want*factor*(1+1e-6)+slack || high > 1+1e-6 ||
						high < 1/factor-1e-6) {
						t.Errorf("%s: singular values %g and %g of the largest, want %g and 1", name, low, high, want)
					}
				}
			}
		}
	})
}

// TestPolarBatchDoesNotMix holds that the factor of a matrix does not depend on
// its neighbours beyond rounding, and not at all on the number of cores.
func TestPolarBatchDoesNotMix(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{10})
		const n = 23
		m := make([]*mat.Dense, 21)
		for i := range m {
			m[i] = withCond(n, n, 50, src)
		}
		q, _, err := linalg.PolarEach(m, linalg.PolarOptions{})
		if err != nil {
			t.Fatal(err)
		}
		again := make([]*mat.Dense, len(m))
		info := make([]linalg.PolarInfo, len(m))
		for _, r := range linalg.PolarRuns(len(m), n) {
			if _, err := linalg.PolarBatch(again[r[0]:r[1]], info[r[0]:r[1]], m[r[0]:r[1]], linalg.PolarOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range m {
			if !mat.Equal(q[i], again[i]) {
				t.Errorf("matrix %d: other bits from PolarEach than from PolarBatch", i+1)
			}
			alone, _, err := linalg.Polar(m[i])
			if err != nil {
				t.Fatal(err)
			}
			if d := distance(alone, q[i]); d > 64*n*5*linalg.Eps*50 {
				t.Errorf("matrix %d: differs by %g from its factor alone", i+1, d)
			}
		}
	})
}

// TestSumSquares compares with plain sums over all lengths of a few vectors, of
// whole matrices and of views.
func TestSumSquares(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{12})
		for rows := range 9 {
			for cols := range 40 {
				if rows*cols == 0 {
					continue
				}
				whole := linalg.Uniform(rows+2, cols+1, src)
				for _, a := range []*mat.Dense{whole, whole.Slice(1, rows+1, 1, cols+1).(*mat.Dense)} {
					want, n, d := 0.0, 0, 0
					n, d = a.Dims()
					for i := range n {
						for j := range d {
							want += a.At(i, j) * a.At(i, j)
						}
					}
					if got := linalg.SumSquares(a); math.Abs(got-want) > float64(n*d)*linalg.Eps*want {
						t.Fatalf("%d × %d: %g, want %g", n, d, got, want)
					}
				}
				whole.Set(rows, cols, math.Inf(-1))
				if got := linalg.SumSquares(whole); !math.IsInf(got, 1) {
					t.Fatalf("%d × %d with an infinity: %g", rows, cols, got)
				}
			}
		}
		if got := linalg.SumSquares(&mat.Dense{}); got != 0 {
			t.Fatalf("empty: %g", got)
		}
	})
}

// TestCross compares with a product and a sum of squares, for tall, small and
// wide shapes and for views.
func TestCross(t *testing.T) {
	linalgtest.Each(t, func(t *testing.T) {
		src := rand.NewChaCha8([32]byte{13})
		for _, s := range [][3]int{{1, 1, 1}, {30, 8, 8}, {200, 9, 20}, {1000, 50, 50}, {1100, 20, 5}, {2100, 13, 127},
			{300, 200, 10}, {5, 40, 3}} {
			whole := linalg.Uniform(s[0]+1, s[1]+2, src)
			z := linalg.Uniform(s[0], s[2], src)
			for _, a := range []*mat.Dense{linalg.Uniform(s[0], s[1], src), whole.Slice(1, s[0]+1, 0, s[1]).(*mat.Dense)} {
				m := mat.NewDense(s[1], s[2], nil)
				m.Set(0, 0, math.NaN()) // what was there does not matter
				square := linalg.Cross(m, a, z)
				var want mat.Dense
				for i := range s[1] {
					for j := range s[2] {
						sum := 0.0
						for r := range s[0] {
							sum += a.At(r, i) * z.At(r, j)
						}
						if d := math.Abs(m.At(i, j) - sum); !(d <= float64(s[0])*linalg.Eps*sum) {
							t.Fatalf("%v: element %d, %d differs by %g", s, i, j, d)
						}
					}
				}
				want.MulElem(a, a)
				if total := mat.Sum(&want); math.Abs(square-total) > float64(s[0]*s[1])*linalg.Eps*total {
					t.Errorf("%v: sum of squares %g, want %g", s, square, total)
				}
			}
			bad := mat.DenseCopyOf(whole)
			bad.Set(s[0], 0, math.NaN())
			if square := linalg.Cross(mat.NewDense(s[1]+2, s[1]+2, nil), bad, whole); !math.IsNaN(square) {
				t.Errorf("%v: NaN unseen: %g", s, square)
			}
		}
	})
}

func BenchmarkPolarEach(b *testing.B) {
	for _, n := range []int{10, 20, 50, 80, 96} {
		m := make([]*mat.Dense, 8)
		src := rand.NewChaCha8([32]byte{11})
		for i := range m {
			m[i] = linalg.Normal(n, n, src)
		}
		q, info := make([]*mat.Dense, 8), make([]linalg.PolarInfo, 8)
		b.Run(fmt.Sprintf("n=%d/batch", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := linalg.PolarBatch(q, info, m, linalg.PolarOptions{Estimate: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("n=%d/alone", n), func(b *testing.B) {
			linalg.Serial(func() {
				for b.Loop() {
					for i := range m {
						if _, _, err := linalg.PolarWith(m[i], linalg.PolarOptions{Estimate: true}); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		})
	}
}
