package party_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/party"
)

func noisy(t *testing.T, more string) *contract.Contract {
	t.Helper()
	c, err := contract.ParseYAML([]byte(strings.NewReplacer("basis: {kind: %s, dim: 2}\n", "", "anchor: {kind: %s}\n", "").Replace(yaml) + more))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNoise: X̃ is the clipped rows through F, and noise of the stated deviation.
func TestNoise(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, tc := range []struct {
		more       string
		clip, want float64
	}{
		{"basis: {kind: random, dim: 2}\nnoise: {epsilon: 8, delta: 0.001, clip: 0.5}\n", 0.5, 0.480}, // .480 a unit, docs/methods.md section 7.8
		{"basis: {kind: common-random, dim: 2}\nnoise: {epsilon: 8, delta: 0.001, clip: 0.5}\n", 0.5, 0.480},
		{"basis: {kind: pca, dim: 2}\nnoise: {sigma: 0.3}\n", math.Inf(1), 0.3},
	} {
		c := noisy(t, tc.more)
		const n = 3000
		tab := read(t, c, csv(n, rand.New(rand.NewPCG(1, 2))))
		made, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{4}))
		if err != nil {
			t.Fatal(err)
		}
		// Without noise and clipping the same source gives the same basis and order.
		bare := *c
		bare.Noise = nil
		clean, err := party.Prepare(&bare, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{4}))
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(made.A, clean.A) || !slices.Equal(made.Labels, clean.Labels) {
			t.Fatal("noise changed the anchor's image or the order of rows")
		}
		var sum, count float64
		for i := range n {
			if !math.IsInf(tc.clip, 1) {
				break
			}
			for j := range 2 {
				d := made.X.At(i, j) - clean.X.At(i, j)
				sum, count = sum+d*d, count+1
			}
		}
		if count == 0 { // rows were clipped: what is longer than the bound is noise too
			rows := mat.DenseCopyOf(tab.Standardised().Reveal())
			for i := range n {
				if length := mat.Norm(rows.RowView(i), 2); length > tc.clip {
					for j := range 4 {
						rows.Set(i, j, rows.At(i, j)*tc.clip/length)
					}
				}
			}
			var want mat.Dense
			want.Mul(rows, made.Basis.Matrix().Reveal())
			// The order of rows is hidden: compare second moments, which noise adds to.
			var got, clipped float64
			for _, v := range made.X.RawMatrix().Data {
				got += v * v
			}
			for _, v := range want.RawMatrix().Data {
				clipped += v * v
			}
			sum, count = got-clipped, 2*n
		}
		// The mean of 6000 squares has a relative deviation of √(2/6000) = .018; five are
		// exceeded with probability 6e-7, for another source.
		if sigma := math.Sqrt(sum / count); math.Abs(sigma/tc.want-1) > 5*0.018 {
			t.Errorf("%s: the noise has deviation %.3f, want %.3f", tc.more, sigma, tc.want)
		}
		i := slices.IndexFunc(made.Report.Findings, func(f party.Finding) bool { return f.Name == "noise" })
		if i < 0 {
			t.Fatal("the report does not tell of noise")
		}
		if f := made.Report.Findings[i]; strings.Contains(f.Text, "differential privacy") != c.Noise.Guarantees() || math.Abs(f.Value-tc.want) > 1e-3 {
			t.Errorf("%+v", f)
		}
	}
}

// TestNoiseAgainstFloor: a floor that drops rows and a guarantee exclude each other.
func TestNoiseAgainstFloor(t *testing.T) {
	c := noisy(t, "basis: {kind: random, dim: 2}\nnoise: {epsilon: 8, delta: 0.001, clip: 2}\n")
	tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
	_, err := party.Prepare(c, tab, party.EffectiveFloors(c, &contract.Policy{Eps: 0.01}), party.Agreed{Seed: seed(t)}, basis.NewSource())
	if err == nil || !strings.Contains(err.Error(), "the site cannot have both") {
		t.Errorf("error %v", err)
	}
}

// TestNoiseOfPeople: the guarantee is a row's, and the report says what it is for people
// with several.
func TestNoiseOfPeople(t *testing.T) {
	c := noisy(t, "subject: who\nbasis: {kind: random, dim: 2}\nnoise: {epsilon: 8, delta: 0.001, clip: 2}\n")
	var text strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(csv(60, rand.New(rand.NewPCG(1, 2)))), "\n") {
		if i == 0 {
			text.WriteString("who," + line + "\n")
			continue
		}
		fmt.Fprintf(&text, "p%d,%s\n", i/3, line)
	}
	made, err := party.Prepare(c, read(t, c, text.String()), party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, basis.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(made.Report.Findings, func(f party.Finding) bool { return f.Name == "noise" })
	if f := made.Report.Findings[i]; !f.Warn || !strings.Contains(f.Text, "people here have up to 3 rows, and for all rows of such a person epsilon is 24, not 8") {
		t.Errorf("%+v", f)
	}
}
