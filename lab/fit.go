package lab

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// fit trains a model; labels of one class only give a model that always answers it,
// since that is what a party with such labels has. Logistic regression, which wants rows
// of every class, is fitted to those that are there.
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
	classes := y.Classes
	seen := seenClasses(y)
	if absent := len(seen) < len(classes) && spec.Kind == "logistic"; absent {
		y = onlyClasses(y, seen)
	}
	model, err := learner.Fit(ctx, x, y)
	if err != nil {
		return nil, err
	}
	if len(y.Classes) < len(classes) {
		t.note("some models of %s saw no rows of some class, and never answer it", spec.Kind)
		model = &partial{model, classes, seen}
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

// seenClasses are the indexes of the classes that have rows, in order.
func seenClasses(y learn.Target) (seen []int) {
	has := make([]bool, len(y.Classes))
	for _, k := range y.Labels {
		has[k] = true
	}
	for k, ok := range has {
		if ok {
			seen = append(seen, k)
		}
	}
	return seen
}

// onlyClasses is y with the classes in seen alone.
func onlyClasses(y learn.Target, seen []int) learn.Target {
	out := learn.Target{Labels: make([]int, len(y.Labels))}
	at := make([]int, len(y.Classes))
	for i, k := range seen {
		out.Classes, at[k] = append(out.Classes, y.Classes[k]), i
	}
	for i, k := range y.Labels {
		out.Labels[i] = at[k]
	}
	return out
}

// partial is a model of some of the classes; its score of the others is zero.
type partial struct {
	learn.Model
	classes []string
	seen    []int
}

// Classes are all classes.
func (p *partial) Classes() []string { return p.classes }

// Scores are those of the model, and zero for the other classes.
func (p *partial) Scores(x *mat.Dense) (*mat.Dense, error) {
	own, err := p.Model.Scores(x)
	if err != nil {
		return nil, err
	}
	n, _ := own.Dims()
	s := mat.NewDense(n, len(p.classes), nil)
	for i := range n {
		for j, k := range p.seen {
			s.Set(i, k, own.At(i, j))
		}
	}
	return s, nil
}

// constant is the model of labels of one class.
type constant struct {
	inputs  int
	classes []string
	always  int
}

// Inputs are those that are wanted; none counts.
func (c *constant) Inputs() int { return c.inputs }

// Classes are all classes.
func (c *constant) Classes() []string { return c.classes }

// Scores are 1 for the one class and 0 for the others.
func (c *constant) Scores(x *mat.Dense) (*mat.Dense, error) {
	n, _ := x.Dims()
	s := mat.NewDense(n, len(c.classes), nil)
	for i := range n {
		s.Set(i, c.always, 1)
	}
	return s, nil
}

// Report says that nothing was searched for.
func (c *constant) Report() learn.Report { return learn.Report{Status: learn.Exact} }
