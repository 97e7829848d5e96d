package party_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/party"
	"concord/privacy"
	"concord/table"
)

// TestEffectiveFloors: the strictest of contract, site and program counts, and a
// missing policy leaves the other two.
func TestEffectiveFloors(t *testing.T) {
	c := newContract(t, "pca", "uniform")
	c.Floors = contract.Floors{Rows: 3, PerClass: 1, Eps: 0.05}
	f := party.EffectiveFloors(c, nil)
	if f.Rows != (party.Floor{Least: 10, By: "built in"}) || f.PerClass != (party.Floor{Least: 2, By: "built in"}) || f.People.Least != 5 || f.Eps != 0.05 {
		t.Errorf("built in: %+v", f)
	}
	c.Floors.Rows = 40
	f = party.EffectiveFloors(c, &contract.Policy{Rows: 20, PerClass: 9, People: 30, Eps: 0.2, Linkage: 0.5})
	want := party.Floors{
		Rows: party.Floor{Least: 40, By: "of the contract"}, PerClass: party.Floor{Least: 9, By: "of this site"}, People: party.Floor{Least: 30, By: "of this site"},
		Eps: 0.2, Linkage: 0.5,
	}
	if f != want {
		t.Errorf("floors %+v, want %+v", f, want)
	}
	c.Label = contract.Label{Name: "y", Type: "number"}
	if f := party.EffectiveFloors(c, &contract.Policy{PerClass: 9}); f.PerClass.Least != 0 {
		t.Errorf("numbers have a floor per class: %+v", f)
	}
}

// TestSiteFloors: what the site demands stops a contribution, with the figure and who
// demands it.
func TestSiteFloors(t *testing.T) {
	c := newContract(t, "pca", "uniform")
	tab := read(t, c, csv(60, rand.New(rand.NewPCG(1, 2))))
	for _, tc := range []struct {
		policy contract.Policy
		want   string
	}{
		{contract.Policy{Rows: 61}, "the table has 60 rows, the floor of this site is 61"},
		{contract.Policy{PerClass: 21}, `class "yes" has 20 rows, the floor of this site is 21`},
		{contract.Policy{People: 61}, "the table has rows of 60 people, the floor of this site is 61"},
		{contract.Policy{Correlation: 0.1}, "this site allows 0.1"},
		{contract.Policy{Linkage: 0.01}, "are nearest to their own person, this site allows 1 %"},
		{contract.Policy{Eps: 0.99}, "rows were dropped that the basis leaves less than 0.99 of out"},
	} {
		_, err := party.Prepare(c, tab, party.EffectiveFloors(c, &tc.policy), party.Agreed{Seed: seed(t)}, basis.NewSource())
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v, want one with %q", tc.policy, err, tc.want)
		}
		var floor *party.FloorError
		if tc.policy.Eps == 0 && (!errors.As(err, &floor) || floor.Hint() == "") {
			t.Errorf("%+v: %v is no FloorError with a hint", tc.policy, err)
		}
	}
}

// TestDownSampling: rows of which the basis leaves out too little are not among what
// leaves, and all others are ([nosaka2024mm], definition 2.6).
func TestDownSampling(t *testing.T) {
	c := newContract(t, "svd", "uniform")
	tab := read(t, c, csv(200, rand.New(rand.NewPCG(1, 2))))
	whole, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{5}))
	if err != nil {
		t.Fatal(err)
	}
	dr, err := privacy.DR(tab.Standardised().Reveal(), whole.Basis.Matrix().Reveal())
	if err != nil {
		t.Fatal(err)
	}
	const eps = 0.3
	low := len(privacy.Below(dr, eps))
	if low < 5 || low > 150 {
		t.Fatalf("%d rows of 200 are below %g: the sample is of no use", low, eps)
	}
	// The same source gives the same basis, which does not see the floor.
	made, err := party.Prepare(c, tab, party.EffectiveFloors(c, &contract.Policy{Eps: eps}), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{5}))
	if err != nil {
		t.Fatal(err)
	}
	n, _ := made.X.Dims()
	if made.Report.Dropped != low || n != 200-low || made.Report.Rows != n || len(made.Labels) != n {
		t.Errorf("%d rows leave, %d were dropped, want %d; report %+v", n, made.Report.Dropped, low, made.Report)
	}
	want := whole.Basis.Project(tab.Standardised())
	left := map[string]bool{}
	for i := range n {
		left[fmt.Sprintf("%.9f", made.X.RawRowView(i))] = true
	}
	for i, v := range dr {
		if got := left[fmt.Sprintf("%.9f", want.RawRowView(i))]; got != (v >= eps) {
			t.Errorf("row %d with %.3f left out: leaves %v", i+1, v, got)
		}
	}
}

// TestPeopleFloor: rows of few people are few people.
func TestPeopleFloor(t *testing.T) {
	c := newContract(t, "pca", "uniform")
	c.Subject, c.Floors.People = "who", 20
	lines := strings.Split(strings.TrimSpace(csv(60, rand.New(rand.NewPCG(1, 2)))), "\n")
	var b strings.Builder
	for i, line := range lines {
		if i == 0 {
			fmt.Fprintf(&b, "%s,who\n", line)
		} else {
			fmt.Fprintf(&b, "%s,P%d\n", line, i%19)
		}
	}
	_, err := party.Check(c, read(t, c, b.String()), party.EffectiveFloors(c, nil))
	if err == nil || !strings.Contains(err.Error(), "the table has rows of 19 people, the floor of the contract is 20") {
		t.Errorf("error %v", err)
	}
}

// TestReportIsRounded: the report has no digits beyond what people are shown, since all
// of them would be equations for the basis; figures that have floors keep them and do
// not look better than they are.
func TestReportIsRounded(t *testing.T) {
	c := newContract(t, "pca", "normal")
	c.Protocol, c.Basis.Kind, c.Basis.Delta = "nri", "pca-perturbed", 0.05
	tab := read(t, c, csv(200, rand.New(rand.NewPCG(1, 2))))
	made, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{5}))
	if err != nil {
		t.Fatal(err)
	}
	r := made.Report
	figures := map[string]float64{"energy": r.Energy, "eps": r.Eps, "linked": r.Linked}
	for _, e := range r.Exposed {
		figures["correlation of "+e.Feature], figures["near of "+e.Feature] = e.Correlation, e.Near
	}
	for _, f := range r.Reconstructed {
		figures["ratio of "+f.Feature] = f.Ratio
	}
	for _, f := range r.Findings {
		figures[f.Name] = f.Value
	}
	if len(figures) < 15 {
		t.Fatalf("the report has few figures: %v", figures)
	}
	for name, v := range figures {
		if digits := v * 1000; math.Abs(digits-math.Round(digits)) > 1e-9 { // rounding of the product
			t.Errorf("%s is %v, has more than three decimals", name, v)
		}
	}
	worst := 0.0
	z := ordered(t, c, tab)
	matches, err := privacy.RankMatching(tab.Standardised().Reveal(), z)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		worst = max(worst, math.Abs(m.Correlation))
	}
	d, converged, err := privacy.IndependentDirections(z, rand.NewPCG(3, 4))
	if err != nil || !converged {
		t.Fatal(converged, err)
	}
	var independent mat.Dense
	independent.Mul(z, d)
	same, err := privacy.Correlations(tab.Standardised().Reveal(), &independent)
	if err != nil {
		t.Fatal(err)
	}
	worst = max(worst, mat.Max(same))
	const near = 1e-4 // components are found as near as they converge
	if got := r.Exposed[0].Correlation; got < worst-near || got > worst+near+0.001 {
		t.Errorf("the largest correlation is %v, the report says %v", worst, got)
	}

	// A floor with more decimals than the report is kept, then and later.
	loose := party.EffectiveFloors(c, &contract.Policy{Eps: 0.0001, Correlation: worst + near, Linkage: 0.99999})
	again, err := party.Prepare(c, tab, loose, party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{5}))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Report.Keeps(c, loose); err != nil {
		t.Errorf("kept when it was made, and now %v", err)
	}
	for _, raised := range []contract.Policy{{Eps: again.Report.Eps + 0.001}, {Correlation: worst - near}, {Rows: 201}} {
		var floor *party.FloorError
		if err := again.Report.Keeps(c, party.EffectiveFloors(c, &raised)); !errors.As(err, &floor) {
			t.Errorf("floors raised to %+v: %v", raised, err)
		}
	}
}

// ordered is what leaves with the source of TestReportIsRounded under dc, in the order
// of the table.
func ordered(t *testing.T, c *contract.Contract, tab *table.Table) *mat.Dense {
	t.Helper()
	dc := *c
	dc.Protocol = "dc"
	made, err := party.Prepare(&dc, tab, party.EffectiveFloors(&dc, nil), party.Agreed{Seed: seed(t)}, rand.NewChaCha8([32]byte{5}))
	if err != nil {
		t.Fatal(err)
	}
	return made.Basis.Project(tab.Standardised())
}
