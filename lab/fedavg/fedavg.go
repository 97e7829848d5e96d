// Package fedavg is the baseline that data collaboration is compared with: federated averaging
// ([mcmahan2017], algorithm 1). In every round each party trains the global model further on
// its own rows, and the mean of the parties' weights, each counted by its rows, is the next
// global model:
//
//	w ← Σ_i (n_i/n) w_i
//
// Every party takes part in every round. Start with [Fit]. Nothing is sent: this is
// a simulation.
package fedavg

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/linalg"
)

// Part is what one party holds.
type Part struct {
	X *mat.Dense
	Y learn.Target
}

// Options are the choices. The zero value works.
type Options struct {
	// Rounds of averaging; zero means 40 ([nosaka2025]).
	Rounds int
	// LocalEpochs is E, the passes of a party over its rows in a round; zero means 1.
	LocalEpochs int
	// Seed draws the first weights and the order of rows.
	Seed uint64
}

// Can tells whether a kind of learner has weights to average: mlp, and logistic as a
// network without hidden layer.
func Can(kind string) bool { return kind == "mlp" || kind == "logistic" }

// Fit averages over Options.Rounds. spec is mlp with its settings, or logistic, which
// is learned as a network without hidden layer by the steps of mlp's Adam with its
// defaults and the penalty α = 1/C. Adam's moments stay at no party: they start afresh
// every round. Epochs, Tol, Patience and EarlyStopping of spec do not count.
//
// All parties must have the same classes; a party may lack rows of some, and have rows
// of one only. The result does not depend on the number of cores. Cost:
// Rounds·LocalEpochs passes over all rows.
func Fit(ctx context.Context, spec learn.Spec, parts []Part, opt Options) (learn.Model, error) {
	if !Can(spec.Kind) {
		return nil, fmt.Errorf("fedavg: %s has no weights to average", spec.Kind)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("fedavg: no parties")
	}
	if opt.Rounds == 0 {
		opt.Rounds = 40
	}
	if opt.LocalEpochs == 0 {
		opt.LocalEpochs = 1
	}
	if opt.Rounds < 0 || opt.LocalEpochs < 0 {
		return nil, fmt.Errorf("fedavg: %d rounds of %d epochs, both must be positive", opt.Rounds, opt.LocalEpochs)
	}
	rnd := rand.New(rand.NewPCG(opt.Seed, 1))
	learner := learn.MLP{Alpha: spec.Alpha, Rate: spec.Rate, Batch: spec.Batch, Hidden: spec.Hidden, Epochs: opt.LocalEpochs, Patience: opt.LocalEpochs}
	total := 0
	for i, p := range parts {
		if p.X == nil || p.X.IsEmpty() {
			return nil, fmt.Errorf("fedavg: party %d has no rows, want at least one", i+1)
		}
		n, _ := p.X.Dims()
		total += n
	}
	if spec.Kind == "logistic" {
		c := spec.C
		if c == 0 {
			c = 1
		}
		// C of the whole objective is a penalty of 1/(2C) on the sum over rows; the
		// network's is α/2 on the sum of a minibatch of a party.
		learner = learn.MLP{Alpha: 1 / c, Epochs: opt.LocalEpochs, Patience: opt.LocalEpochs}
	}
	global, err := first(ctx, spec, learner, parts[0], rnd.Uint64())
	if err != nil {
		return nil, err
	}
	for range opt.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seed := rnd.Uint64()
		updates := make([]*learn.Network, len(parts))
		errs := make([]error, len(parts))
		linalg.Parallel(len(parts), func(i int) {
			own := learner
			own.Hidden, own.Start, own.Seed = nil, global, seed+uint64(i)
			m, err := own.Fit(ctx, parts[i].X, parts[i].Y)
			if err != nil {
				errs[i] = fmt.Errorf("fedavg: party %d: %w", i+1, err)
				return
			}
			updates[i] = m.(*learn.Network)
		})
		for _, err := range errs {
			if err != nil {
				return nil, err
			}
		}
		global = mean(updates, parts, total)
	}
	global.Fitted = learn.Report{Status: learn.Converged, Iterations: opt.Rounds, Rows: total, Inputs: global.Inputs(), Outputs: global.Fitted.Outputs}
	return global, nil
}

// first draws the weights that the rounds start from: zero without hidden layer,
// otherwise as learn.MLP draws them, which party 1's data give the shape of.
func first(ctx context.Context, spec learn.Spec, learner learn.MLP, p Part, seed uint64) (*learn.Network, error) {
	_, d := p.X.Dims()
	if spec.Kind == "mlp" {
		learner.Seed, learner.Epochs, learner.Rate = seed, 1, 1e-300 // a step of no length
		// The draws depend on shapes only: two rows of zeros do, of two classes, since
		// party 1 may have one class.
		y := learn.Target{Classes: p.Y.Classes, Labels: []int{0, 1}}
		if !p.Y.Classification() {
			if p.Y.Values == nil || p.Y.Values.IsEmpty() {
				return nil, fmt.Errorf("fedavg: party 1 has neither classes nor numbers")
			}
			_, q := p.Y.Values.Dims()
			y = learn.Target{Values: mat.NewDense(2, q, nil)}
		}
		m, err := learner.Fit(ctx, mat.NewDense(2, d, nil), y)
		if err != nil {
			return nil, fmt.Errorf("fedavg: party 1: %w", err)
		}
		return m.(*learn.Network), nil
	}
	if !p.Y.Classification() {
		return nil, fmt.Errorf("fedavg: logistic needs classes")
	}
	k, link := len(p.Y.Classes), learn.Softmax
	if k == 2 {
		k, link = 1, learn.Sigmoid
	}
	return &learn.Network{
		Kind: "logistic", Link: link, Levels: p.Y.Classes,
		Layers: []learn.Layer{{W: mat.NewDense(d, k, nil), B: make([]float64, k)}},
		Fitted: learn.Report{Outputs: len(p.Y.Classes)},
	}, nil
}

// mean of networks, by rows.
func mean(updates []*learn.Network, parts []Part, total int) *learn.Network {
	out := *updates[0]
	out.Layers = nil
	for l := range updates[0].Layers {
		in, width := updates[0].Layers[l].W.Dims()
		sum := learn.Layer{W: mat.NewDense(in, width, nil), B: make([]float64, width)}
		for i, u := range updates {
			n, _ := parts[i].X.Dims()
			share := float64(n) / float64(total)
			var w mat.Dense
			w.Scale(share, u.Layers[l].W)
			sum.W.Add(sum.W, &w)
			for j, b := range u.Layers[l].B {
				sum.B[j] += share * b
			}
		}
		out.Layers = append(out.Layers, sum)
	}
	return &out
}
