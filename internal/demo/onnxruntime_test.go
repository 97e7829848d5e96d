//go:build onnxruntime

package demo

import (
	"encoding/csv"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/internal/onnxruntimetest"
	"concord/onnx"
)

// TestONNXRuntimeDemo plays the study with every model that a contract may name,
// and scores the new patients with each hospital's model.onnx in ONNX Runtime for
// Node, which onnx/testdata/onnxruntime/install.sh installs: it gives the classes
// that concord predict wrote, wherever the two scores are not within 1e-4 of each
// other, and the scores to 1e-4. A tree may send a row that lies within rounding
// of a threshold the other way; there 1 row in 100 may have other scores.
func TestONNXRuntimeDemo(t *testing.T) {
	for _, kind := range []string{"logistic", "ridge", "svm-linear", "mlp", "forest", "boosting"} {
		t.Run(kind, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			d := &demo{Options: Options{Parties: 3, Dir: dir, Model: kind}}
			if err := Run(t.Context(), io.Discard, d.Options); err != nil {
				t.Fatal(err)
			}
			var jobs []onnxruntimetest.Job
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
				x := mat.NewDense(len(patients)-1, g.Inputs(), nil)
				for row, record := range patients[1:] {
					for j, feature := range g.Meta().Features {
						x.Set(row, j, parsed(t, record[slices.Index(patients[0], feature)]))
					}
				}
				jobs, graphs = append(jobs, onnxruntimetest.Job{Model: data, X: x}), append(graphs, g)
			}
			_, results := onnxruntimetest.Run(t, jobs)
			for i, r := range results {
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
