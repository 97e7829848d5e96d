package privacy_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

// shaped are n mixtures of four independent sources of distinct shapes and equal
// variance, with mean shift, by one fixed matrix (4 × 4).
func shaped(n int, shift float64, src rand.Source) *mat.Dense {
	rng := rand.New(src)
	s := mat.NewDense(n, 4, nil)
	for i := range n {
		coin := float64(2*rng.IntN(2) - 1)
		s.SetRow(i, []float64{
			(rng.Float64()-0.5)*math.Sqrt(12) + shift,
			(rng.ExpFloat64()-1)*coin/math.Sqrt2 + shift,
			rng.ExpFloat64() - 1 + shift,
			float64(2*rng.IntN(2)-1)*0.95 + 0.3*rng.NormFloat64() + shift,
		})
	}
	return image(s, linalg.Haar(4, rand.NewPCG(98, 1)))
}

// TestMatchICA: where all directions have one variance principal axes say nothing,
// and independent components give the rows, through a scrambled square map too.
func TestMatchICA(t *testing.T) {
	src := rand.NewPCG(10, 1)
	x, public := shaped(3000, 1, src), shaped(3500, 1, src)
	for name, f := range map[string]*mat.Dense{"orthogonal": linalg.Haar(4, rand.NewPCG(10, 2)), "scrambled": linalg.Normal(4, 4, rand.NewPCG(10, 3))} {
		z := image(x, f)
		match, err := privacy.MatchICA(z, public, src)
		if err != nil {
			t.Fatal(err)
		}
		got, err := match.Judge(x, z, src)
		if err != nil {
			t.Fatal(err)
		}
		// Angles of the components are right to about 1.5/√3000 in either sample, six of
		// them: √(2·6)·.027 = .1 of the deviation, and so below .1 of the length of rows.
		if !match.Converged || match.Matched != 4 || got.Error > 0.1 {
			t.Errorf("%s: %+v, %d steps: want the rows", name, got, match.Iterations)
		}
		if got.Linked < 50*got.Chance || got.Knows != 3500 {
			t.Errorf("%s: %+v, want many linked", name, got)
		}
		axes, err := privacy.MatchPCA(z, public, src)
		if err != nil {
			t.Fatal(err)
		}
		other, err := axes.Judge(x, z, src)
		if err != nil {
			t.Fatal(err)
		}
		if other.Error < 3*got.Error {
			t.Errorf("%s: principal axes have error %g, components %g", name, other.Error, got.Error)
		}
	}
}

// TestMatchICAMany: more axes than are turned into components; the others are matched as
// principal axes are. With the rows themselves for the public sample and a square
// orthogonal map, everything that converged comes back.
func TestMatchICAMany(t *testing.T) {
	src := rand.NewPCG(10, 4)
	x := skewed(3000, 36, 0.9, src)
	z := image(x, linalg.Haar(36, src))
	match, err := privacy.MatchICA(z, x, src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := match.Judge(x, z, src)
	if err != nil {
		t.Fatal(err)
	}
	// A component stops where it turns by less than √(2·1e-5) = .0045 a step, and 32 of them
	// by less than .025; the steps shrink by half or more each.
	if match.Matched != 36 || !match.Converged || got.Error > 0.05 || got.Linked != 1 {
		t.Errorf("%d matched, %+v, want the rows", match.Matched, got)
	}
}

// TestMatchICANormal: normal rows have no components; the analysis says so or its
// guess is no better than nothing.
func TestMatchICANormal(t *testing.T) {
	src := rand.NewPCG(10, 5)
	x, public := linalg.Normal(2000, 6, src), linalg.Normal(2000, 6, src)
	z := image(x, linalg.Haar(6, src))
	match, err := privacy.MatchICA(z, public, src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := match.Judge(x, z, src)
	if err != nil {
		t.Fatal(err)
	}
	if got.Error < 0.8*got.Trivial {
		t.Errorf("%+v: normal rows cannot be told apart", got)
	}
}

func TestMatchICARepeats(t *testing.T) {
	x, public := shaped(5000, 0, rand.NewPCG(10, 6)), shaped(4500, 0, rand.NewPCG(10, 7))
	z := image(x, linalg.Haar(4, rand.NewPCG(10, 8)))
	var rows [2]*mat.Dense
	for i := range rows {
		match, err := privacy.MatchICA(z, public, rand.NewPCG(10, 9))
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = match.Rows(z)
	}
	if !mat.Equal(rows[0], rows[1]) {
		t.Error("one seed gives two guesses")
	}
}

func TestMatchICADegenerate(t *testing.T) {
	src := rand.NewPCG(10, 10)
	constant := mat.NewDense(30, 4, nil)
	for i := range 30 {
		constant.SetRow(i, []float64{1, 2, 3, 4})
	}
	match, err := privacy.MatchICA(image(constant, linalg.Stiefel(4, 2, src)), constant, src)
	if err != nil || match.Matched != 0 || !match.Converged {
		t.Errorf("constant rows: %+v, %v", match, err)
	}
	for _, c := range [][3]int{{2, 5, 9}, {40, 9, 3}, {2, 1, 1}} {
		if _, err := privacy.MatchICA(linalg.Normal(50, c[1], src), linalg.Normal(c[0], c[2], src), src); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
	bad := linalg.Normal(20, 3, src)
	bad.Set(1, 1, math.NaN())
	if _, err := privacy.MatchICA(bad, linalg.Normal(9, 5, src), src); err == nil {
		t.Error("not a number: no error")
	}
}
