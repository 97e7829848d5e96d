package party_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/anchor"
	"concord/basis"
	"concord/contract"
	"concord/learn"
	"concord/onnx"
	"concord/party"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

const yaml = `
name: Test
parties: 2
features:
  - {name: a, range: [0, 10]}
  - {name: b, range: [-1, 1]}
  - {name: c, range: [100, 200]}
  - {name: d, range: [0, 1]}
label: {name: y, levels: [no, yes], positive: yes}
basis: {kind: %s, dim: 2}
anchor: {kind: %s}
`

func newContract(t *testing.T, basisKind, anchorKind string) *contract.Contract {
	t.Helper()
	c, err := contract.ParseYAML(fmt.Appendf(nil, yaml, basisKind, anchorKind))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// csv makes n rows inside the ranges, n ≥ 6, a third of them positive.
func csv(n int, rnd *rand.Rand) string {
	var b strings.Builder
	b.WriteString("a,b,c,d,y\n")
	for i := range n {
		label := "no"
		if i%3 == 0 {
			label = "yes"
		}
		fmt.Fprintf(&b, "%g,%g,%g,%g,%s\n", 10*rnd.Float64(), 2*rnd.Float64()-1, 100+100*rnd.Float64(), rnd.Float64(), label)
	}
	return b.String()
}

func read(t *testing.T, c *contract.Contract, text string) *table.Table {
	t.Helper()
	tab, err := table.ReadCSV(strings.NewReader(text), "test.csv", c, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func seed(t *testing.T) anchor.Seed {
	t.Helper()
	s, err := anchor.SeedFromBytes(secret.NewBytes([]byte("0123456789abcdef0123456789abcdef")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestPrepare checks the definition: Ã = A F, and X̃ holds every standardised
// row through F exactly once, with that row's label.
func TestPrepare(t *testing.T) {
	for _, basisKind := range []string{"svd", "pca"} {
		for _, anchorKind := range []string{"uniform", "orthonormal"} {
			t.Run(basisKind+"/"+anchorKind, func(t *testing.T) {
				c := newContract(t, basisKind, anchorKind)
				tab := read(t, c, csv(40, rand.New(rand.NewPCG(1, 2))))
				got, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{1}))
				if err != nil {
					t.Fatal(err)
				}
				a, err := anchor.Generate(anchor.Spec{Kind: c.Anchor.Kind, Rows: c.Anchor.Rows}, seed(t), c.M())
				if err != nil {
					t.Fatal(err)
				}
				if !mat.Equal(got.A, got.Basis.Project(a)) {
					t.Error("A is not the anchor through the basis")
				}
				if got.Anchor != wire.Hash(seed(t).ID()) {
					t.Error("the anchor id is another seed's")
				}
				want := got.Basis.Project(tab.Standardised())
				labels := tab.Labels()
				var order []int
				for i := range labels {
					at := -1
					for k := range labels {
						if slices.Equal(want.RawRowView(i), got.X.RawRowView(k)) {
							at = k
						}
					}
					if at < 0 {
						t.Fatalf("row %d does not appear in X", i+1)
					}
					if got.Labels[at] != int64(labels[i]) {
						t.Errorf("row %d lost its label", i+1)
					}
					order = append(order, at)
				}
				sorted := slices.Clone(order)
				slices.Sort(sorted)
				if len(slices.Compact(sorted)) != len(labels) {
					t.Error("a row appears twice")
				}
				// 40! orders: the identity comes up with probability 10⁻⁴⁸.
				if slices.IsSorted(order) {
					t.Error("the rows are in the file's order")
				}
				if got.Report.Rows != 40 || !slices.Equal(got.Report.Classes, []int{26, 14}) {
					t.Errorf("report %+v", got.Report)
				}
			})
		}
	}
}

// TestPrepareTwice: a second basis is another one, though the span is the same.
func TestPrepareTwice(t *testing.T) {
	c := newContract(t, "svd", "uniform")
	tab := read(t, c, csv(40, rand.New(rand.NewPCG(1, 2))))
	one, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, basis.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	two, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, basis.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	if mat.EqualApprox(one.A, two.A, 1e-6) {
		t.Error("two preparations gave one basis")
	}
}

// TestExposure: where one feature varies far more than the others together, the
// first principal component of what leaves is that feature, whatever the basis.
func TestExposure(t *testing.T) {
	c := newContract(t, "svd", "uniform")
	for j := 1; j < 4; j++ { // ranges a hundred times too wide flatten b, c and d
		r := c.Features[j].Range
		mid, half := (r.Max+r.Min)/2, (r.Max-r.Min)/2
		c.Features[j].Range = &contract.Range{Min: mid - 100*half, Max: mid + 100*half}
	}
	made, err := party.Prepare(c, read(t, c, csv(200, rand.New(rand.NewPCG(7, 8)))), party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{3}))
	if err != nil {
		t.Fatal(err)
	}
	// The others' share of the variance is 3·10⁻⁴: the correlation misses 1 by
	// about half of that.
	if got := made.Report.Exposed[0]; got.Feature != "a" || got.Correlation < 0.999 {
		t.Errorf("most exposed is %+v, want a with a correlation near 1", got)
	}
}

func TestFloors(t *testing.T) {
	c := newContract(t, "svd", "uniform")
	rnd := rand.New(rand.NewPCG(3, 4))
	few := csv(6, rnd)
	oneClass := strings.ReplaceAll(csv(12, rnd), "yes", "no")
	for _, tc := range []struct{ name, text, problem string }{
		{"rows and class", few, "the table has 6 rows, the floor of the contract is 10\nparty: class \"yes\" has 2 rows, the floor of the contract is 3"},
		{"one class", oneClass, `class "yes" has 0 rows, the floor of the contract is 3`},
	} {
		_, err := party.Prepare(c, read(t, c, tc.text), party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{}))
		var floor *party.FloorError
		if !errors.As(err, &floor) || !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%s: error is %v, want a FloorError with %q", tc.name, err, tc.problem)
		}
	}
}

// TestConstantFeature: the error gives the file and the column.
func TestConstantFeature(t *testing.T) {
	c := newContract(t, "svd", "uniform")
	rnd := rand.New(rand.NewPCG(3, 4))
	text := "y,b,c,a,d\n"
	for i := range 12 {
		text += fmt.Sprintf("%s,%g,%g,5,%g\n", []string{"no", "yes"}[i%2], rnd.Float64(), 150+rnd.Float64(), rnd.Float64())
	}
	_, err := party.Prepare(c, read(t, c, text), party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{}))
	const want = "test.csv: column 4 (a): the feature has the same value in all 12 rows"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %q", err, want)
	}
}

// TestAcceptIsTheComposition compares the one graph with its parts applied one
// after the other. The graph holds float32 weights: with four inputs of order
// one, 10⁻⁵ is a hundred roundings.
func TestAcceptIsTheComposition(t *testing.T) {
	c := newContract(t, "svd", "orthonormal")
	tab := read(t, c, csv(60, rand.New(rand.NewPCG(5, 6))))
	made, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{2}))
	if err != nil {
		t.Fatal(err)
	}
	g := mat.NewDense(2, 2, []float64{0.6, -0.8, 0.8, 0.6})
	var z mat.Dense
	z.Mul(made.Basis.Project(tab.Standardised()), g)
	learner, err := learn.New(learn.Spec{Kind: "logistic"})
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
	model, err := party.Accept(c, wire.Hash{}, party.Agreed{}, made.Basis, g, graph)
	if err != nil {
		t.Fatal(err)
	}
	got, err := model.Run(tab.X().Reveal())
	if err != nil {
		t.Fatal(err)
	}
	want, err := h.Scores(&z)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(got.Scores, want, 1e-5) {
		t.Error("the graph scores otherwise than its parts")
	}

	for _, bad := range []struct {
		name, problem string
		g             *mat.Dense
	}{
		{"G too short", "G is 1 × 2, the basis has 2 columns", mat.NewDense(1, 2, nil)},
		{"G too wide", "the model takes 2 inputs, G is 2 × 3", mat.NewDense(2, 3, nil)},
		{"G not finite", "G:", mat.NewDense(2, 2, []float64{1, math.NaN(), 0, 1})},
	} {
		if _, err := party.Accept(c, wire.Hash{}, party.Agreed{}, made.Basis, bad.g, graph); err == nil || !strings.Contains(err.Error(), bad.problem) {
			t.Errorf("%s: error is %v, want %q", bad.name, err, bad.problem)
		}
	}
	three := *c
	three.Label.Levels = []string{"no", "yes", "maybe"}
	if _, err := party.Accept(&three, wire.Hash{}, party.Agreed{}, made.Basis, g, graph); err == nil {
		t.Error("a model of two classes was accepted for three")
	}
}

// TestAcceptRefusesRows: no model that contains training rows is taken under dc.
func TestAcceptRefusesRows(t *testing.T) {
	c := newContract(t, "svd", "orthonormal")
	tab := read(t, c, csv(60, rand.New(rand.NewPCG(5, 6))))
	made, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{2}))
	if err != nil {
		t.Fatal(err)
	}
	g := mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	y := learn.Target{Classes: c.Label.Levels, Labels: tab.Labels()}
	for _, kind := range learn.Kinds() {
		learner, err := learn.New(learn.Spec{Kind: kind})
		if err != nil {
			t.Fatal(err)
		}
		h, err := learner.Fit(t.Context(), made.Basis.Project(tab.Standardised()), y)
		if err != nil {
			t.Fatal(err)
		}
		graph, err := onnx.FromModel(h)
		if err != nil {
			t.Fatal(err)
		}
		_, err = party.Accept(c, wire.Hash{}, party.Agreed{}, made.Basis, g, graph)
		if learner.CarriesRows() {
			if err == nil || !strings.Contains(err.Error(), "training rows") {
				t.Errorf("%s: error is %v, want a refusal", kind, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestCommonRandom: directions of a common random basis are the same for all parties, of
// whatever rows, and mixed by each for itself; another seed has others.
func TestCommonRandom(t *testing.T) {
	c := newContract(t, "common-random", "uniform")
	other, err := anchor.SeedFromBytes(secret.NewBytes([]byte("another 32 bytes that are a seed")))
	if err != nil {
		t.Fatal(err)
	}
	var f []*mat.Dense
	for i, s := range []anchor.Seed{seed(t), seed(t), other} {
		tab := read(t, c, csv(40, rand.New(rand.NewPCG(uint64(i), 2))))
		made, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: s}, basis.NewSource())
		if err != nil {
			t.Fatal(err)
		}
		f = append(f, made.Basis.Matrix().Reveal())
	}
	for i, want := range []float64{2, 0} { // FᵀF' F'ᵀF has trace l for the same span
		var cross mat.Dense
		cross.Mul(f[0].T(), f[i+1])
		same := mat.Norm(&cross, 2)
		if got := same * same; want == 2 && math.Abs(got-2) > 1e-12 || want == 0 && got > 1.999 {
			t.Errorf("basis 1 and %d share %.3f of 2 directions", i+2, got)
		}
	}
	if mat.EqualApprox(f[0], f[1], 1e-3) {
		t.Error("two parties have the same basis")
	}
}
