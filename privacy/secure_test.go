package privacy_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

// TestAddSecure: the noise is normal, by Kolmogorov and Smirnov's test, which wrongly
// rejects with probability 1e-6 for another source; every value is a multiple of one
// step that does not depend on what was there.
func TestAddSecure(t *testing.T) {
	const n = 200_000
	for _, sigma := range []float64{1, 0.37, 4096.5, 1e-6} {
		x := mat.NewDense(n/10, 10, nil)
		for i := range n / 10 {
			for j := range 10 {
				x.Set(i, j, sigma*math.Pi*float64(j-5))
			}
		}
		noisy := mat.DenseCopyOf(x)
		if err := privacy.AddSecure(noisy, sigma, rand.NewChaCha8([32]byte{1})); err != nil {
			t.Fatal(err)
		}
		_, e := math.Frexp(sigma)
		step := math.Ldexp(1, e-21)
		var z []float64
		for i := range n / 10 {
			for j := range 10 {
				if q := noisy.At(i, j) / step; q != math.Round(q) {
					t.Fatalf("sigma %g: %v is no multiple of %v", sigma, noisy.At(i, j), step)
				}
				z = append(z, (noisy.At(i, j)-x.At(i, j))/sigma)
			}
		}
		slices.Sort(z)
		var d float64
		for i, v := range z {
			p := math.Erfc(-v/math.Sqrt2) / 2
			d = max(d, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
		}
		// P(D > c/√n) ≈ 2 exp(−2c²) = 1e-6 at c = 2.694; the step of 1e-6 σ moves D by 4e-7.
		if limit := 2.694 / math.Sqrt(n); d > limit {
			t.Errorf("sigma %g: the largest distance from the normal distribution is %g, want at most %g", sigma, d, limit)
		}
	}
}

// TestAddSecureSeed: one source gives one result, another another.
func TestAddSecureSeed(t *testing.T) {
	draw := func(seed byte) *mat.Dense {
		x := mat.NewDense(20, 3, nil)
		if err := privacy.AddSecure(x, 2, rand.NewChaCha8([32]byte{seed})); err != nil {
			t.Fatal(err)
		}
		return x
	}
	if !mat.Equal(draw(1), draw(1)) || mat.Equal(draw(1), draw(2)) {
		t.Error("the noise does not follow from the source")
	}
}

// TestClip: longer rows come to the bound, others stay as they are, and through an
// orthonormal basis two rows are never further apart than twice the bound.
func TestClip(t *testing.T) {
	src := rand.NewPCG(1, 2)
	x := linalg.Normal(500, 6, src)
	x.SetRow(7, make([]float64, 6))
	x.SetRow(8, []float64{1e200, -1e200, 0, 0, 0, 1e199})
	before := mat.DenseCopyOf(x)
	const bound = 2
	want := 0
	clipped, err := privacy.Clip(x, bound)
	if err != nil {
		t.Fatal(err)
	}
	f := linalg.Stiefel(6, 4, src)
	var z mat.Dense
	z.Mul(x, f)
	for i := range 500 {
		old := mat.Norm(before.RowView(i), 2)
		switch length := mat.Norm(x.RowView(i), 2); {
		case old > bound:
			want++
			if length > bound || length < bound*(1-1e-13) {
				t.Errorf("row %d has length %.17g", i+1, length)
			}
		case !slices.Equal(x.RawRowView(i), before.RawRowView(i)):
			t.Errorf("row %d of length %g was changed", i+1, old)
		}
		for k := range i {
			var d mat.VecDense
			d.SubVec(z.RowView(i), z.RowView(k))
			if mat.Norm(&d, 2) > 2*bound {
				t.Fatalf("images of rows %d and %d are %g apart", i+1, k+1, mat.Norm(&d, 2))
			}
		}
	}
	if clipped != want || want < 50 {
		t.Errorf("%d rows were clipped, want %d", clipped, want)
	}
}

func TestSecureRefuses(t *testing.T) {
	src := rand.NewPCG(1, 2)
	bad := mat.NewDense(1, 2, []float64{0, math.NaN()})
	for _, sigma := range []float64{0, -1, math.NaN(), math.Inf(1), 5e-324} {
		if err := privacy.AddSecure(mat.NewDense(1, 1, nil), sigma, src); err == nil || !strings.Contains(err.Error(), "sigma is") {
			t.Errorf("sigma %v: %v", sigma, err)
		}
	}
	if err := privacy.AddSecure(bad, 1, src); err == nil || !strings.Contains(err.Error(), "row 1, column 2") {
		t.Errorf("NaN: %v", err)
	}
	if err := privacy.AddSecure(mat.NewDense(1, 1, []float64{1e12}), 1, src); err == nil || !strings.Contains(err.Error(), "beyond 2³⁰ σ") {
		t.Errorf("a large element: %v", err)
	}
	for _, bound := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := privacy.Clip(mat.NewDense(1, 1, nil), bound); err == nil || !strings.Contains(err.Error(), "bound is") {
			t.Errorf("bound %v: %v", bound, err)
		}
	}
	if _, err := privacy.Clip(bad, 1); err == nil {
		t.Error("NaN was clipped")
	}
}

func BenchmarkAddSecure(b *testing.B) {
	x := mat.NewDense(1000, 100, nil)
	src := rand.NewChaCha8([32]byte{1})
	for b.Loop() {
		if err := privacy.AddSecure(x, 1, src); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e5, "ns/element")
}
