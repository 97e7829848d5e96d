package learn_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// TestInProportion: ten labels a row, apportioned by largest remainders.
func TestInProportion(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8})
	scores := mat.NewDense(4, 3, []float64{
		0.52, 0.33, 0.15, // 5.2, 3.3, 1.5
		2, -1, 0, // only what is positive counts
		0, -3, 0, // nothing is: all alike
		1, 1, 1,
	})
	rows, labels := learn.InProportion(x, scores)
	if n, m := rows.Dims(); n != 40 || m != 2 || len(labels) != 40 {
		t.Fatalf("%d × %d rows, %d labels", n, m, len(labels))
	}
	for i, want := range [][]int{{5, 3, 2}, {10, 0, 0}, {4, 3, 3}, {4, 3, 3}} {
		got := make([]int, 3)
		for j := range learn.AnswerCopies {
			at := i*learn.AnswerCopies + j
			got[labels[at]]++
			if rows.At(at, 0) != x.At(i, 0) || rows.At(at, 1) != x.At(i, 1) {
				t.Errorf("row %d is not row %d", at, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("row %d has %v labels, want %v", i, got, want)
		}
	}
}
