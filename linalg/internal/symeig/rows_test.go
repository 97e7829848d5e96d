package symeig

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// rowKernels lists those that this machine can run.
func rowKernels() []*Kernel { return append(kernels(), Plain) }

func (k *Kernel) title() string { return fmt.Sprint(k.lanes, " lanes") }

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
	for _, k := range rowKernels() {
		t.Run(k.title(), func(t *testing.T) {
			for vectors := range 12 {
				n := vectors * k.lanes
				for _, ld := range []int{n + 1, n + 8} {
					a, x, y := random(k.rows*ld), random(n+1), random(n+1)
					c := random(maxRows)
					sum, wantSum := make([]float64, maxRows), make([]float64, maxRows)
					wantY := append([]float64(nil), y...)
					for r := range k.rows {
						for j := range n {
							wantSum[r] += a[r*ld+j] * x[j]
							wantY[j] += c[r] * a[r*ld+j]
						}
					}
					both := append([]float64(nil), y...)
					k.both(n, a, ld, x, both, (*[maxRows]float64)(c), (*[maxRows]float64)(sum))
					near(t, "Both", both, wantY)
					near(t, "Both", sum, wantSum)
					clear(sum)
					k.dot(n, a, ld, x, (*[maxRows]float64)(sum))
					near(t, "Dot", sum, wantSum)
					k.add(n, a, ld, y, (*[maxRows]float64)(c))
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
		if !(math.Abs(got[i]-v) <= 100*100*25*eps) {
			t.Fatalf("%s of %d: element %d is %g, want %g", name, len(want), i, got[i], v)
		}
	}
}
