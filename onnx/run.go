package onnx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/linalg"
)

// Output is what a graph computes for n rows.
type Output struct {
	// Scores are n × k: probabilities or scores of the classes, or the
	// predicted numbers.
	Scores *mat.Dense
	// Labels has for each row the index of its class; nil for regression.
	Labels []int
}

// A block of rows is computed at a time, of at most maxBlock rows and maxCells
// numbers of 8 bytes, or one row.
const (
	maxCells = 1 << 20
	maxBlock = 1 << 11
)

// Run computes the graph for x (n × m, at least one row) on all processors, with
// the same result for any number of them. Another number of columns, a number
// that is not finite as float32, or a result that leaves float32 on the way is an
// error that names the row, from 1. NaN is allowed where the graph fills it, see
// [Front]. Cost is that of the products, O(n) times the constants, and of the
// trees, O(n) times their depth; memory a few megabytes for each processor beyond
// x, the constants in float64 and the result.
func (g *Graph) Run(x *mat.Dense) (Output, error) {
	if x == nil || x.IsEmpty() {
		return Output{}, fmt.Errorf("onnx: no rows to score, want at least one")
	}
	n, m := x.Dims()
	if m != g.inputs {
		return Output{}, fmt.Errorf("onnx: rows have %d columns, the graph wants %d features", m, g.inputs)
	}
	constants := make(map[string]operand, len(g.index))
	for name, c := range g.index {
		if c.numbers != nil {
			constants[name] = c.operand()
		}
	}
	out := Output{Scores: mat.NewDense(n, g.outputs, nil)}
	if g.labelled {
		out.Labels = make([]int, n)
	}
	block := max(1, min(n, maxBlock, maxCells/g.columns))
	errs := make([]error, (n+block-1)/block)
	linalg.Parallel(len(errs), func(b int) {
		errs[b] = g.run(x, b*block, min((b+1)*block, n), constants, out)
	})
	for _, err := range errs {
		if err != nil {
			return Output{}, err
		}
	}
	return out, nil
}

// run computes rows start to end.
func (g *Graph) run(x *mat.Dense, start, end int, constants map[string]operand, out Output) error {
	rows := end - start
	input := mat.NewDense(rows, g.inputs, nil)
	for i := range rows {
		row := input.RawRowView(i)
		for j, v := range x.RawRowView(start + i) {
			row[j] = float64(float32(v))
			if !(math.Abs(row[j]) <= math.MaxFloat32) && !(g.gaps != nil && g.gaps[j] && math.IsNaN(v)) {
				return fmt.Errorf("onnx: row %d, %s is not a finite float32", start+i+1, g.feature(j))
			}
		}
	}
	values := map[string]operand{inputName: {rows: input}}
	for i := range g.nodes {
		n := &g.nodes[i]
		args := make([]operand, len(n.in))
		for j, name := range n.in {
			if c, ok := constants[name]; ok {
				args[j] = c
			} else {
				args[j] = values[name] // nothing for whole numbers
			}
		}
		op := operators[n.op]
		if op.run == nil { // the label
			copy(out.Labels[start:end], learn.Predicted(args[0].rows))
			continue
		}
		made := make([]*mat.Dense, len(n.results))
		for j, v := range n.results {
			made[j] = mat.NewDense(rows, v.cells(), nil)
			values[v.name] = operand{rows: made[j]}
		}
		op.run(n, made, args)
		for _, result := range made {
			for i := range rows {
				for j, v := range result.RawRowView(i) {
					if !(math.Abs(v) <= math.MaxFloat32) {
						return fmt.Errorf("onnx: row %d: column %d of %s is not a finite float32", start+i+1, j+1, n.op)
					}
				}
			}
		}
	}
	out.Scores.Slice(start, end, 0, g.outputs).(*mat.Dense).Copy(values[scoresName].rows)
	return nil
}

// operand is c as a matrix in float64.
func (c *constant) operand() operand {
	numbers := c.numbers()
	rows, columns := 1, len(numbers)
	if len(c.dims) == 2 {
		rows, columns = c.dims[0], c.dims[1]
	}
	data := make([]float64, len(numbers))
	for i, v := range numbers {
		data[i] = float64(v)
	}
	return operand{rows: mat.NewDense(rows, columns, data), constant: true}
}

// feature names input j for an error.
func (g *Graph) feature(j int) string {
	if len(g.meta.Features) > 0 {
		return fmt.Sprintf("feature %q", g.meta.Features[j])
	}
	return fmt.Sprintf("column %d", j+1)
}
