package concord_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"

	"concord/analyst"
	"concord/anchor"
	"concord/contract"
	"concord/metric"
	"concord/onnx"
	"concord/party"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

// A whole study of three clinics in memory: what each site and the analyst compute, without
// keys, files and network between them. In a study the shares of the seed reach the other
// parties sealed, and every source of randomness is basis.NewSource.
func Example_study() {
	yaml, err := os.ReadFile("examples/clinics/study.yaml")
	check(err)
	c, err := contract.ParseYAML(yaml)
	check(err)
	encoded, err := c.Encode()
	check(err)
	hash := wire.HashOf(encoded)
	epoch := wire.HashOf([]byte("stands for contract and roster"))

	// The parties agree on the anchor.
	var shares []anchor.Share
	for i := range byte(3) {
		random := secret.NewBytes([]byte{31: i + 1}) // 32 bytes from crypto/rand
		shares = append(shares, anchor.Share{Key: []byte{31: i}, Entropy: random})
	}
	seed, err := anchor.DeriveSeed(epoch, shares)
	check(err)
	agreed := party.Agreed{Seed: seed}

	// Each party projects its rows and the anchor by a basis of its own.
	var stays []*party.Contribution
	var sent []analyst.Contribution
	for i, name := range []string{"north", "east", "west"} {
		rows, err := table.Open("examples/clinics/"+name+".csv", c, table.Options{})
		check(err)
		made, err := party.Prepare(c, rows, party.EffectiveFloors(c, nil), agreed, rand.NewChaCha8([32]byte{byte(i)}))
		check(err)
		stays = append(stays, made)
		sent = append(sent, analyst.Contribution{Party: name, X: made.X, A: made.A, Labels: made.Labels, Anchor: made.Anchor})
	}

	// The analyst aligns the images of an anchor that it does not have, and trains.
	g, err := analyst.Align(c, epoch, sent)
	check(err)
	trained, err := analyst.Train(context.Background(), c, epoch, sent, g)
	check(err)
	h, err := onnx.FromModel(trained.Model)
	check(err)

	// A party puts F and G in front of h and scores rows that nobody trained on.
	model, err := party.Accept(c, hash, agreed, stays[2].Basis, g.G[2], h)
	check(err)
	later, err := table.Open("examples/clinics/new.csv", c, table.Options{})
	check(err)
	out, err := model.Run(later.X().Reveal())
	check(err)
	auc, err := metric.Compute("roc_auc", metric.Truth{Labels: later.Labels(), Positive: 1}, out.Scores)
	check(err)
	fmt.Printf("west: %d features in, ROC-AUC %.2f\n", model.Inputs(), auc)
	// Output:
	// west: 6 features in, ROC-AUC 0.79
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
