package lab_test

import (
	"math"
	"strings"
	"testing"

	"concord/lab"
)

// TestEnergy: all directions keep all; what l directions of a sketch keep is no more than
// what the l leading ones keep, and cases that differ in the sketch alone have directions
// of their own.
func TestEnergy(t *testing.T) {
	d := twoClasses(400, 9)
	s := small(t)
	s.Baselines = []string{}
	one := s.Cases[0]
	one.Anchor = lab.Anchor{}
	made := func(name string, b lab.Basis) lab.Case {
		c := one
		c.Name, c.Basis = name, b
		c.Basis.Energy = true
		return c
	}
	s.Cases = []lab.Case{
		made("whole", lab.Basis{Common: "pooled", Dim: len(d.Features)}),
		made("pooled", lab.Basis{Common: "pooled", Dim: 2}),
		made("sketch", lab.Basis{Common: "pooled", Sketch: 3, Dim: 2}),
		made("steps", lab.Basis{Common: "pooled", Sketch: 3, Power: 30, Dim: 2}),
	}
	r := repeat(t, s, d, lab.Repeats{Count: 3})
	for i := range 3 {
		at := func(name string) float64 {
			return r.Values[lab.Cell{Case: name, Method: "basis", Metric: lab.Energy}][i]
		}
		if math.Abs(at("whole")-1) > 1e-12 {
			t.Errorf("all directions keep %v", at("whole"))
		}
		if !(at("pooled") < 1) || !(at("sketch") < at("pooled")) {
			t.Errorf("leading directions keep %v, a sketch's %v", at("pooled"), at("sketch"))
		}
		if !(at("steps") > at("sketch")) || at("steps") > at("pooled")+1e-12 {
			t.Errorf("a sketch keeps %v, with power steps %v, the leading directions %v", at("sketch"), at("steps"), at("pooled"))
		}
	}
	s.Cases[0].Basis.Mix = "uniform"
	if _, err := s.Repeat(t.Context(), d, lab.Repeats{Count: 1}); err == nil || !strings.Contains(err.Error(), "energy is of bases with the mix haar or none") {
		t.Errorf("energy of a mix that is not orthogonal: %v", err)
	}
}
