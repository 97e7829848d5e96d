package onnx

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/secret"
)

// mixed is a party's front: numbers and levels, with gaps, standardised, and
// then F and G to d columns.
func mixed(src *rand.Rand, d int) Front {
	const w, l = 1 + 3 + 1 + 2 + 1, 5
	f := Front{
		Fill:   []float64{0.5, 2, math.NaN(), 1, math.NaN()},
		Levels: []int{0, 3, 0, 2, 0},
		Centre: make([]float64, w), Scale: make([]float64, w),
		F: secret.NewMatrix(random(src, w, l)), G: random(src, l, d),
	}
	f.F.Reveal().Scale(0.5, f.F.Reveal())
	f.G.Scale(0.5, f.G)
	for j := range w {
		f.Centre[j], f.Scale[j] = src.NormFloat64(), 0.5+src.Float64()
	}
	return f
}

// raw draws rows for mixed, with gaps where they are filled.
func raw(src *rand.Rand, n int) *mat.Dense {
	x := random(src, n, 5)
	for i := range n {
		x.Set(i, 1, float64(src.IntN(3)))
		x.Set(i, 3, float64(src.IntN(2)))
		for _, j := range []int{0, 1, 3} {
			if src.IntN(4) == 0 {
				x.Set(i, j, math.NaN())
			}
		}
	}
	return x
}

// before is what f makes of raw rows, step by step in float64.
func before(f Front, x *mat.Dense) *mat.Dense {
	n, m := x.Dims()
	var encoded mat.Dense
	encoded.ReuseAs(n, len(f.Centre))
	for i := range n {
		var row []float64
		for j := range m {
			v := x.At(i, j)
			if math.IsNaN(v) {
				v = f.Fill[j]
			}
			if f.Levels[j] == 0 {
				row = append(row, v)
				continue
			}
			for level := range f.Levels[j] {
				row = append(row, truth(v == float64(level)))
			}
		}
		for j := range row {
			row[j] = (row[j] - f.Centre[j]) / f.Scale[j]
		}
		encoded.SetRow(i, row)
	}
	var rep, out mat.Dense
	rep.Mul(&encoded, f.F.Reveal())
	out.Mul(&rep, f.G)
	return &out
}

// TestPipeline: gaps filled, levels encoded, columns standardised, F, G and a
// model of every learner in one graph.
func TestPipeline(t *testing.T) {
	src := rand.New(rand.NewPCG(20240603, 1))
	f := mixed(src, 6)
	x := raw(src, 1000)
	in := before(f, x)
	for _, m := range fit(t) {
		if strings.HasPrefix(m.name, "forest") || strings.HasPrefix(m.name, "boosting") {
			continue // a row within rounding of a threshold may go either way; see TestPipelineTrees
		}
		t.Run(m.name, func(t *testing.T) {
			h, err := FromModel(m.model)
			if err != nil {
				t.Fatal(err)
			}
			g, err := Assemble(f, h)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = Decode(g.Encode()); err != nil {
				t.Fatal(err)
			}
			agrees(t, g, x, m.model, in)
		})
	}
}

// TestPipelineTrees: with a front that computes exactly, trees see what they saw
// alone.
func TestPipelineTrees(t *testing.T) {
	src := rand.New(rand.NewPCG(20240603, 2))
	x := random(src, 1000, 6)
	scaled := mat.NewDense(1000, 6, nil)
	scaled.Scale(0.25, x)
	for _, m := range fit(t) {
		if !strings.HasPrefix(m.name, "forest") && !strings.HasPrefix(m.name, "boosting") {
			continue
		}
		h, err := FromModel(m.model)
		if err != nil {
			t.Fatal(err)
		}
		g, err := Assemble(Front{Scale: slices.Repeat([]float64{4}, 6)}, h)
		if err != nil {
			t.Fatal(err)
		}
		agrees(t, g, x, m.model, scaled)
	}
}

// TestGaps: NaN is an error where nothing fills it, and only there.
func TestGaps(t *testing.T) {
	h, err := FromModel(&learn.Linear{W: mat.NewDense(2, 1, []float64{1, 10}), B: []float64{0}, Link: learn.Identity})
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	run := func(f Front, row ...float64) (float64, error) {
		t.Helper()
		g, err := Assemble(f, h)
		if err != nil {
			t.Fatal(err)
		}
		if g, err = Decode(g.Encode()); err != nil {
			t.Fatal(err)
		}
		out, err := g.Run(mat.NewDense(1, len(row), row))
		if err != nil {
			return 0, err
		}
		return out.Scores.At(0, 0), nil
	}
	if v, err := run(Front{Fill: []float64{nan, 3}}, 1, nan); v != 31 || err != nil {
		t.Errorf("filled: %v, error %v, want 31", v, err)
	}
	for _, row := range [][]float64{{nan, 1}, {math.Inf(1), 1}, {1, math.Inf(-1)}, {1e39, nan}} {
		if _, err := run(Front{Fill: []float64{nan, 3}}, row...); err == nil || !strings.Contains(err.Error(), "is not a finite float32") {
			t.Errorf("%v: error %v", row, err)
		}
	}
	// An index that is no level's has no column.
	if v, err := run(Front{Levels: []int{2}}, 1); v != 10 || err != nil {
		t.Errorf("level 1: %v, error %v, want 10", v, err)
	}
	for _, index := range []float64{2, -1, 0.5} {
		if v, err := run(Front{Levels: []int{2}}, index); v != 0 || err != nil {
			t.Errorf("index %v: %v, error %v, want 0", index, v, err)
		}
	}
	for _, c := range []struct {
		f    Front
		want string
	}{
		{Front{Fill: []float64{1}}, "1 numbers to fill 2 features"},
		{Front{Fill: []float64{1, math.Inf(1)}}, "fill at row 1, column 2 is not a finite float32"},
		{Front{Levels: []int{1}}, "the features and their levels are 1 columns, want 2"},
		{Front{Levels: []int{-1, 0}}, "feature 1 has -1 levels"},
		{Front{Levels: []int{math.MaxInt, 0}}, "feature 1 has 9223372036854775807 levels"},
		{Front{Levels: []int{2}, Fill: []float64{2}}, "feature 1 is filled with something else than an index of its 2 levels"},
		{Front{Levels: []int{2}, Fill: []float64{0.5}}, "feature 1 is filled with something else"},
		{Front{Levels: []int{2}, Scale: []float64{1}}, "1 scales for 2 encoded columns"},
		{Front{Levels: []int{2}, Scale: []float64{1, 0}}, "scale of encoded column 2 is not a positive"},
	} {
		if _, err := Assemble(c.f, h); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestSharing: graphs that share their trees are used side by side (the race
// detector looks on).
func TestSharing(t *testing.T) {
	src := rand.New(rand.NewPCG(5, 4))
	x, y := drawn(src, 100, 3, 2)
	m, err := learn.Forest{Trees: 5}.Fit(context.Background(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	g, err := FromModel(m)
	if err != nil {
		t.Fatal(err)
	}
	want, err := g.Run(x)
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error)
	for _, f := range []func() (*Graph, error){
		func() (*Graph, error) { return g, nil },
		func() (*Graph, error) { return g.WithMeta(Meta{Study: "x"}) },
		func() (*Graph, error) { return Assemble(Front{Scale: []float64{1, 1, 1}}, g) },
	} {
		go func() {
			h, err := f()
			if err == nil {
				var out Output
				if out, err = h.Run(x); err == nil && !mat.Equal(out.Scores, want.Scores) {
					err = fmt.Errorf("%v scores otherwise", h)
				}
			}
			errs <- err
		}()
	}
	for range 3 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
