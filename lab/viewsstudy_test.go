package lab_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/contract"
	"concord/lab"
	"concord/party"
	"concord/table"
)

const viewsYAML = `
name: Two views
parties: 4
features:
  - {name: a, range: [-4, 4]}
  - {name: b, range: [-4, 4]}
  - {name: kind, type: category, levels: [x, y, z]}
  - {name: c, range: [-4, 4]}
  - {name: d, range: [-4, 4]}
  - {name: e, range: [-4, 4]}
views:
  - {name: left, features: [a, b, kind, c], dim: 4}
  - {name: right, features: [c, d, e], dim: 2}
label: {name: ill, levels: [no, yes], positive: yes}
`

// rowsOf are n rows of which one hidden number decides the label, as the text of a file
// with the columns of a contract.
func rowsOf(c *contract.Contract, n int, rnd *rand.Rand) string {
	var b strings.Builder
	b.WriteString(strings.Join(c.FeatureNames(), ",") + ",ill\n")
	for range n {
		hidden := rnd.NormFloat64()
		for _, f := range c.Features {
			if f.Type == contract.Category {
				b.WriteString(f.Levels[min(2, max(0, int(1.5+hidden+0.5*rnd.NormFloat64())))] + ",")
				continue
			}
			fmt.Fprintf(&b, "%.6f,", max(-4, min(4, hidden+0.7*rnd.NormFloat64())))
		}
		label := "no"
		if hidden > 0 {
			label = "yes"
		}
		b.WriteString(label + "\n")
	}
	return b.String()
}

// TestViewsStudy: four parties of two views from files to models, by every alignment that
// takes them, under both protocols. Every party's graph takes the features of its own view
// and ranks new rows far better than chance; under dc it is h(((x − c)/s) F G) exactly.
func TestViewsStudy(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, more := range []string{
		"anchor: {kind: normal, rows: 200}\nalignment: {method: ls}\n",
		"anchor: {kind: normal, rows: 200}\nalignment: {method: ls, target: identity, dim: 6}\nmodel: {kind: ridge, alpha: 1e-6}\n",
		"anchor: {kind: orthonormal}\nalignment: {method: gep}\nmodel: {kind: ridge, alpha: 1e-6}\n",
		"anchor: {kind: orthonormal}\nalignment: {method: consensus}\n",
		"anchor: {kind: normal, rows: 400}\nalignment: {method: consensus, dim: 5}\nprotocol: nri\n",
		"anchor: {kind: normal, rows: 400}\nalignment: {method: ls}\nprotocol: nri\nanswers: soft\n",
	} {
		t.Run(strings.ReplaceAll(strings.TrimSpace(more), "\n", " "), func(t *testing.T) {
			c, err := contract.ParseYAML([]byte(viewsYAML + more))
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(5, 6))
			var views []*contract.Contract
			for i := range 4 {
				v, err := c.Through(c.ViewNames()[i%2])
				if err != nil {
					t.Fatal(err)
				}
				views = append(views, v)
			}
			p := play(t, c, views, party.Agreed{Seed: seeded(t)}, func(i int) *table.Table { return tableOf(t, views[i], rowsOf(views[i], 150, rnd)) })
			for i, v := range views {
				if r := p.made[i].Report; r.Features != len(v.Features) || r.Dim != v.Basis.Dim {
					t.Errorf("party %d: report of %d features, %d columns", i+1, r.Features, r.Dim)
				}
			}
			if notes := strings.Join(p.trained.Outcome.Notes, "\n"); !strings.Contains(notes, `views "left" ("P1", "P3") and "right" ("P2", "P4"): of 2 directions`) &&
				!strings.Contains(notes, `views "left" ("P1", "P3") and "right" ("P2", "P4"): of 3 directions`) {
				t.Errorf("nothing is said of how the views are related:\n%s", notes)
			}
			for i, v := range views {
				if r, d := p.changes.G[i].Dims(); r != v.Basis.Dim || d != c.D() {
					t.Errorf("G of party %d is %d × %d, want %d × %d", i+1, r, d, v.Basis.Dim, c.D())
				}
				model := p.model(t, i)
				if got := model.Meta().Features; !slices.Equal(got, v.FeatureNames()) {
					t.Errorf("party %d: the model takes %v", i+1, got)
				}
				test := tableOf(t, v, rowsOf(v, 400, rnd))
				out, err := model.Run(test.X().Reveal())
				if err != nil {
					t.Fatal(err)
				}
				// The hidden number is seen through 2 to 4 noisy ones; guessing has 0.5 with a
				// deviation of 0.03 over 400 rows.
				if got, err := lab.Judge(c, out.Scores, test, "roc_auc"); err != nil || got[0] < 0.8 {
					t.Errorf("party %d of view %s: ROC-AUC %.3f, %v", i+1, v.ViewOf(), got, err)
				}
				if c.Protocol == "nri" {
					continue
				}
				var z mat.Dense
				z.Mul(p.made[i].Basis.Project(test.Standardised()), p.changes.G[i])
				want, err := p.trained.Model.Scores(&z)
				if err != nil {
					t.Fatal(err)
				}
				if same := agree(out.Scores, want); same > 1e-3 { // float32 in the graph
					t.Errorf("party %d: the graph's scores are %.1e off those of the definition", i+1, same)
				}
			}
			late(t, c, p.parts, p.changes.G)
		})
	}
}

func agree(a, b *mat.Dense) float64 {
	n, k := a.Dims()
	if m, l := b.Dims(); m != n || l != k {
		return math.Inf(1)
	}
	var off, size float64
	for i := range n {
		for j := range k {
			off, size = max(off, math.Abs(a.At(i, j)-b.At(i, j))), max(size, math.Abs(b.At(i, j)))
		}
	}
	return off / size
}

// late aligns one of the parties again, to what the others have: it gets about what it had.
func late(t *testing.T, c *contract.Contract, parts []analyst.Contribution, g []*mat.Dense) {
	t.Helper()
	z := analyst.Target(parts[:3], g[:3])
	change, _, err := analyst.AlignLate(c, z, parts[3])
	if err != nil {
		t.Fatal(err)
	}
	if r, d := change.Dims(); r != 2 || d != c.D() {
		t.Errorf("G of the late party is %d × %d", r, d)
	}
}

// TestViewsRefusedByAnalyst: the view that a contribution names says what shapes it has.
func TestViewsRefusedByAnalyst(t *testing.T) {
	c, err := contract.ParseYAML([]byte(viewsYAML + "anchor: {kind: normal, rows: 20}\n"))
	if err != nil {
		t.Fatal(err)
	}
	part := func(view string, l int) analyst.Contribution {
		labels := make([]int64, 20)
		for i := range labels {
			labels[i] = int64(i % 2)
		}
		x := mat.NewDense(20, l, nil)
		x.Set(0, 0, 1)
		return analyst.Contribution{Party: "P", View: view, X: x, A: x, Labels: labels}
	}
	for _, tc := range []struct {
		part analyst.Contribution
		want string
	}{
		{part("left", 4), ""},
		{part("right", 2), ""},
		{part("right", 3), "the contract says 2 columns"},
		{part("", 3), "no view is named"},
		{part("up", 3), `there is no view "up"`},
	} {
		err := tc.part.Check(c)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
	plain, err := contract.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b, c]\nlabel: {name: y, levels: [n, p], positive: p}\nbasis: {dim: 2}\nanchor: {kind: uniform, rows: 20}\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := part("left", 2)
	if err := p.Check(plain); err == nil || !strings.Contains(err.Error(), "has no views") {
		t.Errorf("a view where there are none: %v", err)
	}
}
