package symeig

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSecularRoot finds the roots for poles from far apart to neighbouring
// numbers and weights down to what deflation leaves, and compares the value and
// the distances to the poles with f.
func TestSecularRoot(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 9))
	for trial := range 3000 {
		k := 1 + rnd.IntN(12)
		if trial%100 == 0 {
			k = 300
		}
		d, z := make([]float64, k), make([]float64, k)
		at := rnd.NormFloat64()
		for j := range d {
			at += math.Pow(10, -13*rnd.Float64())
			d[j] = at
			z[j] = math.Pow(10, -14*rnd.Float64()) * float64(rnd.IntN(2)*2-1)
		}
		rho := math.Pow(10, 4*rnd.Float64()-2)
		last := math.Inf(-1)
		for i := range d {
			delta := make([]float64, k)
			lambda, ok := (&secular{d: d, z: z, rho: rho}).root(i, delta)
			if !ok || !(lambda >= d[i]) || i < k-1 && !(lambda <= d[i+1]) || lambda < last {
				t.Fatalf("trial %d: root %d of %d is %g", trial, i, k, lambda)
			}
			last = lambda
			if !(delta[i] < 0) || i < k-1 && !(delta[i+1] > 0) {
				t.Fatalf("trial %d: root %d of %d is not between its poles", trial, i, k)
			}
			// f by the distances: its terms cancel to their rounding, and to that of
			// the distances of the near pole, of which each has a few units.
			f, size := 1/rho, 1/rho
			for j, x := range delta {
				f += z[j] * z[j] / x
				size += z[j] * z[j] / math.Abs(x)
			}
			if !(math.Abs(f) <= 16*float64(k)*eps*size) {
				t.Fatalf("trial %d: f at root %d of %d is %g of %g", trial, i, k, f, size)
			}
		}
	}
}
