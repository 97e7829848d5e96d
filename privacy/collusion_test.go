package privacy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

// near fails unless ‖got − want‖_F ≤ tol ‖want‖_F.
func near(t *testing.T, what string, got, want *mat.Dense, tol float64) {
	t.Helper()
	var d mat.Dense
	d.Sub(got, want)
	if e, s := mat.Norm(&d, 2), mat.Norm(want, 2); !(e <= tol*s) {
		t.Errorf("%s: error %.3g, want at most %.0e", what, e/s, tol)
	}
}

// people returns n rows of m correlated features of different units and means.
func people(n, m int, src rand.Source) *mat.Dense {
	var x mat.Dense
	x.Mul(linalg.Normal(n, m, src), linalg.Normal(m, m, src))
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = math.Pow(10, float64(j%3))*row[j] + float64(j)
		}
	}
	return &x
}

// basisOf returns an m × l basis: orthonormal, scrambled by an invertible matrix, or
// with columns of very different units.
func basisOf(kind string, m, l int, src rand.Source) *mat.Dense {
	f := linalg.Stiefel(m, l, src)
	switch kind {
	case "scrambled":
		f.Mul(f, linalg.Normal(l, l, src))
	case "units":
		for i := range m {
			for j := range l {
				f.Set(i, j, f.At(i, j)*math.Pow(10, 5*float64(j%4)))
			}
		}
	}
	return f
}

func product(a, b mat.Matrix) *mat.Dense {
	var c mat.Dense
	c.Mul(a, b)
	return &c
}

// TestCollusionSpanned proves that the attack works: with l = m the basis comes back
// and the rows are exact, whatever the basis.
func TestCollusionSpanned(t *testing.T) {
	for _, kind := range []string{"orthonormal", "scrambled", "units"} {
		t.Run(kind, func(t *testing.T) {
			src := rand.NewPCG(1, 2)
			const n, m = 300, 12
			x, f := people(n, m, src), basisOf(kind, m, m, src)
			a := linalg.Uniform(5*m, m, src)
			got, err := privacy.RecoverBasis(a, product(a, f))
			if err != nil {
				t.Fatal(err)
			}
			near(t, "basis", got, f, 1e-8) // what the attack is asked for; 1e-14 is reached
			back, err := privacy.Reconstruct(product(x, f), got)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "rows", back, x, 1e-8)
		})
	}
}

// TestCollusionProjects checks that with l < m the rows that come back are the
// projections onto the span of F, and with a known mean lie around it.
func TestCollusionProjects(t *testing.T) {
	for _, kind := range []string{"orthonormal", "scrambled", "units"} {
		for _, l := range []int{1, 5, 11} {
			t.Run(fmt.Sprint(kind, l), func(t *testing.T) {
				src := rand.NewPCG(uint64(l), 3)
				const n, m = 200, 12
				x, f := people(n, m, src), basisOf(kind, m, l, src)
				z := product(x, f)
				a := linalg.Normal(m, m, src)
				got, err := privacy.RecoverBasis(a, product(a, f))
				if err != nil {
					t.Fatal(err)
				}
				back, err := privacy.Reconstruct(z, got)
				if err != nil {
					t.Fatal(err)
				}
				// P = Q Qᵀ with Q from the QR decomposition of F with columns of
				// length 1. The square anchor has a condition number of some
				// hundreds, the scrambling one of up to 1e4 more: 1e-8 leaves room
				// for both and for nothing else.
				unit := mat.DenseCopyOf(f)
				for j := range l {
					norm := mat.Norm(f.ColView(j), 2)
					for i := range m {
						unit.Set(i, j, f.At(i, j)/norm)
					}
				}
				q, _, err := linalg.QR(unit)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "projection", back, product(product(x, q), q.T()), 1e-8)
				near(t, "image of the projection", product(back, f), z, 1e-8)

				// The guess around the mean is the projection of the deviations.
				mean := make([]float64, m)
				for j := range mean {
					mean[j] = mat.Sum(x.ColView(j)) / n
				}
				around, err := privacy.ReconstructAround(z, got, mean)
				if err != nil {
					t.Fatal(err)
				}
				want, dev := mat.NewDense(n, m, nil), mat.NewDense(n, m, nil)
				for i := range n {
					for j := range m {
						dev.Set(i, j, x.At(i, j)-mean[j])
					}
				}
				want.Mul(product(dev, q), q.T())
				for i := range n {
					for j := range m {
						want.Set(i, j, want.At(i, j)+mean[j])
					}
				}
				near(t, "around the mean", around, want, 1e-8)
				near(t, "image around the mean", product(around, f), z, 1e-8)
				// Among all constant offsets outside the span the mean is the best.
				var plain, better mat.Dense
				plain.Sub(back, x)
				better.Sub(around, x)
				if a, b := mat.Norm(&better, 2), mat.Norm(&plain, 2); a > b {
					t.Errorf("error with the mean %.4g, without it %.4g", a, b)
				}
			})
		}
	}
}

// TestCollusionDeficient: a basis of repeated columns gives the projection onto what
// they span.
func TestCollusionDeficient(t *testing.T) {
	src := rand.NewPCG(5, 6)
	x, q := people(50, 8, src), linalg.Stiefel(8, 3, src)
	f := product(q, linalg.Normal(3, 6, src))
	got, err := privacy.Reconstruct(product(x, f), f)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "projection", got, product(product(x, q), q.T()), 1e-10)
	none, err := privacy.Reconstruct(mat.NewDense(4, 2, nil), mat.NewDense(8, 2, nil))
	if err != nil {
		t.Fatal(err)
	}
	if r, c := none.Dims(); r != 4 || c != 8 || mat.Norm(none, 2) != 0 {
		t.Errorf("a basis of zeros gives %d × %d of norm %v, want 4 × 8 zeros", r, c, mat.Norm(none, 2))
	}
}

func TestCollusionRefuses(t *testing.T) {
	src := rand.NewPCG(7, 8)
	a := linalg.Normal(20, 5, src)
	low := product(linalg.Normal(20, 3, src), linalg.Normal(3, 5, src))
	nan := mat.DenseCopyOf(a)
	nan.Set(2, 3, math.NaN())
	f := linalg.Normal(5, 2, src)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"rank", second(privacy.RecoverBasis(low, product(low, f))), "rank 3"},
		{"zeros", second(privacy.RecoverBasis(mat.NewDense(9, 5, nil), mat.NewDense(9, 2, nil))), "rank 0"},
		{"few rows", second(privacy.RecoverBasis(linalg.Normal(4, 5, src), linalg.Normal(4, 2, src))), "4 rows"},
		{"rows differ", second(privacy.RecoverBasis(a, linalg.Normal(19, 2, src))), "19"},
		{"empty", second(privacy.RecoverBasis(&mat.Dense{}, a)), "anchor is empty"},
		{"nil", second(privacy.RecoverBasis(a, nil)), "image is empty"},
		{"NaN", second(privacy.RecoverBasis(nan, product(a, f))), "row 3, column 4"},
		{"columns differ", second(privacy.Reconstruct(a, f)), "5 columns"},
		{"empty z", second(privacy.Reconstruct(&mat.Dense{}, f)), "representation is empty"},
		{"NaN basis", second(privacy.Reconstruct(a, nan)), "basis"},
		{"short mean", second(privacy.ReconstructAround(product(a, f), f, make([]float64, 4))), "4 features"},
		{"NaN mean", second(privacy.ReconstructAround(product(a, f), f, []float64{0, 0, math.NaN(), 0, 0})), "mean"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) || !strings.HasPrefix(c.err.Error(), "privacy: ") {
			t.Errorf("%s: error %v, want one with %q", c.name, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }
