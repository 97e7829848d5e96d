//go:build onnxruntime

package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/internal/onnxruntimetest"
	"concord/learn"
)

// inRuntime runs each model on its rows in ONNX Runtime.
func inRuntime(t *testing.T, models []*Graph, xs []*mat.Dense) (version string, results []onnxruntimetest.Result) {
	t.Helper()
	var jobs []onnxruntimetest.Job
	for i, g := range models {
		jobs = append(jobs, onnxruntimetest.Job{Model: g.Encode(), X: xs[i]})
	}
	return onnxruntimetest.Run(t, jobs)
}

// compared is a graph with the rows it is tried on.
type compared struct {
	name string
	g    *Graph
	x    *mat.Dense
}

// everything is the graphs of all operators, the frozen models, and every learner
// alone and behind a front, each with 1,000 random rows.
func everything(t *testing.T) []compared {
	t.Helper()
	const n = 1000
	src := rand.New(rand.NewPCG(20240504, 1))
	x, whole := random(src, n, 3), random(src, n, 3)
	whole.Apply(func(_, _ int, v float64) float64 { return math.Round(v) }, whole)
	for i := range n / 2 {
		whole.Set(i, i%2*2, math.NaN())
	}
	all := []compared{{"every", every(), x}, {"chosen", chosen(), whole}}
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(files) != 13 {
		t.Fatalf("%d frozen models (%v), want 13", len(files), err)
	}
	for _, name := range files {
		g, err := Decode(frozenFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		x := random(src, n, g.Inputs())
		if strings.HasSuffix(name, "-assembled.onnx") {
			centre, scale := g.index["centre"], g.index["scale"]
			x.Apply(func(_, j int, v float64) float64 {
				return v*float64(scale.numbers()[j]) + float64(centre.numbers()[j])
			}, x)
		}
		if strings.HasSuffix(name, "pipeline.onnx") {
			for i := range n {
				x.Set(i, 1, float64(i%4)) // 3 is no level
				if i%5 == 0 {
					x.Set(i, 1+i%2, math.NaN())
				}
			}
		}
		all = append(all, compared{name, g, x})
	}
	front := mixed(src, 6)
	for _, f := range fit(t) {
		h, err := FromModel(f.model)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, compared{f.name, h, random(src, n, h.Inputs())})
		if _, trees := f.model.(*learn.TreeEnsemble); trees {
			continue // a row within rounding of a threshold may go either way
		}
		g, err := Assemble(front, h)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, compared{f.name + " behind a front", g, raw(src, n)})
	}
	for _, trees := range []int{3, 4, 100} {
		m, rows := tied(t, 6, trees)
		g, err := FromModel(m)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(n, 3, nil)
		for i := range n {
			x.SetRow(i, rows.RawRowView(i%27))
		}
		all = append(all, compared{fmt.Sprintf("ties of %d trees", trees), g, x})
	}
	return all
}

// TestONNXRuntime compares with ONNX Runtime on 1,000 random rows each.
func TestONNXRuntime(t *testing.T) {
	all := everything(t)
	var models []*Graph
	var xs []*mat.Dense
	for _, c := range all {
		models, xs = append(models, c.g), append(xs, c.x)
	}
	version, results := inRuntime(t, models, xs)
	t.Logf("ONNX Runtime %s", version)
	for i, c := range all {
		out, err := c.g.Run(c.x)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r := results[i]
		if r.Columns != c.g.Outputs() || len(r.Scores) != 1000*c.g.Outputs() || (r.Label != nil) != (c.g.Classes() != nil) {
			t.Fatalf("%s: ONNX Runtime gives %d scores in %d columns", c.name, len(r.Scores), r.Columns)
		}
		var worst float64
		for row := range 1000 {
			scores := out.Scores.RawRowView(row)
			for j, v := range scores {
				want := r.Scores[row*r.Columns+j]
				worst = max(worst, math.Abs(v-want)/max(1, math.Abs(want)))
			}
			if r.Label != nil && r.Label[row] != out.Labels[row] {
				t.Errorf("%s: row %d has label %d, ONNX Runtime has %d", c.name, row+1, out.Labels[row], r.Label[row])
			}
		}
		t.Logf("%s: largest difference %.2g", c.name, worst)
		if !(worst <= 1e-4) { // what the package comment promises
			t.Errorf("%s: scores differ by up to %g", c.name, worst)
		}
	}
}

// TestONNXRuntimeKnown proves that the answers stored in testdata/known.json are
// what this runtime gives. With CONCORD_UPDATE set it stores those that are
// missing.
func TestONNXRuntimeKnown(t *testing.T) {
	known := ReadKnown(t)
	updating := os.Getenv("CONCORD_UPDATE") != ""
	var models []*Graph
	var xs []*mat.Dense
	for _, c := range known.Cases {
		models, xs = append(models, c.Graph(t)), append(xs, c.Rows())
	}
	version, results := inRuntime(t, models, xs)
	for i, r := range results {
		c := known.Cases[i]
		fill := updating && c.Scores == nil
		if fill {
			c.Label = r.Label
		}
		for j := range c.X {
			row := r.Scores[j*r.Columns : (j+1)*r.Columns]
			if fill {
				c.Scores = append(c.Scores, row)
				continue
			}
			for k, v := range row {
				// Another version may order sums otherwise.
				if math.Abs(v-c.Scores[j][k]) > 1e-5*max(1, math.Abs(v)) {
					t.Errorf("%s: row %d, score %d is %v, stored %v", c.Name, j+1, k+1, v, c.Scores[j][k])
				}
			}
		}
	}
	if updating {
		known.Version = "onnxruntime-node " + version
		known.Write(t)
	}
}
