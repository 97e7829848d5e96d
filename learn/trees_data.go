package learn

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/trees"
)

// treeData is x (n × d, checked) by columns of 32-bit numbers, and y as the
// trees want it.
func treeData(x *mat.Dense, y Target) ([][]float32, trees.Response, error) {
	n, d := x.Dims()
	var response trees.Response
	if float64(n) > math.MaxInt32 {
		return nil, response, fmt.Errorf("learn: trees take at most %d rows, x has %d", math.MaxInt32, n)
	}
	if y.Classification() && len(y.Classes) > n {
		return nil, response, fmt.Errorf("learn: target has %d classes for %d rows of x, want no more classes than rows", len(y.Classes), n)
	}
	cols := make([][]float32, d)
	for j := range cols {
		cols[j] = make([]float32, n)
	}
	for i := range n {
		for j, v := range x.RawRowView(i) {
			cols[j][i] = float32(v)
			if math.Abs(v) > math.MaxFloat32 {
				return nil, response, tooLarge(i, j)
			}
		}
	}
	if y.Classification() {
		response.Classes = len(y.Classes)
		response.Labels = make([]int32, n)
		for i, c := range y.Labels {
			response.Labels[i] = int32(c)
		}
		return cols, response, nil
	}
	_, response.Outputs = y.Values.Dims()
	response.Values = make([]float64, 0, n*response.Outputs)
	for i := range n {
		response.Values = append(response.Values, y.Values.RawRowView(i)...)
	}
	return cols, response, nil
}

func tooLarge(i, j int) error {
	return fmt.Errorf("learn: x at row %d, column %d is too large for a 32-bit number", i+1, j+1)
}

// treeProgress reports steps to ctx's listener; nil if there is none.
func treeProgress(ctx context.Context, stage string) func(done, total int) {
	report := progress(ctx)
	if report == nil {
		return nil
	}
	return func(done, total int) { report(Progress{Stage: stage, Done: done, Total: total}) }
}
