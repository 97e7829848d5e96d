package party_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"concord/basis"
	"concord/contract"
	"concord/party"
)

// TestLabelsSingleOut: a class is rare by its people, not by its rows; a number that one
// row alone has tells whose row it is.
func TestLabelsSingleOut(t *testing.T) {
	withSubject, err := contract.ParseYAML([]byte(fmt.Sprintf(yaml, "pca", "uniform") + "subject: who\n"))
	if err != nil {
		t.Fatal(err)
	}
	number, err := contract.ParseYAML([]byte(strings.Replace(fmt.Sprintf(yaml, "pca", "uniform"), "label: {name: y, levels: [no, yes], positive: yes}", "label: {name: y, type: number}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	row := func() string {
		return fmt.Sprintf("%g,%g,%g,%g", 10*rnd.Float64(), 2*rnd.Float64()-1, 100+100*rnd.Float64(), rnd.Float64())
	}
	// 20 rows of yes, all of two people; 40 of no, of 20.
	var people, exact, rounded strings.Builder
	people.WriteString("who,a,b,c,d,y\n")
	exact.WriteString("a,b,c,d,y\n")
	rounded.WriteString("a,b,c,d,y\n")
	for i := range 60 {
		if i < 20 {
			fmt.Fprintf(&people, "p%d,%s,yes\n", i%2, row())
		} else {
			fmt.Fprintf(&people, "q%d,%s,no\n", i%20, row())
		}
		fmt.Fprintf(&exact, "%s,%g\n", row(), 100*rnd.Float64())
		fmt.Fprintf(&rounded, "%s,%d\n", row(), i%6*10)
	}
	for _, tc := range []struct {
		name, text string
		c          *contract.Contract
		finding    string
		value      float64
		warn       bool
		says       string
	}{
		{"people", people.String(), withSubject, "rare-label", 2, true, "of all 22 people only 2 have the label yes, which leaves as it is: who knows who has it here knows their rows among 20"},
		{"exact numbers", exact.String(), number, "unique-label", 1, true, "100 % of the rows have a number in y that no other row here has"},
		{"rounded numbers", rounded.String(), number, "unique-label", 0, false, "0 % of the rows"},
	} {
		tab := read(t, tc.c, tc.text)
		made, err := party.Prepare(tc.c, tab, party.EffectiveFloors(tc.c, nil), party.Agreed{Seed: seed(t)}, basis.NewSource())
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		i := slices.IndexFunc(made.Report.Findings, func(f party.Finding) bool { return f.Name == tc.finding })
		if i < 0 {
			t.Errorf("%s: no %s", tc.name, tc.finding)
			continue
		}
		if f := made.Report.Findings[i]; f.Value != tc.value || f.Warn != tc.warn || !strings.Contains(f.Text, tc.says) {
			t.Errorf("%s: %+v", tc.name, f)
		}
	}
}
