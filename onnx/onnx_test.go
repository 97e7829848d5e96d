package onnx_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/learn"
	"concord/onnx"
	"concord/secret"
)

func normal(src *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(int, int, float64) float64 { return src.NormFloat64() }, x)
	return x
}

func names(stem string, k int) []string {
	s := make([]string, k)
	for i := range s {
		s[i] = fmt.Sprintf("%s%d", stem, i)
	}
	return s
}

// model makes a linear model of d inputs by hand, with weights of order 1/√d
// so that scores are of order 1.
func model(src *rand.Rand, link learn.Link, d, k int) *learn.Linear {
	columns := k
	if link == learn.Sigmoid {
		columns = 1
	}
	m := &learn.Linear{Kind: "test", W: normal(src, d, columns), Link: link, B: normal(src, 1, columns).RawRowView(0)}
	m.W.Scale(1/math.Sqrt(float64(d)), m.W)
	if link != learn.Identity {
		m.Levels = names("class ", k)
	}
	return m
}

// front makes a party's part: features of unlike scales, F and G.
func front(src *rand.Rand, m, l, d int) onnx.Front {
	f := onnx.Front{
		Centre: make([]float64, m), Scale: make([]float64, m),
		F: secret.NewMatrix(normal(src, m, l)), G: normal(src, l, d),
	}
	f.F.Reveal().Scale(1/math.Sqrt(float64(m)), f.F.Reveal())
	f.G.Scale(1/math.Sqrt(float64(l)), f.G)
	for j := range m {
		f.Scale[j] = math.Pow(10, float64(j%5)-2)
		f.Centre[j] = 3 * src.NormFloat64() * f.Scale[j]
	}
	return f
}

// rows draws n rows that standardise to order 1, rounded to float32 so that
// rounding the input plays no part in comparisons.
func rows(src *rand.Rand, n int, f onnx.Front) *mat.Dense {
	x := normal(src, n, len(f.Centre))
	x.Apply(func(_, j int, v float64) float64 { return float64(float32(v*f.Scale[j] + f.Centre[j])) }, x)
	return x
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// graphs are the models of the frozen files, which were made by this function:
// linear models alone and assembled, of every link, and one of each other kind,
// the last behind gaps and levels.
func graphs() (names []string, gs []*onnx.Graph, xs []*mat.Dense) {
	src := rand.New(rand.NewPCG(20240503, 1))
	for _, c := range []struct {
		link       learn.Link
		m, l, d, k int
	}{
		{learn.Sigmoid, 30, 8, 8, 2},
		{learn.Softmax, 12, 5, 7, 4},
		{learn.Identity, 6, 3, 3, 2},
	} {
		h := must(onnx.FromModel(model(src, c.link, c.d, c.k)))
		names, gs, xs = append(names, string(c.link)), append(gs, h), append(xs, normal(src, 5, c.d))
		f := front(src, c.m, c.l, c.d)
		g := must(onnx.Assemble(f, h))
		g = must(g.WithMeta(onnx.Meta{Study: "a study", Contract: strings.Repeat("0f", 32), Features: featureNames(c.m), Label: "outcome"}))
		names, gs, xs = append(names, string(c.link)+"-assembled"), append(gs, g), append(xs, rows(src, 5, f))
	}
	for _, c := range []struct {
		name string
		l    learn.Learner
		k    int
	}{
		{"network", learn.MLP{Hidden: []int{5, 4}, Epochs: 20}, 3},
		{"kernel", learn.SVM{}, 3},
		{"neighbours", learn.KNN{Neighbours: 3}, 3},
		{"forest", learn.Forest{Trees: 8}, 3},
		{"boosting", learn.Boosting{MaxIter: 5, MinLeaf: 3}, 2},
		{"regression", learn.Forest{Trees: 4, MinLeaf: 4}, 0},
	} {
		x := normal(src, 40, 3)
		y := learn.Target{Values: normal(src, 40, 2)}
		if c.k > 0 {
			y = learn.Target{Classes: []string{"low", "middle", "high"}[:c.k]}
			for i := range 40 {
				y.Labels = append(y.Labels, min(max(int(x.At(i, 0)+x.At(i, 1)+1), 0), c.k-1))
			}
		}
		h := must(onnx.FromModel(must(c.l.Fit(context.Background(), x, y))))
		names, gs, xs = append(names, c.name), append(gs, h), append(xs, normal(src, 5, 3))
	}
	h := gs[len(gs)-1]
	f := onnx.Front{
		Fill: []float64{math.NaN(), 1, 0.25}, Levels: []int{0, 3, 0}, Centre: []float64{0.5, 0, 0, 0, -1}, Scale: []float64{1, 1, 1, 1, 4},
		F: secret.NewMatrix(normal(src, 5, 3)), G: normal(src, 3, 3),
	}
	g := must(must(onnx.Assemble(f, h)).WithMeta(onnx.Meta{
		Study: "a study", Features: []string{"age", "ward", "dose"}, Levels: [][]string{nil, {"a", "b", "c"}, nil}, Units: []string{"a", "", "mg"},
	}))
	x := normal(src, 5, 3)
	for i := range 5 {
		x.Set(i, 1, float64(i%3))
	}
	x.Set(1, 1, math.NaN())
	x.Set(3, 2, math.NaN())
	names, gs, xs = append(names, "pipeline"), append(gs, g), append(xs, x)
	for _, x := range xs {
		x.Apply(func(_, _ int, v float64) float64 { return float64(float32(v)) }, x)
	}
	return names, gs, xs
}

func featureNames(m int) []string { return names("feature ", m) }

var update = flag.Bool("update", false, "write the frozen models that are not there yet, and their inputs")

// TestFrozen reads the frozen files and compares with what ONNX Runtime made of
// them: testdata/known.json, see testdata/README.md.
func TestFrozen(t *testing.T) {
	known := onnx.ReadKnown(t)
	if *update {
		names, gs, xs := graphs()
		for i, g := range gs {
			if known.Has(names[i]) {
				continue
			}
			if err := os.WriteFile(filepath.Join("testdata", names[i]+".onnx"), g.Encode(), 0o644); err != nil {
				t.Fatal(err)
			}
			known.Add(names[i], xs[i])
		}
		known.Write(t)
		return
	}
	if len(known.Cases) != 13 {
		t.Fatalf("%d cases, want 13", len(known.Cases))
	}
	for _, c := range known.Cases {
		t.Run(c.Name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", c.Name+".onnx"))
			if err != nil {
				t.Fatal(err)
			}
			g := c.Graph(t)
			if !bytes.Equal(g.Encode(), data) {
				t.Error("encoding the decoded file gives other bytes")
			}
			out, err := g.Run(c.Rows())
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Scores) != len(c.X) || len(c.X) == 0 {
				t.Fatalf("%d rows have stored scores, want %d", len(c.Scores), len(c.X))
			}
			if !slices.Equal(out.Labels, c.Label) {
				t.Errorf("labels %v, ONNX Runtime has %v", out.Labels, c.Label)
			}
			for i, row := range c.Scores {
				for j, want := range row {
					// See the package comment on precision.
					if got := out.Scores.At(i, j); math.Abs(got-want) > 1e-5*max(1, math.Abs(want)) {
						t.Errorf("row %d, score %d is %v, ONNX Runtime has %v", i, j, got, want)
					}
				}
			}
		})
	}
}

// TestRun compares with the same formula in float64.
func TestRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		link := rapid.SampledFrom([]learn.Link{learn.Identity, learn.Sigmoid, learn.Softmax}).Draw(t, "link")
		n, m := rapid.IntRange(1, 40).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "m")
		l, d, k := rapid.IntRange(1, 12).Draw(t, "l"), rapid.IntRange(1, 12).Draw(t, "d"), rapid.IntRange(2, 5).Draw(t, "k")
		if link == learn.Sigmoid {
			k = 2
		}
		src := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		h := model(src, link, d, k)
		f := front(src, m, l, d)
		x := rows(src, n, f)

		g, err := onnx.FromModel(h)
		if err != nil {
			t.Fatal(err)
		}
		if g, err = onnx.Assemble(f, g); err != nil {
			t.Fatal(err)
		}
		if g.Inputs() != m || g.Outputs() != k {
			t.Fatalf("graph has %d inputs and %d outputs, want %d and %d", g.Inputs(), g.Outputs(), m, k)
		}
		if g, err = onnx.Decode(g.Encode()); err != nil {
			t.Fatal(err)
		}
		out, err := g.Run(x)
		if err != nil {
			t.Fatal(err)
		}
		z := mat.DenseCopyOf(x)
		z.Apply(func(_, j int, v float64) float64 { return (v - f.Centre[j]) / f.Scale[j] }, z)
		var y, rep mat.Dense
		y.Mul(z, f.F.Reveal())
		rep.Mul(&y, f.G)
		want, err := h.Scores(&rep)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range k {
				// Centres up to about 10 and weights of order 1, each rounded by
				// 6e-8, add up over 12 features to some 1e-5 at the very worst.
				if e := math.Abs(out.Scores.At(i, j) - want.At(i, j)); e > 2e-5 {
					t.Errorf("row %d, score %d is off by %g", i, j, e)
				}
			}
		}
		if link == learn.Identity {
			if out.Labels != nil || g.Classes() != nil {
				t.Error("regression has labels or classes")
			}
			return
		}
		if !slices.Equal(out.Labels, learn.Predicted(out.Scores)) {
			t.Error("labels are not the largest scores")
		}
		if !slices.Equal(g.Classes(), h.Levels) {
			t.Errorf("classes %q, want %q", g.Classes(), h.Levels)
		}
	})
}

// TestRunParts leaves parts of the front out.
func TestRunParts(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 5))
	h := must(onnx.FromModel(model(src, learn.Identity, 3, 1)))
	f := front(src, 4, 2, 3)
	square := front(src, 3, 2, 3)
	x3, x4 := normal(src, 6, 3), normal(src, 6, 4)
	for _, c := range []struct {
		name  string
		front onnx.Front
		x     *mat.Dense
		ops   string
	}{
		{"nothing", onnx.Front{}, x3, "Gemm"},
		{"standardise only", onnx.Front{Centre: square.Centre, Scale: square.Scale}, x3, "Sub Div Gemm"},
		{"centre only", onnx.Front{Centre: square.Centre}, x3, "Sub Gemm"},
		{"f only", onnx.Front{F: secret.NewMatrix(normal(src, 4, 3))}, x4, "MatMul Gemm"},
		{"g only", onnx.Front{G: normal(src, 4, 3)}, x4, "MatMul Gemm"},
		{"f and g", onnx.Front{F: f.F, G: f.G}, x4, "MatMul Gemm"},
		{"all", f, x4, "Sub Div MatMul Gemm"},
	} {
		g, err := onnx.Assemble(c.front, h)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(g.Operators(), " "); got != c.ops {
			t.Errorf("%s: operators %s, want %s", c.name, got, c.ops)
		}
		if _, err := g.Run(c.x); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Twice in a row: names must not meet.
	g := must(onnx.Assemble(f, must(onnx.Assemble(square, h))))
	if _, err := onnx.Decode(g.Encode()); err != nil {
		t.Error(err)
	}
}

// TestRunChunks: many rows give what they give one by one.
func TestRunChunks(t *testing.T) {
	src := rand.New(rand.NewPCG(6, 6))
	const d = 3000 // 9,002 columns in all: chunks of 116 rows
	g := must(onnx.Assemble(onnx.Front{Scale: slices.Repeat([]float64{2}, d)}, must(onnx.FromModel(model(src, learn.Softmax, d, 3)))))
	x := normal(src, 300, d)
	all, err := g.Run(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 115, 116, 173, 174, 299} {
		one, err := g.Run(x.Slice(i, i+1, 0, d).(*mat.Dense))
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range one.Scores.RawRowView(0) {
			// Blocks of a product may be added in another order: d eps.
			if math.Abs(all.Scores.At(i, j)-v) > 1e-12 {
				t.Errorf("row %d, score %d is %v alone and %v among others", i, j, v, all.Scores.At(i, j))
			}
		}
		if all.Labels[i] != one.Labels[0] {
			t.Errorf("row %d has label %d alone and %d among others", i, one.Labels[0], all.Labels[i])
		}
	}
	wide := x.Slice(0, 300, 1, d).(*mat.Dense)
	if _, err := g.Run(wide); err == nil || !strings.Contains(err.Error(), "2999 columns, the graph wants 3000 features") {
		t.Errorf("Run of too few columns: error %v", err)
	}
}

func TestRunBadRows(t *testing.T) {
	src := rand.New(rand.NewPCG(7, 7))
	g := must(onnx.FromModel(model(src, learn.Identity, 2, 1)))
	named := must(g.WithMeta(onnx.Meta{Features: []string{"age", "weight"}, Units: []string{"a", "kg"}}))
	steep := must(onnx.FromModel(&learn.Linear{W: mat.NewDense(2, 1, []float64{1e30, 1e30}), B: []float64{0}, Link: learn.Identity}))
	for _, c := range []struct {
		name string
		g    *onnx.Graph
		x    *mat.Dense
		want string
	}{
		{"nil", g, nil, "no rows"},
		{"empty", g, &mat.Dense{}, "no rows"},
		{"narrow", g, mat.NewDense(1, 1, nil), "1 columns, the graph wants 2"},
		{"nan", g, mat.NewDense(2, 2, []float64{0, 0, 0, math.NaN()}), "row 2, column 2 is not a finite float32"},
		{"beyond float32", named, mat.NewDense(2, 2, []float64{0, 0, 1e39, 0}), `row 2, feature "age" is not a finite float32`},
		{"result beyond float32", steep, mat.NewDense(2, 2, []float64{0, 0, 1e30, 0}), "row 2: column 1 of Gemm is not a finite float32"},
	} {
		if _, err := c.g.Run(c.x); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestAssembleBadInput(t *testing.T) {
	src := rand.New(rand.NewPCG(8, 8))
	h := must(onnx.FromModel(model(src, learn.Identity, 3, 1)))
	f := front(src, 4, 2, 3)
	for _, c := range []struct {
		name   string
		change func(*onnx.Front)
		want   string
	}{
		{"g too narrow", func(f *onnx.Front) { f.G = normal(src, 2, 2) }, "the representation has 2 columns, h wants 3"},
		{"f and g", func(f *onnx.Front) { f.G = normal(src, 5, 3) }, "f has 2 columns, g has 5 rows"},
		{"empty g", func(f *onnx.Front) { f.G = &mat.Dense{} }, "g is empty"},
		{"centre", func(f *onnx.Front) { f.Centre = f.Centre[:3] }, "3 centres for 4 features"},
		{"scale", func(f *onnx.Front) { f.Scale = append(f.Scale, 1) }, "5 scales for 4 features"},
		{"zero scale", func(f *onnx.Front) { f.Scale[2] = 0 }, "scale of feature 3 is not a positive"},
		{"tiny scale", func(f *onnx.Front) { f.Scale[2] = 1e-60 }, "scale of feature 3 is not a positive"},
		{"negative scale", func(f *onnx.Front) { f.Scale[2] = -1 }, "scale of feature 3 is not a positive"},
		{"nan centre", func(f *onnx.Front) { f.Centre[1] = math.NaN() }, "centre at row 1, column 2 is not a finite"},
		{"huge basis", func(f *onnx.Front) { f.G.Scale(1e200, f.G) }, "basis at row 1, column 1 is not a finite"},
	} {
		changed := onnx.Front{Centre: slices.Clone(f.Centre), Scale: slices.Clone(f.Scale), F: f.F, G: mat.DenseCopyOf(f.G)}
		c.change(&changed)
		if _, err := onnx.Assemble(changed, h); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// other is a model that has no ONNX form.
type other struct{ learn.Model }

func TestFromModelBadInput(t *testing.T) {
	for _, c := range []struct {
		m    learn.Model
		want string
	}{
		{other{}, "onnx_test.other has no ONNX form"},
		{&learn.Linear{}, "no weights"},
		{&learn.Linear{W: mat.NewDense(1, 1, []float64{1e300}), B: []float64{0}, Link: learn.Identity}, "weights at row 1, column 1 is not a finite float32"},
		{&learn.Linear{W: mat.NewDense(1, 1, nil), B: []float64{-1e300}, Link: learn.Identity}, "intercept at row 1, column 1"},
	} {
		if _, err := onnx.FromModel(c.m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func TestMeta(t *testing.T) {
	src := rand.New(rand.NewPCG(9, 9))
	g := must(onnx.FromModel(model(src, learn.Softmax, 2, 3)))
	meta := onnx.Meta{
		Study: "étude \"1\"", Contract: "ab", Features: []string{"a", "b\n"}, Units: []string{"", "mmol/l"},
		Label: "outcome", Classes: []string{"x", "y", "z"},
	}
	g = must(g.WithMeta(meta))
	back := must(onnx.Decode(g.Encode()))
	if diff := cmp.Diff(meta, back.Meta()); diff != "" {
		t.Errorf("metadata changed (-want +got):\n%s", diff)
	}
	kept := must(g.WithMeta(onnx.Meta{}))
	if !slices.Equal(kept.Classes(), meta.Classes) {
		t.Errorf("classes %q, want them kept", kept.Classes())
	}
	// A graph is immutable: what it hands out is a copy.
	g.Meta().Features[0], g.Classes()[0] = "changed", "changed"
	if diff := cmp.Diff(meta, g.Meta()); diff != "" {
		t.Errorf("the graph shares its metadata (-want +got):\n%s", diff)
	}
	regression := must(onnx.FromModel(model(src, learn.Identity, 2, 1)))
	for _, c := range []struct {
		g    *onnx.Graph
		meta onnx.Meta
		want string
	}{
		{g, onnx.Meta{Features: []string{"a"}}, "names 1 features, the graph has 2"},
		{g, onnx.Meta{Features: []string{"a", "a"}}, `names the feature "a" twice`},
		{g, onnx.Meta{Units: []string{"a", "b", "c"}}, "names 3 units"},
		{g, onnx.Meta{Classes: []string{"a", "b"}}, "names 2 classes, the graph has 3 scores"},
		{g, onnx.Meta{Classes: []string{"a", "b", "b"}}, `names the class "b" twice`},
		{g, onnx.Meta{Study: "\xff"}, "not UTF-8"},
		{g, onnx.Meta{Study: strings.Repeat("x", onnx.MaxBytes/8)}, "metadata takes more than"},
		{regression, onnx.Meta{Classes: []string{"a"}}, "1 classes, the graph has no output"},
	} {
		if _, err := c.g.WithMeta(c.meta); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestNothingPrints: a graph holds F G, so that printing one shows only shapes.
func TestNothingPrints(t *testing.T) {
	g := must(onnx.FromModel(&learn.Linear{W: mat.NewDense(1, 1, []float64{31.25}), B: []float64{31.25}, Link: learn.Identity}))
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		fmt.Fprintf(&out, verb+verb+"\n", g, *g)
		fmt.Fprintf(&out, verb+"\n", struct{ g *onnx.Graph }{g})
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "g", g)
	if strings.Contains(out.String(), "31.25") || !strings.Contains(out.String(), "onnx graph (1 features to 1 scores: Gemm)") {
		t.Errorf("printed:\n%s", out.String())
	}
}

func BenchmarkRun(b *testing.B) {
	src := rand.New(rand.NewPCG(1, 1))
	f := front(src, 784, 100, 100)
	g := must(onnx.Assemble(f, must(onnx.FromModel(model(src, learn.Softmax, 100, 10)))))
	x := rows(src, 1000, f)
	for b.Loop() {
		must(g.Run(x))
	}
}
