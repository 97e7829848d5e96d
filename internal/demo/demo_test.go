package demo

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"concord/contract"
	"concord/internal/report"
	"concord/lab"
	"concord/table"
)

// TestDemo runs the demonstration and holds it to what the README promises: under
// 10 seconds on two cores, the collaboration within 0.02 of central for
// everybody, and above local for the smallest hospital. The clock that counts is
// the processor's, which others on the machine cannot slow down: what takes less
// than 10 processor seconds takes less than 10 seconds where it is alone. Only the parties' secrets differ from
// run to run: with an orthonormal anchor they turn the representation and leave
// the fit, whose penalty is the same in every direction, but for rounding and
// for the choice of ODC's reference party.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, parties := range []int{3, 5} {
		dir := filepath.Join(t.TempDir(), "out")
		var out strings.Builder
		begun := processorTime(t)
		if err := Run(t.Context(), &out, Options{Parties: parties, Dir: dir}); err != nil {
			t.Fatal(err)
		}
		if took := processorTime(t) - begun; took > 10*time.Second && !raceEnabled {
			t.Errorf("%d parties took %v of processor time, want under 10 s", parties, took)
		}
		page, err := os.ReadFile(filepath.Join(dir, "report.html"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range parties {
			if !strings.Contains(string(page), hospitals[i]) || !strings.Contains(out.String(), hospitals[i]) {
				t.Errorf("%s is not in the report or not in the table", hospitals[i])
			}
		}
		checkGain(t, dir, parties)
		for i := range parties {
			checkErrors(t, dir, i, string(page))
		}
	}
}

// TestDemoFiles: by files alone hospitals get as far.
func TestDemoFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	dir := filepath.Join(t.TempDir(), "out")
	var out strings.Builder
	if err := Run(t.Context(), &out, Options{Parties: 3, Dir: dir, Files: true}); err != nil {
		t.Fatal(err)
	}
	checkGain(t, dir, 3)
	if _, err := os.Stat(filepath.Join(dir, "analyst", "serve.log")); err == nil {
		t.Error("a server has run")
	}
}

// TestDemoNRI: the same without a key that tells whose row is whose: still far above the
// smallest hospital alone, and what left can be read by nobody there.
func TestDemoNRI(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	dir := filepath.Join(t.TempDir(), "out")
	var out strings.Builder
	if err := Run(t.Context(), &out, Options{Parties: 3, Dir: dir, Protocol: "nri"}); err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`goes from (\d\.\d+) alone to (\d\.\d+) together`).FindStringSubmatch(out.String())
	if found == nil {
		t.Fatalf("no figures in %s", out.String())
	}
	// Bases and order of rows are new in every run, and t is trained on the anchor: the
	// least of 100 runs was .9821.
	if auc, err := strconv.ParseFloat(found[2], 64); err != nil || auc < 0.95 {
		t.Errorf("ROC-AUC %s together", found[2])
	}
	for i := range 3 {
		site := filepath.Join((&demo{Options: Options{Dir: dir}}).party(i), "concord-site")
		for _, gone := range []string{"contribution/stays/basis.secret", "contribution/leaves/X.npy", "contribution/leaves/X.npy.age", "outbox/contribution.bundle", "anchor.secret"} {
			if _, err := os.Stat(filepath.Join(site, gone)); err == nil {
				t.Errorf("%s is still at %s", gone, hospitals[i])
			}
		}
	}
	if err := Run(t.Context(), io.Discard, Options{Parties: 3, Dir: t.TempDir(), Protocol: "open"}); err == nil || !strings.Contains(err.Error(), `protocol is "open"`) {
		t.Errorf("an unknown protocol: %v", err)
	}
}

// checkErrors counts hospital i's predictions anew, from its file and that of the
// new patients, and wants the report to have the same confusion matrix.
func checkErrors(t *testing.T, dir string, i int, page string) {
	t.Helper()
	records := func(path string) [][]string {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		all, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return all[1:]
	}
	d := &demo{Options: Options{Dir: dir}}
	truth, predicted := records(filepath.Join(dir, "new-patients.csv")), records(filepath.Join(d.party(i), "predictions.csv"))
	n := map[[2]string]int{}
	for row := range truth {
		n[[2]string{truth[row][len(truth[row])-1], predicted[row][1]}]++
	}
	const b, m = "benign", "malignant"
	want := fmt.Sprintf("<tr><th scope=\"row\">benign</th><td class=\"strong\">%d</td><td>%d</td></tr>\n"+
		"<tr><th scope=\"row\">malignant</th><td>%d</td><td class=\"strong\">%d</td></tr>",
		n[[2]string{b, b}], n[[2]string{b, m}], n[[2]string{m, b}], n[[2]string{m, m}])
	_, section, _ := strings.Cut(page, `aria-label="Confusion matrix of `+hospitals[i]+`"`)
	table, _, _ := strings.Cut(section, "</table>")
	if !strings.Contains(table, want) {
		t.Errorf("%s: the report has\n%s\nwant\n%s", hospitals[i], table, want)
	}
	if !strings.Contains(page, "Calibration of the model of "+hospitals[i]) {
		t.Errorf("%s: the report has no calibration curve", hospitals[i])
	}
}

// TestDemoModels plays the study with every other model that a contract may name:
// each finds far more than guessing would, and each hospital scores with it.
func TestDemoModels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, kind := range []string{"ridge", "svm-linear", "mlp", "forest", "boosting"} {
		dir := filepath.Join(t.TempDir(), "out")
		var out strings.Builder
		if err := Run(t.Context(), &out, Options{Parties: 3, Dir: dir, Model: kind}); err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		found := regexp.MustCompile(`alone to (\d\.\d+) together`).FindStringSubmatch(out.String())
		if found == nil {
			t.Fatalf("%s: no figures in %s", kind, out.String())
		}
		if auc, err := strconv.ParseFloat(found[1], 64); err != nil || auc < 0.93 {
			t.Errorf("%s: ROC-AUC %s together", kind, found[1])
		}
		page, err := os.ReadFile(filepath.Join(dir, "report.html"))
		if err != nil {
			t.Fatal(err)
		}
		probabilities := kind != "ridge" && kind != "svm-linear"
		if got := strings.Contains(string(page), "Expected calibration error"); got != probabilities {
			t.Errorf("%s: the report has a calibration curve: %v, want %v", kind, got, probabilities)
		}
	}
	for _, kind := range []string{"svm", "oracle"} {
		if err := Run(t.Context(), io.Discard, Options{Parties: 3, Dir: t.TempDir(), Model: kind}); err == nil {
			t.Errorf("%s is no error", kind)
		}
	}
}

// checkGain computes the figures anew from the files that the demonstration
// left.
func checkGain(t *testing.T, dir string, parties int) {
	t.Helper()
	d := &demo{Options: Options{Parties: parties, Dir: dir}}
	yaml, err := os.ReadFile(filepath.Join(dir, "study.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if d.contract, err = contract.ParseYAML(yaml); err != nil {
		t.Fatal(err)
	}
	read := func(path string) *table.Table {
		tab, err := table.Open(path, d.contract, table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	test := read(filepath.Join(dir, "new-patients.csv"))
	var all []*table.Table
	for i := range parties {
		all = append(all, read(filepath.Join(d.party(i), "data.csv")))
	}
	fit := func(tables ...*table.Table) report.Scores {
		s, err := baseline(context.Background(), d.contract, tables, test)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	central := fit(all...)
	for i := range parties {
		scores, err := d.predicted(i, test)
		if err != nil {
			t.Fatal(err)
		}
		together, err := asScores(lab.Judge(d.contract, scores, test, judgedBy...))
		if err != nil {
			t.Fatal(err)
		}
		if gap := central.ROCAUC - together.ROCAUC; gap > 0.02 {
			t.Errorf("%s: ROC-AUC %.4f, central %.4f: more than 0.02 apart", hospitals[i], together.ROCAUC, central.ROCAUC)
		}
		if local := fit(all[i]); all[i].Rows() == smallSize && i == 2 && together.ROCAUC <= local.ROCAUC {
			t.Errorf("%s: ROC-AUC %.4f together, %.4f alone", hospitals[i], together.ROCAUC, local.ROCAUC)
		}
	}
}

// TestOnlyItsOwnFolder: the demonstration replaces a folder that a
// demonstration made and no other.
func TestOnlyItsOwnFolder(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := freshDir(dir); err == nil || !strings.Contains(err.Error(), "is not empty and no demo made it") {
		t.Errorf("freshDir of a foreign folder = %v", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error("a foreign file is gone")
	}
	own := filepath.Join(t.TempDir(), "demo")
	for range 2 {
		if err := freshDir(own); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(own, "old"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPartitionOfTheData(t *testing.T) {
	d, err := loadDataset()
	if err != nil {
		t.Fatal(err)
	}
	if len(d.rows) != 569 || len(d.header) != 31 {
		t.Fatalf("embedded data: %d rows of %d columns, want 569 of 31", len(d.rows), len(d.header))
	}
	parts, test, err := d.split(3)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, part := range append(parts, test) {
		for _, i := range part {
			if seen[i] {
				t.Fatalf("row %d is in two parts", i+1)
			}
			seen[i] = true
		}
	}
	if len(seen) != 569 || len(parts[0]) != 220 || len(parts[1]) != 120 || len(parts[2]) != 25 {
		t.Error("the parts are not 220, 120, 25 and the rest")
	}
}
