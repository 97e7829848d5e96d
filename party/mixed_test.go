package party_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/contract"
	"concord/learn"
	"concord/onnx"
	"concord/party"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

const mixedYAML = `
name: Mixed
parties: 4
missing_values: [NA]
features:
  - {name: weight, unit: kg, range: [1, 300], missing: constant, fill: 75}
  - {name: smoker, type: category, levels: [never, former, current], missing: own}
  - {name: region, type: category, levels: [north, south]}
  - {name: diabetic, type: boolean}
  - {name: stage, type: ordinal, levels: [I, II, III]}
  - {name: born, type: date, as: age, from: 2020-01-01, layout: DD.MM.YYYY, range: [0, 120]}
label: {name: y, levels: ["no", "yes"], positive: "yes"}
`

// mixed makes n rows, of which all are in the north, one smoker is current, and every
// fifth has gaps.
func mixed(n int, rnd *rand.Rand) string {
	var b strings.Builder
	b.WriteString("weight,smoker,region,diabetic,stage,born,y\n")
	for i := range n {
		weight, smoker := fmt.Sprintf("%.1f", 50+60*rnd.Float64()), []string{"never", "former"}[rnd.IntN(2)]
		if i%5 == 0 {
			weight, smoker = "NA", ""
		}
		if i == 1 {
			smoker = "current"
		}
		fmt.Fprintf(&b, "%s,%s,north,%v,%s,%02d.%02d.%d,%s\n", weight, smoker, rnd.IntN(2) == 0, []string{"I", "II", "III"}[rnd.IntN(3)],
			1+rnd.IntN(28), 1+rnd.IntN(12), 1930+rnd.IntN(60), []string{"no", "yes"}[rnd.IntN(2)])
	}
	return b.String()
}

// figuresOf are the figures of one table, taken for the pooled ones.
func figuresOf(c *contract.Contract, t *table.Table) *contract.Figures {
	x := t.X().Reveal()
	out := &contract.Figures{Version: 1, Sites: 4, Rows: int64(t.Rows())}
	for j, f := range c.Features {
		of := contract.FeatureFigures{}
		if f.Spellings() != nil {
			of.Levels = make([]int64, len(f.Spellings()))
		}
		var values []float64
		for i := range t.Rows() {
			if v := x.At(i, j); math.IsNaN(v) {
				of.Missing++
			} else if values = append(values, v); of.Levels != nil {
				of.Levels[int(v)]++
			}
		}
		of.Count = int64(len(values))
		for _, v := range values {
			if of.Levels == nil {
				of.Mean += v / float64(len(values))
			}
		}
		for _, v := range values {
			if of.Levels == nil {
				of.Variance += (v - of.Mean) * (v - of.Mean) / float64(len(values))
			}
		}
		out.Features = append(out.Features, of)
	}
	return out
}

// TestMixedTable: a table of all types with gaps is prepared, and the model that comes
// back scores its raw rows as its parts do, under dc and under nri, by the contract alone
// and by pooled figures.
func TestMixedTable(t *testing.T) {
	pooled := strings.NewReplacer("missing: own", "missing: common", "missing: constant, fill: 75", "missing: mean")
	for _, tc := range []struct{ name, yaml string }{
		{"range", mixedYAML + "standardise: range\n"},
		{"pooled", pooled.Replace(mixedYAML) + "standardise: pooled\n"},
		{"pooled gaps", pooled.Replace(mixedYAML) + "standardise: range\n"},
		{"nri", mixedYAML + "protocol: nri\nstandardise: range\nlocal_model: {kind: ridge}\nanswers: soft\n"},
		{"nri pooled", pooled.Replace(mixedYAML) + "protocol: nri\nstandardise: pooled\nlocal_model: {kind: ridge}\nanswers: soft\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := contract.ParseYAML([]byte(tc.yaml))
			if err != nil {
				t.Fatal(err)
			}
			tab := read(t, c, mixed(80, rand.New(rand.NewPCG(7, 8))))
			agreed := party.Agreed{Seed: seed(t)}
			if c.NeedsFigures() {
				if _, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), agreed, rand.NewChaCha8([32]byte{2})); err == nil || !strings.Contains(err.Error(), "there are none yet") {
					t.Fatalf("without pooled figures: %v", err)
				}
				agreed.Figures = figuresOf(c, tab)
			}
			made, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), agreed, rand.NewChaCha8([32]byte{2}))
			if err != nil {
				t.Fatal(err)
			}
			if n, l := made.X.Dims(); n != 80 || l != c.Basis.Dim || made.Report.Features != 6 {
				t.Errorf("X is %d × %d of %d features", n, l, made.Report.Features)
			}
			rare := slices.IndexFunc(made.Report.Findings, func(f party.Finding) bool { return f.Name == "rare-levels" })
			if rare < 0 || made.Report.Findings[rare].Value != 1 || !strings.Contains(made.Report.Findings[rare].Text, "smoker=current (1)") || strings.Contains(made.Report.Findings[rare].Text, "never") {
				t.Errorf("the findings are %+v", made.Report.Findings)
			}
			for _, e := range made.Report.Reconstructed {
				if !slices.Contains(c.ColumnNames(), e.Feature) {
					t.Errorf("there is no column %q", e.Feature)
				}
			}
			prep, err := c.Preparation(agreed.Figures)
			if err != nil {
				t.Fatal(err)
			}
			x := tab.Prepared(prep)
			var model *onnx.Graph
			var want *mat.Dense
			if c.Protocol == "nri" {
				a, err := anchor.Generate(anchor.Spec{Kind: c.Anchor.Kind, Rows: c.Anchor.Rows}, agreed.Seed, c.M())
				if err != nil {
					t.Fatal(err)
				}
				want, model = learned(t, c, agreed, a, x)
			} else {
				want, model = accepted(t, c, agreed, made, tab, x)
			}
			got, err := model.Run(tab.X().Reveal())
			if err != nil {
				t.Fatal(err)
			}
			// Scores between 0 and 1 of columns of order one: a hundred roundings.
			if !mat.EqualApprox(got.Scores, want, 1e-5) {
				t.Error("the graph scores raw rows otherwise than its parts")
			}
			if m := model.Meta(); m.Units[5] != "years before 2020-01-01" || m.Coding[5].Layout != "DD.MM.YYYY" || m.MissingCells[0] != "NA" || m.Levels[3][1] != "true" {
				t.Errorf("the model says %+v", m)
			}
		})
	}
}

// accepted fits h on what leaves and accepts it.
func accepted(t *testing.T, c *contract.Contract, agreed party.Agreed, made *party.Contribution, tab *table.Table, x secret.Matrix) (*mat.Dense, *onnx.Graph) {
	t.Helper()
	l := c.Basis.Dim
	g := mat.NewDense(l, l, nil)
	for j := range l {
		g.Set(j, (j+1)%l, 1)
	}
	var z mat.Dense
	z.Mul(made.Basis.Project(x), g)
	learner, err := learn.New(c.Model.Spec())
	if err != nil {
		t.Fatal(err)
	}
	h, err := learner.Fit(t.Context(), &z, learn.Target{Classes: c.Label.Levels, Labels: tab.Labels()})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := onnx.FromModel(h)
	if err != nil {
		t.Fatal(err)
	}
	model, err := party.Accept(c, wire.Hash{}, agreed, made.Basis, g, graph)
	if err != nil {
		t.Fatal(err)
	}
	want, err := h.Scores(&z)
	if err != nil {
		t.Fatal(err)
	}
	return want, model
}

// learned trains the party's own model on made-up answers.
func learned(t *testing.T, c *contract.Contract, agreed party.Agreed, a, x secret.Matrix) (*mat.Dense, *onnx.Graph) {
	t.Helper()
	n, m := a.Dims()
	scores := mat.NewDense(n, 2, nil)
	for i := range n {
		p := 1 / (1 + math.Exp(-a.Reveal().At(i, 0)+a.Reveal().At(i, m-1)))
		scores.SetRow(i, []float64{1 - p, p})
	}
	model, _, err := party.Learn(t.Context(), c, wire.Hash{}, agreed, party.Answers{Scores: scores})
	if err != nil {
		t.Fatal(err)
	}
	learner, err := learn.New(c.LocalModel.Spec())
	if err != nil {
		t.Fatal(err)
	}
	h, err := learner.Fit(t.Context(), a.Reveal(), learn.Target{Values: scores})
	if err != nil {
		t.Fatal(err)
	}
	want, err := h.Scores(x.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	return want, model
}

// TestGaussianAnchor: an anchor of the pooled means and covariance lies where the rows
// lie, without which a party says what is missing, and its id changes with the moments.
func TestGaussianAnchor(t *testing.T) {
	pooled := strings.NewReplacer("missing: own", "missing: common", "missing: constant, fill: 75", "missing: mean")
	c, err := contract.ParseYAML([]byte(pooled.Replace(mixedYAML) + "standardise: range\nanchor: {kind: gaussian, rows: 4000}\n"))
	if err != nil {
		t.Fatal(err)
	}
	tab := read(t, c, mixed(80, rand.New(rand.NewPCG(7, 8))))
	agreed := party.Agreed{Seed: seed(t), Figures: figuresOf(c, tab)}
	floors := party.EffectiveFloors(c, nil)
	if _, err := party.Prepare(c, tab, floors, agreed, rand.NewChaCha8([32]byte{2})); err == nil || !strings.Contains(err.Error(), "the pooled moments are 0 × 0") {
		t.Fatalf("without moments: %v", err)
	}
	prep, err := c.Preparation(agreed.Figures)
	if err != nil {
		t.Fatal(err)
	}
	x := tab.Prepared(prep).Reveal()
	var moments mat.Dense
	moments.Mul(x.T(), x)
	moments.Scale(1.0/80, &moments)
	agreed.Moments = secret.NewMatrix(&moments)
	made, err := party.Prepare(c, tab, floors, agreed, rand.NewChaCha8([32]byte{2}))
	if err != nil {
		t.Fatal(err)
	}
	// Ã = A F and X̃ = X F up to order: their means agree to what 4,000 fixed draws leave. A
	// column of X within [−1, 1] has a deviation of 1 at most, that of a direction is at
	// most √9: 6 · 3/√4000 = 0.28.
	_, l := made.X.Dims()
	for j := range l {
		if d := mat.Sum(made.A.ColView(j))/4000 - mat.Sum(made.X.ColView(j))/80; math.Abs(d) > 0.28 {
			t.Errorf("column %d of the anchor's image has another mean than the rows', by %g", j, d)
		}
	}
	other := agreed
	other.Moments = secret.NewMatrix(mat.DenseCopyOf(&moments))
	other.Moments.Reveal().Set(0, 0, moments.At(0, 0)+1e-9)
	if agreed.ID(c) == other.ID(c) || agreed.ID(c) != made.Anchor {
		t.Error("the anchor's id does not name the moments")
	}
}
