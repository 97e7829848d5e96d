// Package learn fits models to collaboration representations: the h that the
// analyst trains, the local and central baselines, and the tᵢ of a party.
//
// Start with [New], or with a learner's own type such as [Ridge] or
// [Logistic]; Fit gives a [Model], whose Scores are n × k: a probability or a
// score for each class, or the predicted numbers. [Predicted] turns scores of
// classes into class indices.
//
// The package reads no files, knows nothing of parties, and does not scale
// features. Fitted models are written by package onnx.
//
// # Common rules
//
// Rows of x are samples, columns are inputs. Arguments are never changed and
// results share no storage with them. Fits are deterministic: the same data
// gives the same model on the same machine. Numbers that are not finite, shapes
// that disagree and data from which nothing can be learned are errors that name
// row and column, from 1, or sizes, never the values. A fit that ran out of
// iterations is not an error: its [Report] says so.
//
// docs/methods.md section 6 lists the models of the papers. Which models give rows away,
// and to whom, is section 7.5: [Learner] says of each whether it carries rows.
package learn

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Learner is a way of learning with its settings. A Learner holds no data and
// may be used from several goroutines.
type Learner interface {
	// Name is the kind as Spec names it, for example "ridge".
	Name() string

	// CarriesRows tells whether the fitted model contains training rows, as the
	// support vectors of a kernel machine do. Such a model is not released
	// under the dc protocol: any party could invert it with its own Fᵢ Gᵢ.
	CarriesRows() bool

	// Fit learns from x (n × d, n and d at least 1) and y, which has n rows.
	// It returns ctx's error soon after ctx is done.
	Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error)
}

// Model is what was learned. It is immutable, and may be used from several
// goroutines.
type Model interface {
	// Inputs is d, the number of columns that Scores wants.
	Inputs() int

	// Classes names the k columns of Scores; nil for regression.
	Classes() []string

	// Scores is n × k for x of n × d: class probabilities where the model has
	// them, else scores of which the largest is the predicted class; for
	// regression the k predicted numbers, in the units of the target. An x with
	// another number of columns, no rows, or a number that is not finite is an
	// error.
	Scores(x *mat.Dense) (*mat.Dense, error)

	// Report is how the fit went.
	Report() Report
}

// Status is how a fit ended.
type Status string

// The ways a fit ends.
const (
	// Exact: the solution was computed directly.
	Exact Status = "exact"
	// Converged: the stopping rule was met.
	Converged Status = "converged"
	// IterationLimit: the iterations ran out; the model is the best so far.
	IterationLimit Status = "iteration limit"
	// Stalled: rounding allowed no further progress before the stopping rule
	// was met; the model is the best so far.
	Stalled Status = "stalled"
)

// Report is how a fit went, in numbers that say nothing of single rows.
type Report struct {
	Rows    int `json:"rows"`
	Inputs  int `json:"inputs"`
	Outputs int `json:"outputs"` // columns of Scores

	Status     Status `json:"status"`
	Iterations int    `json:"iterations,omitempty"` // 0 for direct solutions

	// Objective is the minimised sum with its penalty, as the learner's
	// comment writes it.
	Objective float64 `json:"objective"`
	// Gradient is the last value of what the stopping rule compares with its
	// tolerance; 0 for direct solutions.
	Gradient float64 `json:"gradient,omitempty"`
	// Rank and Condition describe the linear system of a direct solution:
	// its numerical rank, and its condition number, an estimate; 0 where there
	// is none.
	Rank      int     `json:"rank,omitempty"`
	Condition float64 `json:"condition,omitempty"`
}

// Good tells whether the fit ended as intended: Exact or Converged.
func (r Report) Good() bool { return r.Status == Exact || r.Status == Converged }

// Predicted is the index of the largest score of each row of scores (n × k);
// of equal scores the first. A nil or empty matrix gives nil.
func Predicted(scores *mat.Dense) []int {
	n, _ := dims(scores)
	if n == 0 {
		return nil
	}
	labels := make([]int, n)
	for i := range labels {
		row := scores.RawRowView(i)
		labels[i] = slices.Index(row, slices.Max(row))
		if labels[i] < 0 {
			panic("learn: a score is not a number")
		}
	}
	return labels
}
