// Package metric says how good predictions are: [Accuracy], [ROCAUC] and
// [LogLoss] for classes, [RMSE], [MAE] and [R2] for numbers.
//
// Every function takes the truth first and the predictions second, weights all
// rows equally and returns an error when the lengths differ, when there is
// nothing to measure or when a number is not finite. Errors name the position,
// from 1, never the value.
//
// The package fits nothing, and holds no intervals or tests over repeats.
//
// The definitions are scikit-learn's (accuracy_score, roc_auc_score, log_loss,
// mean_squared_error with its root, mean_absolute_error, r2_score), against
// which the tests compare.
package metric

import (
	"fmt"
	"math"
)

// checkLengths wants two slices of one length that is not 0.
func checkLengths(what string, truth, predicted int) error {
	if truth != predicted {
		return fmt.Errorf("metric: %s of %d true and %d predicted values, want as many of each", what, truth, predicted)
	}
	if truth == 0 {
		return fmt.Errorf("metric: %s of no rows, want at least one", what)
	}
	return nil
}

// checkFinite wants numbers that are neither NaN nor infinite.
func checkFinite(what string, values []float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("metric: %s %d is not a finite number", what, i+1)
		}
	}
	return nil
}
