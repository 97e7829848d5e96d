package metric

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Binning says how probabilities are put in bins.
type Binning int

const (
	// Uniform bins have equal widths.
	Uniform Binning = iota
	// Quantile bins have about equal numbers of rows.
	Quantile
)

// CalibrationBin compares what was predicted in one bin with what came.
type CalibrationBin struct {
	// Low and High are the edges; a probability on an edge is in the lower bin.
	Low, High float64
	// Rows is the number of rows in the bin, at least one.
	Rows int
	// Predicted is the mean probability of the bin's rows, Observed the share
	// of them that are positive. They are equal for a calibrated model.
	Predicted, Observed float64
}

// maxBins is more than any curve shows.
const maxBins = 10_000

// CalibrationCurve puts the rows in bins by the probability of the positive
// class and compares it with the share of positives (reliability diagram,
// [murphy1977]; scikit-learn's calibration_curve). Bins without rows
// are left out. positive and probability have one entry a row; bins is 1 to
// 10,000, scikit-learn takes 5 by default. Edges of quantile bins are
// interpolated linearly between rows. Cost O(n log bins), with quantiles
// O(n log n).
func CalibrationCurve(positive []bool, probability []float64, bins int, by Binning) ([]CalibrationBin, error) {
	if err := checkLengths("calibration curve", len(positive), len(probability)); err != nil {
		return nil, err
	}
	if bins < 1 || bins > maxBins {
		return nil, fmt.Errorf("metric: calibration curve of %d bins, want 1 to %d", bins, maxBins)
	}
	if err := checkProbability(probability); err != nil {
		return nil, err
	}
	edges := make([]float64, bins+1)
	step := 1 / float64(bins)
	for i := range edges {
		edges[i] = float64(i) * step
	}
	edges[bins] = 1
	switch by {
	case Uniform:
	case Quantile:
		sorted := slices.Sorted(slices.Values(probability))
		for i, q := range edges {
			edges[i] = quantile(sorted, q*100/100) // percentages, as scikit-learn's
		}
	default:
		panic("metric: no such binning")
	}
	all := make([]CalibrationBin, bins)
	inner := edges[1:bins]
	for i, p := range probability {
		b := &all[sort.SearchFloat64s(inner, p)]
		b.Rows++
		b.Predicted += p
		if positive[i] {
			b.Observed++
		}
	}
	var out []CalibrationBin
	for i, b := range all {
		if b.Rows == 0 {
			continue
		}
		b.Low, b.High = edges[i], edges[i+1]
		b.Predicted /= float64(b.Rows)
		b.Observed /= float64(b.Rows)
		out = append(out, b)
	}
	return out, nil
}

// CalibrationError is the expected calibration error of a curve, the mean over
// all rows of the distance between predicted and observed in their bin
// [naeini2015]:
//
//	Σ_b (rows_b / n) |predicted_b − observed_b|
//
// between 0 and 1. A curve without rows is an error.
func CalibrationError(curve []CalibrationBin) (float64, error) {
	rows := 0
	var sum float64
	for _, b := range curve {
		rows += b.Rows
		sum += float64(b.Rows) * math.Abs(b.Predicted-b.Observed)
	}
	if rows == 0 {
		return 0, fmt.Errorf("metric: calibration error of no rows, want at least one")
	}
	return sum / float64(rows), nil
}

// quantile is the value below which the share q of the ascending values lies,
// interpolated linearly between neighbours (type 7 of [hyndman1996];
// numpy's default, rounded as there).
func quantile(sorted []float64, q float64) float64 {
	last := len(sorted) - 1
	at := float64(last) * q
	i := min(int(at), last)
	low, high := sorted[i], sorted[min(i+1, last)]
	t := at - float64(i)
	if t >= 0.5 {
		return high - float64((high-low)*(1-t))
	}
	return low + float64((high-low)*t)
}
