package metric

import (
	"fmt"
	"math"
)

// RMSE is the root of the mean squared error,
//
//	√( Σ (yᵢ − ŷᵢ)² / n )
//
// in the units of y.
func RMSE(truth, predicted []float64) (float64, error) {
	if err := checkNumbers("rmse", truth, predicted); err != nil {
		return 0, err
	}
	var norm float64
	for i, y := range truth {
		norm = math.Hypot(norm, y-predicted[i])
	}
	return result("rmse", norm/math.Sqrt(float64(len(truth))))
}

// MAE is the mean absolute error, Σ |yᵢ − ŷᵢ| / n, in the units of y.
func MAE(truth, predicted []float64) (float64, error) {
	if err := checkNumbers("mae", truth, predicted); err != nil {
		return 0, err
	}
	var sum float64
	for i, y := range truth {
		sum += math.Abs(y-predicted[i]) / float64(len(truth))
	}
	return result("mae", sum)
}

// R2 is the share of the variance that is explained,
//
//	1 − Σ (yᵢ − ŷᵢ)² / Σ (yᵢ − ȳ)²
//
// 1 for perfect predictions, 0 for predicting the mean, negative for worse.
// It is undefined, and an error, when all true values are equal.
func R2(truth, predicted []float64) (float64, error) {
	if err := checkNumbers("r2", truth, predicted); err != nil {
		return 0, err
	}
	var mean float64
	for _, y := range truth {
		mean += y / float64(len(truth))
	}
	var residual, total float64
	varies := false
	for i, y := range truth {
		residual = math.Hypot(residual, y-predicted[i])
		total = math.Hypot(total, y-mean)
		varies = varies || y != truth[0]
	}
	if !varies || total == 0 {
		return 0, fmt.Errorf("metric: r2 of %d equal true values, want at least two different ones", len(truth))
	}
	return result("r2", 1-(residual/total)*(residual/total))
}

func checkNumbers(what string, truth, predicted []float64) error {
	if err := checkLengths(what, len(truth), len(predicted)); err != nil {
		return err
	}
	if err := checkFinite("true value", truth); err != nil {
		return err
	}
	return checkFinite("predicted value", predicted)
}

// result refuses a figure that overflowed.
func result(what string, v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("metric: %s exceeds the largest float64, scale the values down", what)
	}
	return v, nil
}
