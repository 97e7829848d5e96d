package metric

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
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
// It is undefined ([ErrUndefined]) when all true values are equal; scikit-learn
// gives 1 or 0 there.
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
		return 0, undefined("r2 of %d equal true values, want at least two different ones", len(truth))
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

// Outputs applies a metric of numbers to each column of truth and predicted,
// both n × q, and returns the q figures. Their mean is scikit-learn's
// multioutput="uniform_average", also of the RMSE.
//
//	r2, err := metric.Outputs(metric.R2, truth, predicted)
func Outputs(of func(truth, predicted []float64) (float64, error), truth, predicted *mat.Dense) ([]float64, error) {
	n, q := dims(truth)
	rows, columns := dims(predicted)
	if err := checkLengths("outputs", n, rows); err != nil {
		return nil, err
	}
	if q != columns {
		return nil, fmt.Errorf("metric: outputs of %d true and %d predicted columns, want as many of each", q, columns)
	}
	out := make([]float64, q)
	y, p := make([]float64, n), make([]float64, n)
	for j := range out {
		v, err := of(mat.Col(y, j, truth), mat.Col(p, j, predicted))
		if err != nil {
			return nil, fmt.Errorf("metric: outputs, column %d: %w", j+1, err)
		}
		out[j] = v
	}
	return out, nil
}
