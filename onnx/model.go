package onnx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// FromModel is a fitted model as a graph of its d inputs, with its classes in
// the metadata. Numbers are rounded to float32; one that float32 cannot hold is
// an error.
//
// A *learn.Linear becomes
//
//	Gemm → Sigmoid or Softmax → scores → ArgMax → label
//
// For the sigmoid the columns of the Gemm are −z and z, so that both
// probabilities keep their digits when they are small.
func FromModel(m learn.Model) (*Graph, error) {
	switch m := m.(type) {
	case *learn.Linear:
		return fromLinear(m)
	default:
		return nil, fmt.Errorf("onnx: a %T has no ONNX form", m)
	}
}

func fromLinear(m *learn.Linear) (*Graph, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	w, b := m.W, m.B
	if m.Link == learn.Sigmoid {
		d, _ := w.Dims()
		both := mat.NewDense(d, 2, nil)
		for i := range d {
			both.SetRow(i, []float64{-w.At(i, 0), w.At(i, 0)})
		}
		w, b = both, []float64{-b[0], b[0]}
	}
	weights, err := matrixConstant("weights", w)
	if err != nil {
		return nil, err
	}
	intercept, err := rowConstant("intercept", b)
	if err != nil {
		return nil, err
	}
	g := &Graph{
		meta:      Meta{Classes: m.Classes()},
		inputs:    m.Inputs(),
		labelled:  m.Levels != nil,
		constants: []constant{weights, intercept},
		nodes:     []node{{"Gemm", []string{inputName, "weights", "intercept"}, "linear"}},
	}
	link := map[learn.Link]string{learn.Identity: "", learn.Sigmoid: "Sigmoid", learn.Softmax: "Softmax"}[m.Link]
	if link == "" {
		g.nodes[0].out = scoresName
	} else {
		g.nodes = append(g.nodes, node{link, []string{"linear"}, scoresName})
	}
	if g.labelled {
		g.nodes = append(g.nodes, node{"ArgMax", []string{scoresName}, labelName})
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	return g, nil
}

// matrixConstant rounds a to float32.
func matrixConstant(name string, a *mat.Dense) (constant, error) {
	rows, columns := a.Dims()
	data := make([]float32, 0, rows*columns)
	for i := range rows {
		for j, v := range a.RawRowView(i) {
			f := float32(v)
			if !(math.Abs(float64(f)) <= math.MaxFloat32) {
				return constant{}, fmt.Errorf("onnx: %s at row %d, column %d is not a finite float32", name, i+1, j+1)
			}
			data = append(data, f)
		}
	}
	return newConstant(name, []int{rows, columns}, data), nil
}

// rowConstant rounds a row to float32.
func rowConstant(name string, row []float64) (constant, error) {
	c, err := matrixConstant(name, mat.NewDense(1, len(row), row))
	c.dims = []int{len(row)}
	return c, err
}
