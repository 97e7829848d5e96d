package lab

import (
	"fmt"
	"math"

	"concord/lab/dataset"
	"concord/metric"
)

// Difference is the mean of a − b over the draws, in each of which both saw the same
// rows, with its interval at the level, 0.95 for instance.
//
// Draws of one data set share rows, so that Student's interval over them, which takes
// them for independent, is too narrow. overlap is the number of test rows over that of
// training rows ([Setting.Overlap]); the variance of the mean is taken as
// s²·(1/J + overlap) over J draws [nadeau2003]. More draws then do not make it as narrow
// as one likes. Where draws share few of many rows it is too wide, never too narrow.
//
// Errors: a cell that is not there, or fewer than two draws.
func (r *Results) Difference(a, b Cell, overlap, level float64) (metric.Interval, error) {
	x, y := r.Values[a], r.Values[b]
	if x == nil || y == nil || len(x) != len(y) {
		return metric.Interval{}, fmt.Errorf("lab: no results for %v or %v", a, b)
	}
	d := make([]float64, len(x))
	for i := range d {
		d[i] = x[i] - y[i]
	}
	in, err := metric.TInterval(d, level)
	if err != nil {
		return in, fmt.Errorf("lab: %w", err)
	}
	wider := math.Sqrt(1 + overlap*float64(len(d)))
	in.Low = in.Estimate - wider*(in.Estimate-in.Low)
	in.High = in.Estimate + wider*(in.High-in.Estimate)
	return in, nil
}

// Overlap is the number of test rows over that of all parties' rows, which
// [Results.Difference] wants; data are what the setting draws from.
func (s Setting) Overlap(data *dataset.Data) float64 {
	train := s.Rows * s.Parties
	for _, n := range s.Sizes {
		train += n
	}
	if train == 0 { // by and classes: all that there are
		train, _ = data.X.Dims()
		if s.Pool > 0 {
			train = min(train, s.Pool)
		}
		if s.PublishedTest {
			train -= len(data.Test)
		} else {
			train -= s.Test
		}
	}
	return float64(s.Test) / float64(max(train, 1))
}
