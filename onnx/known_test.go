package onnx

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Known is testdata/known.json: what ONNX Runtime of a version makes of the
// frozen models.
type Known struct {
	Version string       `json:"version"`
	Cases   []*KnownCase `json:"cases"`
}

// KnownCase is one model, by the name of its file, on a few rows.
type KnownCase struct {
	Name   string       `json:"name"`
	X      [][]*float64 `json:"x"` // nil for NaN
	Scores [][]float64  `json:"scores"`
	Label  []int        `json:"label"`
}

const knownFile = "testdata/known.json"

// ReadKnown reads the file.
func ReadKnown(t testing.TB) *Known {
	t.Helper()
	data, err := os.ReadFile(knownFile)
	if err != nil {
		t.Fatal(err)
	}
	k := new(Known)
	if err := json.Unmarshal(data, k); err != nil {
		t.Fatal(err)
	}
	return k
}

// Write writes the file.
func (k *Known) Write(t testing.TB) {
	t.Helper()
	data, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(knownFile, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Has tells whether there is a case of the name.
func (k *Known) Has(name string) bool {
	for _, c := range k.Cases {
		if c.Name == name {
			return true
		}
	}
	return false
}

// Add adds a case without scores.
func (k *Known) Add(name string, x *mat.Dense) {
	c := &KnownCase{Name: name}
	n, _ := x.Dims()
	for i := range n {
		var row []*float64
		for _, v := range x.RawRowView(i) {
			if math.IsNaN(v) {
				row = append(row, nil)
			} else {
				row = append(row, &v)
			}
		}
		c.X = append(c.X, row)
	}
	k.Cases = append(k.Cases, c)
}

// Graph reads the model.
func (c *KnownCase) Graph(t testing.TB) *Graph {
	t.Helper()
	g, err := Decode(frozenFile(t, "testdata/"+c.Name+".onnx"))
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return g
}

// Rows are X as a matrix.
func (c *KnownCase) Rows() *mat.Dense {
	x := mat.NewDense(len(c.X), len(c.X[0]), nil)
	for i, row := range c.X {
		for j, v := range row {
			if v == nil {
				x.Set(i, j, math.NaN())
			} else {
				x.Set(i, j, *v)
			}
		}
	}
	return x
}
