package onnx

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// fromTrees is the graph
//
//	TreeEnsembleRegressor (→ Div) (→ Add) → Softmax → scores → ArgMax → label
//
// with Div by the number of trees for a mean, and Add of the base where it is not
// zero. For the sigmoid a Gemm makes −z and z of the one column. The sum is
// divided afterwards because [learn.Forest] rounds its shares so that the sums
// are exact and the quotients as different as they: equal votes stay equal.
func fromTrees(m *learn.TreeEnsemble) (*Graph, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("onnx: %w", err)
	}
	leaves, err := matrixConstant("leaves", m.Values)
	if err != nil {
		return nil, err
	}
	rows, columns := m.Values.Dims()
	values := mat.NewDense(rows, columns, nil)
	for i, v := range leaves.numbers() {
		values.Set(i/columns, i%columns, float64(v))
	}
	trees, err := newForest(learn.TreeEnsemble{
		Columns: m.Columns, Nodes: m.Nodes, Roots: m.Roots, Values: values, Output: m.Output,
		Base: make([]float64, len(m.Base)), Link: learn.Identity,
	})
	if err != nil {
		return nil, fmt.Errorf("onnx: %v", err)
	}

	b := newBuilder(m)
	at := b.add("TreeEnsembleRegressor", "trees", inputName)
	b.g.nodes[0].trees = trees
	if m.Mean {
		at = b.add("Div", "mean", at, b.row("count", []float64{float64(len(m.Roots))}))
	}
	based := slices.ContainsFunc(m.Base, func(v float64) bool { return v != 0 })
	switch op := linkOperator(m.Link); {
	case m.Link == learn.Sigmoid:
		signs, base := bothSigns(mat.NewDense(1, 1, []float64{1}), m.Base, -1)
		at = b.add("Gemm", "both", at, b.matrix("signs", signs), b.row("base", base))
		b.add(op, scoresName, at)
	case op != "":
		if based {
			at = b.add("Add", "sum", at, b.row("base", m.Base))
		}
		b.add(op, scoresName, at)
	case based:
		b.add("Add", scoresName, at, b.row("base", m.Base))
	default:
		b.g.nodes[len(b.g.nodes)-1].out[0] = scoresName
	}
	return b.graph()
}
