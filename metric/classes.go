package metric

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

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

// ROCAUC is the area under the receiver operating characteristic: the
// probability that a positive row drawn at random has a higher score than a
// negative one, a tie counting one half. positive[i] says whether row i is of
// the positive class; score has one number a row, of any scale.
//
// With R the sum of the positives' ranks among all scores, ties taking the
// mean of their ranks, and p positives and q negatives,
//
//	AUC = (R − p(p+1)/2) / (p q)
//
// (Mann and Whitney 1947; Hanley and McNeil 1982, doi:10.1148/radiology.143.1.7063747).
// Rows of one class only leave it undefined and are an error. Cost O(n log n).
func ROCAUC(positive []bool, score []float64) (float64, error) {
	if err := checkLengths("roc auc", len(positive), len(score)); err != nil {
		return 0, err
	}
	if err := checkFinite("score", score); err != nil {
		return 0, err
	}
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case score[i] < score[j]:
			return -1
		case score[i] > score[j]:
			return 1
		}
		return 0
	})
	var positives, rankSum float64
	for start := 0; start < len(order); {
		end := start + 1
		for end < len(order) && score[order[end]] == score[order[start]] {
			end++
		}
		midrank := float64(start+1+end) / 2 // ranks start+1 … end
		for _, i := range order[start:end] {
			if positive[i] {
				positives++
				rankSum += midrank
			}
		}
		start = end
	}
	negatives := float64(len(score)) - positives
	if positives == 0 || negatives == 0 {
		return 0, fmt.Errorf("metric: roc auc of %g positive and %g negative rows, want at least one of each", positives, negatives)
	}
	return (rankSum - positives*(positives+1)/2) / (positives * negatives), nil
}

// LogLoss is the mean of −log of the probability given to the true class, in
// nats. truth has one class index a row, probability is n × k with one row a
// row and one column a class. Rows are divided by their sum; a probability
// below 2⁻⁵² counts as 2⁻⁵², as in scikit-learn, so that one confident error
// does not make the loss infinite.
func LogLoss(truth []int, probability *mat.Dense) (float64, error) {
	rows, classes := 0, 0
	if probability != nil && !probability.IsEmpty() {
		rows, classes = probability.Dims()
	}
	if err := checkLengths("log loss", len(truth), rows); err != nil {
		return 0, err
	}
	const least = 0x1p-52
	var sum float64
	for i, c := range truth {
		if c < 0 || c >= classes {
			return 0, fmt.Errorf("metric: class of row %d is %d, want 0 to %d", i+1, c, classes-1)
		}
		var total float64
		for j, p := range probability.RawRowView(i) {
			if !(p >= 0 && p <= 1) {
				return 0, fmt.Errorf("metric: probability at row %d, column %d is not between 0 and 1", i+1, j+1)
			}
			total += min(max(p, least), 1-least)
		}
		sum -= math.Log(min(max(probability.At(i, c), least), 1-least) / total)
	}
	return sum / float64(rows), nil
}
