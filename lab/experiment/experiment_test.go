package experiment_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"math"
	"strings"
	"testing"

	"concord/internal/chart"
	"concord/lab/experiment"
)

// TestAllFilesAreSound loads every experiment: its settings resolve, its models and
// alignments exist, and its published figures, orders, tests and charts speak of
// what its runs give.
func TestAllFilesAreSound(t *testing.T) {
	names := experiment.Names()
	if got := strings.Join(names, " "); got != "E1 E2 E3 E4 E5 E6 E7 E8 E9 E10 E11" {
		t.Fatalf("the experiments are %s", got)
	}
	for _, name := range names {
		e, err := experiment.Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(e.Runs)+len(e.Timings)+len(e.Traffic) == 0 {
			t.Errorf("%s does nothing", name)
		}
		if e.Repeats.Quick < 1 || e.Repeats.Usual < e.Repeats.Quick {
			t.Errorf("%s: repeats %+v", name, e.Repeats)
		}
	}
	if _, err := experiment.Load("E0"); err == nil || !strings.Contains(err.Error(), "want one of: E1, E2") {
		t.Errorf("an unknown experiment: %v", err)
	}
}

const tiny = `
title: Tiny
source: "a test"
notes: ["A note <b>with markup</b> | and a pipe."]
repeats: {usual: 4, full: 6, quick: 2}
base:
  setting:
    parties: 3
    rows: 10
    test: 40
    metrics: [roc_auc]
    cases:
      - {name: DC, anchor: {kind: normal, rows: 100}, basis: {kind: pca, dim: 3}}
      - {name: NRI, protocol: nri, answers: soft, anchor: {kind: normal, rows: 100}, basis: {kind: pca, dim: 3}}
  align: [odc]
  case_align: {NRI: [odc, ls-sigma]}
  models: {ridge: {kind: ridge, alpha: 2}}
runs:
  - {name: one, data: hospital}
  - {name: sweep, data: hospital, sweep: {axis: dim, values: [2, 3]}, quick_values: [2]}
  - {name: long, data: hospital, not_quick: true, set: {dim: 2, parties: 2}}
timings:
  - {name: time, axis: dim, values: [2, 3, 4], quick_values: [2, 3], rows: 20, parties: 3, methods: [odc, "ls:gram"], slopes: {odc: 1}, seconds: {odc: 2}}
traffic:
  - {name: bytes, parties: 10, rows: 10, anchor_rows: 10, features: 5, dim: 2, parameters: 3, published: {up: 160, down: 1}}
published:
  - {run: one, model: ridge, metric: roc_auc, repeats: 20, within: 0.9, mean: {central: .7, DC/odc: .7}, std: {central: .1}}
  - {run: one, model: ridge, metric: roc_auc, within: 0.000001, mean: {local: .123}, se: {local: 0.01}}
  - {run: sweep, x: 3, model: ridge, metric: roc_auc, percent: true, within: 90, mean: {NRI/ls-sigma: 70}, except: {NRI/ls-sigma: "a reason"}}
  - {run: one, metric: seconds, mean: {DC/odc: 8}}
orders:
  - {run: one, model: ridge, metric: roc_auc, equal: [DC/odc, NRI/odc], within: 1}
  - {run: one, model: ridge, metric: roc_auc, rising: [central, central]}
tests:
  - {run: one, model: ridge, metric: roc_auc, better: central, worse: local, level: 0.000001, significant: false}
charts:
  - {name: boxes, title: Boxes, kind: boxes, runs: [one], model: ridge, metric: roc_auc, methods: [central, local, DC/odc]}
  - {name: lines, title: Lines, kind: lines, runs: [sweep], model: ridge, metric: roc_auc, methods: [central, DC/odc, NRI/ls-sigma], x_label: l}
  - {name: time, title: Seconds, kind: timing, runs: [time], x_label: l}
`

func parse(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	e.Name = "T1"
	return e
}

func TestRun(t *testing.T) {
	e := parse(t, tiny)
	var steps int
	r, err := e.Run(t.Context(), experiment.Options{Journals: t.TempDir(), Progress: func(experiment.Progress) { steps++ }})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != 4 || len(r.Times) != 1 || len(r.Traffic) != 1 || steps < 5*4 {
		t.Fatalf("%d results, %d timings, %d traffic, %d steps", len(r.Results), len(r.Times), len(r.Traffic), steps)
	}
	if len(r.Figures) != 5 {
		t.Fatalf("%d figures, want 5", len(r.Figures))
	}
	central, odc, local, except, seconds := r.Figures[1], r.Figures[0], r.Figures[2], r.Figures[3], r.Figures[4]
	if central.Name != "central" || central.N != 4 || math.Abs(central.PublishedSE-0.1/math.Sqrt(20)) > 1e-15 || central.Reached == nil || !*central.Reached {
		t.Errorf("central %+v", central)
	}
	if want := (central.Mean - 0.7) / math.Hypot(central.Std/2, central.PublishedSE); math.Abs(central.StandardErrors-want) > 1e-12 {
		t.Errorf("central is %v standard errors off, want %v", central.StandardErrors, want)
	}
	// Where no scatter was published, ours stands for it.
	if math.Abs(odc.PublishedSE-odc.Std/math.Sqrt(20)) > 1e-15 || odc.Case != "DC" {
		t.Errorf("DC/odc %+v", odc)
	}
	if local.Reached == nil || *local.Reached || local.PublishedSE != 0.01 {
		t.Errorf("local %+v", local)
	}
	if except.Reached != nil || except.Reason != "a reason" || math.Abs(except.Published-0.7) > 1e-15 || except.X != 3 {
		t.Errorf("a figure of which nothing is wanted: %+v", except)
	}
	if seconds.Metric != "seconds" || !(seconds.Mean > 0 && seconds.Mean < 1) {
		t.Errorf("seconds %+v", seconds)
	}
	if !r.Orders[0].Holds || r.Orders[1].Holds {
		t.Errorf("orders %+v", r.Orders)
	}
	if len(r.Tests) != 1 || r.Tests[0].Freedom != 3 || !r.Tests[0].Agrees() {
		t.Errorf("tests %+v", r.Tests)
	}
	missed := strings.Join(r.Missed(), "\n")
	for _, want := range []string{"one local ridge is", "one ridge: central < central does not hold", "bytes: down is"} {
		if !strings.Contains(missed, want) {
			t.Errorf("missed is %q, wants %q", missed, want)
		}
	}
	if strings.Contains(missed, "up is") || len(r.Missed()) != 3 {
		t.Errorf("missed is %q", missed)
	}
	if m := r.Times[0].Median; len(m["odc"]) != 3 || !(m["ls:gram"][2] > 0) {
		t.Errorf("medians %v", m)
	}
}

func TestSizesAndOnly(t *testing.T) {
	e := parse(t, tiny)
	quick, err := e.Run(t.Context(), experiment.Options{Size: experiment.Quick})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range quick.Results {
		names = append(names, r.Name)
		if r.Results.Repeats != 2 {
			t.Errorf("%s has %d repeats in a quick look", r.Name, r.Results.Repeats)
		}
	}
	if got := strings.Join(names, " "); got != "one sweep" || len(quick.Times[0].X) != 2 {
		t.Errorf("a quick look has the runs %s", got)
	}
	only, err := e.Run(t.Context(), experiment.Options{Size: experiment.Full, Only: []string{"long"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(only.Results) != 1 || only.Results[0].Results.Repeats != 6 || only.Results[0].Setting.Parties != 2 || len(only.Times) != 0 {
		t.Errorf("only long: %d results", len(only.Results))
	}
	if _, err := e.Run(t.Context(), experiment.Options{Only: []string{"nothing"}}); err == nil || !strings.Contains(err.Error(), `has no run "nothing", want some of: one, sweep, long, time`) {
		t.Errorf("an unknown run: %v", err)
	}
}

func TestMissingData(t *testing.T) {
	e := parse(t, strings.Replace(tiny, "name: one, data: hospital", "name: one, data: pima", 1))
	_, err := e.Run(t.Context(), experiment.Options{Data: t.TempDir()})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "pima") {
		t.Errorf("missing data: %v", err)
	}
}

func TestOutputs(t *testing.T) {
	e := parse(t, tiny)
	r, err := e.Run(t.Context(), experiment.Options{Size: experiment.Usual})
	if err != nil {
		t.Fatal(err)
	}
	write := func(f func(w io.Writer) error) string {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	lines, err := csv.NewReader(strings.NewReader(write(r.CSV))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	published := 0
	for _, l := range lines[1:] {
		if l[10] != "" {
			published++
		}
	}
	if len(lines) < 30 || published != 7 {
		t.Errorf("the CSV has %d lines, %d with a published figure", len(lines), published)
	}
	var rec struct {
		Experiment string
		Runs       []struct {
			Name    string
			Results []struct {
				Method, Metric string
				N              int
			}
			Settings struct {
				Cases []struct{ Align []string }
			}
		}
		Figures []struct{ Name string }
		Times   []struct{ Slope map[string]float64 }
	}
	if err := json.Unmarshal([]byte(write(r.JSON)), &rec); err != nil {
		t.Fatal(err)
	}
	if rec.Experiment != "T1" || len(rec.Runs) != 4 || rec.Runs[0].Results[0].N != 4 || len(rec.Figures) != 5 || rec.Runs[0].Settings.Cases[1].Align[1] != "ls-sigma" {
		t.Errorf("the JSON says %+v", rec)
	}
	html := write(r.HTML)
	for _, want := range []string{"T1: Tiny", "a test", "Orders", "Boxes", "<svg", "simulated", "Slopes in log-log", "a reason"} {
		if !strings.Contains(strings.ToLower(html), strings.ToLower(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(html, "<b>with markup") {
		t.Error("a note became markup")
	}
	md := write(r.Markdown)
	if !strings.Contains(md, "T1-boxes.svg") || !strings.HasPrefix(md, "# T1") {
		t.Errorf("the Markdown begins %.60q", md)
	}
	pictures, err := r.Pictures()
	if err != nil {
		t.Fatal(err)
	}
	if len(pictures) != 3 {
		t.Fatalf("%d pictures", len(pictures))
	}
	for _, p := range pictures {
		svg, err := chart.SVG(p.Chart)
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
			t.Errorf("%s is no XML: %v", p.Name, err)
		}
	}
	again, err := e.Run(t.Context(), experiment.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range again.Figures {
		if f.Metric != "seconds" && f.Mean != r.Figures[i].Mean {
			t.Errorf("%s is %v and then %v", f.Name, r.Figures[i].Mean, f.Mean)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"title: Tiny", "titel: Tiny", "titel"},
		{"rows: 10", "rowz: 10", "rowz"},
		{"{name: one, data", "{nome: one, data", "nome"},
		{"repeats: {usual: 4, full: 6", "repeats: {usual: 9, full: 6", "must not exceed full"},
		{"align: [odc]", "align: [oddc]", `no alignment "oddc"`},
		{"kind: ridge, alpha: 2", "kind: ridge, alpha: two", "alpha"},
		{"kind: ridge, alpha: 2", "kind: oracle", "oracle"},
		{"axis: dim, values: [2, 3]}, quick", "axis: colour, values: [2, 3]}, quick", `no axis "colour"`},
		{"set: {dim: 2, parties: 2}", "set: {size: 2}", `no axis "size"`},
		{"mean: {local: .123}", "mean: {lokal: .123}", `no method "lokal"`},
		{"mean: {local: .123}", "mean: {}", "hold no mean"},
		{"mean: {local: .123}", "mean: {local: .nan}", "local of one is NaN"},
		{"run: sweep, x: 3", "run: sweep, x: 4", `no run "sweep" at 4`},
		{"rising: [central, central]", "rising: []", "either rising or equal"},
		{"level: 0.000001", "level: 2", "level 2"},
		{"case_align: {NRI", "case_align: {NRJ", `"NRJ"`},
		{`except: {NRI/ls-sigma`, `except: {NRI/odc`, "which has no mean"},
		{"parties: 3", "parties: 0", "parties is 0"},
		{"title: Tiny", "title: Tiny\ntitle: Again", "title"},
	} {
		text := strings.Replace(tiny, c.old, c.new, 1)
		if text == tiny {
			t.Fatalf("%q is not in the file", c.old)
		}
		if _, err := experiment.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
}
