package party_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/basis"
	"concord/contract"
	"concord/party"
	"concord/wire"
)

func nri(t *testing.T, more string) *contract.Contract {
	t.Helper()
	y := strings.NewReplacer("basis: {kind: %s, dim: 2}", "protocol: nri", "anchor: {kind: %s}", "anchor: {rows: 400}").Replace(yaml)
	c, err := contract.ParseYAML([]byte(y + more))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestPrepareNRI: nothing that Prepare returns holds the basis, a second time gives
// another one and another order, and X̃ and Ã are of one basis.
func TestPrepareNRI(t *testing.T) {
	for _, kind := range []string{"pca", "svd", "pca-perturbed", "scrambled", "random"} {
		c := nri(t, "basis: {kind: "+kind+", dim: 2}\n")
		tab := read(t, c, csv(40, rand.New(rand.NewPCG(1, 2))))
		one, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, basis.NewSource())
		if err != nil {
			t.Fatal(err)
		}
		if one.Basis != nil {
			t.Errorf("%s: the basis is still there", kind)
		}
		two, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, basis.NewSource())
		if err != nil {
			t.Fatal(err)
		}
		if mat.EqualApprox(one.A, two.A, 1e-3) || slices.Equal(one.Labels, two.Labels) {
			t.Errorf("%s: a second time gives the same again", kind)
		}
		// F from the anchor maps the rows to those of X̃, in some order.
		a, err := anchor.Generate(anchor.Spec{Kind: c.Anchor.Kind, Rows: c.Anchor.Rows}, seed(t), c.M())
		if err != nil {
			t.Fatal(err)
		}
		var f, want mat.Dense
		if err := f.Solve(a.Reveal(), one.A); err != nil {
			t.Fatal(err)
		}
		want.Mul(tab.Standardised().Reveal(), &f)
		n, _ := want.Dims()
		for i := range n {
			nearest := math.Inf(1)
			for k := range n {
				var d mat.VecDense
				d.SubVec(want.RowView(i), one.X.RowView(k))
				nearest = min(nearest, mat.Norm(&d, 2))
			}
			if nearest > 1e-10 {
				t.Fatalf("%s: row %d is nowhere in X̃, the nearest is %g away", kind, i+1, nearest)
			}
		}
	}
}

// TestLearn: answers that a plane divides are learned by every kind of model, from
// hard and from soft answers, and the graph takes raw features.
func TestLearn(t *testing.T) {
	for _, kind := range []string{"ridge", "logistic", "svm-linear", "mlp", "forest", "boosting"} {
		for _, how := range []string{"hard", "soft"} {
			c := nri(t, "answers: "+how+"\nlocal_model: {kind: "+kind+"}\n")
			a, err := anchor.Generate(anchor.Spec{Kind: c.Anchor.Kind, Rows: c.Anchor.Rows}, seed(t), c.M())
			if err != nil {
				t.Fatal(err)
			}
			var answers party.Answers
			scores := mat.NewDense(c.Anchor.Rows, 2, nil)
			for i := range c.Anchor.Rows {
				row := a.Reveal().RawRowView(i)
				p := 1 / (1 + math.Exp(-4*(row[0]-row[1])))
				scores.SetRow(i, []float64{1 - p, p})
				answers.Labels = append(answers.Labels, int64(math.Round(p)))
			}
			if how == "soft" {
				answers = party.Answers{Scores: scores}
			}
			graph, fit, err := party.Learn(t.Context(), c, wire.Hash{1}, party.Agreed{Seed: seed(t)}, answers)
			if err != nil {
				t.Fatalf("%s %s: %v", kind, how, err)
			}
			if fit.Rows == 0 || !slices.Equal(graph.Classes(), c.Label.Levels) || graph.Inputs() != c.M() {
				t.Errorf("%s %s: fit %+v, classes %v, %d inputs", kind, how, fit, graph.Classes(), graph.Inputs())
			}
			// a is 0 to 10 and b −1 to 1: standardised both are −1 to 1. Half a unit from
			// the plane every model knows.
			x := mat.NewDense(2, 4, []float64{8, -0.3, 150, 0.5, 2, 0.3, 150, 0.5})
			out, err := graph.Run(x)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(out.Labels, []int{1, 0}) {
				t.Errorf("%s %s: classes %v, want 1 and 0; scores %v", kind, how, out.Labels, mat.Formatted(out.Scores))
			}
		}
	}
}

// TestLearnNumber: answers to a study of a number are soft.
func TestLearnNumber(t *testing.T) {
	c := nri(t, "")
	c.Label = contract.Label{Name: "y", Type: "number"}
	c.Answers, c.LocalModel = "soft", &contract.Model{Kind: "ridge", Alpha: 1e-9}
	a, err := anchor.Generate(anchor.Spec{Kind: c.Anchor.Kind, Rows: c.Anchor.Rows}, seed(t), c.M())
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewDense(c.Anchor.Rows, 1, nil)
	for i := range c.Anchor.Rows {
		y.Set(i, 0, 3+2*a.Reveal().At(i, 3))
	}
	graph, _, err := party.Learn(t.Context(), c, wire.Hash{1}, party.Agreed{Seed: seed(t)}, party.Answers{Scores: y})
	if err != nil {
		t.Fatal(err)
	}
	out, err := graph.Run(mat.NewDense(1, 4, []float64{5, 0, 150, 1})) // d is 0 to 1: 1 is 1
	if err != nil {
		t.Fatal(err)
	}
	// Constants are float32.
	if got := out.Scores.At(0, 0); math.Abs(got-5) > 1e-5 {
		t.Errorf("the model says %g, want 5", got)
	}
}

func TestLearnRefuses(t *testing.T) {
	hard, soft := nri(t, ""), nri(t, "answers: soft\n")
	labels := make([]int64, 400)
	labels[3] = 1
	with := func(i int, k int64) []int64 {
		out := slices.Clone(labels)
		out[i] = k
		return out
	}
	bad := mat.NewDense(400, 2, nil)
	bad.Set(7, 1, math.NaN())
	for _, c := range []struct {
		c       *contract.Contract
		answers party.Answers
		want    string
	}{
		{hard, party.Answers{}, "0 classes, the anchor has 400 rows"},
		{hard, party.Answers{Labels: labels[:399]}, "399 classes, the anchor has 400 rows"},
		{hard, party.Answers{Labels: with(9, 2)}, "the answer to row 10 is none of the 2 classes"},
		{hard, party.Answers{Labels: with(9, -1)}, "the answer to row 10 is none of the 2 classes"},
		{hard, party.Answers{Labels: make([]int64, 400)}, `all 400 are the class "no", from which nothing can be learned`},
		{hard, party.Answers{Scores: bad}, "0 classes"},
		{soft, party.Answers{Labels: labels}, "there are no scores, the contract says that answers are soft"},
		{soft, party.Answers{Scores: mat.NewDense(400, 3, nil)}, "400 × 3 scores, must be 400 × 2"},
		{soft, party.Answers{Scores: bad}, "row 8, column 2 is not a finite number"},
		{soft, party.Answers{Scores: mat.NewDense(400, 2, nil)}, "the scores of all 400 rows are the same"},
	} {
		if _, _, err := party.Learn(t.Context(), c.c, wire.Hash{1}, party.Agreed{Seed: seed(t)}, c.answers); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// TestRegenerated: the report of nri tries to make the basis again and finds another.
func TestRegenerated(t *testing.T) {
	for _, kind := range []string{"pca", "pca-perturbed", "scrambled", "random"} {
		c := nri(t, "basis: {kind: "+kind+", dim: 3}\n")
		made, err := party.Prepare(c, read(t, c, csv(80, rand.New(rand.NewPCG(3, 4)))), party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{9}))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(made.Report.Findings, func(f party.Finding) bool { return f.Name == "regenerated-basis" })
		if i < 0 {
			t.Fatalf("%s: no finding among %+v", kind, made.Report.Findings)
		}
		if f := made.Report.Findings[i]; f.Warn || f.Value > 0.95 {
			t.Errorf("%s: %+v", kind, f)
		}
	}
}
