package linalg

import "gonum.org/v1/gonum/mat"

// ColumnMeans are the means of the columns of a (n × m).
func ColumnMeans(a *mat.Dense) []float64 {
	n, m := a.Dims()
	mean := make([]float64, m)
	for i := range n {
		for j, v := range a.RawRowView(i) {
			mean[j] += v / float64(n)
		}
	}
	return mean
}

// Centred is a with row subtracted from each of its rows, a matrix of its own.
func Centred(a *mat.Dense, row []float64) *mat.Dense {
	b := mat.DenseCopyOf(a)
	n, _ := b.Dims()
	for i := range n {
		for j, v := range row {
			b.RawRowView(i)[j] -= v
		}
	}
	return b
}

// TakeRows are the rows of a that at lists, in its order, a matrix of its own. At least one
// row must be listed.
func TakeRows(a *mat.Dense, at []int) *mat.Dense {
	_, m := a.Dims()
	b := mat.NewDense(len(at), m, nil)
	for i, r := range at {
		b.SetRow(i, a.RawRowView(r))
	}
	return b
}
