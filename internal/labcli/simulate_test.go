package labcli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// people is a CSV that nobody prepared: text, missing cells, a constant column.
func people(t *testing.T) string {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("age,sex,weight,site,always,ill,cost\n")
	for i := range 400 {
		age, weight := 20+60*rnd.Float64(), 50+50*rnd.Float64()
		ill := "no"
		if age+weight/2+20*rnd.NormFloat64() > 85 {
			ill = "yes"
		}
		w := fmt.Sprintf("%.1f", weight)
		if i%37 == 0 {
			w = "NA"
		}
		fmt.Fprintf(&b, "%.1f,%s,%s,%s,1,%s,%.2f\n", age, []string{"f", "m"}[i%2], w, []string{"north", "east", "west"}[i%3], ill, age*2+weight)
	}
	path := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type simulatedJSON struct {
	Settings struct {
		Data   string
		Repeat int
		Study  struct {
			Parties int
			Split   string
		}
	}
	Results []struct {
		Method, Metric  string
		Mean, Std, CI95 float64
		N               int
	}
	Tests []struct{ Better, Worse, Metric string }
	Notes []string
}

func simulate(t *testing.T, args ...string) simulatedJSON {
	t.Helper()
	status, stdout, stderr := runLab(t.Context(), append([]string{"simulate", "--quiet", "--json", "-"}, args...)...)
	if status != 0 {
		t.Fatalf("%v: status %d: %s", args, status, stderr)
	}
	var got simulatedJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v: %v in %s", args, err, stdout)
	}
	return got
}

// TestSimulate is DESIGN's command on a table that nobody prepared.
func TestSimulate(t *testing.T) {
	path := people(t)
	args := []string{path, "--label", "ill", "--positive", "yes", "--drop", "cost", "--parties", "3", "--rows", "40", "--test", "120", "--align", "odc,ls+unit", "--model", "logistic", "--repeat", "5", "--seed", "3"}
	got := simulate(t, args...)
	var methods []string
	for _, r := range got.Results {
		if r.Metric == "roc_auc" {
			methods = append(methods, r.Method)
			if r.N != 5 || !(r.Mean > 0.6 && r.Mean < 1) || !(r.CI95 > 0) {
				t.Errorf("%+v", r)
			}
		}
	}
	if strings.Join(methods, " ") != "central local odc ls+unit" || got.Settings.Study.Parties != 3 || got.Settings.Data != "people.csv" {
		t.Errorf("methods %v, settings %+v", methods, got.Settings)
	}
	if len(got.Tests) != 6 || got.Tests[0].Worse != "local" { // three methods, two metrics
		t.Errorf("tests %+v", got.Tests)
	}
	again := simulate(t, args...)
	for i, r := range again.Results {
		if r.Metric != "seconds" && r != got.Results[i] {
			t.Errorf("the same seed gives %+v and %+v", got.Results[i], r)
		}
	}
	status, stdout, _ := runLab(t.Context(), append([]string{"simulate", "--quiet"}, args...)...)
	for _, want := range []string{"people.csv: 400 rows, 5 features", "ROC-AUC", "central", "ls+unit", "note: "} {
		if status != 0 || !strings.Contains(stdout, want) {
			t.Errorf("the table lacks %q: %s", want, stdout)
		}
	}
}

func TestSimulateVariants(t *testing.T) {
	path := people(t)
	base := []string{path, "--label", "ill", "--drop", "cost", "--rows", "30", "--test", "60", "--repeat", "2"}
	for _, more := range [][]string{
		{"--parties", "3", "--split", "by:site"},
		{"--parties", "4", "--halves", "--anchor", "low-rank", "--anchor-rows", "60"},
		{"--parties", "4", "--split", "dirichlet", "--protocol", "nri", "--anchor", "normal"},
		{"--parties", "3", "--anchor", "low-rank", "--anchor-rows", "50", "--basis", "scrambled", "--delta", "0.1", "--align", "ls-sigma,gep+unit"},
		{"--parties", "3", "--basis", "common", "--dim", "2", "--model", "mlp", "--set", "hidden=8", "--set", "epochs=3", "--baseline", "fedavg,dp:2"},
		{"--parties", "3", "--basis", "random", "--anchor", "smote", "--anchor-rows", "80", "--model", "forest", "--set", "trees=5"},
		{"--parties", "3", "--anchor", "public", "--public", path, "--anchor-rows", "100"},
	} {
		if got := simulate(t, append(more, base...)...); len(got.Results) < 6 {
			t.Errorf("%v: %d results", more, len(got.Results))
		}
	}
	if got := simulate(t, path, "--label", "ill", "--rows", "100,20,30", "--test", "60", "--repeat", "2"); got.Settings.Study.Parties != 3 {
		t.Errorf("parties of three sizes: %+v", got.Settings)
	}
	got := simulate(t, path, "--label", "cost", "--drop", "ill", "--parties", "3", "--rows", "30", "--test", "60", "--repeat", "2")
	for _, r := range got.Results {
		if r.Method == "central" && (r.Metric != "rmse" || r.Mean > 10) {
			t.Errorf("regression on a linear label: %+v", r)
		}
	}
}

func TestSimulateStudy(t *testing.T) {
	path := people(t)
	file := filepath.Join(t.TempDir(), "study.yaml")
	yaml := "name: T\nparties: 3\nfeatures:\n  - {name: age, range: [18, 90]}\n  - {name: weight, range: [40, 110]}\nlabel: {name: ill, levels: [\"no\", \"yes\"], positive: \"yes\"}\nbasis: {kind: pca, dim: 1}\nalignment: {method: ls}\nmodel: {kind: ridge, alpha: 2}\n"
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := runLab(t.Context(), "simulate", "--quiet", "--json", "-", "--study", file, "--rows", "40", "--test", "100", "--repeat", "2", path)
	if status != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{`"method": "ls-sigma"`, `"data_features": 2`, `"standardise": "none"`, `"alpha": 2`, `"dim": 1`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the study's settings lack %s", want)
		}
	}
	if status, _, stderr := runLab(t.Context(), "simulate", "--study", file, "--rows", "40", "--test", "100", "--drop", "age", path); status != 1 || !strings.Contains(stderr, `called "age"`) {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestSimulateRefuses(t *testing.T) {
	path := people(t)
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "parties is 0", []string{path, "--label", "ill"}},
		{2, `no alignment "odd"`, []string{path, "--label", "ill", "--parties", "3", "--rows", "10", "--test", "10", "--align", "odd"}},
		{2, `no basis "odd"`, []string{path, "--label", "ill", "--basis", "odd"}},
		{2, `anchor is "odd"`, []string{path, "--label", "ill", "--parties", "3", "--rows", "10", "--test", "10", "--anchor", "odd"}},
		{2, "needs --public", []string{path, "--label", "ill", "--anchor", "public"}},
		{2, "--rows has 2 numbers for 3 parties", []string{path, "--label", "ill", "--parties", "3", "--rows", "3,4"}},
		{2, "--repeat is 0", []string{path, "--label", "ill", "--repeat", "0"}},
		{2, "--task is", []string{path, "--task", "odd"}},
		{2, "--set trees", []string{path, "--label", "ill", "--set", "trees"}},
		{2, "has no setting trees", []string{path, "--label", "ill", "--model", "ridge", "--set", "trees=3"}},
		{2, "--delta is -1", []string{path, "--delta", "-1"}},
		{2, "want", []string{path, path}},
		{1, `no column "odd"`, []string{path, "--label", "odd"}},
		{1, "no such file", []string{filepath.Join(t.TempDir(), "no.csv"), "--label", "ill"}},
		{1, "need 9000 rows, there are", []string{path, "--label", "ill", "--parties", "3", "--rows", "3000", "--test", "10"}},
	} {
		status, stdout, stderr := runLab(t.Context(), append([]string{"simulate", "--quiet"}, c.args...)...)
		if status != c.status || c.want != "want" && !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%v: status %d, %q; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
}

func TestReproduce(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	status, stdout, stderr := runLab(t.Context(), "reproduce", "e8", "--check", "--out", out)
	if status != 0 || !strings.Contains(stdout, "10.09 GB, a round of averaging 20 GB") {
		t.Fatalf("status %d: %s%s", status, stdout, stderr)
	}
	for _, name := range []string{"E8.csv", "E8.json", "E8.md", "E8.html"} {
		if b, err := os.ReadFile(filepath.Join(out, name)); err != nil || len(bytes.TrimSpace(b)) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The hospital set is simulated: it needs no file.
	args := []string{"reproduce", "E2", "--only", "hospital", "--quick", "--quiet", "--out", out}
	if status, stdout, stderr := runLab(t.Context(), args...); status != 0 || !strings.Contains(stdout, "E2-hospital.svg") {
		t.Fatalf("status %d: %s%s", status, stdout, stderr)
	}
	journals, err := fs.Glob(os.DirFS(out), "trials/E2-hospital-8.jsonl")
	if err != nil || len(journals) != 1 {
		t.Errorf("journals %v (%v)", journals, err)
	}
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "want one of: E1, E2", []string{"E99"}},
		{2, "exclude each other", []string{"E1", "--quick", "--full"}},
		{1, "pima", []string{"E1", "--quick", "--data", t.TempDir(), "--out", out}},
		{1, `no run "odd"`, []string{"E1", "--only", "odd", "--out", out}},
	} {
		status, _, stderr := runLab(t.Context(), append([]string{"reproduce", "--quiet"}, c.args...)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
}

func TestTraffic(t *testing.T) {
	status, stdout, _ := runLab(t.Context(), "traffic")
	if status != 0 || !strings.Contains(stdout, "10.1 GB") || !strings.Contains(stdout, "20 GB") || !strings.Contains(stdout, "0.5044") {
		t.Errorf("status %d: %s", status, stdout)
	}
	status, stdout, _ = runLab(t.Context(), "traffic", "--parties", "3", "--json")
	var got map[string]float64
	if err := json.Unmarshal([]byte(stdout), &got); status != 0 || err != nil || got["up"] != 800000 {
		t.Errorf("status %d, %v: %s", status, err, stdout)
	}
	if status, _, stderr := runLab(t.Context(), "traffic", "--dim", "0"); status != 2 || !strings.Contains(stderr, "dim is 0") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
