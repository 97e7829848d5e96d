package linalg_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// TestColumns: means, what is left without them, and rows by number; the matrix stays.
func TestColumns(t *testing.T) {
	a := mat.NewDense(4, 2, []float64{1, 10, 2, 20, 3, 30, 6, 100})
	before := mat.DenseCopyOf(a)
	mean := linalg.ColumnMeans(a)
	if !slices.Equal(mean, []float64{3, 40}) {
		t.Errorf("means %v", mean)
	}
	if want := mat.NewDense(4, 2, []float64{-2, -30, -1, -20, 0, -10, 3, 60}); !mat.Equal(linalg.Centred(a, mean), want) {
		t.Errorf("centred: %v", mat.Formatted(linalg.Centred(a, mean)))
	}
	if want := mat.NewDense(3, 2, []float64{6, 100, 1, 10, 6, 100}); !mat.Equal(linalg.TakeRows(a, []int{3, 0, 3}), want) {
		t.Errorf("rows 4, 1, 4: %v", mat.Formatted(linalg.TakeRows(a, []int{3, 0, 3})))
	}
	if !mat.Equal(a, before) {
		t.Error("the matrix was changed")
	}
}
