package party_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/linalg"
	"concord/party"
	"concord/privacy"
)

// TestAgain: what two contributions of the same rows give away that one does not, which
// is why prepare --again asks. One image is put beside the other by the images of the
// anchor, which tells the order of each by the other's. A basis that is drawn anew, or
// perturbed anew, leaves out other directions: two of 2 from 4 features have all there
// is, and who undoes both has rows whole that each left half of.
//
// The bases come of fixed sources. How many rows are matched depends on how far a perturbed
// basis was turned: over 150 random sources .72 to .98 of them, .9 in the mean, and for a
// random basis .48 at most. So .6 tells the two apart whatever the source.
func TestAgain(t *testing.T) {
	for _, tc := range []struct {
		kind, protocol string
		directions     int  // of A that both images have together
		matched        bool // by who has no anchor
	}{
		{"pca-perturbed", "nri", 4, true},
		{"scrambled", "nri", 2, true},
		{"pca", "dc", 2, true},
		{"svd", "dc", 2, true},
		{"random", "dc", 4, false},
	} {
		c := newContract(t, "pca", "normal")
		c.Basis.Kind, c.Basis.Delta, c.Protocol = tc.kind, 0.05, tc.protocol
		tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
		agreed := party.Agreed{Seed: seed(t)}
		var made [2]*party.Contribution
		for i := range made {
			var err error
			if made[i], err = party.Prepare(c, tab, party.EffectiveFloors(c, nil), agreed, rand.NewChaCha8([32]byte{byte(i + 1)})); err != nil {
				t.Fatal(err)
			}
		}
		var both mat.Dense
		both.Augment(made[0].A, made[1].A)
		if rank, err := linalg.Rank(&both, 1e-9); err != nil || rank != tc.directions {
			t.Errorf("%s: the images of two contributions have %d directions (%v), want %d", tc.kind, rank, err, tc.directions)
		}
		// The analyst alone: one image's rows turned into the other's by the anchor's.
		turn, _, err := linalg.Pinv(made[0].A, 0)
		if err != nil {
			t.Fatal(err)
		}
		var g, turned mat.Dense
		g.Mul(turn, made[1].A)
		turned.Mul(made[0].X, &g)
		n, l := turned.Dims()
		// Each shared row's raw row, which only this test knows.
		secretAnchor, err := anchor.Generate(anchor.Spec{Kind: c.Anchor.Kind, Rows: c.Anchor.Rows}, seed(t), c.M())
		if err != nil {
			t.Fatal(err)
		}
		a := secretAnchor.Reveal()
		var true0, true1 []int
		for i, m := range made {
			f, err := privacy.RecoverBasis(a, m.A)
			if err != nil {
				t.Fatal(err)
			}
			var z mat.Dense
			z.Mul(tab.Standardised().Reveal(), f)
			order := nearestRows(m.X, &z)
			if i == 0 {
				true0 = order
			} else {
				true1 = order
			}
		}
		right := 0
		match := nearestRows(&turned, made[1].X)
		for i := range n {
			if true0[i] == true1[match[i]] {
				right++
			}
		}
		if got := float64(right) / float64(n); (got > 0.6) != tc.matched {
			t.Errorf("%s: %.2f of the rows are put beside each other, want that it works: %v", tc.kind, got, tc.matched)
		}
		if tc.kind != "pca-perturbed" {
			continue
		}
		// With a party: both undone together, the rows that are matched come back whole.
		var two, image mat.Dense
		side := mat.NewDense(n, l, nil)
		for i := range n {
			side.SetRow(i, made[1].X.RawRowView(match[i]))
		}
		two.Augment(made[0].X, side)
		image.Augment(made[0].A, made[1].A)
		f, err := privacy.RecoverBasis(a, &image)
		if err != nil {
			t.Fatal(err)
		}
		guess, err := privacy.ReconstructAround(&two, f, make([]float64, c.M()))
		if err != nil {
			t.Fatal(err)
		}
		whole, x := 0, tab.Standardised().Reveal()
		for i := range n {
			var d float64
			for j, v := range x.RawRowView(true0[i]) {
				d = max(d, math.Abs(v-guess.At(i, j)))
			}
			if d < 1e-6 {
				whole++
			}
		}
		if whole < right {
			t.Errorf("%d of %d matched rows come back whole", whole, right)
		}
		if alone := made[0].Report.Findings[2]; alone.Name != "reconstruction" || alone.Value < 0.2 {
			t.Errorf("one alone: %+v", alone)
		}
	}
}

// nearestRows is, for each row of a, the nearest row of b.
func nearestRows(a, b *mat.Dense) []int {
	n, l := a.Dims()
	rows, _ := b.Dims()
	out := make([]int, n)
	for i := range n {
		best := math.Inf(1)
		for k := range rows {
			var d float64
			for j := range l {
				d += (a.At(i, j) - b.At(k, j)) * (a.At(i, j) - b.At(k, j))
			}
			if d < best {
				out[i], best = k, d
			}
		}
	}
	return out
}
