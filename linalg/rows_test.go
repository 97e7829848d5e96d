package linalg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"concord/linalg"
)

// TestRowKernels compares each kernel with sums of plain products.
func TestRowKernels(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 5))
	random := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rnd.NormFloat64()
		}
		return v
	}
	for _, k := range linalg.RowKernels() {
		t.Run(k.Name, func(t *testing.T) {
			for vectors := range 12 {
				n := vectors * k.Lanes
				for _, ld := range []int{n + 1, n + 8} {
					a, x, y := random(k.Rows*ld), random(n+1), random(n+1)
					c := random(linalg.MaxRows)
					sum, wantSum := make([]float64, linalg.MaxRows), make([]float64, linalg.MaxRows)
					wantY := append([]float64(nil), y...)
					for r := range k.Rows {
						for j := range n {
							wantSum[r] += a[r*ld+j] * x[j]
							wantY[j] += c[r] * a[r*ld+j]
						}
					}
					both := append([]float64(nil), y...)
					k.Both(n, a, ld, x, both, c, sum)
					near(t, "Both", both, wantY)
					near(t, "Both", sum, wantSum)
					clear(sum)
					k.Dot(n, a, ld, x, sum)
					near(t, "Dot", sum, wantSum)
					k.Add(n, a, ld, y, c)
					near(t, "Add", y, wantY)
				}
			}
		})
	}
}

// near compares sums of up to 100 products of numbers up to 5 in size, in
// different order: 100² · 25 ε bounds their rounding.
func near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= 100*100*25*linalg.Eps) {
			t.Fatalf("%s of %d: element %d is %g, want %g", name, len(want), i, got[i], v)
		}
	}
}
