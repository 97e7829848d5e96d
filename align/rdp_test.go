package align_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// TestRDPScale checks that the penalty is free of scale: A → tA leaves G as it
// is and multiplies η and the objective by t², with t a power of two exactly.
func TestRDPScale(t *testing.T) {
	for _, c := range iteratedCases(t) {
		if c.Method != "rdp" || c.Rows > 100 || c.Start != "ls" {
			continue
		}
		a := c.reps()
		var big []*mat.Dense
		square := 0.0
		for _, x := range a {
			var y mat.Dense
			y.Scale(16, x)
			big = append(big, &y)
			square += math.Pow(mat.Norm(x, 2), 2) / float64(len(a)*c.Dim)
		}
		r, q := run(t, "rdp", a, align.Options{}), run(t, "rdp", big, align.Options{})
		if math.Abs(r.Eta-1e-3*square) > 1e-12*r.Eta {
			t.Errorf("%s: η is %g, want 1e-3 of %g", c.Name, r.Eta, square)
		}
		// The starts differ by the scale of LS alone, and the search by rounding.
		if math.Abs(q.Eta-256*r.Eta) > 1e-12*q.Eta || math.Abs(q.Objective-256*r.Objective) > 1e-8*q.Objective {
			t.Errorf("%s: η %g and %g, objective %g and %g, want factors of 256", c.Name, r.Eta, q.Eta, r.Objective, q.Objective)
		}
	}
}

// TestRDPStarts checks that the better of the two starts is reported, and what is
// said of the result.
func TestRDPStarts(t *testing.T) {
	for _, c := range iteratedCases(t) {
		if c.Method != "rdp" || c.Rows > 100 || c.Start != "ls" {
			continue
		}
		a := c.reps()
		opt := align.Options{Eta: c.Eta, EtaScale: 1}
		r := run(t, "rdp", a, opt)
		if r.Start != "ls" && r.Start != "opp" || r.Eta != c.Eta || !r.Converged {
			t.Errorf("%s: start %q, η %g, converged %t", c.Name, r.Start, r.Eta, r.Converged)
		}
		for _, start := range []string{"ls", "opp"} {
			opt.Init = run(t, start, a, align.Options{}).G
			if one := run(t, "rdp", a, opt); r.Objective > one.Objective*(1+1e-8) {
				t.Errorf("%s: objective %.12g, from %s %.12g", c.Name, r.Objective, start, one.Objective)
			}
		}
		penalty := 0.0
		for i, g := range r.G {
			ld, _ := mat.LogDet(g)
			if math.Abs(r.LogDet[i]-2*ld) > 1e-9 {
				t.Errorf("%s: log det %d is %g, want %g", c.Name, i+1, r.LogDet[i], 2*ld)
			}
			penalty += c.Eta * 4 * ld * ld
			s, err := linalg.SingularValues(g)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(r.Conds[i]-s[0]/s[len(s)-1]) > 1e-9*r.Conds[i] || r.Ranks[i] != c.Dim {
				t.Errorf("%s: condition %g, rank %d of G_%d", c.Name, r.Conds[i], r.Ranks[i], i+1)
			}
		}
		if want := float64(len(a))*r.Residual + penalty; math.Abs(r.Objective-want) > 1e-9*want {
			t.Errorf("%s: objective %g, want c·residual + penalty = %g", c.Name, r.Objective, want)
		}
	}
}

// TestRDPDrift checks the warning where the spans of two parties share directions,
// and the infimum is not attained (c l > (c − 1) m).
func TestRDPDrift(t *testing.T) {
	src := source(51)
	anchor := linalg.Normal(60, 6, src)
	a := []*mat.Dense{mul(anchor, linalg.Stiefel(6, 4, src)), mul(anchor, linalg.Stiefel(6, 4, src))}
	r := run(t, "rdp", a, align.Options{Eta: 1, EtaScale: 1})
	found := strings.Contains(strings.Join(r.Warnings, ";"), "has condition number")
	if found != (math.Max(r.Conds[0], r.Conds[1]) > 1e3) || !found {
		t.Errorf("condition numbers %g, objective %g, warnings %q", r.Conds, r.Objective, r.Warnings)
	}
	one := run(t, "rdp", a[:1], align.Options{})
	if one.Objective > 1e-20*mat.Norm(a[0], 2) {
		t.Errorf("one party: objective %g, want 0", one.Objective)
	}
}

// TestRDPRankDeficient checks that a party below full rank is named: the
// objective does not see G_i in the directions that A_i lacks.
func TestRDPRankDeficient(t *testing.T) {
	for rank := range 3 {
		a := mixed(80, 3, 5)
		a[1] = mul(a[1], mat.NewDiagDense(3, []float64{1, 1, 0, 0, 0}[2-rank:][:3]))
		r := run(t, "rdp", a, align.Options{})
		want := fmt.Sprintf("party 2: A_2 has rank %d of 3 columns", rank)
		if len(r.Warnings) == 0 || !strings.Contains(r.Warnings[0], want) {
			t.Errorf("warnings %q, want %q", r.Warnings, want)
		}
	}
}
