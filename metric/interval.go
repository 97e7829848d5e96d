package metric

import (
	"fmt"
	"math"
)

// Interval is an estimate with a range that covers the true value with the
// probability Level, over repetitions of the experiment.
type Interval struct {
	Estimate, Low, High float64
	// Level is between 0 and 1, say 0.95.
	Level float64
}

// TInterval is the mean of values, at least two, with its interval by Student's
// distribution (Student 1908):
//
//	x̄ ± t_{n−1, (1+level)/2} · s/√n
//
// It covers with the probability level, between 0 and 1, if the values are
// independent and about normal, say the results of repeats with new partitions;
// results of the folds of one cross-validation are not independent, and the
// interval is then too short. Equal values give an interval of no width.
func TInterval(values []float64, level float64) (Interval, error) {
	if len(values) < 2 {
		return Interval{}, fmt.Errorf("metric: t interval of %d values, want at least two", len(values))
	}
	if err := checkLevel(level); err != nil {
		return Interval{}, err
	}
	if err := checkFinite("value", values); err != nil {
		return Interval{}, err
	}
	mean, deviation := meanAndDeviation(values)
	half := StudentQuantile(float64(len(values)-1), (1-level)/2) * deviation / math.Sqrt(float64(len(values)))
	for _, v := range []float64{mean - half, mean + half} {
		if _, err := result("t interval", v); err != nil {
			return Interval{}, err
		}
	}
	return Interval{mean, mean - half, mean + half, level}, nil
}

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("metric: level is %g, want between 0 and 1", level)
	}
	return nil
}

// meanAndDeviation are the mean of at least two values and their standard
// deviation with n − 1; equal values have exactly their mean and 0.
func meanAndDeviation(values []float64) (mean, deviation float64) {
	n := float64(len(values))
	varies := false
	for _, v := range values {
		mean += v / n
		varies = varies || v != values[0]
	}
	if !varies {
		return values[0], 0
	}
	var remainder float64 // what rounding left out of the mean
	for _, v := range values {
		remainder += (v - mean) / n
	}
	mean += remainder
	var sum float64
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sum / (n - 1))
}
