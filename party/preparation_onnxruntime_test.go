//go:build onnxruntime

package party

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/internal/onnxruntimetest"
)

// TestONNXRuntimePreparation: for random schemas ONNX Runtime makes of raw rows, gaps
// included, the columns that the party makes of them.
func TestONNXRuntimePreparation(t *testing.T) {
	const schemas, n = 40, 50
	var jobs []onnxruntimetest.Job
	var contracts []*contract.Contract
	var preps []*contract.Preparation
	var rows []*mat.Dense
	for seed := range uint64(schemas) {
		rnd := rand.New(rand.NewPCG(seed, 888))
		c, figures, x := schema(rnd, 2+rnd.IntN(8), n)
		prep, graph := showing(t, c, figures)
		jobs, contracts, preps, rows = append(jobs, onnxruntimetest.Job{Model: graph.Encode(), X: x}), append(contracts, c), append(preps, prep), append(rows, x)
	}
	_, results := onnxruntimetest.Run(t, jobs)
	for k, r := range results {
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
