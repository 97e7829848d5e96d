package experiment_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"concord/lab/experiment"
)

const pairedText = `
paired:
  - {run: one, model: ridge, metric: roc_auc, against: central, methods: [central, local], at_least: -1}
  - {run: one, model: ridge, metric: roc_auc, against: local, methods: [central], at_most: -0.9}
  - {run: one, model: ridge, metric: roc_auc, against: local, methods: [DC/odc]}
  - {run: long, model: ridge, metric: roc_auc, against: local, methods: [DC/odc]}
`

// TestPaired: a method is as good as itself; what is wanted is held against the mean;
// runs that a quick look leaves out are not compared.
func TestPaired(t *testing.T) {
	e := parse(t, tiny+pairedText)
	r, err := e.Run(t.Context(), experiment.Options{Only: []string{"one"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pairs) != 4 {
		t.Fatalf("%d comparisons, want 4", len(r.Pairs))
	}
	self, other := r.Pairs[0], r.Pairs[1]
	if self.Mean != 0 || self.Low != 0 || self.High != 0 || self.Verdict != experiment.Unshown || self.Reached == nil || !*self.Reached {
		t.Errorf("central beside itself: %+v", self)
	}
	if other.Method != "local" || !(other.Low < other.Mean && other.Mean < other.High) {
		t.Errorf("local beside central: %+v", other)
	}
	if back := r.Pairs[2]; math.Abs(back.Mean+other.Mean) > 1e-15 || *back.Reached || back.Wanted != "≤ -0.9000" {
		t.Errorf("central beside local: %+v", back)
	}
	if r.Pairs[3].Reached != nil {
		t.Errorf("nothing is wanted of %+v", r.Pairs[3])
	}
	if missed := strings.Join(r.Missed(), "\n"); !strings.Contains(missed, "central − local is") {
		t.Errorf("missed is %q", missed)
	}
	var md, js bytes.Buffer
	if err := r.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	if err := r.JSON(&js); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## Beside central", "## Beside local", "2 of 3 differences are as wanted."} {
		if !strings.Contains(md.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	var record struct {
		Paired []experiment.PairedResult `json:"paired"`
	}
	if err := json.Unmarshal(js.Bytes(), &record); err != nil || len(record.Paired) != 4 || record.Paired[1].Mean != other.Mean {
		t.Errorf("the record has %+v, %v", record.Paired, err)
	}
	if words := r.Words("central"); !strings.Contains(words, "one (ridge, ROC-AUC):") || !strings.Contains(words, "central") {
		t.Errorf("in words: %q", words)
	}
}

func TestPairedOfNothing(t *testing.T) {
	for text, want := range map[string]string{
		"{run: one, model: ridge, metric: roc_auc, against: central, methods: []}":                                   "names no methods",
		"{run: one, model: ridge, metric: roc_auc, against: nobody, methods: [central]}":                             `no method "nobody"`,
		"{run: two, model: ridge, metric: roc_auc, against: local, methods: [central]}":                              `no run "two"`,
		"{run: one, model: tree, metric: roc_auc, against: local, methods: [central]}":                               `no model "tree"`,
		"{run: one, model: ridge, metric: beauty, against: local, methods: [central]}":                               "beauty",
		"{run: one, model: ridge, metric: roc_auc, against: local, methods: [central], at_least: 0.2, at_most: 0.1}": "at least 0.2 and at most 0.1",
		"{run: one, model: ridge, metric: roc_auc, against: local, methods: [central], at_least: 0.2, at_mist: 0.1}": "at_mist",
		"{run: one, model: ridge, metric: roc_auc, against: local, methods: [central, \"\"]}":                        "empty method",
		"{run: one, model: ridge, metric: roc_auc, against: \"\", methods: [central]}":                               "empty method",
		"{run: sweep, model: ridge, metric: roc_auc, against: local, methods: [central]}":                            `no run "sweep" at 0`,
		"{run: sweep, x: 7, model: ridge, metric: roc_auc, against: local, methods: [central]}":                      `no run "sweep" at 7`,
	} {
		if _, err := experiment.Parse([]byte(tiny + "\npaired:\n  - " + text + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
