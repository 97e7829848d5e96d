package fedavg_test

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/lab/fedavg"
	"concord/learn"
)

// rows are n rows of d columns with a class that a plane divides, with noise.
func rows(n, d, classes int, seed uint64) fedavg.Part {
	rnd := rand.New(rand.NewPCG(seed, 7))
	x := mat.NewDense(n, d, nil)
	y := learn.Target{}
	for k := range classes {
		y.Classes = append(y.Classes, string(rune('a'+k)))
	}
	for i := range n {
		var z float64
		for j := range d {
			v := rnd.NormFloat64()
			x.Set(i, j, v)
			z += v * float64(j%3-1)
		}
		k := int(math.Floor((z+rnd.NormFloat64())/2 + float64(classes)/2))
		y.Labels = append(y.Labels, min(max(k, 0), classes-1))
	}
	return fedavg.Part{X: x, Y: y}
}

func correct(t *testing.T, m learn.Model, p fedavg.Part) float64 {
	t.Helper()
	s, err := m.Scores(p.X)
	if err != nil {
		t.Fatal(err)
	}
	hits := 0
	for i, k := range learn.Predicted(s) {
		if k == p.Y.Labels[i] {
			hits++
		}
	}
	return float64(hits) / float64(len(p.Y.Labels))
}

// TestNearsCentral holds federated averaging to what one learner gets from all rows:
// the parties' rows are of one law, so that averaging should lose little.
func TestNearsCentral(t *testing.T) {
	for _, c := range []struct {
		spec    learn.Spec
		classes int
	}{
		{learn.Spec{Kind: "logistic"}, 2}, {learn.Spec{Kind: "logistic"}, 4},
		{learn.Spec{Kind: "mlp", Hidden: []int{16}, Rate: 0.01, Batch: 20}, 2}, {learn.Spec{Kind: "mlp", Hidden: []int{16}, Rate: 0.01, Batch: 20}, 4},
	} {
		parts := []fedavg.Part{rows(200, 6, c.classes, 1), rows(100, 6, c.classes, 2), rows(300, 6, c.classes, 3)}
		test := rows(2000, 6, c.classes, 4)
		opt := fedavg.Options{Seed: 5}
		if c.spec.Kind == "logistic" {
			opt.LocalEpochs = 50 // Adam's default steps are small
		}
		m, err := fedavg.Fit(context.Background(), c.spec, parts, opt)
		if err != nil {
			t.Fatal(err)
		}
		all := fedavg.Part{X: new(mat.Dense), Y: learn.Target{Classes: parts[0].Y.Classes}}
		for _, p := range parts {
			var both mat.Dense
			if all.X.IsEmpty() {
				both.CloneFrom(p.X)
			} else {
				both.Stack(all.X, p.X)
			}
			all.X = &both
			all.Y.Labels = append(all.Y.Labels, p.Y.Labels...)
		}
		learner, err := learn.New(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		central, err := learner.Fit(context.Background(), all.X, all.Y)
		if err != nil {
			t.Fatal(err)
		}
		// 2000 rows at about 70% have a standard error of 0.01; the draws are fixed.
		got, want := correct(t, m, test), correct(t, central, test)
		if got < want-0.03 {
			t.Errorf("%s, %d classes: %.3f correct, central %.3f", c.spec.Kind, c.classes, got, want)
		}
		if r := m.Report(); r.Rows != 600 || r.Iterations != 40 || m.Inputs() != 6 || len(m.Classes()) != c.classes {
			t.Errorf("%s: report %+v", c.spec.Kind, r)
		}
	}
}

// TestOnePartyIsItsOwn: with one party and one round, averaging is training.
func TestOnePartyOneRound(t *testing.T) {
	p := rows(50, 4, 2, 1)
	a, err := fedavg.Fit(context.Background(), learn.Spec{Kind: "mlp", Hidden: []int{5}}, []fedavg.Part{p}, fedavg.Options{Rounds: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	// The same party twice has the mean of two updates that differ only by the order
	// of rows, which one minibatch of 50 does not show.
	b, err := fedavg.Fit(context.Background(), learn.Spec{Kind: "mlp", Hidden: []int{5}}, []fedavg.Part{p, p}, fedavg.Options{Rounds: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	one, two := a.(*learn.Network), b.(*learn.Network)
	for l := range one.Layers {
		if !mat.EqualApprox(one.Layers[l].W, two.Layers[l].W, 1e-12) { // sums in another order
			t.Errorf("layer %d differs", l+1)
		}
	}
}

func TestSameOnAnyCores(t *testing.T) {
	parts := []fedavg.Part{rows(60, 4, 3, 1), rows(40, 4, 3, 2)}
	fit := func() *learn.Network {
		m, err := fedavg.Fit(context.Background(), learn.Spec{Kind: "mlp", Hidden: []int{8}}, parts, fedavg.Options{Rounds: 3})
		if err != nil {
			t.Fatal(err)
		}
		return m.(*learn.Network)
	}
	a := fit()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := fit()
	for l := range a.Layers {
		if !mat.Equal(a.Layers[l].W, b.Layers[l].W) {
			t.Errorf("layer %d depends on the number of cores", l+1)
		}
	}
}

func TestRefuses(t *testing.T) {
	p := rows(10, 3, 2, 1)
	other := rows(10, 4, 2, 1)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx   context.Context
		spec  learn.Spec
		parts []fedavg.Part
		opt   fedavg.Options
		want  string
	}{
		{context.Background(), learn.Spec{Kind: "forest"}, []fedavg.Part{p}, fedavg.Options{}, "no weights"},
		{context.Background(), learn.Spec{Kind: "mlp"}, nil, fedavg.Options{}, "no parties"},
		{context.Background(), learn.Spec{Kind: "mlp"}, []fedavg.Part{p}, fedavg.Options{Rounds: -1}, "must be positive"},
		{context.Background(), learn.Spec{Kind: "logistic"}, []fedavg.Part{p, other}, fedavg.Options{}, "party 2"},
		{done, learn.Spec{Kind: "logistic"}, []fedavg.Part{p}, fedavg.Options{}, "canceled"},
	} {
		if _, err := fedavg.Fit(c.ctx, c.spec, c.parts, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %d parties: error %v, want %q", c.spec.Kind, len(c.parts), err, c.want)
		}
	}
}
