package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/npy"
)

func writeNPY(t *testing.T, path string, m *mat.Dense) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := npy.WriteMatrix(f, m); err != nil {
		t.Fatal(err)
	}
	return path
}

// runBench runs concord-lab bench learn.
func runBench(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = Run(context.Background(), append([]string{"bench", "learn"}, args...), strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// TestBenchLearn fits every learner to four points that a line parts and scores
// them.
func TestBenchLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	dir := t.TempDir()
	x := mat.NewDense(40, 2, nil)
	labels, numbers := mat.NewDense(40, 1, nil), mat.NewDense(40, 1, nil)
	for i := range 40 {
		x.SetRow(i, []float64{float64(i%20) - 10, float64(i % 7)})
		if i%20 >= 10 {
			labels.Set(i, 0, 1)
		}
		numbers.Set(i, 0, float64(i%20))
	}
	px, pl, pn := writeNPY(t, filepath.Join(dir, "x.npy"), x), writeNPY(t, filepath.Join(dir, "y.npy"), labels), writeNPY(t, filepath.Join(dir, "n.npy"), numbers)
	out := filepath.Join(dir, "scores.npy")
	for _, kind := range learn.Kinds() {
		status, stdout, stderr := runBench("--model", kind, "--x", px, "--y", pl, "--score", px, "--out", out, "--repeat", "2", "--json")
		if status != 0 {
			t.Errorf("%s: status %d: %s", kind, status, stderr)
			continue
		}
		var r learnRecord
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		if r.Model != kind || r.Rows != 40 || r.Inputs != 2 || r.Outputs != 2 || r.Repeat != 2 || r.Seconds.Median <= 0 || r.Status == "" {
			t.Errorf("%s: %+v", kind, r)
		}
		scores, err := readMatrix(out)
		if err != nil {
			t.Fatal(err)
		}
		if n, k := scores.Dims(); n != 40 || k != 2 {
			t.Errorf("%s: scores are %d × %d", kind, n, k)
		}
		right := 0
		for i, p := range learn.Predicted(scores) {
			if float64(p) == labels.At(i, 0) {
				right++
			}
		}
		if right < 36 && kind != "boosting" { // a leaf of boosting has 20 rows
			t.Errorf("%s: %d of 40 right", kind, right)
		}
	}
	status, stdout, stderr := runBench("--model", "forest", "--set", "trees=7", "--seed", "3", "--numbers", "--x", px, "--y", pn)
	if status != 0 || !strings.Contains(stdout, "forest: 40 × 2, 1 outputs") {
		t.Errorf("status %d: %s%s", status, stdout, stderr)
	}
}

func TestBenchLearnRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	dir := t.TempDir()
	x := writeNPY(t, filepath.Join(dir, "x.npy"), mat.NewDense(4, 2, []float64{1, 2, 3, 4, 5, 6, 7, 9}))
	y := writeNPY(t, filepath.Join(dir, "y.npy"), mat.NewDense(4, 1, []float64{0, 1, 0, 1}))
	half := writeNPY(t, filepath.Join(dir, "half.npy"), mat.NewDense(4, 1, []float64{0, 1, 0.5, 1}))
	for _, c := range []struct {
		status int
		want   string
		args   []string
	}{
		{2, "--model is missing", []string{"--x", x, "--y", y}},
		{2, `kind is "oracle"`, []string{"--model", "oracle", "--x", x, "--y", y}},
		{2, "ridge has no setting c", []string{"--model", "ridge", "--set", "c=2", "--x", x, "--y", y}},
		{2, `there is no setting "colour"`, []string{"--model", "ridge", "--set", "colour=2", "--x", x, "--y", y}},
		{2, "must be name=value", []string{"--model", "ridge", "--set", "alpha", "--x", x, "--y", y}},
		{2, "--score and --out go together", []string{"--model", "ridge", "--x", x, "--y", y, "--out", "s.npy"}},
		{2, "--repeat is 0", []string{"--model", "ridge", "--x", x, "--y", y, "--repeat", "0"}},
		{1, "label of row 3", []string{"--model", "ridge", "--x", x, "--y", half}},
		{1, "2 columns of labels", []string{"--model", "ridge", "--x", x, "--y", x}},
		{1, "no such file", []string{"--model", "ridge", "--x", x + "x", "--y", y}},
		{1, "not a file", []string{"--model", "ridge", "--x", dir, "--y", y}},
		{1, "5 neighbours of 4 rows", []string{"--model", "knn", "--x", x, "--y", y}},
	} {
		status, _, stderr := runBench(c.args...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: status %d, %q, want %d and %q", c.args, status, stderr, c.status, c.want)
		}
	}
}
