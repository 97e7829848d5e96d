package metric

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// LogLoss is the mean of −log of the probability given to the true class, in
// nats. truth has one class index a row, probability is n × k with one row a
// row and one column a class, k at least 2. Rows are divided by their sum; a
// probability below 2⁻⁵² counts as 2⁻⁵² and one above 1 − 2⁻⁵² as that, as in
// scikit-learn 1.2, so that one confident error does not make the loss
// infinite.
func LogLoss(truth []int, probability *mat.Dense) (float64, error) {
	if err := checkMatrix("log loss", len(truth), probability); err != nil {
		return 0, err
	}
	rows, classes := probability.Dims()
	if err := checkClasses("class", truth, classes); err != nil {
		return 0, err
	}
	const least = 0x1p-52
	var sum float64
	for i, c := range truth {
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

// Brier is the mean squared error of the probability of the positive class,
//
//	Σ (pᵢ − yᵢ)² / n,   yᵢ = 1 for a positive row and 0 for another
//
// from 0 to 1, smaller is better [brier1950]. Both slices have one entry a row.
func Brier(positive []bool, probability []float64) (float64, error) {
	if err := checkLengths("brier score", len(positive), len(probability)); err != nil {
		return 0, err
	}
	if err := checkProbability(probability); err != nil {
		return 0, err
	}
	var sum float64
	for i, p := range probability {
		if positive[i] {
			p = 1 - p
		}
		sum += p * p
	}
	return sum / float64(len(positive)), nil
}

// BrierClasses is Brier's score of more than two classes in his own definition,
// the squared errors summed over the classes,
//
//	Σᵢ Σ_c (pᵢ_c − [yᵢ = c])² / n
//
// from 0 to 2: for two classes twice [Brier]. truth has one class index a row,
// probability is n × k with one column a class.
func BrierClasses(truth []int, probability *mat.Dense) (float64, error) {
	if err := checkMatrix("brier score", len(truth), probability); err != nil {
		return 0, err
	}
	rows, classes := probability.Dims()
	if err := checkClasses("class", truth, classes); err != nil {
		return 0, err
	}
	var sum float64
	for i, c := range truth {
		for j, p := range probability.RawRowView(i) {
			if !(p >= 0 && p <= 1) {
				return 0, fmt.Errorf("metric: probability at row %d, column %d is not between 0 and 1", i+1, j+1)
			}
			if j == c {
				p = 1 - p
			}
			sum += p * p
		}
	}
	return sum / float64(rows), nil
}
