package align_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// TestBetweenChance: spans that have nothing to do with each other look shared once in a
// thousand times. 3 × 400 draws have 1.2 such ones in expectation; more than 9 come with
// a probability of 6e-7 (Poisson), and the law is an approximation that is good to a
// fraction of that.
func TestBetweenChance(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: many random parties")
	}
	rnd := rand.NewChaCha8([32]byte{71})
	wrong, close := 0, 0
	for _, shape := range [][3]int{{60, 4, 7}, {100, 10, 10}, {200, 3, 40}} {
		for range 400 {
			a, b := linalg.Normal(shape[0], shape[1], rnd), linalg.Normal(shape[0], shape[2], rnd)
			got, err := align.Between([][]*mat.Dense{{a}, {b}}, false)
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Seen > 0 {
				wrong++
			}
			if got[0].Cosines[0] > 0.75*got[0].Chance {
				close++
			}
		}
	}
	if wrong > 9 {
		t.Errorf("%d of 1200 unrelated pairs look shared", wrong)
	}
	if close < 600 {
		t.Errorf("only %d of 1200 largest cosines are near the bound: it is too wide to mean anything", close)
	}
}

// TestBetweenExact: with an orthonormal anchor the cosines are those between the bases
// themselves: 1 for shared features that both bases hold whole, 0 for others.
func TestBetweenExact(t *testing.T) {
	const m = 12
	rnd := rand.NewChaCha8([32]byte{72})
	q := linalg.Haar(m, rnd)
	image := func(from, to, l int) *mat.Dense {
		f := mat.NewDense(m, l, nil)
		f.Slice(from, to, 0, l).(*mat.Dense).Copy(linalg.Stiefel(to-from, l, rnd))
		var a mat.Dense
		a.Mul(q, f)
		return &a
	}
	for _, tc := range []struct {
		name         string
		second       *mat.Dense
		seen, shared int
	}{
		{"other features", image(6, 12, 4), 0, 0},
		{"two of eight features in both", image(4, 12, 8), 2, 2},
		{"the same features", image(0, 6, 6), 6, 6},
	} {
		got, err := align.Between([][]*mat.Dense{{image(0, 6, 6)}, {tc.second}}, true)
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Seen != tc.seen {
			t.Errorf("%s: %d directions are seen, want %d: %v, chance %g", tc.name, got[0].Seen, tc.seen, got[0].Cosines, got[0].Chance)
		}
		for k := range tc.shared {
			if math.Abs(got[0].Cosines[k]-1) > 1e-12 {
				t.Errorf("%s: cosine %d is %v, want 1", tc.name, k+1, got[0].Cosines[k])
			}
		}
	}
	// Two parties of one group span together what each spans in part.
	got, err := align.Between([][]*mat.Dense{{image(0, 6, 3), image(0, 6, 3)}, {image(0, 6, 6)}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Ranks != [2]int{6, 6} || got[0].Seen != 6 {
		t.Errorf("two halves of a span: %+v", got[0])
	}
}

// TestBetweenInvariant: the cosines depend on the spans alone.
func TestBetweenInvariant(t *testing.T) {
	rnd := rand.NewChaCha8([32]byte{73})
	shared := linalg.Normal(80, 2, rnd)
	own := func(l int) *mat.Dense {
		a := linalg.Normal(80, l, rnd)
		a.Slice(0, 80, 0, 2).(*mat.Dense).Copy(shared)
		return a
	}
	a, b := own(5), own(7)
	want, err := align.Between([][]*mat.Dense{{a}, {b}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if want[0].Seen != 2 {
		t.Errorf("%d directions are seen, two are shared: %v, chance %g", want[0].Seen, want[0].Cosines, want[0].Chance)
	}
	var turned mat.Dense
	turned.Mul(a, linalg.Haar(5, rnd))
	turned.Scale(1e6, &turned)
	got, err := align.Between([][]*mat.Dense{{&turned}, {b}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range got[0].Cosines {
		if math.Abs(v-want[0].Cosines[k]) > 1e-10 {
			t.Errorf("cosine %d is %v, was %v", k+1, v, want[0].Cosines[k])
		}
	}
}

// TestBetweenFewRows: spans that fill the anchor's rows meet whatever they are, and
// nothing is said of that.
func TestBetweenFewRows(t *testing.T) {
	rnd := rand.NewChaCha8([32]byte{74})
	got, err := align.Between([][]*mat.Dense{{linalg.Normal(10, 6, rnd)}, {linalg.Normal(10, 6, rnd)}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Chance != 1 || got[0].Seen != 0 {
		t.Errorf("12 directions in 10 rows: %+v", got[0])
	}
}

func TestBetweenRefuses(t *testing.T) {
	one := linalg.Normal(9, 2, rand.NewChaCha8([32]byte{75}))
	for _, tc := range []struct {
		want   string
		groups [][]*mat.Dense
	}{
		{"no anchor representations", [][]*mat.Dense{{one}, nil}},
		{"group 2 have 8 rows and those of group 1 have 9", [][]*mat.Dense{{one}, {linalg.Normal(8, 2, rand.NewChaCha8([32]byte{76}))}}},
		{"group 2 are zero", [][]*mat.Dense{{one}, {mat.NewDense(9, 2, nil)}}},
	} {
		if _, err := align.Between(tc.groups, true); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}

// TestSharingOfMeans: that all columns of two groups have a mean says nothing of what they see
// in common; only exact images are compared as they are.
func TestSharingOfMeans(t *testing.T) {
	src := rand.NewPCG(11, 3)
	a, b := linalg.Normal(80, 3, src), linalg.Normal(80, 3, src)
	for _, m := range []*mat.Dense{a, b} {
		m.Apply(func(_, _ int, v float64) float64 { return v + 10 }, m)
	}
	for exact, want := range map[bool]bool{false: false, true: true} {
		found, err := align.Between([][]*mat.Dense{{a}, {b}}, exact)
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		if got := found[0].Cosines[0] > 0.9; got != want || !exact && found[0].Seen != 0 {
			t.Errorf("exact %v: cosines %.2f, of which %d are seen; a common mean is no common direction", exact, found[0].Cosines, found[0].Seen)
		}
	}
}
