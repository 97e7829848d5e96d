package privacy_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
	"concord/privacy"
)

func linkDistances(t *testing.T, x, z *mat.Dense, opt privacy.DistanceOptions, seed uint64) privacy.DistanceLink {
	t.Helper()
	got, err := privacy.LinkDistances(x, z, opt, rand.NewPCG(9, seed))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestLinkDistances: a square orthogonal map keeps all distances, so every known row finds its
// image, few or many; a square map that is not orthogonal hides nearly all.
func TestLinkDistances(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	src := rand.NewPCG(9, 1)
	x := linalg.Normal(400, 10, src)
	orthogonal, scrambled := image(x, linalg.Haar(10, src)), image(x, linalg.Normal(10, 10, src))
	for _, k := range []int{5, 20, 60, 1000} {
		opt := privacy.DistanceOptions{Knows: k}
		got := linkDistances(t, x, orthogonal, opt, 1)
		// Lengths agree to rounding and are distinct.
		if got.Linked != 1 || got.Stress > 1e-6 || got.Chance != 1./400 || got.Pool != 400 {
			t.Errorf("%d rows, orthogonal: %+v, want all linked", k, got)
		}
		if got.Knows != min(k, 100) {
			t.Errorf("knows %d, want %d", got.Knows, min(k, 100))
		}
		got = linkDistances(t, x, scrambled, opt, 1)
		// The wrong links are chosen to fit, so their stress is small, but far from rounding.
		if got.Linked > 0.3 || got.Stress < 0.01 {
			t.Errorf("%d rows, scrambled: %+v, want few linked", k, got)
		}
	}
}

// TestLinkDistancesProjected: principal axes of decaying data keep distances nearly, and
// known rows are still linked; half of the columns of white data do not.
func TestLinkDistancesProjected(t *testing.T) {
	src := rand.NewPCG(9, 2)
	x := falling(500, 20, 0.75, src)
	got := linkDistances(t, x, image(x, principal(t, x, 14, src)), privacy.DistanceOptions{}, 2)
	if got.Linked < 0.8 {
		t.Errorf("14 of 20 principal axes: %+v, want most linked", got)
	}
	white := linalg.Normal(500, 20, src)
	got = linkDistances(t, white, image(white, linalg.Stiefel(20, 4, src)), privacy.DistanceOptions{}, 2)
	if got.Linked > 0.2 {
		t.Errorf("4 of 20 white columns: %+v, want few linked", got)
	}
}

// TestLinkDistancesWhitened: who knows all rows links them through any invertible map.
func TestLinkDistancesWhitened(t *testing.T) {
	src := rand.NewPCG(9, 3)
	x := skewed(90, 6, 0.9, src)
	z := image(x, linalg.Normal(6, 6, src))
	got := linkDistances(t, x, z, privacy.DistanceOptions{Knows: 90, Whiten: true, Repeats: 1}, 3)
	if got.Linked != 1 || got.Stress > 1e-6 {
		t.Errorf("%+v, want all linked", got)
	}
	// Through a basis of principal axes times a random matrix, of which it keeps the axes.
	var f mat.Dense
	f.Mul(principal(t, x, 4, src), linalg.Normal(4, 4, src))
	got = linkDistances(t, x, image(x, &f), privacy.DistanceOptions{Knows: 90, Whiten: true, Repeats: 1}, 3)
	if got.Linked < 0.9 {
		t.Errorf("scrambled basis: %+v, want most linked", got)
	}
}

// TestLinkDistancesChance: independent images are linked by chance. Of 3·100 links among
// 1000 images 0.3 are right on average; more than 5 with probability below 1e-6.
func TestLinkDistancesChance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	src := rand.NewPCG(9, 4)
	for _, whiten := range []bool{false, true} {
		got := linkDistances(t, linalg.Normal(3000, 8, src), linalg.Normal(3000, 5, src), privacy.DistanceOptions{Knows: 100, Whiten: whiten}, 4)
		if got.Linked > 5./300 || got.Pool != 1000 {
			t.Errorf("whiten %v: %+v, want chance", whiten, got)
		}
	}
	// Rows that are all equal: 3·50 links among 200, .75 right on average, more than 8
	// with probability below 1e-6.
	constant := mat.NewDense(200, 3, nil)
	for i := range 200 {
		constant.SetRow(i, []float64{1, 2, 3})
	}
	for _, whiten := range []bool{false, true} {
		got := linkDistances(t, constant, image(constant, linalg.Stiefel(3, 2, src)), privacy.DistanceOptions{Whiten: whiten}, 4)
		if got.Linked > 8./150 || math.IsNaN(got.Stress) {
			t.Errorf("constant rows, whiten %v: %+v, want chance", whiten, got)
		}
	}
}

func TestLinkDistancesRepeats(t *testing.T) {
	src := rand.NewPCG(9, 5)
	x := falling(1200, 9, 0.8, src)
	z := image(x, linalg.Stiefel(9, 7, src))
	opt := privacy.DistanceOptions{Knows: 30, Repeats: 1}
	a, b := linkDistances(t, x, z, opt, 5), linkDistances(t, x, z, opt, 5)
	if a != b {
		t.Errorf("one seed gives %+v and %+v", a, b)
	}
}

func TestLinkDistancesRefuses(t *testing.T) {
	src := rand.NewPCG(9, 6)
	x, z := linalg.Normal(6, 3, src), linalg.Normal(6, 2, src)
	bad := linalg.Normal(6, 2, src)
	bad.Set(0, 0, math.NaN())
	for name, f := range map[string]func() (privacy.DistanceLink, error){
		"two rows": func() (privacy.DistanceLink, error) {
			return privacy.LinkDistances(linalg.Normal(2, 3, src), linalg.Normal(2, 2, src), privacy.DistanceOptions{}, src)
		},
		"other rows": func() (privacy.DistanceLink, error) {
			return privacy.LinkDistances(x, linalg.Normal(5, 2, src), privacy.DistanceOptions{}, src)
		},
		"not a number": func() (privacy.DistanceLink, error) {
			return privacy.LinkDistances(x, bad, privacy.DistanceOptions{}, src)
		},
		"knows 2": func() (privacy.DistanceLink, error) {
			return privacy.LinkDistances(x, z, privacy.DistanceOptions{Knows: 2}, src)
		},
		"repeats": func() (privacy.DistanceLink, error) {
			return privacy.LinkDistances(x, z, privacy.DistanceOptions{Repeats: -1}, src)
		},
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestBeyondArithmetic: numbers whose squares overflow are refused, not searched.
func TestBeyondArithmetic(t *testing.T) {
	x := linalg.Normal(40, 3, rand.NewPCG(1, 2))
	large := mat.DenseCopyOf(x)
	large.Set(7, 1, 1e200)
	for name, run := range map[string]func() error{
		"rows": func() error {
			_, err := privacy.LinkDistances(large, x, privacy.DistanceOptions{}, rand.NewPCG(1, 1))
			return err
		},
		"images": func() error { _, err := privacy.KnownRows(x, large, []int{3}, 1, rand.NewPCG(1, 1)); return err },
		"public": func() error { _, err := privacy.MatchICA(x, large, rand.NewPCG(1, 1)); return err },
	} {
		if err := run(); err == nil || !strings.Contains(err.Error(), "row 8, column 2 is beyond 1e100") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
