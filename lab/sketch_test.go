package lab_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"concord/lab"
)

// TestSketch holds that a common basis of a sketch of all columns, which sees all there is,
// gives the models of one of all second moments, and that a sketch of few columns is
// another.
func TestSketch(t *testing.T) {
	d := twoClasses(400, 6)
	s := small(t)
	s.Baselines = []string{}
	at := func(b lab.Basis) float64 {
		c := s
		c.Cases = append([]lab.Case(nil), s.Cases...)
		b.Dim, b.Common = 3, "pooled"
		c.Cases[0].Basis = b
		r := repeat(t, c, d, lab.Repeats{Count: 1})
		for cell, v := range r.Values {
			if cell.Metric == "roc_auc" && cell.Method == "odc" {
				return v[0]
			}
		}
		t.Fatal("no roc_auc")
		return 0
	}
	all := at(lab.Basis{})
	if full := at(lab.Basis{Sketch: 6}); math.Abs(full-all) > 1e-6 {
		t.Errorf("a sketch of all columns gives %v, all second moments %v", full, all)
	}
	if few := at(lab.Basis{Sketch: 3}); few == all {
		t.Errorf("a sketch of three columns gives %v like all second moments", few)
	}
	for _, bad := range []struct {
		basis lab.Basis
		want  string
	}{
		{lab.Basis{Sketch: 5, Dim: 2}, "sketch belongs to common: pooled"},
		{lab.Basis{Common: "pooled", Power: 1, Dim: 2}, "power belongs to a sketch"},
		{lab.Basis{Common: "pooled", Sketch: -1, Dim: 2}, "sketch is -1"},
	} {
		c := s
		c.Cases = append([]lab.Case(nil), s.Cases...)
		c.Cases[0].Basis = bad.basis
		if _, err := c.Resolve(); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%+v: %v, want %q", bad.basis, err, bad.want)
		}
	}
}

// TestCommonRank holds that a common basis wider than what all rows span together is cut to
// that, with a note.
func TestCommonRank(t *testing.T) {
	s := small(t)
	s.Baselines, s.Sizes, s.Parties, s.Rows = []string{}, []int{2, 1}, 0, 0
	s.Standardise = "none"
	s.Cases[0].Basis = lab.Basis{Common: "pooled", Dim: 5}
	s.Cases[0].Align = alignments(t, "odc")
	r := repeat(t, s, twoClasses(400, 6), lab.Repeats{Count: 1})
	if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "rank of all rows together") }) {
		t.Errorf("notes are %q", r.Notes)
	}
}
