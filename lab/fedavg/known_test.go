package fedavg_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/lab/fedavg"
	"concord/learn"
)

// TestKnown compares averaged logistic regression with NumPy's (testdata/known.py),
// of two and three classes, with a party that has rows of one class only.
func TestKnown(t *testing.T) {
	data, err := os.ReadFile("testdata/known.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Rounds, Epochs int
		C              float64
		Cases          []struct {
			Classes int
			Parties []struct {
				X [][]float64
				Y []int
			}
			W [][]float64
			B []float64
		}
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Cases) != 2 {
		t.Fatalf("%d cases, want 2", len(known.Cases))
	}
	for _, c := range known.Cases {
		var parts []fedavg.Part
		for _, p := range c.Parties {
			x := mat.NewDense(len(p.X), len(p.X[0]), nil)
			for i, row := range p.X {
				x.SetRow(i, row)
			}
			parts = append(parts, fedavg.Part{X: x, Y: learn.Target{Classes: []string{"a", "b", "c"}[:c.Classes], Labels: p.Y}})
		}
		spec := learn.Spec{Kind: "logistic", C: known.C}
		m, err := fedavg.Fit(context.Background(), spec, parts, fedavg.Options{Rounds: known.Rounds, LocalEpochs: known.Epochs})
		if err != nil {
			t.Fatal(err)
		}
		layer := m.(*learn.Network).Layers[0]
		rows, cols := layer.W.Dims()
		if rows != len(c.W) || cols != len(c.B) || len(layer.B) != len(c.B) {
			t.Fatalf("%d classes: weights %d x %d, want %d x %d", c.Classes, rows, cols, len(c.W), len(c.B))
		}
		// The steps are of 1e-3; sums in another order differ by rounding, which Adam's
		// division by a small gradient can magnify.
		near := func(got, want float64) bool { return math.Abs(got-want) < 1e-12 }
		for j, b := range c.B {
			if !near(layer.B[j], b) {
				t.Errorf("%d classes: bias %d is %.15g, want %.15g", c.Classes, j+1, layer.B[j], b)
			}
			for i := range c.W {
				if !near(layer.W.At(i, j), c.W[i][j]) {
					t.Errorf("%d classes: weight %d, %d is %.15g, want %.15g", c.Classes, i+1, j+1, layer.W.At(i, j), c.W[i][j])
				}
			}
		}
	}
}
