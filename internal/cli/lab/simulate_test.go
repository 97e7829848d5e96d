package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

// TestSimulate is the documented command on a table that nobody prepared.
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
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	path := people(t)
	base := []string{path, "--label", "ill", "--drop", "cost", "--rows", "30", "--test", "60", "--repeat", "2"}
	for _, more := range [][]string{
		{"--parties", "3", "--split", "by:site"},
		{"--parties", "4", "--halves", "--anchor", "low-rank", "--anchor-rows", "60"},
		{"--parties", "4", "--views", "2", "--shared", "1", "--dim", "2", "--anchor", "gaussian", "--align", "ls-sigma,consensus", "--align-dim", "2"},
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

// TestSimulateNRIStudy: what a study of protocol nri says is simulated.
func TestSimulateNRIStudy(t *testing.T) {
	path := people(t)
	file := filepath.Join(t.TempDir(), "study.yaml")
	yaml := "name: T\nparties: 3\nfeatures:\n  - {name: age, range: [18, 90]}\n  - {name: weight, range: [40, 110]}\nlabel: {name: ill, levels: [\"no\", \"yes\"], positive: \"yes\"}\n" +
		"protocol: nri\nanswers: soft\nbasis: {kind: random, dim: 1}\nanchor: {rows: 300}\nnoise: {epsilon: 8, delta: 0.001, clip: 2}\nmodel: {kind: ridge}\n"
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(yaml)
	args := []string{"simulate", "--quiet", "--json", "-", "--study", file, "--rows", "40", "--test", "100", "--repeat", "2", path}
	status, stdout, stderr := runLab(t.Context(), args...)
	if status != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{`"protocol": "nri"`, `"answers": "soft"`, `"rows": 300`, `"clip": 2`, `"sigma": 1.9`, `"kind": "random"`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the study's settings lack %s in %s", want, stdout)
		}
	}
	write(yaml + "local_model: {kind: forest}\n")
	if status, _, stderr := runLab(t.Context(), args...); status != 2 || !strings.Contains(stderr, "simulate trains one kind at both") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestSimulateRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	path := people(t)
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "needed: --parties, how many; --rows, of each party; --test", []string{path, "--label", "ill"}},
		{2, "needed: --test, rows to test with (see", []string{path, "--label", "ill", "--split", "by:site"}},
		{2, "error: parties is 0", []string{path, "--label", "ill", "--parties", "0", "--rows", "10", "--test", "10"}},
		{2, "--repeat is 1000000000, must be from 1 to 1000000", []string{path, "--label", "ill", "--repeat", "1000000000"}},
		{2, "--workers is -1", []string{path, "--label", "ill", "--workers", "-1"}},
		{2, `--metric is "f1", want some of: roc_auc`, []string{path, "--label", "ill", "--metric", "f1"}},
		{2, "--metric has accuracy twice", []string{path, "--label", "ill", "--metric", "accuracy,accuracy"}},
		{2, "the baseline central is there twice", []string{path, "--label", "ill", "--baseline", "central,central", "--parties", "3", "--rows", "10", "--test", "10"}},
		{2, "epsilon of at most 1e+06", []string{path, "--label", "ill", "--baseline", "dp:1e300", "--parties", "3", "--rows", "10", "--test", "10"}},
		{1, "2 parties need 9223372036854775808 rows, there are", []string{path, "--label", "ill", "--parties", "2", "--rows", "4611686018427387904", "--test", "10"}},
		{1, "take fewer anchor rows", []string{path, "--label", "ill", "--parties", "50", "--rows", "5", "--test", "10", "--anchor", "smote", "--anchor-rows", "9000000"}},
		{1, "error: dim 9 exceeds the", []string{path, "--label", "ill", "--parties", "3", "--rows", "10", "--test", "10", "--dim", "9"}},
		{2, `no alignment "odd"`, []string{path, "--label", "ill", "--parties", "3", "--rows", "10", "--test", "10", "--align", "odd"}},
		{2, `no basis "odd"`, []string{path, "--label", "ill", "--basis", "odd"}},
		{2, `anchor is "odd"`, []string{path, "--label", "ill", "--parties", "3", "--rows", "10", "--test", "10", "--anchor", "odd"}},
		{2, "needs --public", []string{path, "--label", "ill", "--anchor", "public"}},
		{2, "--rows has 2 numbers for 3 parties", []string{path, "--label", "ill", "--parties", "3", "--rows", "3,4"}},
		{2, "--repeat is 0", []string{path, "--label", "ill", "--repeat", "0"}},
		{2, "--task is", []string{path, "--task", "odd"}},
		{2, "--set trees", []string{path, "--label", "ill", "--set", "trees", "--parties", "3", "--rows", "10", "--test", "10"}},
		{2, "has no setting trees", []string{path, "--label", "ill", "--model", "ridge", "--set", "trees=3", "--parties", "3", "--rows", "10", "--test", "10"}},
		{2, "--delta is -1", []string{path, "--delta", "-1"}},
		{2, "want", []string{path, path}},
		{1, `no column "odd"`, []string{path, "--label", "odd", "--parties", "3", "--rows", "10", "--test", "10"}},
		{1, "no such file", []string{filepath.Join(t.TempDir(), "no.csv"), "--label", "ill", "--parties", "3", "--rows", "10", "--test", "10"}},
		{1, "error: 3 parties need 9000 rows, there are 390 beside 10 for testing", []string{path, "--label", "ill", "--parties", "3", "--rows", "3000", "--test", "10"}},
	} {
		status, stdout, stderr := runLab(t.Context(), append([]string{"simulate", "--quiet"}, c.args...)...)
		if status != c.status || c.want != "want" && !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%v: status %d, %q; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
}

// TestSimulateWritesNoInput: what is read is never written over, and what cannot be
// written is said before anything is computed.
func TestSimulateWritesNoInput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	path := people(t)
	dir := filepath.Dir(path)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.csv")
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "draws")
	args := func(more ...string) []string {
		return append([]string{"simulate", "--quiet", path, "--label", "ill", "--parties", "3", "--rows", "20", "--test", "50", "--repeat", "2"}, more...)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"would be written over an input", args("--json", path)},
		{"would be written over an input", args("--json", dir+"/./people.csv")},
		{"would be written over an input", args("--json", link)},
		{"would be written over an input", args("--journal", path)},
		{"would be written over an input or the journal", args("--journal", journal, "--json", journal)},
		{"not a file", args("--json", dir)},
		{"not a file", args("--journal", dir)},
		{"nothing can be written to the folder", args("--json", filepath.Join(dir, "no", "x.json"))},
		{"nothing can be written to the folder", args("--journal", filepath.Join(dir, "no", "x"))},
	} {
		status, stdout, stderr := runLab(t.Context(), c.args...)
		if status != 1 || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q; want %q", c.args[11:], status, stderr, c.want)
		}
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the input changed (%v)", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v lie beside the input (%v)", entries, err)
	}
}

// TestSimulateInterrupted: the error says how to go on, and going on gives the same.
func TestSimulateInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	path := people(t)
	journal := filepath.Join(t.TempDir(), "draws")
	args := []string{path, "--label", "ill", "--drop", "cost", "--parties", "3", "--rows", "40", "--test", "120", "--repeat", "6"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	status, stdout, stderr := runLab(ctx, append([]string{"simulate", "--journal", journal}, args...)...)
	if status != 1 || stdout != "" || !strings.Contains(stderr, "error: interrupted\n") || !strings.Contains(stderr, "hint: finished draws are in "+journal) {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
	simulate(t, append(args, "--journal", journal, "--repeat", "3")...)
	resumed, whole := simulate(t, append(args, "--journal", journal)...), simulate(t, args...)
	for i, r := range whole.Results {
		if r.Metric != "seconds" && r != resumed.Results[i] {
			t.Errorf("without interruption %+v, with %+v", r, resumed.Results[i])
		}
	}
}

// TestSimulateSays what a reader of the table has to know.
func TestSimulateSays(t *testing.T) {
	path := people(t)
	text := func(args ...string) string {
		t.Helper()
		status, stdout, stderr := runLab(t.Context(), append([]string{"simulate", "--quiet", "--label", "ill", "--drop", "cost"}, args...)...)
		if status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, stderr)
		}
		return stdout
	}
	one := text(path, "--split", "by:site", "--test", "100", "--repeat", "1")
	if !strings.Contains(one, "a party for each of 3 groups of rows, 1 draw\n") || strings.Contains(one, "±") || strings.Contains(one, "equal to an earlier one") {
		t.Errorf("one draw by site: %s", one)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, rows, _ := strings.Cut(string(b), "\n")
	twice := filepath.Join(t.TempDir(), "twice.csv")
	if err := os.WriteFile(twice, append(b, rows...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := text(twice, "--parties", "3", "--rows", "30", "--test", "100", "--repeat", "2"); !strings.Contains(got, "of 800 rows are equal to an earlier one") {
		t.Errorf("a table twice: %s", got)
	}
	// Three sites as classes: parties of few rows, some without one of them.
	classes := simulate(t, path, "--label", "site", "--parties", "8", "--rows", "3", "--test", "60", "--repeat", "3")
	if !strings.Contains(strings.Join(classes.Notes, "\n"), "saw no rows of some class") {
		t.Errorf("notes %q", classes.Notes)
	}
}

// TestSimulatePublicColumns: public rows take the place of the parties' columns.
func TestSimulatePublicColumns(t *testing.T) {
	path := people(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	study := write("study.yaml", "name: T\nparties: 3\nfeatures:\n  - {name: weight, range: [40, 110]}\n  - {name: age, range: [18, 90]}\nlabel: {name: ill, levels: [\"no\", \"yes\"], positive: \"yes\"}\n")
	numbers := "\n50,60,no\n60,70.5,yes\n70,80,no\n"
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{1, `there is no column "sex=m"`, []string{"--drop", "site,cost,always", "--public", write("few.csv", "age,weight,ill,site,cost,always"+strings.ReplaceAll(numbers, "\n", ",1,1,1\n")[6:])}},
		{1, `column "weight" is not in its place`, []string{"--drop", "site,sex,cost,always", "--public", write("swapped.csv", "weight,age,ill,site,sex,cost,always"+strings.ReplaceAll(numbers, "\n", ",1,1,1,1\n")[8:])}},
		{0, "", []string{"--study", study, "--public", write("any.csv", "age,weight,ill"+numbers)}},
	} {
		args := append([]string{"simulate", "--quiet", path, "--label", "ill", "--anchor", "public", "--anchor-rows", "3", "--parties", "3", "--rows", "30", "--test", "50", "--repeat", "2"}, c.args...)
		if status, _, stderr := runLab(t.Context(), args...); status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
}

// broken fails every write.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestNobodyReads: what could not be printed is a failure.
func TestNobodyReads(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	path := people(t)
	for _, args := range [][]string{
		{"simulate", "--quiet", path, "--label", "ill", "--parties", "3", "--rows", "20", "--test", "50", "--repeat", "2"},
		{"simulate", "--quiet", path, "--label", "ill", "--parties", "3", "--rows", "20", "--test", "50", "--repeat", "2", "--json", "-"},
		{"reproduce", "E8", "--quiet", "--out", t.TempDir()},
		{"traffic"},
		{"traffic", "--json"},
		{"data"},
	} {
		var stderr bytes.Buffer
		if status := Run(t.Context(), args, strings.NewReader(""), broken{}, &stderr); status != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: status %d: %s", args, status, stderr.String())
		}
	}
}

func TestReproduce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
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
		{1, `error: E8 has no run "odd", and none to choose from`, []string{"E8", "--only", "odd", "--out", out}},
		{1, "E8.csv: not a folder", []string{"E8", "--out", filepath.Join(out, "E8.csv")}},
		{2, "--workers is -1", []string{"E8", "--workers", "-1", "--out", out}},
	} {
		status, _, stderr := runLab(t.Context(), append([]string{"reproduce", "--quiet"}, c.args...)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q; want %d, %q", c.args, status, stderr, c.status, c.want)
		}
	}
	// Where data are missing nothing is left behind, and the hint says how to name them.
	lost := filepath.Join(out, "lost")
	_, _, stderr = runLab(t.Context(), "reproduce", "--quiet", "E1", "--data", t.TempDir(), "--out", lost)
	if _, err := os.Stat(lost); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(stderr, "hint: --data names the folder") {
		t.Errorf("missing data: %v, %s", err, stderr)
	}
}

func TestTraffic(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	status, stdout, _ := runLab(t.Context(), "traffic")
	if status != 0 || !strings.Contains(stdout, "10.1 GB") || !strings.Contains(stdout, "20 GB") || !strings.Contains(stdout, "0.5044") {
		t.Errorf("status %d: %s", status, stdout)
	}
	status, stdout, _ = runLab(t.Context(), "traffic", "--parties", "3", "--json")
	var got map[string]float64
	if err := json.Unmarshal([]byte(stdout), &got); status != 0 || err != nil || got["up"] != 800000 {
		t.Errorf("status %d, %v: %s", status, err, stdout)
	}
	for want, args := range map[string][]string{
		"error: dim is 0":       {"--dim", "0"},
		"--bits is 0":           {"--bits", "0"},
		"--participation 0":     {"--participation", "0"},
		"the bytes overflow":    {"--rows", "1e308"},
		"exceeds the 784 featu": {"--dim", "900"},
	} {
		if status, stdout, stderr := runLab(t.Context(), append([]string{"traffic"}, args...)...); status != 2 || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d: %s%s, want %q", args, status, stdout, stderr, want)
		}
	}
}
