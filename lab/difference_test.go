package lab_test

import (
	"math"
	"testing"

	"concord/lab"
)

// TestDifference: differences 1, 2, 3 over three draws have mean 2 and deviation 1;
// half the interval is Student's quantile for two degrees, 0.95/√0.04875, times the root
// of 1/3 + overlap.
func TestDifference(t *testing.T) {
	a, b := lab.Cell{Method: "a"}, lab.Cell{Method: "b"}
	r := &lab.Results{Cells: []lab.Cell{a, b}, Values: map[lab.Cell][]float64{a: {2, 2, 5}, b: {1, 0, 2}}, Repeats: 3}
	for _, overlap := range []float64{0, 0.25, 2} {
		in, err := r.Difference(a, b, overlap, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		half := 0.95 / math.Sqrt(0.04875) * math.Sqrt(1.0/3+overlap)
		if math.Abs(in.Estimate-2) > 1e-15 || math.Abs(in.High-2-half) > 1e-12 || math.Abs(in.Low-2+half) > 1e-12 {
			t.Errorf("overlap %v: %+v, want 2 ± %v", overlap, in, half)
		}
	}
	if _, err := r.Difference(a, lab.Cell{Method: "c"}, 0, 0.95); err == nil {
		t.Error("a method that is not there is compared")
	}
	one := &lab.Results{Values: map[lab.Cell][]float64{a: {1}, b: {2}}}
	if _, err := one.Difference(a, b, 0, 0.95); err == nil {
		t.Error("one draw has an interval")
	}
}

// TestOverlap: test rows over training rows, whatever says how many these are.
func TestOverlap(t *testing.T) {
	d := twoClasses(400, 1)
	s := lab.Setting{Parties: 4, Rows: 20, Test: 40}
	if got := s.Overlap(d); got != 0.5 {
		t.Errorf("rows: %v", got)
	}
	s = lab.Setting{Sizes: []int{100, 60}, Test: 40}
	if got := s.Overlap(d); got != 0.25 {
		t.Errorf("sizes: %v", got)
	}
	s = lab.Setting{Split: "by", Test: 80}
	if got := s.Overlap(d); got != 0.25 {
		t.Errorf("by: %v", got)
	}
	s = lab.Setting{Split: "by", Test: 80, Pool: 240}
	if got := s.Overlap(d); got != 0.5 {
		t.Errorf("by, of a pool: %v", got)
	}
}

// TestPooledEqual: with parties of equal sizes the weights make no difference; where one
// party has nearly all rows, the other's direction counts as much only with equal
// weights, and the one common direction is then another.
func TestPooledEqual(t *testing.T) {
	d := twoClasses(400, 3)
	s := small(t)
	s.Baselines = []string{}
	at := func(common string, sizes []int) float64 {
		c := s
		c.Parties, c.Rows, c.Sizes = 0, 0, sizes
		c.Cases = append([]lab.Case(nil), s.Cases...)
		c.Cases[0].Basis = lab.Basis{Common: common, Dim: 2}
		r := repeat(t, c, d, lab.Repeats{Count: 1})
		for cell, v := range r.Values {
			if cell.Metric == "roc_auc" {
				return v[0]
			}
		}
		t.Fatal("no roc_auc")
		return 0
	}
	if rows, equal := at("pooled", []int{50, 50, 50}), at("pooled-equal", []int{50, 50, 50}); math.Abs(rows-equal) > 1e-6 {
		t.Errorf("equal sizes: %v by rows, %v equal", rows, equal)
	}
	if rows, equal := at("pooled", []int{200, 5, 5}), at("pooled-equal", []int{200, 5, 5}); rows == equal {
		t.Errorf("sizes 200, 5, 5: %v whatever the weights", rows)
	}
}
