package learn

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Linear is a fitted linear model,
//
//	scores = link(X W + b)
//
// It holds d·k + k numbers and no training rows.
type Linear struct {
	// Kind is the name of the learner that fitted it.
	Kind string
	// W is d × k; for Sigmoid d × 1, the weights of the second class.
	W *mat.Dense
	// B has one number for each column of W.
	B []float64
	// Link is what turns X W + b into scores.
	Link Link
	// Levels name the classes; nil for regression. Sigmoid has two.
	Levels []string
	// Fitted is how the fit went.
	Fitted Report
}

// Check returns an error unless the shapes agree and all numbers are finite.
// Fit returns models that pass; others may be made by hand.
func (m *Linear) Check() error {
	d, k := dims(m.W)
	if d == 0 {
		return fmt.Errorf("learn: linear model has no weights")
	}
	if len(m.B) != k {
		return fmt.Errorf("learn: linear model has %d intercepts for %d columns of weights", len(m.B), k)
	}
	if err := m.Link.check(m.Levels, k); err != nil {
		return err
	}
	if err := checkFinite("weight", m.W); err != nil {
		return err
	}
	for j, v := range m.B {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("learn: intercept %d is not a finite number", j+1)
		}
	}
	return nil
}

// Inputs is d.
func (m *Linear) Inputs() int {
	d, _ := dims(m.W)
	return d
}

// Classes is a copy of Levels.
func (m *Linear) Classes() []string { return slices.Clone(m.Levels) }

// Report is Fitted.
func (m *Linear) Report() Report { return m.Fitted }

// Scores is link(X W + b), n × k; n × 2 for Sigmoid. Cost O(n d k).
func (m *Linear) Scores(x *mat.Dense) (*mat.Dense, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := checkInput(x, m.Inputs()); err != nil {
		return nil, err
	}
	var z mat.Dense
	z.Mul(x, m.W)
	n, _ := x.Dims()
	for i := range n {
		row := z.RawRowView(i)
		for j := range row {
			row[j] += m.B[j]
		}
	}
	if err := checkFinite("score", &z); err != nil {
		return nil, err
	}
	return m.Link.apply(&z), nil
}
