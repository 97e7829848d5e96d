//go:build data

package pooled

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/lab/dataset"
)

// byGroup are the rows of the four largest owners of a data set, or four equal lots where
// rows belong to nobody; most bounds a lot.
func byGroup(data *dataset.Data, n, most int) [][]int {
	lots := make(map[int][]int)
	for i := range n {
		g := i % 4
		if data.Group != nil {
			g = data.Group[i]
		}
		if g >= 0 && len(lots[g]) < most {
			lots[g] = append(lots[g], i)
		}
	}
	var out [][]int
	for len(out) < 4 {
		best := -1
		for g, rows := range lots {
			if best < 0 || len(rows) > len(lots[best]) || len(rows) == len(lots[best]) && g < best {
				best = g
			}
		}
		out = append(out, lots[best])
		delete(lots, best)
	}
	return out
}

// momentsExactly are mean and variance of the numbers of column j of all parts, by numbers of
// 500 bits.
func momentsExactly(parts []*mat.Dense, j int) (mean, variance float64, missing bool) {
	float := func(x float64) *big.Float { return new(big.Float).SetPrec(500).SetFloat64(x) }
	n, sum, squares := 0.0, float(0), float(0)
	for _, x := range parts {
		rows, _ := x.Dims()
		for i := range rows {
			v := x.At(i, j)
			if math.IsNaN(v) {
				missing = true
				continue
			}
			n++
			sum.Add(sum, float(v))
			squares.Add(squares, float(0).Mul(float(v), float(v)))
		}
	}
	sum.Quo(sum, float(n))
	squares.Quo(squares, float(n))
	squares.Sub(squares, float(0).Mul(sum, sum))
	mean, _ = sum.Float64()
	variance, _ = squares.Float64()
	return mean, variance, missing
}

// TestDataMasked holds on real rows of hospitals by their region and by their size, and on a
// census, that means and variances which come through the real messages of masked sums are
// those of all rows to 1e-9, and the same bits at every party.
func TestDataMasked(t *testing.T) {
	folder := os.Getenv("CONCORD_DATA")
	if folder == "" {
		t.Fatal("CONCORD_DATA does not name the folder of the data sets")
	}
	for _, name := range []string{"eicu-region", "eicu-size", "adult"} {
		t.Run(name, func(t *testing.T) {
			data, err := dataset.Load(folder, name)
			if err != nil {
				t.Fatal(err)
			}
			n, m := data.X.Dims()
			var parts []*mat.Dense
			rows := 0
			for _, lot := range byGroup(data, n, 10000) {
				x, _ := data.Take(lot)
				parts = append(parts, x)
				rows += len(lot)
			}
			var features []string
			for j := range m {
				low, high := math.Inf(1), math.Inf(-1)
				for _, x := range parts {
					for _, v := range mat.Col(nil, j, x) {
						if !math.IsNaN(v) {
							low, high = min(low, v), max(high, v)
						}
					}
				}
				// As people would give a range: what is plausible, beyond what occurs.
				low, high = math.Floor(low-1-(high-low)/4), math.Ceil(high+1+(high-low)/4)
				missing := ""
				if _, _, gaps := momentsExactly(parts, j); gaps {
					missing = ", missing: mean"
				}
				features = append(features, fmt.Sprintf("{name: %q, range: [%.1f, %.1f]%s}", fmt.Sprintf("c%d", j), low, high, missing))
			}
			c := contractOf(t, basisYAML, features...)
			pools := playMasked(t, c, parts)
			first, err := pools[0].Figures().Encode()
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range pools {
				b, err := p.Figures().Encode()
				if err != nil || string(b) != string(first) {
					t.Fatalf("party %d has other figures than the first (%v)", i+1, err)
				}
			}
			if got := pools[0].Figures().Rows; got != int64(rows) {
				t.Fatalf("%d rows are pooled, want %d", got, rows)
			}
			worst := 0.0
			for j, f := range pools[0].Figures().Features {
				mean, variance, _ := momentsExactly(parts, j)
				for what, pair := range map[string][2]float64{"mean": {f.Mean, mean}, "variance": {f.Variance, variance}} {
					off := math.Abs(pair[0] - pair[1])
					if !(off <= 1e-9*math.Abs(pair[1])) {
						t.Errorf("%s of %s: off by %.2g of itself", what, data.Features[j], off/math.Abs(pair[1]))
					}
					if off > 0 {
						worst = max(worst, off/math.Abs(pair[1]))
					}
				}
			}
			t.Logf("%s: %d rows of %d columns at 4 parties; farthest figure %.2g of itself", name, rows, m, worst)
		})
	}
}
