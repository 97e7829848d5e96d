//go:build onnxruntime

package onnx

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// runtimeResult is what score.mjs prints of one model.
type runtimeResult struct {
	Scores  []float64
	Columns int
	Label   []int
}

// inRuntime runs each model on its rows in ONNX Runtime for Node, which
// install.sh of testdata/onnxruntime puts where CONCORD_ONNXRUNTIME says.
func inRuntime(t *testing.T, models []*Graph, xs []*mat.Dense) (version string, results []runtimeResult) {
	t.Helper()
	at := os.Getenv("CONCORD_ONNXRUNTIME")
	if at == "" {
		at = "../.cache/onnxruntime"
	}
	at, err := filepath.Abs(at)
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
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
	var jobs []job
	for i, g := range models {
		name := string(rune('a' + i))
		n, m := xs[i].Dims()
		var raw []byte
		for r := range n {
			for c := range m {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(xs[i].At(r, c))))
			}
		}
		jobs = append(jobs, job{write(name+".onnx", g.Encode()), n, write(name+".f32", raw)})
	}
	list, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/onnxruntime/score.mjs", write("jobs.json", list))
	cmd.Env = append(os.Environ(), "CONCORD_ONNXRUNTIME="+at)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s\nwas testdata/onnxruntime/install.sh run?", err, stderr.String())
	}
	var reply struct {
		Version string
		Results []runtimeResult
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		t.Fatal(err)
	}
	if len(reply.Results) != len(models) {
		t.Fatalf("%d results for %d models", len(reply.Results), len(models))
	}
	return reply.Version, reply.Results
}

// TestONNXRuntime compares the frozen models and the graph of all operators
// with ONNX Runtime on 1,000 random rows each.
func TestONNXRuntime(t *testing.T) {
	models := []*Graph{every()}
	names := []string{"every"}
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d frozen models (%v), want 6", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		g, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		models, names = append(models, g), append(names, name)
	}
	src := rand.New(rand.NewPCG(20240504, 1))
	var xs []*mat.Dense
	for _, g := range models {
		x := mat.NewDense(1000, g.Inputs(), nil)
		centre, scale := g.index["centre"], g.index["scale"]
		x.Apply(func(_, j int, _ float64) float64 {
			v := src.NormFloat64()
			if centre != nil {
				v = v*float64(scale.numbers()[j]) + float64(centre.numbers()[j])
			}
			return v
		}, x)
		xs = append(xs, x)
	}
	version, results := inRuntime(t, models, xs)
	t.Logf("ONNX Runtime %s", version)
	for i, g := range models {
		out, err := g.Run(xs[i])
		if err != nil {
			t.Fatalf("%s: %v", names[i], err)
		}
		r := results[i]
		if r.Columns != g.Outputs() || len(r.Scores) != 1000*g.Outputs() || (r.Label != nil) != (g.Classes() != nil) {
			t.Fatalf("%s: ONNX Runtime gives %d scores in %d columns", names[i], len(r.Scores), r.Columns)
		}
		var worst float64
		for row := range 1000 {
			scores := out.Scores.RawRowView(row)
			for j, v := range scores {
				want := r.Scores[row*r.Columns+j]
				worst = max(worst, math.Abs(v-want)/max(1, math.Abs(want)))
			}
			if r.Label != nil && r.Label[row] != out.Labels[row] {
				t.Errorf("%s: row %d has label %d, ONNX Runtime has %d", names[i], row+1, out.Labels[row], r.Label[row])
			}
		}
		t.Logf("%s: largest difference %.2g", names[i], worst)
		if worst > 1e-4 { // what the package comment promises
			t.Errorf("%s: scores differ by up to %g", names[i], worst)
		}
	}
}

// TestONNXRuntimeKnown proves that the answers stored in testdata/known.json are
// what this runtime gives. With CONCORD_UPDATE set it stores them.
func TestONNXRuntimeKnown(t *testing.T) {
	type knownCase struct {
		Name   string      `json:"name"`
		X      [][]float64 `json:"x"`
		Scores [][]float64 `json:"scores"`
		Label  []int       `json:"label"`
	}
	data, err := os.ReadFile("testdata/known.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Version string      `json:"version"`
		Cases   []knownCase `json:"cases"`
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	updating := os.Getenv("CONCORD_UPDATE") != ""
	var models []*Graph
	var xs []*mat.Dense
	for _, c := range known.Cases {
		data, err := os.ReadFile("testdata/" + c.Name + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		g, err := Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(len(c.X), g.Inputs(), nil)
		for i, row := range c.X {
			x.SetRow(i, row)
		}
		models, xs = append(models, g), append(xs, x)
	}
	version, results := inRuntime(t, models, xs)
	for i, r := range results {
		c := &known.Cases[i]
		if updating {
			c.Label, c.Scores = r.Label, nil
		}
		for j := range c.X {
			row := r.Scores[j*r.Columns : (j+1)*r.Columns]
			if updating {
				c.Scores = append(c.Scores, row)
				continue
			}
			for k, v := range row {
				// Another version may order sums otherwise.
				if math.Abs(v-c.Scores[j][k]) > 1e-5*max(1, math.Abs(v)) {
					t.Errorf("%s: row %d, score %d is %v, stored %v", c.Name, j+1, k+1, v, c.Scores[j][k])
				}
			}
		}
	}
	if updating {
		known.Version = "onnxruntime-node " + version
		data, err := json.Marshal(known)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("testdata/known.json", append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
