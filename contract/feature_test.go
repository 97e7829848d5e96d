package contract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"concord/contract"
)

const tableYAML = `
name: Real tables
parties: 5
missing_values: [NA, "-999"]
features:
  - {name: weight, unit: kg, range: [1, 300], missing: mean}
  - {name: smoker, type: category, levels: [never, former, current], missing: own}
  - {name: region, type: category, levels: [north, south], missing: common}
  - {name: diabetic, type: boolean, levels: ["no", "yes"], missing: constant, fill: "no"}
  - {name: stage, type: ordinal, levels: [I, II, III]}
  - {name: born, type: date, as: age, from: 2020-01-01, layout: DD.MM.YYYY, range: [0, 120]}
label: {name: outcome, levels: ["0", "1"], positive: "1"}
standardise: pooled
basis: {kind: common}
`

func fill(v float64) *float64 { return &v }

// TestFeatureTypes: every type as it is written and as it is read.
func TestFeatureTypes(t *testing.T) {
	c, err := contract.ParseYAML([]byte(tableYAML))
	if err != nil {
		t.Fatal(err)
	}
	want := []contract.Feature{
		{Name: "weight", Type: "numeric", Unit: "kg", Range: &contract.Range{Min: 1, Max: 300}, Missing: "mean"},
		{Name: "smoker", Type: "category", Levels: []string{"never", "former", "current"}, Missing: "own"},
		{Name: "region", Type: "category", Levels: []string{"north", "south"}, Missing: "common"},
		{Name: "diabetic", Type: "boolean", Levels: []string{"no", "yes"}, Missing: "constant", Fill: fill(0)},
		{Name: "stage", Type: "ordinal", Levels: []string{"I", "II", "III"}},
		{Name: "born", Type: "date", As: "age", From: "2020-01-01", Layout: "DD.MM.YYYY", Range: &contract.Range{Min: 0, Max: 120}, Missing: ""},
	}
	if diff := cmp.Diff(want, c.Features); diff != "" {
		t.Error(diff)
	}
	names := []string{"weight", "smoker=never", "smoker=former", "smoker=current", "smoker=(missing)", "region=north", "region=south", "diabetic", "stage", "born"}
	if diff := cmp.Diff(names, c.ColumnNames()); diff != "" || c.M() != len(names) || c.Width() != len(names) {
		t.Errorf("%s, m = %d", diff, c.M())
	}
	if diff := cmp.Diff(&contract.Pooling{Colluders: 1, Weights: "rows"}, c.Pooling); diff != "" {
		t.Error(diff)
	}
	if c.Basis.Dim != 6 || c.Expect.Visits != 8 || c.Expect.PoolUpBytes == 0 {
		t.Errorf("dim %d, expect %+v", c.Basis.Dim, c.Expect)
	}
	encoded(t, c)
	described(t, c,
		"6, which become 10 columns", "smoker, category of never, former, current; missing is a level of its own",
		"diabetic, boolean, no or yes; a missing one becomes no", "stage, ordinal, from low to high I, II, III",
		"born, date as DD.MM.YYYY, in years before 2020-01-01, 0 to 120", "empty cells, and NA, -999",
		"figures, moments", "8: join, setup with masked figures, open figures, masked moments, open moments, common directions, contribute, receive", "for pooled figures up")
}

// TestFeatureTypesRefuse: what a type has not, and what is not said.
func TestFeatureTypesRefuse(t *testing.T) {
	for _, tc := range []struct{ from, to, problem string }{
		{"type: ordinal, levels: [I, II, III]", "type: text", `feature "stage": type is "text", must be numeric, category, boolean, ordinal or date; free text has no place in a model`},
		{"levels: [I, II, III]", "levels: [I]", `feature "stage": the number of levels is 1`},
		{"levels: [I, II, III]", "levels: [I, II, I]", `feature "stage": levels has "I" twice`},
		{"levels: [I, II, III]", "levels: [I, NA]", `"NA" is among missing_values and a level of feature "stage"`},
		{"levels: [I, II, III]", "levels: [I, II], unit: mm", `feature "stage": unit belongs to type numeric`},
		{"levels: [north, south]", "levels: [north, south], range: [0, 1]", "range belongs to type numeric or date, this one is category"},
		{`levels: ["no", "yes"]`, `levels: ["no", "yes", "maybe"]`, "levels has 3 words, a boolean has two"},
		{`fill: "no"`, `fill: "maybe"`, "features[4].fill: must be one of the levels: no, yes"},
		{`, fill: "no"`, "", "missing is constant and fill is not given"},
		{"missing: own", "missing: mean", `missing is "mean", must be refuse, common, own or constant for type category`},
		{"missing: mean", "missing: own", `missing is "own", must be refuse, mean or constant for type numeric`},
		{"missing: mean", "missing: constant, fill: 500", "fill is 500, must be a finite number inside the range"},
		{"missing: mean", "fill: 5", "fill belongs to missing: constant"},
		{"as: age", "as: weeks", `as is "weeks"`},
		{"from: 2020-01-01", "from: 2020-02-30", `from is "2020-02-30", must be a day`},
		{"DD.MM.YYYY", "DD.MM-YYYY", "layout is"},
		{"DD.MM.YYYY", "dd.mm.yyyy", "layout is"},
		{"DD.MM.YYYY", "DD.MM.YY", "layout is"},
		{"DD.MM.YYYY", "DMYYYY", "layout is"},
		{", range: [0, 120]", "", `feature "born" has no range, and figures are pooled`},
		{"name: stage", "name: smoker=never", `the column "smoker=never" is of feature`},
		{"levels: [never, former, current]", "levels: [never, (missing)]", `levels has "(missing)", which is what missing: own adds`},
		{"parties: 5", "parties: 3", "pooling.colluders is 1 of 3 parties"},
		{"basis: {kind: common}", "basis: {kind: common}\npooling: {colluders: 3}", "pooling.colluders is 3 of 5 parties"},
		{"basis: {kind: common}", "basis: {kind: common}\npooling: {weights: people}", "pooling.weights"},
		{"basis: {kind: common}", "basis: {kind: common}\npooling: {power: 3}", "pooling.power belongs to a sketch"},
		{"basis: {kind: common}", "basis: {kind: common}\npooling: {sketch: 5}", "pooling.sketch"},
		{"basis: {kind: common}", "pooling: {weights: rows}", "belong to basis.kind common, the basis is pca"},
		{"basis: {kind: common}", "basis: {kind: common}\nviews: [{name: a, features: [weight]}, {name: b, features: [smoker]}]", "no party could project on them; take pca"},
		{"basis: {kind: common}", "basis: {kind: common}\nanchor: {kind: gaussian}\npooling: {weights: equal}", "pooling.weights is equal and the anchor is gaussian"},
		{"basis: {kind: common}", "alignment: {method: ls}\nviews: [{name: a, features: [weight, smoker, region, diabetic]}, {name: b, features: [diabetic, stage, born]}]", "figures are pooled and there are views"},
		{"basis: {kind: common}", "views: [{name: a, features: [weight, smoker]}, {name: b, features: [smoker, region]}]", `feature "diabetic" is in no view`},
		{"basis: {kind: common}", "views: [{name: a, features: [smoker, weight]}, {name: b, features: [smoker]}]", "not in the order of features"},
	} {
		if !strings.Contains(tableYAML, tc.from) {
			t.Fatalf("the sample has no %q", tc.from)
		}
		_, err := contract.ParseYAML([]byte(strings.Replace(tableYAML, tc.from, tc.to, 1)))
		wantProblem(t, tc.to, err, tc.problem)
	}
}
