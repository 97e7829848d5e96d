package party

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/learn"
	"concord/linalg"
	"concord/onnx"
	"concord/wire"
)

// Answers is what comes back under nri: the analyst's predictions for this party's
// image of the anchor, Yᵢ^anc ([imakura2023], algorithm 2).
type Answers struct {
	// Labels are a indices into the contract's levels, for hard answers.
	Labels []int64
	// Scores are a × k scores of the levels, or a × 1 numbers, for soft ones.
	Scores *mat.Dense
}

// Learn trains the party's own model tᵢ on the anchor A and the answers, and returns
// it as one graph from raw features to scores and class:
//
//	x ↦ tᵢ((x − c)/s)
//
// of rows x whose gaps are filled and whose categories are columns.
//
// No basis is needed: there is none any more. The anchor's rows must lie where rows
// lie, since tᵢ knows nothing else but [Answers.Target].
//
// The errors say what of the answers does not fit, or that all are of one class, of
// which no model can be made.
//
// Cost: the anchor's generation, and the fit on its a rows (10 a for soft answers).
func Learn(ctx context.Context, c *contract.Contract, hash wire.Hash, agreed Agreed, answers Answers) (*onnx.Graph, learn.Report, error) {
	fail := func(format string, args ...any) (*onnx.Graph, learn.Report, error) {
		return nil, learn.Report{}, fmt.Errorf("party: "+format, args...)
	}
	if err := answers.check(c); err != nil {
		return fail("the answers: %w", err)
	}
	a, err := agreed.anchor(c)
	if err != nil {
		return fail("%w", err)
	}
	defer a.Erase()
	learner, err := learn.New(c.LocalModel.Spec())
	if err != nil {
		return fail("%w", err)
	}
	x, y := answers.Target(c.LocalModel.Kind, c.Label.Levels, a.Reveal())
	model, err := learner.Fit(ctx, x, y)
	if err != nil {
		return fail("this site's own model: %w", err)
	}
	if linear, ok := model.(*learn.Linear); ok && answers.Scores != nil && c.Label.Type == "class" {
		linear.Levels = slices.Clone(c.Label.Levels) // ridge on scores: its outputs are the levels'
	}
	h, err := onnx.FromModel(model)
	if err != nil {
		return fail("this site's own model: %w", err)
	}
	prep, up, err := agreed.mapping(c)
	if err != nil {
		return nil, learn.Report{}, err
	}
	before := front(prep)
	before.Lift = ahead(up)
	graph, err := onnx.Assemble(before, h)
	if err != nil {
		return fail("%w", err)
	}
	if graph, err = graph.WithMeta(meta(c, hash)); err != nil {
		return fail("%w", err)
	}
	return graph, model.Report(), nil
}

// Target is what a model of this kind learns from the answers to the anchor's rows a, and the
// rows to learn it from: classes of hard answers; of soft ones the scores, on which ridge
// regresses, or for the other learners of classes every row ten times, with labels in
// proportion to its scores ([learn.InProportion]). levels is nil for numbers.
func (a Answers) Target(kind string, levels []string, rows *mat.Dense) (*mat.Dense, learn.Target) {
	switch {
	case a.Scores == nil:
		y := learn.Target{Classes: levels}
		for _, k := range a.Labels {
			y.Labels = append(y.Labels, int(k))
		}
		return rows, y
	case len(levels) == 0 || kind == "ridge":
		return rows, learn.Target{Values: a.Scores}
	}
	x, labels := learn.InProportion(rows, a.Scores)
	return x, learn.Target{Classes: levels, Labels: labels}
}

// check compares answers with the contract.
func (a Answers) check(c *contract.Contract) error {
	rows := c.Anchor.Rows
	if c.Answers == "hard" {
		if len(a.Labels) != rows || a.Scores != nil {
			return fmt.Errorf("%d classes, the anchor has %d rows", len(a.Labels), rows)
		}
		first := a.Labels[0]
		for i, k := range a.Labels {
			if k < 0 || k >= int64(len(c.Label.Levels)) {
				return fmt.Errorf("the answer to row %d is none of the %d classes", i+1, len(c.Label.Levels))
			}
		}
		if !slices.ContainsFunc(a.Labels, func(k int64) bool { return k != first }) {
			return fmt.Errorf("all %d are the class %q, from which nothing can be learned; the analyst's model says the same of everything", rows, c.Label.Levels[first])
		}
		return nil
	}
	if a.Scores == nil {
		return fmt.Errorf("there are no scores, the contract says that answers are %s", c.Answers)
	}
	n, k := a.Scores.Dims()
	if want := max(1, len(c.Label.Levels)); n != rows || k != want {
		return fmt.Errorf("%d × %d scores, must be %d × %d", n, k, rows, want)
	}
	if err := linalg.CheckFinite(a.Scores); err != nil {
		return err
	}
	for i := range n {
		if !slices.Equal(a.Scores.RawRowView(i), a.Scores.RawRowView(0)) {
			return nil
		}
	}
	return fmt.Errorf("the scores of all %d rows are the same, from which nothing can be learned; the analyst's model says the same of everything", n)
}
