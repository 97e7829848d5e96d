package party_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	anchorspec "concord/anchor/spec"
	basisspec "concord/basis/spec"
	"concord/contract"
	"concord/party"
)

// TestDegenerateRows: the report of rows that hardly are a sample has figures that are
// numbers, and warns of what makes them so.
func TestDegenerateRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	normal := func(int, int) float64 { return rnd.NormFloat64() }
	blocks := func(i, j int) float64 { return float64((i/20)*(j+1)) + 1 }
	dominated := func(i, j int) float64 {
		if j == 1 {
			return 1e9 * rnd.NormFloat64()
		}
		return rnd.NormFloat64()
	}
	for _, tc := range []struct {
		name    string
		m, l, n int
		cell    func(i, j int) float64
		warned  []string
		err     string
	}{
		{"two rows", 5, 1, 2, normal, []string{"rare-label"}, ""},
		{"six rows", 5, 3, 6, normal, []string{"rare-label", "linkage"}, ""},
		{"fewer rows than columns leave", 8, 6, 4, normal, nil, "choose at most"},
		{"two features", 2, 1, 30, normal, nil, ""},
		{"all but one", 6, 5, 60, normal, []string{"reconstruction-row"}, ""},
		{"all", 6, 6, 60, normal, []string{"eps-dr", "dimension", "reconstruction", "reconstruction-row", "linkage"}, ""},
		{"two people", 4, 2, 40, blocks, []string{"eps-dr", "dimension", "reconstruction", "reconstruction-row"}, ""},
		{"one feature is all", 5, 2, 60, dominated, []string{"eps-dr", "collation", "distance-linkage"}, ""},
		{"far from zero", 6, 3, 60, func(i, j int) float64 { return 1e9 + rnd.NormFloat64() }, []string{"eps-dr"}, ""},
		{"equal rows", 4, 2, 40, func(i, j int) float64 { return float64(j + 1) }, nil, "the same value in all 40 rows"},
		{"huge", 4, 2, 40, func(i, j int) float64 { return 1e200 * rnd.NormFloat64() }, nil, "values beyond 1e+60"},
		{"tiny", 4, 2, 40, func(i, j int) float64 { return 1e-200 * rnd.NormFloat64() }, nil, "all below 1e-60"},
	} {
		for _, kind := range []string{"svd", "random"} {
			if kind == "random" && strings.Contains(tc.err, "choose") {
				continue // which does not look at rows
			}
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				c := &contract.Contract{Protocol: "dc", Standardise: "none", Basis: basisspec.Spec{Kind: kind, Dim: tc.l}, Anchor: anchorspec.Spec{Kind: "uniform", Rows: 50}, MaxRows: 1000}
				c.Label = contract.Label{Name: "y", Type: "class", Levels: []string{"a", "b"}}
				var b strings.Builder
				for j := range tc.m {
					c.Features = append(c.Features, contract.Feature{Name: fmt.Sprint("f", j), Type: "numeric"})
					fmt.Fprintf(&b, "f%d,", j)
				}
				b.WriteString("y\n")
				for i := range tc.n {
					for j := range tc.m {
						fmt.Fprintf(&b, "%g,", tc.cell(i, j))
					}
					fmt.Fprintln(&b, c.Label.Levels[i%2])
				}
				// No floors: they would refuse the smallest, whose figures are asked for.
				made, err := party.Prepare(c, read(t, c, b.String()), party.Floors{}, party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{1}))
				if tc.err != "" {
					if err == nil || !strings.Contains(err.Error(), tc.err) {
						t.Errorf("error %v, want one with %q", err, tc.err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				var warned []string
				for _, f := range made.Report.Findings {
					if math.IsNaN(f.Value) || math.IsInf(f.Value, 0) || strings.Contains(f.Text, "NaN") || strings.Contains(f.Text, "Inf") {
						t.Errorf("%+v", f)
					}
					if f.Warn {
						warned = append(warned, f.Name)
					}
				}
				if kind == "random" {
					return // warns of less, by luck
				}
				for _, name := range tc.warned {
					if !slices.Contains(warned, name) {
						t.Errorf("warns of %v, not of %s", warned, name)
					}
				}
			})
		}
	}
}
