package learn

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Link is what turns X W + b into scores.
type Link string

// The links.
const (
	// Identity leaves the numbers as they are: regression, and one-hot scores.
	Identity Link = "identity"
	// Sigmoid gives two classes the probabilities 1 − σ(z) and σ(z).
	Sigmoid Link = "sigmoid"
	// Softmax gives k classes probabilities that sum to 1.
	Softmax Link = "softmax"
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
	switch m.Link {
	case Identity:
		if m.Levels != nil && len(m.Levels) != k {
			return fmt.Errorf("learn: linear model has %d classes for %d columns of weights", len(m.Levels), k)
		}
	case Softmax:
		if len(m.Levels) != k || k < 2 {
			return fmt.Errorf("learn: softmax model has %d classes for %d columns of weights, want as many, at least 2", len(m.Levels), k)
		}
	case Sigmoid:
		if len(m.Levels) != 2 || k != 1 {
			return fmt.Errorf("learn: sigmoid model has %d classes and %d columns of weights, want 2 and 1", len(m.Levels), k)
		}
	default:
		return fmt.Errorf("learn: link is %q, want %q, %q or %q", m.Link, Identity, Sigmoid, Softmax)
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
	n, d := dims(x)
	if n == 0 {
		return nil, fmt.Errorf("learn: x has no rows, want at least one")
	}
	if d != m.Inputs() {
		return nil, fmt.Errorf("learn: x has %d columns, the model wants %d", d, m.Inputs())
	}
	if err := checkFinite("x", x); err != nil {
		return nil, err
	}
	var z mat.Dense
	z.Mul(x, m.W)
	for i := range n {
		row := z.RawRowView(i)
		for j := range row {
			row[j] += m.B[j]
		}
	}
	if err := checkFinite("score", &z); err != nil {
		return nil, err
	}
	switch m.Link {
	case Sigmoid:
		p := mat.NewDense(n, 2, nil)
		for i := range n {
			v := z.At(i, 0)
			p.SetRow(i, []float64{sigmoid(-v), sigmoid(v)})
		}
		return p, nil
	case Softmax:
		for i := range n {
			softmax(z.RawRowView(i))
		}
	}
	return &z, nil
}

// sigmoid is 1/(1 + e⁻ᶻ), accurate in both tails.
func sigmoid(z float64) float64 {
	if z >= 0 {
		return 1 / (1 + math.Exp(-z))
	}
	e := math.Exp(z)
	return e / (1 + e)
}

// softmax replaces z by e^zⱼ / Σ e^zᵢ.
func softmax(z []float64) {
	top := slices.Max(z)
	var sum float64
	for j, v := range z {
		z[j] = math.Exp(v - top)
		sum += z[j]
	}
	for j := range z {
		z[j] /= sum
	}
}
