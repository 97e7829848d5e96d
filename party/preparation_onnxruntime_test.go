//go:build onnxruntime

package party

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/study"
)

// TestONNXRuntimePreparation: for random schemas ONNX Runtime makes of raw rows, gaps
// included, the columns that the party makes of them.
func TestONNXRuntimePreparation(t *testing.T) {
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
	const schemas, n = 40, 50
	dir := t.TempDir()
	var jobs []job
	var contracts []*study.Contract
	var preps []*study.Preparation
	var rows []*mat.Dense
	for seed := range uint64(schemas) {
		rnd := rand.New(rand.NewPCG(seed, 888))
		c, figures, x := schema(rnd, 2+rnd.IntN(8), n)
		prep, graph := showing(t, c, figures)
		var raw []byte
		for _, v := range x.RawMatrix().Data {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
		}
		j := job{filepath.Join(dir, strconv.Itoa(int(seed))+".onnx"), n, filepath.Join(dir, strconv.Itoa(int(seed))+".f32")}
		for name, b := range map[string][]byte{j.Model: graph.Encode(), j.X: raw} {
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		jobs, contracts, preps, rows = append(jobs, j), append(contracts, c), append(preps, prep), append(rows, x)
	}
	list, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "jobs.json")
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "../onnx/testdata/onnxruntime/score.mjs", path)
	cmd.Env = append(os.Environ(), "CONCORD_ONNXRUNTIME="+at)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v; was onnx/testdata/onnxruntime/install.sh run?", err)
	}
	var reply struct {
		Results []struct{ Scores []float64 }
	}
	if err := json.Unmarshal(out, &reply); err != nil {
		t.Fatal(err)
	}
	if len(reply.Results) != schemas {
		t.Fatalf("%d results of %d models", len(reply.Results), schemas)
	}
	for k, r := range reply.Results {
		c, prep, m := contracts[k], preps[k], preps[k].M()
		want := make([]float64, m)
		for i := range n {
			raw := rows[k].RawRowView(i)
			prep.Row(want, raw)
			for j, v := range want {
				if d := math.Abs(r.Scores[i*m+j] - v); !(d <= allowed(c, prep, raw, j)) {
					t.Fatalf("schema %d: column %q of row %d is off by %g in ONNX Runtime", k, c.Columns()[j].Name, i, d)
				}
			}
		}
	}
}
