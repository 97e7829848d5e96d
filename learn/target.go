package learn

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Target is what is learned: either classes or numbers.
type Target struct {
	// Classes are the k levels, in the contract's order; nil for regression.
	Classes []string
	// Labels has for each of the n rows an index into Classes; nil for regression.
	Labels []int
	// Values are n × q numbers; nil for classification.
	Values *mat.Dense
}

// Classification tells whether classes are learned.
func (t Target) Classification() bool { return t.Classes != nil || t.Labels != nil }

// maxCells is the most numbers of a target, n rows of k: 8 GiB. Scores and
// one-hot targets are as large.
const maxCells = 1 << 30

// check wants t to have n usable rows.
func (t Target) check(n int) error {
	rows, _ := dims(t.Values)
	switch {
	case t.Classification() && t.Values != nil:
		return fmt.Errorf("learn: target has both classes and numbers, want one of them")
	case !t.Classification() && rows == 0:
		return fmt.Errorf("learn: target has neither classes nor numbers")
	case !t.Classification():
		if rows != n {
			return fmt.Errorf("learn: target has %d rows for %d rows of x", rows, n)
		}
		return checkFinite("target", t.Values)
	}
	if len(t.Classes) < 2 {
		return fmt.Errorf("learn: target has %d classes, want at least 2", len(t.Classes))
	}
	if len(t.Classes) > maxCells/n {
		return fmt.Errorf("learn: target has %d classes for %d rows, want at most %d for rows times classes", len(t.Classes), n, maxCells)
	}
	seen := make(map[string]bool, len(t.Classes))
	for _, c := range t.Classes {
		if seen[c] {
			return fmt.Errorf("learn: target names the class %q twice", c)
		}
		seen[c] = true
	}
	if len(t.Labels) != n {
		return fmt.Errorf("learn: target has %d labels for %d rows of x", len(t.Labels), n)
	}
	for i, c := range t.Labels {
		if c < 0 || c >= len(t.Classes) {
			return fmt.Errorf("learn: label of row %d is %d, want 0 to %d", i+1, c, len(t.Classes)-1)
		}
	}
	return nil
}

// checkVaried wants classes, if that is what t holds, to be two at least among the
// rows: from one nothing can be learned.
func (t Target) checkVaried() error {
	if !t.Classification() {
		return nil
	}
	for _, c := range t.Labels {
		if c != t.Labels[0] {
			return nil
		}
	}
	return fmt.Errorf("learn: all %d rows are of the class %q, want at least two classes", len(t.Labels), t.Classes[t.Labels[0]])
}

// oneHot is n × k with a 1 in the column of each row's class.
func (t Target) oneHot() *mat.Dense {
	y := mat.NewDense(len(t.Labels), len(t.Classes), nil)
	for i, c := range t.Labels {
		y.Set(i, c, 1)
	}
	return y
}

// checkData wants x to be n × d with at least one of each and finite, and y to
// fit it and to have something to learn.
func checkData(x *mat.Dense, y Target) error {
	if err := checkShapes(x, y); err != nil {
		return err
	}
	return y.checkVaried()
}

// checkShapes is checkData for rows that may all be of one class.
func checkShapes(x *mat.Dense, y Target) error {
	n, d := dims(x)
	if n == 0 || d == 0 {
		return fmt.Errorf("learn: x has no rows, want at least one")
	}
	if err := y.check(n); err != nil {
		return err
	}
	return checkFinite("x", x)
}

func checkFinite(what string, x *mat.Dense) error {
	n, _ := dims(x)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("learn: %s at row %d, column %d is not a finite number", what, i+1, j+1)
			}
		}
	}
	return nil
}

// dims is x.Dims, with nil counted as the empty matrix.
func dims(x *mat.Dense) (rows, cols int) {
	if x == nil || x.IsEmpty() {
		return 0, 0
	}
	return x.Dims()
}

// centred is x minus its column means, and the means. Columns that do not vary
// become exactly zero. It fails when a difference of two elements overflows.
func centred(what string, x *mat.Dense) (*mat.Dense, []float64, error) {
	n, d := x.Dims()
	mean := make([]float64, d)
	first := x.RawRowView(0)
	for i := range n {
		// Means of differences from the first row: exact for constant columns,
		// and no large sums of large numbers.
		for j, v := range x.RawRowView(i) {
			mean[j] += (v - first[j]) / float64(n)
		}
	}
	for j := range mean {
		mean[j] += first[j]
	}
	c := mat.NewDense(n, d, nil)
	for i := range n {
		row := c.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			row[j] = v - mean[j]
			if math.IsNaN(row[j]) || math.IsInf(row[j], 0) {
				return nil, nil, fmt.Errorf("learn: column %d of %s overflows, scale it down", j+1, what)
			}
		}
	}
	return c, mean, nil
}
