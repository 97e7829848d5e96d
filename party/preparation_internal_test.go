package party

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/learn"
	"concord/onnx"
	"concord/wire"
)

// schema draws a contract of p features of all types and rules, pooled figures that fit
// it, and n raw rows in which values are missing where a rule fills them.
func schema(rnd *rand.Rand, p, n int) (*contract.Contract, *contract.Figures, *mat.Dense) {
	c := &contract.Contract{
		Name: "random", Standardise: []string{"range", "pooled", "none"}[rnd.IntN(3)], MissingValues: []string{"NA"},
		Label: contract.Label{Name: "label", Type: "number"},
	}
	types := []string{contract.Numeric, contract.Category, contract.Boolean, contract.Ordinal, contract.Date}
	figures := &contract.Figures{Version: 1, Sites: 4, Rows: 1000}
	x := mat.NewDense(n, p, nil)
	for j := range p {
		f := contract.Feature{Name: fmt.Sprint([]string{"f", `"q" \'`, "größe 身長 ", "a/b:c", "{0}"}[rnd.IntN(5)], j), Type: types[rnd.IntN(len(types))]}
		lo := math.Ldexp(rnd.Float64()-0.5, rnd.IntN(12))
		hi := lo + math.Ldexp(1+rnd.Float64(), rnd.IntN(8)-2)
		if rnd.IntN(3) == 0 { // below zero
			lo, hi = -math.Abs(hi)-math.Abs(lo)-1, -math.Abs(lo)/2
		}
		switch f.Type {
		case contract.Numeric:
			f.Range = &contract.Range{Min: lo, Max: hi}
		case contract.Date:
			f.As, f.From, f.Layout, f.Range = []string{"days", "age"}[rnd.IntN(2)], "2000-02-29", "DD.MM.YYYY", &contract.Range{Min: lo, Max: hi}
		case contract.Category, contract.Ordinal:
			for k := range 2 + rnd.IntN(5) {
				f.Levels = append(f.Levels, fmt.Sprint([]string{"l", `"`, "ä–", "<b>&", "no, "}[rnd.IntN(5)], k))
			}
		case contract.Boolean:
			if rnd.IntN(2) == 0 {
				f.Levels = []string{`no "0"`, "ja ✓"}
			}
		}
		rules := map[string][]string{
			contract.Numeric: {"", "mean", "constant"}, contract.Date: {"", "mean", "constant"}, contract.Category: {"", "common", "own", "constant"},
			contract.Boolean: {"", "mean", "common", "constant"}, contract.Ordinal: {"", "mean", "common", "constant"},
		}[f.Type]
		f.Missing = rules[rnd.IntN(len(rules))]
		of := contract.FeatureFigures{Count: 1000}
		if f.Missing != "" {
			of.Missing = rnd.Int64N(500)
			of.Count -= of.Missing
		}
		levels := len(f.Spellings())
		value := func() float64 { return lo + (hi-lo)*rnd.Float64() }
		if levels > 0 {
			value = func() float64 { return float64(rnd.IntN(levels)) }
			of.Levels = make([]int64, levels)
			for range of.Count {
				of.Levels[rnd.IntN(levels)]++
			}
		} else {
			of.Mean, of.Variance = value(), (hi-lo)*(hi-lo)*rnd.Float64()/12
		}
		if f.Missing == "constant" {
			v := value()
			f.Fill = &v
		}
		for i := range n {
			x.Set(i, j, value())
			if f.Missing != "" && rnd.IntN(3) == 0 {
				x.Set(i, j, math.NaN())
			}
		}
		c.Features, figures.Features = append(c.Features, f), append(figures.Features, of)
	}
	return c, figures, x
}

// showing is a model whose scores are its inputs.
func showing(t *testing.T, c *contract.Contract, figures *contract.Figures) (*contract.Preparation, *onnx.Graph) {
	t.Helper()
	prep, err := Agreed{Figures: figures}.preparation(c)
	if err != nil {
		t.Fatal(err)
	}
	m := prep.M()
	if m != c.M() {
		t.Fatalf("%d columns are prepared, the contract has %d", m, c.M())
	}
	identity := mat.NewDense(m, m, nil)
	for j := range m {
		identity.Set(j, j, 1)
	}
	h, err := onnx.FromModel(&learn.Linear{Kind: "ridge", Link: "identity", W: identity, B: make([]float64, m)})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := onnx.Assemble(front(prep), h)
	if err != nil {
		t.Fatal(err)
	}
	if graph, err = graph.WithMeta(meta(c, wire.Hash{})); err != nil {
		t.Fatal(err)
	}
	return prep, graph
}

// allowed is what a column may differ by between float64 and float32: each of the four
// numbers of (x − c)/s is rounded once, and each of three results, by 2⁻²⁴ of itself.
func allowed(c *contract.Contract, prep *contract.Preparation, raw []float64, column int) float64 {
	of := c.Columns()[column]
	x := 1.0
	if of.Level < 0 {
		if x = raw[of.Feature]; math.IsNaN(x) {
			x = prep.Fill[of.Feature]
		}
	}
	return 8 * 0x1p-24 * ((math.Abs(x)+math.Abs(prep.Centre[column]))/prep.Scale[column] + 1)
}

// TestPreparationTravels: for random schemas the graph makes of raw rows what the party
// makes of them, to the precision of float32; it says how a row is coded; and it comes
// back from its bytes.
func TestPreparationTravels(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		c, figures, x := schema(rnd, 2+rnd.IntN(8), 30)
		prep, graph := showing(t, c, figures)
		if graph.Inputs() != len(c.Features) {
			t.Fatalf("seed %d: the graph takes %d inputs for %d features", seed, graph.Inputs(), len(c.Features))
		}
		graph, err := onnx.Decode(graph.Encode())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got, err := graph.Run(x)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := make([]float64, prep.M())
		for i := range 30 {
			prep.Row(want, x.RawRowView(i))
			for k, v := range want {
				if d := math.Abs(got.Scores.At(i, k) - v); !(d <= allowed(c, prep, x.RawRowView(i), k)) {
					t.Fatalf("seed %d: column %q of row %d is off by %g", seed, c.Columns()[k].Name, i, d)
				}
			}
		}
		m := graph.Meta()
		for j, f := range c.Features {
			if m.Coding[j].Type != f.Type || m.Coding[j].Layout != f.Layout || (m.Coding[j].Missing == "refuse") != (f.Missing == "") {
				t.Fatalf("seed %d: feature %d is coded as %+v", seed, j, m.Coding[j])
			}
			levels := f.Indexed()
			if levels == 0 {
				levels = len(f.Spellings())
			}
			if len(m.Levels[j]) != levels {
				t.Fatalf("seed %d: feature %d has levels %q", seed, j, m.Levels[j])
			}
		}
		if m.MissingCells[0] != "NA" {
			t.Fatalf("seed %d: the cells that mean missing are %q", seed, m.MissingCells)
		}
	}
}

// TestPooledPreparation: rows prepared by their own figures have mean 0 and variance 1 in
// every column that varies, gaps filled.
func TestPooledPreparation(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 88))
		const n = 200
		c, figures, x := schema(rnd, 2+rnd.IntN(6), n)
		c.Standardise = "pooled"
		figures.Rows = n
		for j, f := range c.Features {
			of := contract.FeatureFigures{}
			if len(f.Spellings()) > 0 {
				of.Levels = make([]int64, len(f.Spellings()))
			}
			values := present(x, j)
			of.Count, of.Missing = int64(len(values)), int64(n-len(values))
			for _, v := range values {
				if of.Levels != nil {
					of.Levels[int(v)]++
				} else {
					of.Mean += v / float64(len(values))
				}
			}
			for _, v := range values {
				if of.Levels == nil {
					of.Variance += (v - of.Mean) * (v - of.Mean) / float64(len(values))
				}
			}
			figures.Features[j] = of
		}
		prep, err := c.Preparation(figures)
		if err != nil {
			t.Fatal(err)
		}
		mean, square := make([]float64, prep.M()), make([]float64, prep.M())
		row := make([]float64, prep.M())
		for i := range n {
			prep.Row(row, x.RawRowView(i))
			for k, v := range row {
				mean[k] += v / n
				square[k] += v * v / n
			}
		}
		ranged := *c
		ranged.Standardise = "range"
		means, err := ranged.PooledMeans(figures)
		if err != nil {
			t.Fatal(err)
		}
		if prep, err = ranged.Preparation(figures); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			prep.Row(row, x.RawRowView(i))
			for k, v := range row {
				means[k] -= v / n
			}
		}
		for k := range row {
			if math.Abs(means[k]) > 1e-8 { // of numbers up to 2¹¹ over 2⁻²
				t.Fatalf("seed %d: the pooled mean of column %q is off by %g", seed, c.Columns()[k].Name, means[k])
			}
		}
		if prep, err = c.Preparation(figures); err != nil {
			t.Fatal(err)
		}
		for k := range row {
			constant := square[k] < 1e-20 && prep.Scale[k] == 1
			// Sums of 200 numbers, centred on means of up to 2¹¹ in units of 2⁻² and less.
			if math.Abs(mean[k]) > 1e-8 || !constant && math.Abs(square[k]-1) > 1e-8 {
				t.Fatalf("seed %d: column %q has mean %g and mean square %g", seed, c.Columns()[k].Name, mean[k], square[k])
			}
		}
	}
}
