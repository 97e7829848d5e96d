package analyst_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/contract"
	"concord/linalg"
	"concord/wire"
)

func newContract(t *testing.T, more string) *contract.Contract {
	t.Helper()
	c, err := contract.ParseYAML([]byte(`
name: Test
parties: 3
features: [a, b, c, d]
label: {name: y, levels: [no, yes], positive: yes}
basis: {kind: svd, dim: 3}
anchor: {kind: uniform, rows: 20}
` + more))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// parts simulates three parties with F_i = V E_i, one span and orthogonal E_i,
// on rows whose class follows the first feature.
func parts(rnd *rand.ChaCha8) []analyst.Contribution {
	anchor := linalg.Normal(20, 4, rnd)
	v := linalg.Stiefel(4, 3, rnd)
	out := make([]analyst.Contribution, 3)
	for i := range out {
		var f mat.Dense
		f.Mul(v, linalg.Haar(3, rnd))
		x := linalg.Normal(30, 4, rnd)
		labels := make([]int64, 30)
		for r := range labels {
			if x.At(r, 0)+0.5*x.At(r, 1) > 0 {
				labels[r] = 1
			}
		}
		p := analyst.Contribution{Party: string(rune('A' + i)), X: new(mat.Dense), A: new(mat.Dense), Labels: labels, Anchor: wire.Hash{7}}
		p.X.Mul(x, &f)
		p.A.Mul(anchor, &f)
		out[i] = p
	}
	return out
}

func TestAlignAndTrain(t *testing.T) {
	for _, more := range []string{
		"alignment: {method: odc}\n",
		"alignment: {method: odc, target: random}\n",
		"alignment: {method: ls}\nmodel: {kind: ridge}\n",
		"alignment: {method: ls, target: sigma}\n",
		"alignment: {method: gep}\n",
		"alignment: {method: opp}\n",
		"alignment: {method: gopp}\n",
		"alignment: {method: rdp}\n",
	} {
		c := newContract(t, more)
		ps := parts(rand.NewChaCha8([32]byte{1}))
		g, err := analyst.Align(c, wire.Hash{1}, ps)
		if err != nil {
			t.Fatal(err)
		}
		// One span, one anchor: the aligned anchors agree ([nosaka2025], theorems III.3 and IV.3).
		var first mat.Dense
		first.Mul(ps[0].A, g.G[0])
		for i := range ps {
			var other mat.Dense
			other.Mul(ps[i].A, g.G[i])
			// 20 × 3 products of order-one numbers: rounding stays below 10⁻¹².
			if !mat.EqualApprox(&first, &other, 1e-10) {
				t.Errorf("%s: party %d is not aligned with party 1", more, i+1)
			}
		}
		trained, err := analyst.Train(t.Context(), c, wire.Hash{1}, ps, g)
		if err != nil {
			t.Fatal(err)
		}
		if trained.Outcome.Rows != 90 || len(trained.Outcome.Metrics) != 2 {
			t.Errorf("%s: outcome %+v", more, trained.Outcome)
		}
		// The label follows two of four features, three directions of which are
		// kept: guessing gives 0.5.
		if auc := trained.Outcome.Metrics[0]; auc.Name != "roc_auc" || auc.Value < 0.7 {
			t.Errorf("%s: %s is %.3f", more, auc.Name, auc.Value)
		}
		again, err := analyst.Train(t.Context(), c, wire.Hash{1}, ps, g)
		if err != nil {
			t.Fatal(err)
		}
		if again.Outcome.Metrics[0] != trained.Outcome.Metrics[0] {
			t.Errorf("%s: training twice gives two figures", more)
		}
	}
}

// TestOutweighed: LS with the identity target gives columns of unit length over
// the anchor's rows, which a penalty of ridge's size flattens; that is said.
func TestOutweighed(t *testing.T) {
	for _, tc := range []struct {
		more string
		want bool
	}{
		{"alignment: {method: ls, target: identity}\nmodel: {kind: ridge, alpha: 1000}\n", true},
		{"alignment: {method: ls, target: sigma}\nmodel: {kind: ridge, alpha: 0.01}\n", false},
		{"alignment: {method: odc}\n", false},
	} {
		c := newContract(t, tc.more)
		ps := parts(rand.NewChaCha8([32]byte{5}))
		g, err := analyst.Align(c, wire.Hash{1}, ps)
		if err != nil {
			t.Fatal(err)
		}
		trained, err := analyst.Train(t.Context(), c, wire.Hash{1}, ps, g)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(strings.Join(trained.Outcome.Notes, "\n"), "outweighs the data"); got != tc.want {
			t.Errorf("%s: notes %q", tc.more, trained.Outcome.Notes)
		}
	}
}

func TestRegression(t *testing.T) {
	c := newContract(t, "")
	c.Label = contract.Label{Name: "y", Type: "number"}
	c.Model = contract.Model{Kind: "ridge", Alpha: 1}
	c.Metrics = []string{"rmse", "r2"}
	c.Floors.PerClass = 0
	ps := parts(rand.NewChaCha8([32]byte{2}))
	for i := range ps {
		ps[i].Labels = nil
		ps[i].Values = mat.NewDense(30, 1, nil)
		for r := range 30 {
			ps[i].Values.Set(r, 0, 3*mat.Norm(ps[i].A, 2)) // constant: R2 is 0 or below
		}
	}
	g, err := analyst.Align(c, wire.Hash{1}, ps)
	if err != nil {
		t.Fatal(err)
	}
	trained, err := analyst.Train(t.Context(), c, wire.Hash{1}, ps, g)
	if err != nil {
		t.Fatal(err)
	}
	if len(trained.Outcome.Metrics)+len(trained.Outcome.Notes) < 2 {
		t.Errorf("outcome %+v neither measures nor says why not", trained.Outcome)
	}
	if _, err := trained.Outcome.Encode(); err != nil {
		t.Errorf("the outcome does not encode: %v", err)
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		name, problem string
		change        func([]analyst.Contribution) []analyst.Contribution
	}{
		{"one party alone", "1 contributions; a collaboration needs 2", func(p []analyst.Contribution) []analyst.Contribution { return p[:1] }},
		{"another anchor", "different anchors: A, C used 070000000000; B used 080000000000; setup must be repeated",
			func(p []analyst.Contribution) []analyst.Contribution { p[1].Anchor = wire.Hash{8}; return p }},
		{"X too wide", `"B": X is 30 × 4 and A is 20 × 3, the contract says 3 columns`,
			func(p []analyst.Contribution) []analyst.Contribution { p[1].X = mat.NewDense(30, 4, nil); return p }},
		{"A too short", `"A": A has 19 rows, the contract says 20`,
			func(p []analyst.Contribution) []analyst.Contribution { p[0].A = mat.NewDense(19, 3, nil); return p }},
		{"few rows", `"C": X has 5 rows, the contract says 10 to 1000000`,
			func(p []analyst.Contribution) []analyst.Contribution {
				p[2].X, p[2].Labels = mat.NewDense(5, 3, nil), p[2].Labels[:5]
				return p
			}},
		{"NaN", `"A": X: `, func(p []analyst.Contribution) []analyst.Contribution { p[0].X.Set(3, 1, math.NaN()); return p }},
		{"Inf", `"A": A: `, func(p []analyst.Contribution) []analyst.Contribution { p[0].A.Set(3, 1, math.Inf(1)); return p }},
		{"labels missing", `"A": Y has 29 labels, X has 30 rows`,
			func(p []analyst.Contribution) []analyst.Contribution { p[0].Labels = p[0].Labels[:29]; return p }},
		{"unknown class", `"A": the label of row 4 is none of the 2 classes`,
			func(p []analyst.Contribution) []analyst.Contribution { p[0].Labels[3] = 2; return p }},
		{"negative class", `"A": the label of row 4 is none of the 2 classes`,
			func(p []analyst.Contribution) []analyst.Contribution { p[0].Labels[3] = -1; return p }},
		{"below the class floor", `class "yes" has 0 rows, the floor is 3`,
			func(p []analyst.Contribution) []analyst.Contribution { clear(p[0].Labels); return p }},
	} {
		_, err := analyst.Align(newContract(t, ""), wire.Hash{1}, tc.change(parts(rand.NewChaCha8([32]byte{3}))))
		if err == nil || !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%s: error is %v, want %q", tc.name, err, tc.problem)
		}
	}
}

func TestTrainStops(t *testing.T) {
	c := newContract(t, "")
	ps := parts(rand.NewChaCha8([32]byte{4}))
	g, err := analyst.Align(c, wire.Hash{1}, ps)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := analyst.Train(ctx, c, wire.Hash{1}, ps, g); !errors.Is(err, context.Canceled) {
		t.Errorf("Train with an ended context = %v", err)
	}
}

// TestTrainTooLarge: what could not be written to a file is refused after the
// first fit, with what in the contract would help.
func TestTrainTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	rnd := rand.NewChaCha8([32]byte{6})
	train := func(more string, change func(*analyst.Contribution)) error {
		t.Helper()
		c := newContract(t, more)
		ps := parts(rnd)
		for i := range ps {
			change(&ps[i])
		}
		g, err := analyst.Align(c, wire.Hash{1}, ps)
		if err != nil {
			t.Fatal(err)
		}
		_, err = analyst.Train(t.Context(), c, wire.Hash{1}, ps, g)
		return err
	}

	// Labels that follow nothing: about 2,000 nodes for each of up to 10,000 trees.
	err := train("model: {kind: forest, trees: 10000}\n", func(p *analyst.Contribution) {
		p.X = linalg.Normal(1200, 3, rnd)
		p.Labels = make([]int64, 1200)
		for i := range p.Labels {
			p.Labels[i] = int64(rnd.Uint64() % 2)
		}
	})
	for _, want := range []string{"10000 trees of 3600 rows have more than 4194304 nodes", "larger model.min_leaf (1), a model.max_depth or fewer model.trees"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}

	// Coefficients of about 1e42, more than float32 holds.
	err = train("model: {kind: ridge, alpha: 1e-90}\n", func(p *analyst.Contribution) { p.X.Scale(1e-42, p.X) })
	if want := "analyst: the model cannot become a file: onnx: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
