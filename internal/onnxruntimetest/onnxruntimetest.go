// Package onnxruntimetest runs models in ONNX Runtime for Node, which is not ours, for
// tests that compare. onnx/testdata/onnxruntime/install.sh installs it.
package onnxruntimetest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Job is a model, as an ONNX file, and the rows that it is to score: they are rounded to
// float32.
type Job struct {
	Model []byte
	X     *mat.Dense
}

// Result is what ONNX Runtime gave for a job.
type Result struct {
	// Scores are the rows' one after the other, each of Columns.
	Scores  []float64
	Columns int
	// Label is each row's class, or nil where the model gives none.
	Label []int
}

// Run runs the jobs in the runtime that lies where CONCORD_ONNXRUNTIME says, by default in
// .cache/onnxruntime of the repository, and fails where there is none.
func Run(t testing.TB, jobs []Job) (version string, results []Result) {
	t.Helper()
	root := repository(t)
	at := os.Getenv("CONCORD_ONNXRUNTIME")
	if at == "" {
		at = filepath.Join(root, ".cache", "onnxruntime")
	}
	at, err := filepath.Abs(at)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", filepath.Join(root, "onnx/testdata/onnxruntime/score.mjs"), written(t, jobs))
	cmd.Env = append(os.Environ(), "CONCORD_ONNXRUNTIME="+at)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s\nwas onnx/testdata/onnxruntime/install.sh run?", err, stderr.String())
	}
	var reply struct {
		Version string
		Results []Result
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		t.Fatal(err)
	}
	if len(reply.Results) != len(jobs) {
		t.Fatalf("%d results for %d models", len(reply.Results), len(jobs))
	}
	return reply.Version, reply.Results
}

// written writes the jobs as score.mjs reads them and returns the file that lists them.
func written(t testing.TB, jobs []Job) string {
	t.Helper()
	type line struct {
		Model string `json:"model"`
		Rows  int    `json:"rows"`
		X     string `json:"x"`
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var lines []line
	for i, job := range jobs {
		n, m := job.X.Dims()
		var raw []byte
		for r := range n {
			for c := range m {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(job.X.At(r, c))))
			}
		}
		name := fmt.Sprint(i)
		lines = append(lines, line{write(name+".onnx", job.Model), n, write(name+".f32", raw)})
	}
	list, err := json.Marshal(lines)
	if err != nil {
		t.Fatal(err)
	}
	return write("jobs.json", list)
}

// repository is the folder with go.mod, in which the package that is tested lies.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the repository is not found: no go.mod above the package")
		}
		dir = up
	}
}
