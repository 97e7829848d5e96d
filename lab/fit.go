package lab

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// fit trains a model; labels of one class only give a model that always answers it,
// since that is what a party with such labels has.
func (t *trial) fit(ctx context.Context, spec learn.Spec, x *mat.Dense, y learn.Target, purpose ...any) (learn.Model, error) {
	if slices.Contains(learn.Settings(spec.Kind), "seed") && spec.Seed == 0 {
		spec.Seed = t.source(append([]any{"model"}, purpose...)...).Uint64() >> 1
	}
	learner, err := learn.New(spec)
	if err != nil {
		return nil, err
	}
	if always, ok := oneLabel(y); ok {
		_, d := x.Dims()
		return &constant{inputs: d, classes: y.Classes, always: always}, nil
	}
	model, err := learner.Fit(ctx, x, y)
	if err != nil {
		return nil, err
	}
	if r := model.Report(); !r.Good() {
		t.note("some fits of %s ended with status %s", spec.Kind, r.Status)
	}
	return model, nil
}

// oneLabel is the class that all labels have, if they do.
func oneLabel(y learn.Target) (int, bool) {
	if !y.Classification() || len(y.Labels) == 0 {
		return 0, false
	}
	first := y.Labels[0]
	return first, !slices.ContainsFunc(y.Labels, func(k int) bool { return k != first })
}

// constant is the model of labels of one class.
type constant struct {
	inputs  int
	classes []string
	always  int
}

func (c *constant) Inputs() int       { return c.inputs }
func (c *constant) Classes() []string { return c.classes }
func (c *constant) Scores(x *mat.Dense) (*mat.Dense, error) {
	n, _ := x.Dims()
	s := mat.NewDense(n, len(c.classes), nil)
	for i := range n {
		s.Set(i, c.always, 1)
	}
	return s, nil
}
func (c *constant) Report() learn.Report { return learn.Report{Status: learn.Exact} }
