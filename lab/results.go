package lab

import (
	"fmt"
	"math"

	"concord/metric"
)

// Results are the numbers of all repeats: one column for each cell.
type Results struct {
	Cells  []Cell
	Values map[Cell][]float64 // one for each repeat, in their order
	Notes  []string
	// Repeats is how many there are.
	Repeats int
	// Seconds is the time of all trials together, on one worker each.
	Seconds float64
}

// Summary describes one cell over repeats.
type Summary struct {
	Cell
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	// Std is the standard deviation over repeats (n − 1), 0 for one.
	Std float64 `json:"std"`
	// CI95 is half the width of Student's 95% interval of the mean, 0 for one repeat.
	CI95 float64 `json:"ci95"`
}

// StandardError is Std/√N.
func (s Summary) StandardError() float64 { return s.Std / math.Sqrt(float64(s.N)) }

// Summary of a cell; false if there is no such cell.
func (r *Results) Summary(c Cell) (Summary, bool) {
	values, ok := r.Values[c]
	if !ok || len(values) == 0 {
		return Summary{}, false
	}
	s := Summary{Cell: c, N: len(values)}
	for _, v := range values {
		s.Mean += v / float64(s.N)
	}
	if s.N > 1 {
		for _, v := range values {
			s.Std += (v - s.Mean) * (v - s.Mean) / float64(s.N-1)
		}
		s.Std = math.Sqrt(s.Std)
		// TInterval refuses only what cannot be here: one value, or not finite.
		if in, err := metric.TInterval(values, 0.95); err == nil {
			s.CI95 = (in.High - in.Low) / 2
		}
	}
	return s, true
}

// Summaries are those of all cells, in their order.
func (r *Results) Summaries() []Summary {
	var out []Summary
	for _, c := range r.Cells {
		if s, ok := r.Summary(c); ok {
			out = append(out, s)
		}
	}
	return out
}

// Better tests whether cell a is larger than cell b over the same repeats: the
// paired one-sided t-test.
func (r *Results) Better(a, b Cell) (metric.TTest, error) {
	x, y := r.Values[a], r.Values[b]
	if x == nil || y == nil {
		return metric.TTest{}, fmt.Errorf("lab: no results for %v or %v", a, b)
	}
	t, err := metric.PairedTTest(x, y, metric.Greater)
	if err != nil {
		return t, fmt.Errorf("lab: %w", err)
	}
	return t, nil
}
