package metric

import "slices"

// Accuracy is the share of rows whose predicted class index is the true one,
// between 0 and 1. Both slices have one index a row.
func Accuracy(truth, predicted []int) (float64, error) {
	if err := checkLengths("accuracy", len(truth), len(predicted)); err != nil {
		return 0, err
	}
	right := 0
	for i, c := range truth {
		if c == predicted[i] {
			right++
		}
	}
	return float64(right) / float64(len(truth)), nil
}

// BalancedAccuracy is the mean of the classes' recalls, each the share of a
// class's rows that are predicted as it, so that a rare class counts as much as
// a frequent one [brodersen2010]:
//
//	Σ_c ( #{i : yᵢ = c, ŷᵢ = c} / #{i : yᵢ = c} ) / #classes
//
// The classes are those that occur in truth: one that is absent from these
// rows is left out of the mean, as scikit-learn does. Cost O(n).
func BalancedAccuracy(truth, predicted []int) (float64, error) {
	if err := checkLengths("balanced accuracy", len(truth), len(predicted)); err != nil {
		return 0, err
	}
	type count struct{ rows, right int }
	counts := map[int]*count{}
	var classes []int
	for i, c := range truth {
		n := counts[c]
		if n == nil {
			n = new(count)
			counts[c] = n
			classes = append(classes, c)
		}
		n.rows++
		if c == predicted[i] {
			n.right++
		}
	}
	slices.Sort(classes) // the same sum for the same rows in another order
	var sum float64
	for _, c := range classes {
		sum += float64(counts[c].right) / float64(counts[c].rows)
	}
	return sum / float64(len(classes)), nil
}
