package learn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/metric"
)

// TestMLPFits fits classes and numbers of many shapes: what a model and its
// report hold, that the arguments stay, and that a second fit is the same.
func TestMLPFits(t *testing.T) {
	for _, c := range []struct{ n, d, k, q int }{
		{60, 4, 2, 0}, {90, 3, 5, 0}, {2, 1, 2, 0}, {6, 12, 3, 0}, {300, 3, 0, 1}, {40, 3, 0, 4}, {1, 2, 0, 1},
	} {
		for _, hidden := range [][]int{nil, {7}, {6, 5, 4}} {
			t.Run(fmt.Sprintf("%+v/%v", c, hidden), func(t *testing.T) {
				x, y := sample(7, c.n, c.d, c.k, c.q)
				before, labels := mat.DenseCopyOf(x), slices.Clone(y.Labels)
				l := learn.MLP{Hidden: hidden, Rate: 0.01, Epochs: 300}
				m := fitModel(t, l, x, y).(*learn.Network)
				if !mat.Equal(before, x) || !slices.Equal(labels, y.Labels) {
					t.Error("Fit changed its arguments")
				}
				if err := m.Check(); err != nil {
					t.Error(err)
				}
				if len(m.Layers) != max(1, len(hidden))+1 || m.Inputs() != c.d || !slices.Equal(m.Classes(), y.Classes) {
					t.Errorf("%d layers, %d inputs, classes %v", len(m.Layers), m.Inputs(), m.Classes())
				}
				r := m.Report()
				if r.Rows != c.n || r.Inputs != c.d || r.Outputs != c.k+c.q || r.Iterations < 10 || !(r.Objective > 0) {
					t.Errorf("report is %+v", r)
				}
				s, err := m.Scores(x)
				if err != nil {
					t.Fatal(err)
				}
				if rows, cols := s.Dims(); rows != c.n || cols != c.k+c.q {
					t.Fatalf("scores are %d × %d", rows, cols)
				}
				if !cmp.Equal(m, fitModel(t, l, x, y), cmp.Comparer(func(a, b *mat.Dense) bool { return mat.Equal(a, b) })) {
					t.Error("a second fit differs")
				}
				l.Seed = 1
				if mat.Equal(m.Layers[0].W, fitModel(t, l, x, y).(*learn.Network).Layers[0].W) {
					t.Error("another seed makes no difference")
				}
				right := 0
				for i, label := range y.Labels {
					if learn.Predicted(s)[i] == label {
						right++
					}
					if sum := mat.Sum(s.RowView(i)); math.Abs(sum-1) > 1e-12 { // k roundings
						t.Errorf("probabilities of row %d sum to %v", i+1, sum)
					}
				}
				// Chance is 1/k; the centres are as far apart as the classes are wide.
				// With two rows a narrow layer may have no unit that sees them.
				if right*c.k < c.n*3/2 && c.k > 0 && c.n > 2 {
					t.Errorf("%d of %d training rows right", right, c.n)
				}
				for _, bad := range []*mat.Dense{nil, {}, mat.NewDense(2, c.d+1, nil), mat.NewDense(1, c.d, slices.Repeat([]float64{math.NaN()}, c.d))} {
					if _, err := m.Scores(bad); err == nil {
						t.Error("scores of no rows, of a wider x or of NaN gave no error")
					}
				}
			})
		}
	}
}

// TestMLPWorkers checks that models and scores do not depend on the number of
// processors: minibatches of several parts, and a last one with few rows.
func TestMLPWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, k := range []int{0, 2, 6} {
		x, y := sample(3, 1203, 60, k, 2)
		l := learn.MLP{Hidden: []int{90, 40}, Batch: 400, Epochs: 3, EarlyStopping: true}
		var models []*learn.Network
		var scores []*mat.Dense
		for _, procs := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(procs)
			m := fitModel(t, l, x, y).(*learn.Network)
			s, err := m.Scores(x)
			if err != nil {
				t.Fatal(err)
			}
			models, scores = append(models, m), append(scores, s)
		}
		for i := range models {
			if !cmp.Equal(models[0], models[i], cmp.Comparer(func(a, b *mat.Dense) bool { return mat.Equal(a, b) })) || !mat.Equal(scores[0], scores[i]) {
				t.Errorf("%d classes: model %d differs from the first", k, i)
			}
		}
	}
}

// TestMLPMeans compares figures over seeds with those of scikit-learn:
// testdata/mlp.py, on the data of trees.py.
func TestMLPMeans(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	data, err := os.ReadFile("testdata/mlp.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct {
		Seeds int
		Means []struct {
			Name            string
			Hidden          []int   `json:"hidden_layer_sizes"`
			Rate            float64 `json:"learning_rate_init"`
			Epochs          int     `json:"max_iter"`
			Batch           int     `json:"batch_size"`
			Alpha, Tol      float64
			EarlyStopping   bool    `json:"early_stopping"`
			Validation      float64 `json:"validation_fraction"`
			Score           float64
			ScoreDeviation  float64 `json:"score_deviation"`
			Loss            float64
			LossDeviation   float64 `json:"loss_deviation"`
			MeanEpochs      float64 `json:"epochs"`
			EpochsDeviation float64 `json:"epochs_deviation"`
		}
	}
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Means) != 6 || known.Seeds != 10 {
		t.Fatalf("%d cases of %d seeds, want 6 of 10", len(known.Means), known.Seeds)
	}
	trees := readKnownTrees(t)
	for _, c := range known.Means {
		i := slices.IndexFunc(trees.Means, func(m struct {
			treeCase
			Trees, Rounds    int
			Forest, Boosting []float64
		}) bool {
			return m.Name == c.Name
		})
		x, y := trees.Means[i].data(t)
		x, y, tx, ty := everyThird(x, y)
		standardise(x, tx)
		var scores, losses, epochs float64
		for seed := range known.Seeds {
			m := fitModel(t, learn.MLP{
				Hidden: c.Hidden, Alpha: c.Alpha, Rate: c.Rate, Batch: c.Batch, Epochs: c.Epochs, Tol: c.Tol,
				EarlyStopping: c.EarlyStopping, Validation: c.Validation, Seed: uint64(seed),
			}, x, y)
			s, err := m.Scores(tx)
			if err != nil {
				t.Fatal(err)
			}
			var score float64
			if ty.Classification() {
				score, err = metric.Accuracy(ty.Labels, learn.Predicted(s))
			} else {
				score, err = metric.R2(mat.Col(nil, 0, ty.Values), mat.Col(nil, 0, s))
			}
			if err != nil {
				t.Fatal(err)
			}
			scores += score / float64(known.Seeds)
			losses += m.Report().Objective / float64(known.Seeds)
			epochs += float64(m.Report().Iterations) / float64(known.Seeds)
		}
		if math.Abs(scores-c.Score) > 0.01 {
			t.Errorf("%s %v: mean score %.4f, scikit-learn has %.4f", c.Name, c.Hidden, scores, c.Score)
		}
		// Two means of ten seeds differ by more than 4 of their standard
		// deviations, of which they have √2/√10 each, once in 16,000 times.
		limit := 4 * math.Sqrt(2/float64(known.Seeds))
		if math.Abs(losses-c.Loss) > limit*c.LossDeviation {
			t.Errorf("%s %v: mean loss %.5f, scikit-learn has %.5f ± %.5f", c.Name, c.Hidden, losses, c.Loss, c.LossDeviation)
		}
		if math.Abs(epochs-c.MeanEpochs) > limit*c.EpochsDeviation {
			t.Errorf("%s %v: %.1f epochs, scikit-learn has %.1f ± %.1f", c.Name, c.Hidden, epochs, c.MeanEpochs, c.EpochsDeviation)
		}
	}
}

// everyThird is the other rows, and rows 1, 4, 7 and so on.
func everyThird(x *mat.Dense, y learn.Target) (xa *mat.Dense, ya learn.Target, xb *mat.Dense, yb learn.Target) {
	n, _ := x.Dims()
	pick := func(take func(i int) bool) (*mat.Dense, learn.Target) {
		var rows, values [][]float64
		out := learn.Target{Classes: y.Classes}
		for i := range n {
			if !take(i) {
				continue
			}
			rows = append(rows, x.RawRowView(i))
			if y.Classification() {
				out.Labels = append(out.Labels, y.Labels[i])
			} else {
				values = append(values, y.Values.RawRowView(i))
			}
		}
		if values != nil {
			out.Values = dense(values)
		}
		return dense(rows), out
	}
	xa, ya = pick(func(i int) bool { return i%3 != 0 })
	xb, yb = pick(func(i int) bool { return i%3 == 0 })
	return xa, ya, xb, yb
}

// standardise takes the means and standard deviations of the columns of x off
// both.
func standardise(x, tx *mat.Dense) {
	n, d := x.Dims()
	for j := range d {
		col := mat.Col(nil, j, x)
		var mean, squares float64
		for _, v := range col {
			mean += v / float64(n)
		}
		for _, v := range col {
			squares += (v - mean) * (v - mean) / float64(n)
		}
		scale := math.Sqrt(squares)
		if scale == 0 {
			scale = 1
		}
		for _, m := range []*mat.Dense{x, tx} {
			rows, _ := m.Dims()
			for i := range rows {
				m.Set(i, j, (m.At(i, j)-mean)/scale)
			}
		}
	}
}

func TestMLPRefuses(t *testing.T) {
	x, y := sample(1, 20, 3, 2, 0)
	_, numbers := sample(1, 20, 3, 0, 1)
	huge, constant := mat.DenseCopyOf(x), mat.NewDense(20, 3, slices.Repeat([]float64{4}, 60))
	huge.Set(4, 1, 1e101)
	nan := mat.DenseCopyOf(x)
	nan.Set(2, 2, math.NaN())
	many := make([]int, 17)
	for i := range many {
		many[i] = 2
	}
	for _, c := range []struct {
		l    learn.MLP
		x    *mat.Dense
		y    learn.Target
		want string
	}{
		{learn.MLP{Hidden: []int{}}, x, y, "0 hidden layers, want 1 to 16"},
		{learn.MLP{Hidden: many}, x, y, "17 hidden layers, want 1 to 16"},
		{learn.MLP{Hidden: []int{3, 0}}, x, y, "hidden layer 2 has 0 units, want 1 to 16384"},
		{learn.MLP{Hidden: []int{-1}}, x, y, "hidden layer 1 has -1 units"},
		{learn.MLP{Hidden: []int{1 << 40}}, x, y, "hidden layer 1 has 1099511627776 units"},
		{learn.MLP{Hidden: []int{10000, 10000}}, x, y, "has 100060001 weights, want at most 16777216"},
		{learn.MLP{Epochs: -1}, x, y, "Epochs is -1"},
		{learn.MLP{Epochs: 1 << 40}, x, y, "Epochs is 1099511627776"},
		{learn.MLP{Alpha: -1}, x, y, "Alpha is -1"},
		{learn.MLP{Alpha: math.NaN()}, x, y, "Alpha is NaN"},
		{learn.MLP{Alpha: 1, Unpenalised: true}, x, y, "unpenalised and has Alpha 1"},
		{learn.MLP{Rate: math.Inf(1)}, x, y, "Rate is +Inf"},
		{learn.MLP{Batch: -5}, x, y, "Batch is -5"},
		{learn.MLP{Tol: -1}, x, y, "Tol is -1"},
		{learn.MLP{Patience: -1}, x, y, "Patience is -1"},
		{learn.MLP{EarlyStopping: true, Validation: 1}, x, y, "Validation is 1"},
		{learn.MLP{Validation: 0.3}, x, y, "Validation is 0.3 without EarlyStopping"},
		{learn.MLP{EarlyStopping: true, Validation: 0.99}, x, y, "holds out 20 of 20 rows"},
		{learn.MLP{EarlyStopping: true, Validation: 0.01}, x, numbers, "holds out 1 of 20 rows, want at least 2"},
		{learn.MLP{}, nil, y, "x has no rows"},
		{learn.MLP{}, nan, y, "x at row 3, column 3 is not a finite number"},
		{learn.MLP{}, huge, y, "x at row 5, column 2 is larger than 1e+100"},
		{learn.MLP{}, x, learn.Target{Classes: names(2), Labels: make([]int, 20)}, "all 20 rows are of the class"},
		{learn.MLP{}, x, learn.Target{Values: mat.NewDense(20, 1, slices.Repeat([]float64{1e101}, 20))}, "target at row 1, column 1 is larger"},
		{learn.MLP{Rate: 1e300, Epochs: 50}, x, numbers, "overflows in epoch"},
	} {
		_, err := c.l.Fit(t.Context(), c.x, c.y)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.l, err, c.want)
		}
	}
	// What is no error: constant columns, and classes without rows, more of them
	// than there are rows.
	// Columns that say nothing leave the share of each class, where the loss is least: 2,000
	// steps of Adam come within 1e-5 of it.
	s, err := fitModel(t, learn.MLP{Epochs: 2000, Patience: 2000, Tol: 1e-12, Unpenalised: true}, constant,
		learn.Target{Classes: names(2), Labels: append(make([]int, 15), 1, 1, 1, 1, 1)}).Scores(constant)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if got := s.At(i, 0); math.Abs(got-0.75) > 1e-5 || math.Abs(got+s.At(i, 1)-1) > 1e-12 {
			t.Errorf("constant columns, row %d: probabilities %.7f and %.7f, want the shares .75 and .25", i, got, s.At(i, 1))
		}
	}
	s, err = fitModel(t, learn.MLP{Rate: 0.05}, x, learn.Target{Classes: names(30), Labels: y.Labels}).Scores(x)
	if err != nil || s.At(0, 29) > 0.01 {
		t.Errorf("class without rows: probability %v, error %v, want nearly 0", s.At(0, 29), err)
	}
}

func TestMLPProgressAndCancel(t *testing.T) {
	x, y := sample(1, 50, 3, 2, 0)
	var seen []learn.Progress
	ctx, cancel := context.WithCancel(t.Context())
	listen := learn.OnProgress(ctx, func(p learn.Progress) { seen = append(seen, p) })
	m, err := learn.MLP{Epochs: 5}.Fit(listen, x, y)
	if err != nil {
		t.Fatal(err)
	}
	last := learn.Progress{Stage: "epochs", Done: 5, Total: 5, Objective: m.Report().Objective}
	if len(seen) != 5 || !cmp.Equal(seen[4], last) || seen[0].Objective <= last.Objective {
		t.Errorf("progress is %+v, want 5 reports, the last %+v", seen, last)
	}
	if m.Report().Status != learn.IterationLimit || m.Report().Iterations != 5 {
		t.Errorf("report is %+v, want 5 epochs and the limit", m.Report())
	}
	if r := fitModel(t, learn.MLP{Tol: 10, Patience: 3}, x, y).Report(); r.Status != learn.Converged || r.Iterations != 5 {
		// The first epoch improves on nothing; the four after it, more than 3, do not.
		t.Errorf("report is %+v, want convergence after 5 epochs", r)
	}

	// A fit that would take a million epochs ends soon.
	begin := time.Now()
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = learn.MLP{Epochs: 1_000_000, Patience: 1_000_000}.Fit(ctx, x, y)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "learn: mlp stopped in epoch") {
		t.Errorf("error is %v, want that it was cancelled", err)
	}
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("stopped after %v", d)
	}
}

func TestNetworkCheck(t *testing.T) {
	w, b := mat.NewDense(2, 3, nil), []float64{0, 0, 0}
	good := learn.Network{Layers: []learn.Layer{{W: w, B: b}}, Link: learn.Identity}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		m    learn.Network
		want string
	}{
		{learn.Network{}, "no layers"},
		{learn.Network{Layers: []learn.Layer{{}}}, "layer 1 has no weights"},
		{learn.Network{Layers: []learn.Layer{{W: w, B: b}, {W: w, B: b}}}, "layer 2 has 2 rows of weights for 3 inputs"},
		{learn.Network{Layers: []learn.Layer{{W: w, B: b[:2]}}}, "layer 1 has 2 biases for 3"},
		{learn.Network{Layers: []learn.Layer{{W: w, B: []float64{0, math.Inf(1), 0}}}}, "bias 2 of layer 1"},
		{learn.Network{Layers: []learn.Layer{{W: mat.NewDense(1, 1, []float64{math.NaN()}), B: b[:1]}}}, "weight of layer 1 at row 1, column 1"},
		{learn.Network{Layers: good.Layers, Link: "tanh"}, `link is "tanh"`},
		{learn.Network{Layers: good.Layers, Link: learn.Softmax, Levels: names(2)}, "2 classes for 3 columns"},
		{learn.Network{Layers: good.Layers, Link: learn.Sigmoid, Levels: names(2)}, "2 classes and 3 columns"},
	} {
		if err := c.m.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if _, err := c.m.Scores(mat.NewDense(1, 2, nil)); err == nil {
			t.Errorf("scores of a model with %q gave no error", c.want)
		}
	}
}
