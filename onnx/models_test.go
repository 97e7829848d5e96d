package onnx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// fitted is a model with what it was learned from.
type fitted struct {
	name  string
	model learn.Model
	d     int
}

// drawn are n rows of d columns, exact in float32, that no model learns without
// error: k classes by angle in the plane of the first two columns, some wrong, or
// for k = 0 two numbers.
func drawn(src *rand.Rand, n, d, k int) (*mat.Dense, learn.Target) {
	x := random(src, n, d)
	var y learn.Target
	if k == 0 {
		y.Values = mat.NewDense(n, 2, nil)
		for i := range n {
			row := x.RawRowView(i)
			y.Values.SetRow(i, []float64{3*math.Sin(2*row[0]) + row[1]*row[2], 10 + row[1] + 0.1*src.NormFloat64()})
		}
		return x, y
	}
	for c := range k {
		y.Classes = append(y.Classes, fmt.Sprintf("class %d", c))
	}
	for i := range n {
		angle := math.Atan2(x.At(i, 1), x.At(i, 0)) + 0.3*src.NormFloat64()
		y.Labels = append(y.Labels, (int(math.Floor(angle/(2*math.Pi)*float64(k)))+2*k)%k)
	}
	return x, y
}

// random are normal numbers rounded to float32.
func random(src *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	x.Apply(func(int, int, float64) float64 { return float64(float32(src.NormFloat64())) }, x)
	return x
}

// learners are all there are, with settings that make tests quick.
var learners = []learn.Learner{
	learn.Ridge{}, learn.Logistic{}, learn.LinearSVM{}, learn.SVM{}, learn.KNN{},
	learn.MLP{Hidden: []int{16, 8}, Epochs: 40},
	learn.Forest{Trees: 30}, learn.Boosting{MaxIter: 20, MinLeaf: 5},
}

// fit fits every learner to two and four classes and to numbers.
func fit(t testing.TB) []fitted {
	t.Helper()
	const d = 6
	var models []fitted
	for _, l := range learners {
		for _, k := range []int{2, 4, 0} {
			src := rand.New(rand.NewPCG(20240601, uint64(k)))
			x, y := drawn(src, 240, d, k)
			if _, one := l.(learn.Boosting); one && k == 0 {
				y.Values = y.Values.Slice(0, 240, 0, 1).(*mat.Dense)
			}
			if _, classes := l.(learn.Logistic); classes && k == 0 {
				continue
			}
			m, err := l.Fit(context.Background(), x, y)
			if err != nil {
				t.Fatalf("%s, %d classes: %v", l.Name(), k, err)
			}
			models = append(models, fitted{fmt.Sprintf("%s-%d", l.Name(), k), m, d})
		}
	}
	return models
}

// agree compares what a graph makes of 1,000 rows with scores: 1e-4 of the larger
// of 1 and the score, which is what the package promises of float32, and the same
// classes. It returns the largest difference.
func agree(t *testing.T, out Output, want *mat.Dense) float64 {
	t.Helper()
	if r, c := want.Dims(); out.Scores.RawMatrix().Rows != r || out.Scores.RawMatrix().Cols != c {
		t.Fatalf("scores are %d × %d, want %d × %d", out.Scores.RawMatrix().Rows, out.Scores.RawMatrix().Cols, r, c)
	}
	var worst float64
	n, _ := want.Dims()
	for i := range n {
		for j, v := range want.RawRowView(i) {
			worst = max(worst, math.Abs(out.Scores.At(i, j)-v)/max(1, math.Abs(v)))
		}
	}
	if !(worst <= 1e-4) {
		t.Errorf("scores differ by up to %g", worst)
	}
	if out.Labels != nil && !slices.Equal(out.Labels, learn.Predicted(want)) {
		t.Error("the classes are not those of the scores")
	}
	return worst
}

// agrees compares what the graph makes of x with what the model makes of the same rows as
// it takes them.
func agrees(t *testing.T, g *Graph, x *mat.Dense, m learn.Model, in *mat.Dense) {
	t.Helper()
	want, err := m.Scores(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.Run(x)
	if err != nil {
		t.Fatal(err)
	}
	agree(t, out, want)
}

// TestLearners: every learner's graph, written and read back, scores 1,000 random
// rows as the model does.
func TestLearners(t *testing.T) {
	for _, f := range fit(t) {
		t.Run(f.name, func(t *testing.T) {
			g, err := FromModel(f.model)
			if err != nil {
				t.Fatal(err)
			}
			if g.Inputs() != f.d || !slices.Equal(g.Classes(), f.model.Classes()) {
				t.Errorf("%d inputs and the classes %q", g.Inputs(), g.Classes())
			}
			data := g.Encode()
			if g, err = Decode(data); err != nil {
				t.Fatal(err)
			}
			if string(g.Encode()) != string(data) {
				t.Error("encoding is not stable")
			}
			x := random(rand.New(rand.NewPCG(20240602, 1)), 1000, f.d)
			want, err := f.model.Scores(x)
			if err != nil {
				t.Fatal(err)
			}
			out, err := g.Run(x)
			if err != nil {
				t.Fatal(err)
			}
			worst := agree(t, out, want)
			t.Logf("%d bytes, largest difference %.2g, %s", len(data), worst, strings.Join(g.Operators(), " "))
		})
	}
}

// TestFromModelShapes gives models that a graph cannot hold.
func TestFromModelShapes(t *testing.T) {
	row := func(v ...float64) *mat.Dense { return mat.NewDense(1, len(v), v) }
	leaf := learn.TreeNode{Feature: learn.TreeLeaf}
	for _, c := range []struct {
		m    learn.Model
		want string
	}{
		{&learn.Network{}, "network has no layers"},
		{&learn.Network{Layers: []learn.Layer{{W: row(1e60), B: []float64{0}}, {W: row(1), B: []float64{0}}}, Link: learn.Identity},
			"weights1 at row 1, column 1 is not a finite float32"},
		{&learn.Neighbours{}, "knn has no rows"},
		{&learn.Neighbours{Rows: row(1e60), Votes: row(1), K: 1}, "centre at row 1, column 1 is not a finite float32"},
		{&learn.KernelMachine{}, "0 inputs"},
		{&learn.KernelMachine{Columns: 1, Vectors: row(1), Coef: row(1e300), Intercept: []float64{0}, Gamma: 1, Centre: []float64{0}},
			"coefficients at row 1, column 1"},
		{&learn.TreeEnsemble{}, "0 inputs"},
		{&learn.TreeEnsemble{Columns: 1, Nodes: []learn.TreeNode{leaf}, Roots: []int32{0}, Values: row(1e300), Base: []float64{0}, Link: learn.Identity},
			"leaves at row 1, column 1"},
		{&learn.TreeEnsemble{Columns: 1, Nodes: []learn.TreeNode{leaf, leaf}, Roots: []int32{0}, Values: row(1), Base: []float64{0}, Link: learn.Identity},
			"tree 0: node 1 has no parent"},
		{&learn.TreeEnsemble{Columns: 1, Nodes: []learn.TreeNode{{Left: 1, Right: 1}, leaf}, Roots: []int32{0}, Values: row(1), Base: []float64{0}, Link: learn.Identity},
			"tree 0: node 1 has two parents"},
		{&learn.TreeEnsemble{Columns: 1, Nodes: slices.Repeat([]learn.TreeNode{leaf}, maxTreeNodes+1), Roots: []int32{0}, Values: row(1), Base: []float64{0}, Link: learn.Identity},
			"4194305 nodes, want at most 4194304"},
	} {
		if _, err := FromModel(c.m); err == nil || !strings.HasPrefix(err.Error(), "onnx: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestForestTime: 100 trees score 10,000 rows within a second, with room for a
// busy machine: some 20 million comparisons.
func TestForestTime(t *testing.T) {
	src := rand.New(rand.NewPCG(4, 4))
	x, y := drawn(src, 2000, 6, 2)
	m, err := learn.Forest{Trees: 100}.Fit(context.Background(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	g, err := FromModel(m)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = Decode(g.Encode()); err != nil {
		t.Fatal(err)
	}
	rows := random(src, 10_000, 6)
	start := time.Now()
	if _, err := g.Run(rows); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("10,000 rows took %v", took)
	} else {
		t.Logf("10,000 rows took %v", took)
	}
}

// frozenFile reads a file of testdata.
func frozenFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
