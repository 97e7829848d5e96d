package analyst_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/contract"
	"concord/linalg"
	"concord/wire"
)

// The analyst gets images of rows and of an anchor that it does not have, aligns and trains.
func ExampleTrain() {
	c, err := contract.ParseYAML([]byte(`
name: Two clinics
parties: 2
features:
  - {name: age, range: [18, 100]}
  - {name: stay, range: [0, 60]}
  - {name: visits, range: [0, 20]}
label: {name: returned, levels: ["no", "yes"], positive: "yes"}
basis: {kind: pca, dim: 2}
anchor: {kind: orthonormal, rows: 3}
`))
	if err != nil {
		log.Fatal(err)
	}
	epoch, anchorID := wire.HashOf([]byte("contract and roster")), wire.HashOf([]byte("seed"))
	var parts []analyst.Contribution
	turns := []*mat.Dense{mat.NewDense(2, 2, []float64{1, 0, 0, 1}), mat.NewDense(2, 2, []float64{0, -1, 1, 0})}
	for i, turn := range turns { // each party has turned the same two directions by itself
		src := linalg.Normal(30, 2, rand.NewPCG(1, uint64(i)))
		var x, a mat.Dense
		x.Mul(src, turn)
		a.Mul(mat.NewDense(3, 2, []float64{1, 0, 0, 1, 0, 0}), turn)
		p := analyst.Contribution{Party: fmt.Sprint("Clinic ", i+1), X: &x, A: &a, Anchor: anchorID}
		for r := range 30 {
			var label int64
			if src.At(r, 0) > 0 {
				label = 1
			}
			p.Labels = append(p.Labels, label)
		}
		parts = append(parts, p)
	}
	g, err := analyst.Align(c, epoch, parts)
	if err != nil {
		log.Fatal(err)
	}
	trained, err := analyst.Train(context.Background(), c, epoch, parts, g)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range trained.Outcome.Metrics {
		fmt.Printf("%s %.2f\n", m.Name, m.Value)
	}
	// Output:
	// roc_auc 1.00
	// accuracy 0.97
}
