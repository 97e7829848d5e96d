//go:build onnxruntime

package demo

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"concord/onnx"
)

// TestONNXRuntimeDemo plays the study with every model that a contract may name,
// and scores the new patients with each hospital's model.onnx in ONNX Runtime for
// Node, which onnx/testdata/onnxruntime/install.sh installs: it gives the classes
// that concord predict wrote, wherever the two scores are not within 1e-4 of each
// other, and the scores to 1e-4. A tree may send a row that lies within rounding
// of a threshold the other way; there 1 row in 100 may have other scores.
func TestONNXRuntimeDemo(t *testing.T) {
	at := os.Getenv("CONCORD_ONNXRUNTIME")
	if at == "" {
		at = "../../.cache/onnxruntime"
	}
	at, err := filepath.Abs(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"logistic", "ridge", "svm-linear", "mlp", "forest", "boosting"} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			d := &demo{Options: Options{Parties: 3, Dir: dir, Model: kind}}
			if err := Run(t.Context(), io.Discard, d.Options); err != nil {
				t.Fatal(err)
			}
			type job struct {
				Model string `json:"model"`
				Rows  int    `json:"rows"`
				X     string `json:"x"`
			}
			var jobs []job
			var graphs []*onnx.Graph
			patients := records(t, filepath.Join(dir, "new-patients.csv"))
			for i := range d.Parties {
				model := filepath.Join(d.party(i), "concord-site", "model.onnx")
				data, err := os.ReadFile(model)
				if err != nil {
					t.Fatal(err)
				}
				g, err := onnx.Decode(data)
				if err != nil {
					t.Fatal(err)
				}
				var raw []byte
				for _, record := range patients[1:] {
					for _, feature := range g.Meta().Features {
						v := parsed(t, record[slices.Index(patients[0], feature)])
						raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(v)))
					}
				}
				x := filepath.Join(d.party(i), "x.f32")
				if err := os.WriteFile(x, raw, 0o600); err != nil {
					t.Fatal(err)
				}
				jobs, graphs = append(jobs, job{model, len(patients) - 1, x}), append(graphs, g)
			}
			list, err := json.Marshal(jobs)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "jobs.json")
			if err := os.WriteFile(path, list, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("node", "../../onnx/testdata/onnxruntime/score.mjs", path)
			cmd.Env = append(os.Environ(), "CONCORD_ONNXRUNTIME="+at)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("node: %v; was onnx/testdata/onnxruntime/install.sh run?", err)
			}
			var reply struct {
				Results []struct {
					Scores []float64
					Label  []int
				}
			}
			if err := json.Unmarshal(out, &reply); err != nil {
				t.Fatal(err)
			}
			for i, r := range reply.Results {
				levels := graphs[i].Classes()
				other := 0
				for row, record := range records(t, filepath.Join(d.party(i), "predictions.csv"))[1:] {
					ours := []float64{parsed(t, record[2]), parsed(t, record[3])}
					theirs := r.Scores[2*row:][:2]
					if max(math.Abs(ours[0]-theirs[0]), math.Abs(ours[1]-theirs[1])) > 1e-4 {
						other++
						continue
					}
					if math.Abs(ours[0]-ours[1]) > 1e-4 && record[1] != levels[r.Label[row]] {
						t.Errorf("%s: line %s is %s, in ONNX Runtime %s", hospitals[i], record[0], record[1], levels[r.Label[row]])
					}
				}
				allowed := 0
				if kind == "forest" || kind == "boosting" {
					allowed = len(r.Label) / 100
				}
				if other > allowed {
					t.Errorf("%s: %d of %d rows have other scores in ONNX Runtime", hospitals[i], other, len(r.Label))
				}
				t.Logf("%s: %d rows, other scores in %d", hospitals[i], len(r.Label), other)
			}
			if len(reply.Results) != d.Parties {
				t.Errorf("%d results, want %d", len(reply.Results), d.Parties)
			}
		})
	}
}

func records(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parsed(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
