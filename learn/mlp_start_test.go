package learn_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// noHidden is a network of d inputs for k classes without hidden layer, all zero.
func noHidden(d int, classes []string) *learn.Network {
	k, link := len(classes), learn.Softmax
	if k == 2 {
		k, link = 1, learn.Sigmoid
	}
	return &learn.Network{Link: link, Levels: classes, Layers: []learn.Layer{{W: mat.NewDense(d, k, nil), B: make([]float64, k)}}}
}

// TestMLPStart holds that a fit goes on from the network that it is given, leaves it
// as it was, and repeats.
func TestMLPStart(t *testing.T) {
	for _, k := range []int{0, 2, 3} {
		q := 0
		if k == 0 {
			q = 2
		}
		x, y := sample(3, 80, 4, k, q)
		start := fitModel(t, learn.MLP{Hidden: []int{6, 5}, Epochs: 3}, x, y).(*learn.Network)
		before := mat.DenseCopyOf(start.Layers[1].W)
		bias := slices.Clone(start.Layers[1].B)

		// A rate of nothing moves nothing.
		still := fitModel(t, learn.MLP{Start: start, Epochs: 2, Rate: 1e-300}, x, y).(*learn.Network)
		for l := range start.Layers {
			if !mat.Equal(still.Layers[l].W, start.Layers[l].W) || !slices.Equal(still.Layers[l].B, start.Layers[l].B) {
				t.Errorf("%d classes: layer %d is not the one it started from", k, l+1)
			}
		}
		on := learn.MLP{Start: start, Epochs: 30, Rate: 0.01, Seed: 7}
		next := fitModel(t, on, x, y).(*learn.Network)
		if !mat.Equal(start.Layers[1].W, before) || !slices.Equal(start.Layers[1].B, bias) {
			t.Errorf("%d classes: Fit changed the network it started from", k)
		}
		if again := fitModel(t, on, x, y).(*learn.Network); !mat.Equal(again.Layers[0].W, next.Layers[0].W) {
			t.Errorf("%d classes: a second fit differs", k)
		}
		if !(next.Report().Objective < still.Report().Objective) {
			t.Errorf("%d classes: going on has the loss %g, before it was %g", k, next.Report().Objective, still.Report().Objective)
		}
		if len(next.Layers) != 3 || len(next.Layers[0].B) != 6 || len(next.Layers[1].B) != 5 {
			t.Errorf("%d classes: the hidden layers changed", k)
		}
	}
}

// TestMLPStartAdam compares one epoch of one minibatch from zero with Adam's first
// step: every weight moves by the rate against the sign of its gradient ([kingma2015],
// algorithm 1, t = 1), up to ε over the gradient. A second epoch in one fit keeps
// the moments, two fits do not.
func TestMLPStartAdam(t *testing.T) {
	x, y := sample(5, 50, 3, 2, 0)
	const rate = 0.25
	one := fitModel(t, learn.MLP{Start: noHidden(3, y.Classes), Epochs: 1, Rate: rate, Unpenalised: true}, x, y).(*learn.Network)
	for j := range 3 {
		var gradient float64
		for i, c := range y.Labels {
			gradient += (0.5 - float64(c)) * x.At(i, j) / 50
		}
		want := -rate * gradient / (math.Abs(gradient) + 1e-8/math.Sqrt(0.001))
		// ε acts on √v before its bias correction: ε/√(1 − β₂) on the gradient. The
		// rest is rounding.
		if got := one.Layers[0].W.At(j, 0); math.Abs(got-want) > 1e-12 {
			t.Errorf("weight %d is %.15g, want %.15g", j+1, got, want)
		}
	}
	both := fitModel(t, learn.MLP{Start: noHidden(3, y.Classes), Epochs: 2, Rate: rate, Unpenalised: true}, x, y).(*learn.Network)
	afresh := fitModel(t, learn.MLP{Start: one, Epochs: 1, Rate: rate, Unpenalised: true}, x, y).(*learn.Network)
	if mat.EqualApprox(both.Layers[0].W, afresh.Layers[0].W, 1e-6) {
		t.Error("Adam's moments outlived the fit")
	}
}

// TestMLPStartOneClass: rows of one class, from which nothing is learned afresh, move
// a network that knows the others toward it.
func TestMLPStartOneClass(t *testing.T) {
	for _, k := range []int{2, 4} {
		x, y := sample(5, 60, 3, k, 0)
		for i := range y.Labels {
			y.Labels[i] = 1
		}
		if _, err := (learn.MLP{}).Fit(context.Background(), x, y); err == nil || !strings.Contains(err.Error(), "want at least two classes") {
			t.Errorf("without a network to start from: %v", err)
		}
		start := noHidden(3, y.Classes)
		next := fitModel(t, learn.MLP{Start: start, Epochs: 20, Rate: 0.1}, x, y)
		s, err := next.Scores(x)
		if err != nil {
			t.Fatal(err)
		}
		if mean := mat.Sum(s.ColView(1)) / 60; !(mean > 1.5/float64(k)) {
			t.Errorf("%d classes: the rows' class has the mean probability %g, at first %g", k, mean, 1/float64(k))
		}
	}
}

func TestMLPStartRefuses(t *testing.T) {
	x, y := sample(5, 20, 3, 2, 0)
	_, three := sample(5, 20, 3, 3, 0)
	_, numbers := sample(5, 20, 3, 0, 2)
	other := noHidden(3, []string{"x", "y"})
	broken := noHidden(3, y.Classes)
	broken.Layers[0].B[0] = math.NaN()
	one := &learn.Network{Link: learn.Identity, Layers: []learn.Layer{{W: mat.NewDense(3, 1, nil), B: []float64{0}}}}
	for name, c := range map[string]struct {
		start  *learn.Network
		hidden []int
		y      learn.Target
		want   string
	}{
		"hidden":      {noHidden(3, y.Classes), []int{4}, y, "want one of the two"},
		"inputs":      {noHidden(4, y.Classes), nil, y, "cannot start from a network of 4 inputs"},
		"more":        {noHidden(3, y.Classes), nil, three, "2 classes and link sigmoid: the rows have 3 columns and 3 classes"},
		"names":       {other, nil, y, "cannot start"},
		"numbers":     {noHidden(3, y.Classes), nil, numbers, "cannot start"},
		"outputs":     {one, nil, numbers, "network of 1 outputs: the target has 2"},
		"not finite":  {broken, nil, y, "bias 1 of layer 1 is not a finite number"},
		"no layers":   {&learn.Network{}, nil, y, "no layers"},
		"short label": {noHidden(3, y.Classes), nil, learn.Target{Classes: y.Classes, Labels: []int{0}}, "1 labels for 20 rows"},
	} {
		if _, err := (learn.MLP{Start: c.start, Hidden: c.hidden}).Fit(context.Background(), x, c.y); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}
