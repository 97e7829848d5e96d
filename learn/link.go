package learn

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Link is what turns z, the outputs of a model, into scores.
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

// check wants a model whose z has k columns to have as many classes as its link
// wants.
func (l Link) check(levels []string, k int) error {
	switch l {
	case Identity:
		if levels != nil && len(levels) != k {
			return fmt.Errorf("learn: model has %d classes for %d columns", len(levels), k)
		}
	case Softmax:
		if len(levels) != k || k < 2 {
			return fmt.Errorf("learn: softmax model has %d classes for %d columns, want as many, at least 2", len(levels), k)
		}
	case Sigmoid:
		if len(levels) != 2 || k != 1 {
			return fmt.Errorf("learn: sigmoid model has %d classes and %d columns, want 2 and 1", len(levels), k)
		}
	default:
		return fmt.Errorf("learn: link is %q, want %q, %q or %q", l, Identity, Sigmoid, Softmax)
	}
	return nil
}

// apply turns z into scores: n × 2 for Sigmoid, else in place.
func (l Link) apply(z *mat.Dense) *mat.Dense {
	n, _ := z.Dims()
	switch l {
	case Sigmoid:
		p := mat.NewDense(n, 2, nil)
		for i := range n {
			v := z.At(i, 0)
			p.SetRow(i, []float64{sigmoid(-v), sigmoid(v)})
		}
		return p
	case Softmax:
		for i := range n {
			softmax(z.RawRowView(i))
		}
	}
	return z
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

// checkInput wants the rows that a model of d inputs scores to be finite and at
// least one.
func checkInput(x *mat.Dense, d int) error {
	n, cols := dims(x)
	if n == 0 {
		return fmt.Errorf("learn: x has no rows, want at least one")
	}
	if cols != d {
		return fmt.Errorf("learn: x has %d columns, the model wants %d", cols, d)
	}
	return checkFinite("x", x)
}
