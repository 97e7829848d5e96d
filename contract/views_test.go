package contract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"concord/contract"
	"concord/release"
)

const viewed = `
name: Two views
parties: 4
features:
  - {name: age, range: [0, 120]}
  - {name: sex, type: category, levels: [f, m, x]}
  - {name: bmi, range: [10, 70]}
  - {name: crp, range: [0, 400]}
  - {name: wbc, range: [0, 50]}
views:
  - {name: ward, features: [age, sex, bmi], dim: 2}
  - {name: lab, features: [age, crp, wbc], dim: 1}
label: {name: ill, levels: [no, yes], positive: yes}
anchor: {kind: normal, rows: 100}
`

func viewedContract(t *testing.T, more string) *contract.Contract {
	t.Helper()
	c, err := contract.ParseYAML([]byte(viewed + more))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestThrough(t *testing.T) {
	c := viewedContract(t, "")
	if c.Alignment.Method != "ls" || c.Basis.Dim != 2 || c.D() != 2 || c.M() != 7 {
		t.Errorf("defaults: alignment %+v, basis %+v, d %d, m %d", c.Alignment, c.Basis, c.D(), c.M())
	}
	before, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	lab, err := c.Through("lab")
	if err != nil {
		t.Fatal(err)
	}
	if got := lab.FeatureNames(); !slices.Equal(got, []string{"age", "crp", "wbc"}) {
		t.Errorf("lab has the features %v", got)
	}
	if got := lab.ViewColumns(); !slices.Equal(got, []int{0, 5, 6}) {
		t.Errorf("lab has the columns %v", got)
	}
	if lab.Basis.Dim != 1 || lab.D() != 2 || lab.M() != 3 || lab.ViewOf() != "lab" || lab.Whole() != c {
		t.Errorf("lab: l %d, d %d, m %d, view %q", lab.Basis.Dim, lab.D(), lab.M(), lab.ViewOf())
	}
	ward, err := lab.Through("ward") // from one view to another
	if err != nil {
		t.Fatal(err)
	}
	if got := ward.ViewColumns(); !slices.Equal(got, []int{0, 1, 2, 3, 4}) || ward.D() != 2 {
		t.Errorf("ward has the columns %v, d %d", got, ward.D())
	}
	prep, err := lab.Preparation(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(prep.Centre, []float64{60, 200, 25}) {
		t.Errorf("lab's preparation has the centres %v", prep.Centre)
	}
	// Of 100 rows, 60 are of sites that have the ward's features, 40 of the laboratories.
	pooled := pooledViews(t, "")
	figures := &contract.Figures{Version: 1, Sites: 8, Rows: 100, Views: []int64{60, 40}, Features: []contract.FeatureFigures{
		{Count: 100, Mean: 50, Variance: 25}, {Count: 60, Levels: []int64{30, 30, 0}}, {Count: 60, Mean: 26, Variance: 9},
		{Count: 40, Mean: 10, Variance: 4}, {Count: 40, Mean: 7, Variance: 1},
	}}
	if lab, err = pooled.Through("lab"); err != nil {
		t.Fatal(err)
	}
	if prep, err = lab.Preparation(figures); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(prep.Centre, []float64{50, 10, 7}) || !slices.Equal(prep.Scale, []float64{5, 2, 1}) {
		t.Errorf("lab is prepared by the wrong figures")
	}
	if after, err := c.Encode(); err != nil || string(after) != string(before) {
		t.Errorf("the contract changed: %v", err)
	}
	if again, err := contract.Decode(before); err != nil || cmp.Diff(c, again) != "" {
		t.Errorf("the contract decodes to another: %v", err)
	}
	for view, want := range map[string]string{"": "no view is named; the contract has ward, lab", "labs": `there is no view "labs"`} {
		if _, err := c.Through(view); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("view %q: error %v, want %q", view, err, want)
		}
	}
}

func TestThroughWithoutViews(t *testing.T) {
	c, err := contract.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b, c]\nlabel: {name: y, levels: [n, p], positive: p}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Through(""); got != c || err != nil || c.Whole() != c || c.ViewOf() != "" || !slices.Equal(c.ViewColumns(), []int{0, 1, 2}) {
		t.Errorf("a contract without views: %v, %v", got, err)
	}
	if _, err := c.Through("x"); err == nil || !strings.Contains(err.Error(), "has no views") {
		t.Errorf("a view of none: %v", err)
	}
}

func TestFitting(t *testing.T) {
	c := viewedContract(t, "")
	for _, tc := range []struct{ columns, fit, exact string }{
		{"age,sex,bmi,ill", "ward", "ward"},
		{"ill,wbc,crp,age", "lab", "lab"},
		{"age,sex,bmi,crp,wbc,ill", "ward,lab", ""},
		{"age,sex,bmi,crp,ill", "ward", ""},
		{"age,sex,ill", "", ""},
		{"", "", ""},
	} {
		fit, exact := c.Fitting(strings.Split(tc.columns, ","))
		if strings.Join(fit, ",") != tc.fit || strings.Join(exact, ",") != tc.exact {
			t.Errorf("columns %s: fit %v, exact %v, want %s and %s", tc.columns, fit, exact, tc.fit, tc.exact)
		}
	}
}

func TestDisjoint(t *testing.T) {
	for _, tc := range []struct {
		views string
		want  [][2]int
	}{
		{"[{name: v, features: [a, b]}, {name: w, features: [b, c]}, {name: x, features: [c, d]}]", nil}, // v and x by way of w
		{"[{name: v, features: [a, b]}, {name: w, features: [c, d]}]", [][2]int{{0, 1}}},
		{"[{name: v, features: [a, b]}, {name: w, features: [c, d]}, {name: x, features: [a, b, d]}]", nil},
	} {
		c, err := contract.ParseYAML([]byte("name: T\nparties: 4\nfeatures: [a, b, c, d]\nviews: " + tc.views + "\nlabel: {name: y, levels: [n, p], positive: p}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Disjoint(); cmp.Diff(tc.want, got) != "" {
			t.Errorf("%s: %v, want %v", tc.views, got, tc.want)
		}
		if said := strings.Contains(release.Describe(c), "NOTHING RELATES"); said != (tc.want != nil) {
			t.Errorf("%s: the description says nothing relates them: %v", tc.views, said)
		}
	}
}

func TestViewsValidate(t *testing.T) {
	for _, tc := range []struct{ want, from, to string }{
		{"alignment.method is odc, and there are views: with partly different columns it must be ls, gep or consensus", "", "alignment: {method: odc}\n"},
		{"the anchor is smote and there are views", "kind: normal, rows: 100", "kind: smote"},
		{"alignment.dim is 9, must be from 1 to 8", "", "alignment: {method: gep, dim: 9}\n"},
		{"alignment.dim is 1, must be at least basis.dim, 2", "", "alignment: {method: consensus, dim: 1}\n"},
		{`view "lab": dim is 3, must be from 1 to 2`, "dim: 1", "dim: 3"},
		{`feature "wbc" is in no view`, "crp, wbc]", "crp]"},
		{`there is no feature "hgb"`, "crp, wbc]", "crp, hgb]"},
		{"stands twice or not in the order", "age, crp, wbc]", "crp, age, wbc]"},
		{`both named "ward"`, "name: lab", "name: ward"},
	} {
		text := strings.Replace(viewed, tc.from, tc.to, 1)
		if tc.from == "" {
			text = viewed + tc.to
		}
		if _, err := contract.ParseYAML([]byte(text)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}

// TestConsensus: it has its dimension in the contract, with and without views.
func TestConsensus(t *testing.T) {
	c := viewedContract(t, "alignment: {method: consensus}\n")
	if c.Alignment.Dim != 3 || c.D() != 3 {
		t.Errorf("alignment %+v", c.Alignment)
	}
	c, err := contract.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b, c, d, e]\nlabel: {name: y, levels: [n, p], positive: p}\nbasis: {dim: 4}\nalignment: {method: consensus}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Alignment.Dim != 5 { // no more than the anchor has rows
		t.Errorf("alignment %+v", c.Alignment)
	}
}
