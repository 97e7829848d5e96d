package learn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/neural"
)

// MLP is a multilayer perceptron: layers of weights with rectifiers between
// them [rumelhart1986],
//
//	a₀ = x,   aₗ = max(0, aₗ₋₁ Wₗ + bₗ),   z = a_L₋₁ W_L + b_L
//
// learned by Adam ([kingma2015]: β₁ = 0.9, β₂ = 0.999, ε
// = 10⁻⁸), as scikit-learn's MLPClassifier and MLPRegressor. Each of Epochs
// passes over the rows takes them in a new random order, in minibatches; a
// minibatch of n rows is one step on
//
//	(1/n) Σᵢ loss(zᵢ, yᵢ) + (α/2n) Σₗ ‖Wₗ‖²
//
// where the loss of a row is
//
//	numbers          ½ Σⱼ (zⱼ − yⱼ)²
//	two classes      −log p(y),   p = σ(z) for the second class
//	more classes     −log p(y),   p = softmax(z)
//
// Scores are p, or z for numbers. A class without rows gets a small probability.
// The first weights and biases are uniform between ±√(6/(in + out)), as in
// [glorot2010].
//
// An epoch's loss is the mean over its minibatches, each before its step; for
// several numbers the squares are divided by how many there are, as scikit-learn
// does. Training ends when more than Patience epochs in a row have not lowered
// the least loss by Tol.
//
// Columns should have about unit scale, and numbers to learn too. ODC's papers
// use 256 units and a rate of 0.002. The numbers are those of scikit-learn up to
// the draws, which come from another generator.
//
// Cost O(n · weights) an epoch; memory for at most 12 copies of the weights, and
// for 1,024 rows of activations.
type MLP struct {
	// Hidden are the widths of the hidden layers, at least one and at most 16,
	// each of 1 to 16,384 units; nil means one of 100.
	Hidden []int
	// Alpha is α, finite and not negative; 0 means 1e-4.
	Alpha float64
	// Unpenalised asks for α = 0; Alpha must then be 0.
	Unpenalised bool
	// Rate is Adam's learning rate, positive; 0 means 1e-3.
	Rate float64
	// Batch is the number of rows of a minibatch; 0 means 200. Fewer rows than
	// that are one minibatch.
	Batch int
	// Epochs is the largest number of passes, at most 1,000,000; 0 means 200.
	Epochs int
	// Tol is the improvement that counts, positive; 0 means 1e-4.
	Tol float64
	// Patience is how many epochs in a row may bring none; 0 means 10. From
	// Epochs on there are always Epochs passes.
	Patience int
	// EarlyStopping holds out rows, of each class its share, and judges an epoch
	// by their accuracy, or by R² for numbers, instead of the loss; the weights of
	// the best epoch are kept.
	EarlyStopping bool
	// Validation is the share of the rows held out by EarlyStopping, between 0 and
	// 1; 0 means 0.1. It is rounded up to rows.
	Validation float64
	// Seed draws the first weights, the order of the rows, and those held out.
	Seed uint64
	// Start is a network to go on from in place of drawn weights, for example the
	// mean of several; Adam starts afresh. It decides the hidden layers, of which it
	// may have none, and Hidden must be nil. Its inputs, classes and link must be
	// those of the rows, which may here be all of one class.
	Start *Network
}

// The bounds of an MLP's sizes; they are checked before anything is allocated.
const (
	maxHidden = 16
	maxUnits  = 1 << 14
	maxEpochs = 1_000_000
)

// MaxWeights is the largest number of weights and biases that an [MLP] may have.
const MaxWeights = 1 << 24

func (m MLP) check() error {
	if m.Hidden != nil && (len(m.Hidden) == 0 || len(m.Hidden) > maxHidden) {
		return fmt.Errorf("learn: mlp has %d hidden layers, want 1 to %d", len(m.Hidden), maxHidden)
	}
	for l, units := range m.Hidden {
		if units < 1 || units > maxUnits {
			return fmt.Errorf("learn: mlp's hidden layer %d has %d units, want 1 to %d", l+1, units, maxUnits)
		}
	}
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v < 0 }
	switch {
	case bad(m.Alpha):
		return fmt.Errorf("learn: mlp's Alpha is %g, want a finite number that is not negative", m.Alpha)
	case m.Unpenalised && m.Alpha != 0:
		return fmt.Errorf("learn: mlp is unpenalised and has Alpha %g, want one of the two", m.Alpha)
	case bad(m.Rate):
		return fmt.Errorf("learn: mlp's Rate is %g, want a positive finite number", m.Rate)
	case m.Batch < 0:
		return fmt.Errorf("learn: mlp's Batch is %d, want a positive number, or 0 for 200", m.Batch)
	case m.Epochs < 0 || m.Epochs > maxEpochs:
		return fmt.Errorf("learn: mlp's Epochs is %d, want 1 to %d, or 0 for 200", m.Epochs, maxEpochs)
	case bad(m.Tol):
		return fmt.Errorf("learn: mlp's Tol is %g, want a positive finite number", m.Tol)
	case m.Patience < 0:
		return fmt.Errorf("learn: mlp's Patience is %d, want a positive number, or 0 for 10", m.Patience)
	case bad(m.Validation) || m.Validation >= 1:
		return fmt.Errorf("learn: mlp's Validation is %g, want a share between 0 and 1", m.Validation)
	case m.Start != nil && m.Hidden != nil:
		return fmt.Errorf("learn: mlp has both a network to start from and hidden layers %v, want one of the two", m.Hidden)
	case m.Validation != 0 && !m.EarlyStopping:
		return fmt.Errorf("learn: mlp's Validation is %g without EarlyStopping, which alone holds rows out", m.Validation)
	}
	return nil
}

// Name is "mlp".
func (MLP) Name() string { return "mlp" }

// CarriesRows is false: the weights are sums over many steps, and no rows. A wide
// network can all the same learn single rows by heart; a party that has a row
// can see from the probabilities whether it was probably learned from.
func (MLP) CarriesRows() bool { return false }

// defaults is m with the meaning of zeros.
func (m MLP) defaults() MLP {
	if m.Start != nil {
		m.Hidden = nil
		for _, l := range m.Start.Layers[:max(len(m.Start.Layers)-1, 0)] {
			m.Hidden = append(m.Hidden, len(l.B))
		}
	} else if m.Hidden == nil {
		m.Hidden = []int{100}
	}
	if m.Alpha == 0 && !m.Unpenalised {
		m.Alpha = 1e-4
	}
	if m.Rate == 0 {
		m.Rate = 1e-3
	}
	if m.Batch == 0 {
		m.Batch = 200
	}
	if m.Epochs == 0 {
		m.Epochs = 200
	}
	if m.Tol == 0 {
		m.Tol = 1e-4
	}
	if m.Patience == 0 {
		m.Patience = 10
	}
	if m.Validation == 0 {
		m.Validation = 0.1
	}
	return m
}

// maxInput bounds the numbers learned from: their products with weights and the
// squares of those do not overflow.
const maxInput = 1e100

// Fit returns a *Network. It reports Converged if the improvement ceased and
// IterationLimit if the epochs ran out, the epochs as Iterations, and as
// Objective the loss of the last epoch. Progress has the stage "epochs".
func (m MLP) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	check := checkData
	if m.Start != nil {
		check = checkShapes
	}
	if err := check(x, y); err != nil {
		return nil, err
	}
	if err := checkSize("x", x); err != nil {
		return nil, err
	}
	if err := checkSize("target", y.Values); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	m = m.defaults()
	set := neural.Config{
		Hidden: m.Hidden, Alpha: m.Alpha, Rate: m.Rate, Batch: m.Batch, Epochs: m.Epochs,
		Tol: m.Tol, Patience: m.Patience, Seed: m.Seed,
	}
	net := &Network{Kind: m.Name(), Levels: slices.Clone(y.Classes), Fitted: Report{Rows: n, Inputs: d}}
	target := neural.Target{Labels: y.Labels}
	switch k := len(y.Classes); {
	case k == 0:
		target.Values = y.Values.RawMatrix()
		set.Output, set.Outputs, net.Link = neural.Squares, target.Values.Cols, Identity
	case k == 2:
		set.Output, set.Outputs, net.Link = neural.Logistic, 1, Sigmoid
	default:
		set.Output, set.Outputs, net.Link = neural.Softmax, k, Softmax
	}
	net.Fitted.Outputs = max(set.Outputs, len(y.Classes))
	if m.Start != nil {
		if err := m.Start.fits(d, net); err != nil {
			return nil, err
		}
		for _, l := range m.Start.Layers {
			w := mat.DenseCopyOf(l.W)
			set.Start = append(set.Start, neural.Layer{W: w.RawMatrix(), B: l.B})
		}
	}
	if count := neural.Count(slices.Concat([]int{d}, m.Hidden, []int{set.Outputs})); count > MaxWeights {
		return nil, fmt.Errorf("learn: mlp of %d columns, hidden layers %v and %d outputs has %.0f weights, want at most %d",
			d, m.Hidden, set.Outputs, count, MaxWeights)
	}
	if m.EarlyStopping {
		least := 1
		if !y.Classification() {
			least = 2 // R² of one row is not defined
		}
		set.Validation = int(math.Ceil(m.Validation * float64(n)))
		if set.Validation < least || n-set.Validation < 1 {
			return nil, fmt.Errorf("learn: mlp's EarlyStopping holds out %d of %d rows, want at least %d and fewer than all", set.Validation, n, least)
		}
	}
	if report := progress(ctx); report != nil {
		set.Progress = func(epoch int, loss float64) {
			report(Progress{Stage: "epochs", Done: epoch, Total: set.Epochs, Objective: loss})
		}
	}
	trained, result, err := neural.Train(ctx, x.RawMatrix(), target, set)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("learn: mlp %w", err)
	case err != nil:
		return nil, fmt.Errorf("learn: mlp %v, lower its rate or scale the columns of x and y down", err)
	}
	for _, l := range trained.Layers {
		net.Layers = append(net.Layers, Layer{W: mat.NewDense(l.W.Rows, l.W.Cols, l.W.Data), B: l.B})
	}
	net.Fitted.Iterations, net.Fitted.Objective, net.Fitted.Status = result.Epochs, result.Loss, IterationLimit
	if result.Stopped {
		net.Fitted.Status = Converged
	}
	return net, nil
}

// checkSize refuses numbers whose sums of squares could overflow.
func checkSize(what string, x *mat.Dense) error {
	n, _ := dims(x)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if math.Abs(v) > maxInput {
				return fmt.Errorf("learn: %s at row %d, column %d is larger than %g, scale it down", what, i+1, j+1, maxInput)
			}
		}
	}
	return nil
}

// Layer is a matrix of weights with a bias for each column.
type Layer struct {
	// W is in × out.
	W *mat.Dense
	// B has out numbers.
	B []float64
}

// Network is a fitted multilayer perceptron; see [MLP] for what it computes. It
// holds the weights and no training rows.
type Network struct {
	// Kind is the name of the learner that fitted it.
	Kind string
	// Layers are W₁ and b₁ to W_L and b_L, at least one.
	Layers []Layer
	// Link is what turns z into scores.
	Link Link
	// Levels name the classes; nil for regression. Sigmoid has two and z one
	// column, otherwise z has a column for each.
	Levels []string
	// Fitted is how the fit went.
	Fitted Report
}

// Check returns an error unless the shapes agree and all numbers are finite.
// Fit returns models that pass; others may be made by hand.
func (m *Network) Check() error {
	if len(m.Layers) == 0 {
		return fmt.Errorf("learn: network has no layers")
	}
	width := m.Inputs()
	for l, layer := range m.Layers {
		in, out := dims(layer.W)
		switch {
		case in == 0:
			return fmt.Errorf("learn: layer %d has no weights", l+1)
		case in != width:
			return fmt.Errorf("learn: layer %d has %d rows of weights for %d inputs", l+1, in, width)
		case len(layer.B) != out:
			return fmt.Errorf("learn: layer %d has %d biases for %d columns of weights", l+1, len(layer.B), out)
		}
		if err := checkFinite(fmt.Sprintf("weight of layer %d", l+1), layer.W); err != nil {
			return err
		}
		for j, v := range layer.B {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("learn: bias %d of layer %d is not a finite number", j+1, l+1)
			}
		}
		width = out
	}
	return m.Link.check(m.Levels, width)
}

// fits says whether training can go on from m for rows of d columns, with the classes
// and link of net.
func (m *Network) fits(d int, net *Network) error {
	if err := m.Check(); err != nil {
		return err
	}
	if m.Inputs() != d || m.Link != net.Link || !slices.Equal(m.Levels, net.Levels) {
		return fmt.Errorf("learn: mlp cannot start from a network of %d inputs, %d classes and link %s: the rows have %d columns and %d classes",
			m.Inputs(), len(m.Levels), m.Link, d, len(net.Levels))
	}
	if outputs := len(m.Layers[len(m.Layers)-1].B); net.Levels == nil && outputs != net.Fitted.Outputs {
		return fmt.Errorf("learn: mlp cannot start from a network of %d outputs: the target has %d", outputs, net.Fitted.Outputs)
	}
	return nil
}

// Inputs is d.
func (m *Network) Inputs() int {
	if len(m.Layers) == 0 {
		return 0
	}
	d, _ := dims(m.Layers[0].W)
	return d
}

// Classes is a copy of Levels.
func (m *Network) Classes() []string { return slices.Clone(m.Levels) }

// Report is Fitted.
func (m *Network) Report() Report { return m.Fitted }

// Scores is n × k, or n × 2 for Sigmoid; see [MLP]. It uses all processors, with
// the same result for any number of them. Cost O(n · weights).
func (m *Network) Scores(x *mat.Dense) (*mat.Dense, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := checkInput(x, m.Inputs()); err != nil {
		return nil, err
	}
	var layers []neural.Layer
	for _, l := range m.Layers {
		layers = append(layers, neural.Layer{W: l.W.RawMatrix(), B: l.B})
	}
	n, _ := x.Dims()
	z := mat.NewDense(n, len(m.Layers[len(m.Layers)-1].B), nil)
	raw := x.RawMatrix()
	neural.Forward(layers, blas64.General(raw), z.RawMatrix())
	if err := checkFinite("score", z); err != nil {
		return nil, err
	}
	return m.Link.apply(z), nil
}
