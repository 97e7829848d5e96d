package lab_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"concord/align"
	"concord/analyst"
	"concord/anchor"
	"concord/contract"
	"concord/onnx"
	"concord/party"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

// played is a study that was played from the parties' tables to what the analyst sends
// back, with what each step made.
type played struct {
	contract *contract.Contract
	views    []*contract.Contract // what each party sees of the contract
	agreed   party.Agreed
	made     []*party.Contribution
	parts    []analyst.Contribution
	changes  *align.Result
	trained  *analyst.Trained
	graph    *onnx.Graph
	answers  []analyst.Answers // under nri
}

// seeded is a parties' seed.
func seeded(t *testing.T) anchor.Seed {
	t.Helper()
	seed, err := anchor.SeedFromBytes(secret.NewBytes(slices.Repeat([]byte{9}, anchor.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	return seed
}

// play plays a study of the parties that see these views; rows gives the i-th its table.
func play(t *testing.T, c *contract.Contract, views []*contract.Contract, agreed party.Agreed, rows func(i int) *table.Table) *played {
	t.Helper()
	p := &played{contract: c, views: views, agreed: agreed}
	for i, v := range views {
		made, err := party.Prepare(v, rows(i), party.EffectiveFloors(v, nil), p.agreed, rand.NewChaCha8([32]byte{byte(i + 1)}))
		if err != nil {
			t.Fatal(err)
		}
		p.made = append(p.made, made)
		p.parts = append(p.parts, analyst.Contribution{Party: fmt.Sprint("P", i+1), View: v.ViewOf(), X: made.X, A: made.A, Labels: made.Labels, Anchor: made.Anchor})
	}
	var err error
	if p.changes, err = analyst.Align(c, wire.Hash{1}, p.parts); err != nil {
		t.Fatal(err)
	}
	if p.trained, err = analyst.Train(t.Context(), c, wire.Hash{1}, p.parts, p.changes); err != nil {
		t.Fatal(err)
	}
	if p.graph, err = onnx.FromModel(p.trained.Model); err != nil {
		t.Fatal(err)
	}
	if c.Protocol == "nri" {
		if p.answers, err = analyst.Answer(c, p.trained.Model, p.parts, p.changes); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// model is what the i-th party makes of what came back.
func (p *played) model(t *testing.T, i int) *onnx.Graph {
	t.Helper()
	var model *onnx.Graph
	var err error
	if p.contract.Protocol == "nri" {
		model, _, err = party.Learn(t.Context(), p.views[i], wire.Hash{}, p.agreed, party.Answers(p.answers[i]))
	} else {
		model, err = party.Accept(p.views[i], wire.Hash{}, p.agreed, p.made[i].Basis, p.changes.G[i], p.graph)
	}
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// tableOf is the text of a file as a party reads it.
func tableOf(t *testing.T, c *contract.Contract, text string) *table.Table {
	t.Helper()
	tab, err := table.ReadCSV(strings.NewReader(text), "rows.csv", c, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}
