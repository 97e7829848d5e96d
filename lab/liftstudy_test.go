package lab_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"concord/contract"
	"concord/lab"
	"concord/party"
	"concord/table"
)

const ringsYAML = `
name: Two rings
parties: 3
features:
  - {name: x, range: [-3, 3]}
  - {name: y, range: [-3, 3]}
  - {name: a, range: [-3, 3]}
label: {name: outer, levels: [no, yes], positive: yes}
`

// rings are n points of two rings around one centre, with a third column of noise.
func rings(n int, rnd *rand.Rand) string {
	var b strings.Builder
	b.WriteString("x,y,a,outer\n")
	for i := range n {
		radius, label := 0.8, "no"
		if i%2 == 0 {
			radius, label = 2, "yes"
		}
		angle, r := 2*math.Pi*rnd.Float64(), radius+0.15*math.Max(-3, math.Min(3, rnd.NormFloat64()))
		fmt.Fprintf(&b, "%.6f,%.6f,%.6f,%s\n", r*math.Cos(angle), r*math.Sin(angle), 2*rnd.Float64()-1, label)
	}
	return b.String()
}

// TestLiftStudy: a linear model tells two rings apart through the lift, from files to
// models under both protocols, and cannot without: the classes have the same mean, so that
// any linear score ranks as chance does.
func TestLiftStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, tc := range []struct {
		more string
		good bool
	}{
		{"basis: {dim: 2}\n", false},
		{"lift: {dim: 60, gamma: 2}\nbasis: {dim: 30}\n", true},
		{"lift: {dim: 60, gamma: 2}\nbasis: {dim: 30}\nalignment: {method: ls}\nmodel: {kind: svm-linear}\nanchor: {kind: normal, rows: 200}\n", true},
		{"lift: {dim: 60, gamma: 2}\nbasis: {dim: 30}\nprotocol: nri\nanchor: {kind: normal, rows: 600}\n", true},
		{"lift: {dim: 60, gamma: 2}\nbasis: {dim: 30}\nprotocol: nri\nanswers: soft\nanchor: {kind: normal, rows: 600}\n", true},
	} {
		t.Run(strings.ReplaceAll(strings.TrimSpace(tc.more), "\n", " "), func(t *testing.T) {
			c, err := contract.ParseYAML([]byte(ringsYAML + tc.more))
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(7, 8))
			p := play(t, c, []*contract.Contract{c, c, c}, party.Agreed{Seed: seeded(t)}, func(int) *table.Table { return tableOf(t, c, rings(150, rnd)) })
			for _, made := range p.made {
				if r, l := made.A.Dims(); r != c.Anchor.Rows || l != c.Basis.Dim {
					t.Errorf("A is %d × %d", r, l)
				}
			}
			report := p.made[0].Report
			// 30 columns leave of 3 features: colluders who know the lift have the rows.
			if i := slices.IndexFunc(report.Findings, func(f party.Finding) bool { return f.Name == "lift" }); tc.good != (i >= 0) {
				t.Errorf("the report speaks of a lift: %v", i >= 0)
			} else if i >= 0 {
				if !report.Findings[i].Warn {
					t.Error("nobody is warned of 30 columns for 3 features")
				}
				if worst := report.Reconstructed; len(worst) != 3 || worst[2].Ratio > 0.1 {
					t.Errorf("colluders are said to know features to %+v of their deviation; they solve for them", worst)
				}
			}
			test := tableOf(t, c, rings(400, rnd))
			for i := range p.parts {
				model := p.model(t, i)
				if model.Inputs() != 3 || tc.good && !slices.Contains(model.Operators(), "Cos") {
					t.Errorf("the model takes %d inputs, with %v", model.Inputs(), model.Operators())
				}
				out, err := model.Run(test.X().Reveal())
				if err != nil {
					t.Fatal(err)
				}
				// Ranking by chance has 0.5 with a deviation of 0.03 over 400 rows; a linear
				// score of rings can be better in one half than it is worse in the other by
				// no more than the sample's own asymmetry.
				got, err := lab.Judge(c, out.Scores, test, "roc_auc")
				if err != nil || tc.good && got[0] < 0.95 || !tc.good && got[0] > 0.7 {
					t.Errorf("party %d: ROC-AUC %.3f, %v", i+1, got, err)
				}
			}
		})
	}
}
