package contract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"concord/contract"
)

func TestPolicy(t *testing.T) {
	got, err := contract.ParsePolicy([]byte(`
# North's own
name: north-2026
floors: {rows: 50, per_class: 5, people: 40, eps: 0.1, correlation: 0.95, linkage: 1}
ledger: /srv/ledger.jsonl
projections: 3
approve: true
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &contract.Policy{Name: "north-2026", Rows: 50, PerClass: 5, People: 40, Eps: 0.1, Correlation: 0.95, Linkage: 1, Ledger: "/srv/ledger.jsonl", Projections: 3, Approve: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := contract.ParsePolicy([]byte("floors: {rows: 7}\n")); err != nil || *got != (contract.Policy{Rows: 7}) {
		t.Errorf("rows only: %+v, %v", got, err)
	}
	for _, c := range []struct{ text, problem string }{
		{"", "policy.yaml"},
		{"flors: {rows: 5}", `policy.yaml: line 1, column 8: flors: unknown key; the keys here are: name, floors, ledger, projections, approve`},
		{"floors: {row: 5}", "floors.row: unknown key"},
		{"floors: {rows: 5, rows: 6}", "policy.yaml"},
		{"floors: {rows: -1}", "floors.rows is -1, must be from 0"},
		{"floors: {eps: 1}", "floors.eps is 1, must be from 0 to below 1"},
		{"floors: {linkage: 1.5}", "floors.linkage is 1.5, must be from 0 to 1"},
		{"floors: {rows: many}", "must be a whole number"},
		{"projections: -1", "projections is -1, must not be negative"},
		{"approve: yes", `must be true or false, got "yes"`},
		{"approve: true", "name is missing"},
		{"name: North", `name is "North", must be of small letters, digits and -`},
		{"name: person", "not be person"},
		{"[1, 2]", "policy.yaml"},
		{strings.Repeat("#", 1<<20+1), "at most 1048576 are read"},
	} {
		_, err := contract.ParsePolicy([]byte(c.text))
		wantProblem(t, c.text[:min(len(c.text), 30)], err, c.problem)
		if err != nil && strings.Contains(err.Error(), "study.yaml") {
			t.Errorf("the error names another file: %v", err)
		}
	}
}
