// Package metric says how good predictions are, and how sure one may be of it.
//
//   - classes: [Accuracy], [BalancedAccuracy], [Confusion] with precision,
//     recall, F1, kappa and Matthews' correlation;
//   - rankings: [ROCAUC], [PRAUC], their curves [ROCCurve] and [PRCurve], and
//     [OneVsRest] for more than two classes;
//   - probabilities: [LogLoss], [Brier], [CalibrationCurve];
//   - numbers: [RMSE], [MAE], [R2], and [Outputs] for several at once;
//   - certainty: [Bootstrap] and [TInterval] for intervals, [PairedTTest] to
//     compare two methods over repeats, [Holm] to compare many.
//
// Start with [Compute], which takes a metric by its name.
//
// Every function takes the truth first and the predictions second, weights all
// rows equally and returns an error when the lengths differ, when there is
// nothing to measure or when a number is not finite; no result is NaN. Errors
// name the position, from 1, never the value. Where the rows leave a metric
// without a value, say rows of one class only, the error is [ErrUndefined].
//
// The package fits nothing, and has no weights of rows.
//
// The definitions are those of scikit-learn 1.2 and SciPy 1.10, against which
// the tests compare. Comments say where an undefined figure is an error here
// and a convention there.
package metric

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// ErrUndefined is wrapped by the errors of metrics that have no value for the
// rows they were given, though every row is in order: one class only, equal
// true values, differences that do not vary. Whoever computes several metrics
// may leave such a one out.
var ErrUndefined = errors.New("the metric is undefined")

// undefinedError is an error that is ErrUndefined and reads as its text alone.
type undefinedError string

// Error says what is not defined.
func (e undefinedError) Error() string { return string(e) }

// Is makes it an ErrUndefined.
func (e undefinedError) Is(target error) bool { return target == ErrUndefined }

func undefined(format string, args ...any) error {
	return undefinedError("metric: " + fmt.Sprintf(format, args...))
}

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

// checkProbability wants numbers from 0 to 1.
func checkProbability(probability []float64) error {
	for i, p := range probability {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("metric: probability %d is not between 0 and 1", i+1)
		}
	}
	return nil
}

// checkClasses wants class indices from 0 to classes−1.
func checkClasses(what string, labels []int, classes int) error {
	for i, c := range labels {
		if c < 0 || c >= classes {
			return fmt.Errorf("metric: %s of row %d is %d, want 0 to %d", what, i+1, c, classes-1)
		}
	}
	return nil
}

// checkMatrix wants a matrix of one row a label and at least two columns.
func checkMatrix(what string, rows int, scores *mat.Dense) error {
	n, k := dims(scores)
	if err := checkLengths(what, rows, n); err != nil {
		return err
	}
	if k < 2 {
		return fmt.Errorf("metric: %s of %d column, want one a class and at least two", what, k)
	}
	return nil
}

// dims are those of m, 0 and 0 for nil.
func dims(m *mat.Dense) (rows, columns int) {
	if m == nil || m.IsEmpty() {
		return 0, 0
	}
	return m.Dims()
}

// result refuses a figure that overflowed.
func result(what string, v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("metric: %s exceeds the largest float64, scale the values down", what)
	}
	return v, nil
}
