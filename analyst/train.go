package analyst

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/contract"
	"concord/learn"
	"concord/linalg"
	"concord/metric"
	"concord/onnx"
	"concord/release"
	"concord/wire"
)

// folds is k of the cross-validation.
const folds = 5

// Trained is the model h and what is told about it. Its metrics are the
// contract's, by 5-fold cross-validation over the stacked rows of all parties:
// every row is scored by a model that was trained without it. (The Gᵢ come from
// the anchor alone and see no label.)
type Trained struct {
	Model   learn.Model
	Outcome release.Outcome
}

// Train stacks X̂ᵢ = X̃ᵢ Gᵢ and Yᵢ in the order of parts and trains the contract's
// model on all rows. It leaves parts unchanged. A model that cannot become a file
// is an error, told before the cross-validation.
//
// Cost: six fits on Σ nᵢ rows of l columns.
func Train(ctx context.Context, c *contract.Contract, epoch wire.Hash, parts []Contribution, g *align.Result) (*Trained, error) {
	x, y := Stack(parts, g.G, c.Label.Levels)
	learner, err := learn.New(c.Model.Spec())
	if err != nil {
		return nil, fmt.Errorf("analyst: %w", err)
	}
	if learner.CarriesRows() && c.Protocol == "dc" {
		return nil, fmt.Errorf("analyst: a %s model carries training rows, which any party could invert; it is not released under dc", learner.Name())
	}
	if f, ok := learner.(learn.Forest); ok {
		f.MaxNodes = learn.MaxTreeNodes
		learner = f
	}
	n, _ := x.Dims()
	model, err := learner.Fit(ctx, x, y)
	if errors.Is(err, learn.ErrTooManyNodes) {
		return nil, fmt.Errorf("analyst: %d trees of %d rows have more than %d nodes, which no model's file holds: a contract with a larger model.min_leaf (%d), "+
			"a model.max_depth or fewer model.trees has smaller ones", c.Model.Trees, n, learn.MaxTreeNodes, c.Model.MinLeaf)
	}
	if err != nil {
		return nil, fmt.Errorf("analyst: %w", err)
	}
	if _, err := onnx.FromModel(model); err != nil {
		return nil, fmt.Errorf("analyst: the model cannot become a file: %w", err)
	}
	out := &Trained{Model: model, Outcome: release.Outcome{Format: 1, Rows: n, Metrics: []release.Metric{}, Notes: slices.Clone(g.Warnings)}}
	note := func(format string, args ...any) {
		out.Outcome.Notes = append(out.Outcome.Notes, fmt.Sprintf(format, args...))
	}
	if r := model.Report(); !r.Good() {
		note("the fit ended with status %s after %d iterations", r.Status, r.Iterations)
	}
	if weak := outweighed(c, x); weak != "" {
		note("%s", weak)
	}
	scores, err := crossValidate(ctx, learner, x, y, epoch)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil { // for example a class that one fold alone has
		note("the model could not be cross-validated: %v", err)
		return out, nil
	}
	for _, name := range c.Metrics {
		v, err := measure(name, c, y, scores)
		if err != nil {
			note("%s could not be computed: %v", name, err)
			continue
		}
		out.Outcome.Metrics = append(out.Outcome.Metrics, release.Metric{Name: name, Value: v})
	}
	return out, nil
}

// outweighed warns when the model's penalty is larger than what the data can
// set against it in any direction, so that the model is nearly constant: the
// scale artefact of LS with the identity target (docs/methods.md section 5.8). The
// data's side is the largest sum of squares of a column of x, for logistic
// regression a quarter of it (its largest curvature), for the squared hinge twice.
func outweighed(c *contract.Contract, x *mat.Dense) string {
	_, d := x.Dims()
	var largest float64
	for j := range d {
		col := mat.Col(nil, j, x)
		largest = max(largest, mat.Dot(mat.NewVecDense(len(col), col), mat.NewVecDense(len(col), col)))
	}
	var penalty, evidence float64
	switch c.Model.Kind {
	case "ridge":
		penalty, evidence = c.Model.Alpha, largest
	case "logistic":
		penalty, evidence = 1/c.Model.C, largest/4
	case "svm-linear":
		penalty, evidence = 1/c.Model.C, 2*largest
	}
	if evidence >= penalty {
		return ""
	}
	return fmt.Sprintf("the penalty of the model (%.3g) outweighs the data (%.3g): the aligned rows are too small for it and the model is nearly constant; "+
		"a weaker penalty, or for ls the target sigma, lets it learn", penalty, evidence)
}

// Stack returns X̂, all parties' X̃ᵢ Gᵢ one under the other (Σnᵢ × d), and Y, indices into
// levels or, where there are none, numbers.
func Stack(parts []Contribution, g []*mat.Dense, levels []string) (*mat.Dense, learn.Target) {
	total := 0
	for _, p := range parts {
		n, _ := p.X.Dims()
		total += n
	}
	_, d := g[0].Dims()
	x := mat.NewDense(total, d, nil)
	y := learn.Target{Classes: levels}
	if len(levels) == 0 {
		y.Values = mat.NewDense(total, 1, nil)
	}
	at := 0
	for i, p := range parts {
		n, _ := p.X.Dims()
		x.Slice(at, at+n, 0, d).(*mat.Dense).Mul(p.X, g[i])
		for _, k := range p.Labels {
			y.Labels = append(y.Labels, int(k))
		}
		if len(levels) == 0 {
			y.Values.Slice(at, at+n, 0, 1).(*mat.Dense).Copy(p.Values)
		}
		at += n
	}
	return x, y
}

// crossValidate returns the scores of every row by a model trained without its
// fold. Folds are drawn from the epoch, each class spread evenly over them.
func crossValidate(ctx context.Context, learner learn.Learner, x *mat.Dense, y learn.Target, epoch wire.Hash) (*mat.Dense, error) {
	n, _ := x.Dims()
	rnd := rand.New(rand.NewChaCha8(wire.HashOf(append([]byte("concord/folds/v1\x00"), epoch[:]...))))
	fold := assignFolds(y, n, rnd)
	var scores *mat.Dense
	for k := range min(folds, n) {
		var train, test []int
		for i, f := range fold {
			if f == k {
				test = append(test, i)
			} else {
				train = append(train, i)
			}
		}
		model, err := learner.Fit(ctx, linalg.TakeRows(x, train), targetOf(y, train))
		if err != nil {
			return nil, err
		}
		s, err := model.Scores(linalg.TakeRows(x, test))
		if err != nil {
			return nil, err
		}
		if scores == nil {
			_, q := s.Dims()
			scores = mat.NewDense(n, q, nil)
		}
		for i, row := range test {
			scores.SetRow(row, s.RawRowView(i))
		}
	}
	return scores, nil
}

func assignFolds(y learn.Target, n int, rnd *rand.Rand) []int {
	fold := make([]int, n)
	next := make([]int, max(1, len(y.Classes)))
	for _, i := range rnd.Perm(n) {
		class := 0
		if y.Labels != nil {
			class = y.Labels[i]
		}
		fold[i] = next[class] % folds
		next[class]++
	}
	return fold
}

func targetOf(y learn.Target, rows []int) learn.Target {
	out := learn.Target{Classes: y.Classes}
	if y.Labels != nil {
		for _, row := range rows {
			out.Labels = append(out.Labels, y.Labels[row])
		}
		return out
	}
	out.Values = linalg.TakeRows(y.Values, rows)
	return out
}

// measure computes one of the contract's metrics from scores (n × classes, or
// n × 1).
func measure(name string, c *contract.Contract, y learn.Target, scores *mat.Dense) (float64, error) {
	return metric.Compute(name, metric.Truth{Labels: y.Labels, Positive: c.PositiveLevel(), Values: y.Values}, scores)
}
