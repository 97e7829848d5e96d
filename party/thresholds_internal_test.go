package party

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// hiding are normal rows of 8 features of which l directions leave. What is left out has
// the deviation size; the first feature has the share of it that weight says.
func hiding(l int, size, weight float64, seed uint64) measured {
	const n, m = 100, 8
	q := sample(n, m, l, seed)
	q.x = linalg.Normal(n, m, q.src)
	q.high = q.x
	// H (m × (m−l)) is what is hidden: any direction, with the first feature's row scaled.
	h := linalg.Stiefel(m, m-l, q.src)
	for j := range m - l {
		h.Set(0, j, weight*h.At(0, j))
	}
	var both, turned mat.Dense
	both.Augment(h, linalg.Normal(m, l, q.src))
	var qr mat.QR
	qr.Factorize(&both)
	qr.QTo(&turned) // its first m−l columns span H, the others are F
	q.f = mat.DenseCopyOf(turned.Slice(0, m, m-l, m))
	hidden := turned.Slice(0, m, 0, m-l)
	var part, back mat.Dense
	part.Mul(q.x, hidden)
	part.Scale(1-size, &part)
	back.Mul(&part, hidden.T())
	q.x.Sub(q.x, &back)
	q.z, q.image = new(mat.Dense), new(mat.Dense)
	q.z.Mul(q.x, q.f)
	q.image.Mul(q.a, q.f)
	return q
}

// TestThresholds holds the figures from which on a person is warned. They are written
// here a second time, because whoever changes one changes what people are told: each
// finding has values on both sides of its threshold, within a fifth of it.
func TestThresholds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	percent := func(f Finding, before string) float64 {
		t.Helper()
		found := regexp.MustCompile(`([0-9.]+) % ` + before).FindStringSubmatch(f.Text)
		if found == nil {
			t.Fatalf("%s does not say what share: %s", f.Name, f.Text)
		}
		v, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v / 100
	}
	trivial := func(f Finding) float64 {
		t.Helper()
		found := regexp.MustCompile(`where the mean for everybody has ([0-9.]+)`).FindStringSubmatch(f.Text)
		if found == nil {
			t.Fatalf("%s does not say what the mean has: %s", f.Name, f.Text)
		}
		v, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// side is where a value lies: +1 beyond the threshold, −1 not, 0 too near to tell from a
	// rounded text.
	near := map[string]bool{} // what was seen within a fifth of a threshold
	side := func(name string, value, threshold, rounding float64) int {
		s := 0
		switch {
		case value > threshold+rounding:
			s = 1
		case value < threshold-rounding:
			s = -1
		}
		if s != 0 && value > threshold/1.2 && value < threshold*1.2 {
			near[fmt.Sprint(name, s)] = true
		}
		return s
	}
	check := func(f Finding, warns bool) {
		t.Helper()
		if f.Warn != warns {
			t.Errorf("%s warns: %v, want %v: %s", f.Name, f.Warn, warns, f.Text)
		}
	}
	// Of many seeds those whose figures lie on both sides of every threshold, and near it, with every engine.
	for _, seed := range []uint64{17, 50, 76, 116, 126, 168, 172, 183, 220, 231, 256, 279, 443, 451, 585} {
		rnd := rand.New(rand.NewPCG(seed, 2))
		l, size, weight := 1+rnd.IntN(7), math.Exp(-4*rnd.Float64()), rnd.Float64()
		q := hiding(l, size, weight, seed)
		r := Report{Rank: 8 + rnd.IntN(2) - rnd.IntN(3)}
		if err := q.attack(&r); err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			switch f.Name {
			case "eps-dr":
				if s := side(f.Name, f.Value, 0.05, 0); s != 0 {
					check(f, s < 0)
				}
			case "dimension":
				check(f, float64(l) > 0.9*float64(min(r.Rank, 8)))
			case "reconstruction":
				// Either warns: what is near one threshold must not be beyond the other.
				value, ratio := f.Value, r.Reconstructed[0].Ratio
				check(f, value < 0.1 || ratio < 0.1)
				if value >= 0.1 {
					side("best feature", ratio, 0.1, 0)
				}
				if ratio >= 0.1 {
					side(f.Name, value, 0.1, 0)
				}
			case "reconstruction-row":
				if s := side(f.Name, percent(f, "are within a tenth"), 0.1, 0.005); s != 0 {
					check(f, s > 0)
				}
			case "linkage", "distance-linkage":
				if s := side(f.Name, f.Value, 0.5, 0); s != 0 {
					check(f, s > 0)
				}
			case "matching-pca", "matching-ica":
				linked := side(f.Name+" linked", percent(f, "of the guesses"), 0.5, 0.0005)
				if s := side(f.Name, f.Value, trivial(f)/2, 0.005); s != 0 && linked != 0 {
					check(f, s < 0 || linked > 0)
				}
			case "collation":
				if s := side(f.Name, f.Value, 0.95, 0); s != 0 {
					check(f, s > 0)
				}
			case fmt.Sprintf("known-rows-%d", l), fmt.Sprintf("known-rows-%d", 2*l):
				if s := side("known-rows", f.Value, trivial(f)/2, 0.005); s != 0 {
					check(f, s < 0)
				}
			default:
				t.Errorf("%s has no threshold here", f.Name)
			}
		}
	}
	// Seven of eight directions are fewer than nine tenths, seven of seven are more.
	for rank, warns := range map[int]bool{7: true, 8: false} {
		r := Report{Rank: rank}
		if err := hiding(7, 0.5, 1, 1).attack(&r); err != nil {
			t.Fatal(err)
		}
		check(finding(t, r, "dimension"), warns)
	}
	for _, name := range []string{
		"eps-dr", "reconstruction", "best feature", "reconstruction-row", "linkage", "distance-linkage",
		"matching-pca", "matching-pca linked", "matching-ica", "matching-ica linked", "known-rows", "collation",
	} {
		for _, s := range []int{-1, 1} {
			if !near[fmt.Sprint(name, s)] {
				t.Errorf("%s: no value was near its threshold on side %d", name, s)
			}
		}
	}
}
