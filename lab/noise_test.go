package lab_test

import (
	"testing"

	"gonum.org/v1/gonum/stat"

	"concord/lab"
)

// TestNoise: little noise changes little, much leaves nothing to learn, and cutting rows
// to a length that none has changes nothing at all.
func TestNoise(t *testing.T) {
	d := twoClasses(600, 6)
	s := small(t)
	s.Models = model("ridge")
	basis, anchor := lab.Basis{Kind: "random", Dim: 5}, lab.Anchor{Kind: "normal"}
	s.Cases = nil
	for _, c := range []lab.Case{{Name: "bare"}, {Name: "little", Sigma: 1e-6}, {Name: "much", Sigma: 300}, {Name: "wide", Clip: 1e6}, {Name: "narrow", Clip: 0.1}} {
		c.Basis, c.Anchor, c.Align = basis, anchor, alignments(t, "odc")
		s.Cases = append(s.Cases, c)
	}
	r := repeat(t, s, d, lab.Repeats{Count: 10})
	mean := func(name string) float64 {
		return stat.Mean(r.Values[lab.Cell{Case: name, Method: "odc", Model: "ridge", Metric: "roc_auc"}], nil)
	}
	// Cases draw bases of their own: .05 is what ten draws of those differ by at most.
	if bare := mean("bare"); bare < 0.75 || mean("little") < bare-0.05 || mean("wide") < bare-0.05 || mean("narrow") < bare-0.1 {
		t.Errorf("bare %.3f, little noise %.3f, cut at 1e6 %.3f, cut at .1 %.3f", bare, mean("little"), mean("wide"), mean("narrow"))
	}
	if much := mean("much"); much < 0.35 || much > 0.65 {
		t.Errorf("noise of 300 leaves %.3f, want about .5", much)
	}
	s.Cases[0].Sigma = -1
	if _, err := s.Resolve(); err == nil {
		t.Error("negative noise is accepted")
	}
}
