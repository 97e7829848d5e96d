package learn

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Logistic is logistic regression with a penalty on the weights but not on the
// intercepts. With λ = 1/(C n), it minimises
//
//	(1/n) Σᵢ −log p(yᵢ | xᵢ) + (λ/2) ‖W‖²
//
// where p is σ(xW + b) for two classes and softmax(xW + b) for more. That is
// scikit-learn's LogisticRegression with the same C, divided by C n. The
// penalty makes the minimum finite and unique even for separable classes (the
// intercepts of softmax are fixed by letting them sum to 0). Every class must
// have a row, since the intercept of a class without rows has no minimum.
//
// The minimum is found by L-BFGS ([nocedal1980]; ten pairs), started at 0. Its initial inverse
// Hessian is at first that of the upper bound
//
//	M = κ X̃ᵀX̃/n + λ I,   κ = ¼ for two classes, ½ for more
//
// of Böhning [bohning1992], where X̃ is x with a column of
// ones, then, from iteration 8 on at doubling intervals, that of the same with
// the rows weighted by their curvature. The number of iterations then hardly
// depends on the scales of the columns. Since p depends on x through z = xW + b
// only, the line search works on z and costs no product with x. It stops when
// the gradient g satisfies
//
//	√(gᵀ M⁻¹ g) ≤ Tol     with the upper bound M
//
// Cost O(n d² + d³) at the start and log₂ of the iterations times, and
// O(n d k + d² k) an iteration.
type Logistic struct {
	// C is the inverse penalty, finite and positive; 0 means 1.
	C float64
	// MaxIter bounds the iterations; 0 means 1000.
	MaxIter int
	// Tol is the stopping tolerance, positive; 0 means 1e-8. The objective is then
	// within about Tol² of its minimum where the bound M is tight.
	Tol float64
}

func (l Logistic) check() error {
	switch {
	case math.IsNaN(l.C) || math.IsInf(l.C, 0) || l.C < 0:
		return fmt.Errorf("learn: logistic's C is %g, want a positive finite number", l.C)
	case l.MaxIter < 0:
		return fmt.Errorf("learn: logistic's MaxIter is %d, want a positive number", l.MaxIter)
	case math.IsNaN(l.Tol) || math.IsInf(l.Tol, 0) || l.Tol < 0:
		return fmt.Errorf("learn: logistic's Tol is %g, want a positive finite number", l.Tol)
	}
	return nil
}

// Name is "logistic".
func (Logistic) Name() string { return "logistic" }

// CarriesRows is false.
func (Logistic) CarriesRows() bool { return false }

// Fit returns a *Linear with the link Sigmoid for two classes and Softmax for
// more. It reports Converged, IterationLimit or Stalled.
func (l Logistic) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if y.Values != nil && !y.Classification() {
		return nil, fmt.Errorf("learn: logistic learns classes, the target has numbers")
	}
	if err := checkData(x, y); err != nil {
		return nil, err
	}
	count := make([]int, len(y.Classes))
	for _, c := range y.Labels {
		count[c]++
	}
	for c, rows := range count {
		if rows == 0 {
			return nil, fmt.Errorf("learn: class %q has no rows, logistic wants at least one of each class", y.Classes[c])
		}
	}
	set := l
	if set.C == 0 {
		set.C = 1
	}
	if set.MaxIter == 0 {
		set.MaxIter = 1000
	}
	if set.Tol == 0 {
		set.Tol = 1e-8
	}
	xc, mean, err := centred("x", x)
	if err != nil {
		return nil, err
	}
	loss, err := newLogisticLoss(xc, y.Labels, len(y.Classes), set.C)
	if err != nil {
		return nil, err
	}
	report, err := lbfgs(ctx, loss, set.MaxIter, set.Tol)
	if err != nil {
		return nil, err
	}

	w, b := loss.parameters()
	k := len(b)
	if k > 1 {
		var sum float64
		for _, v := range b {
			sum += v
		}
		for j := range b {
			b[j] -= sum / float64(k)
		}
	}
	// The columns were centred: xW + b = x꜀W + b + x̄W.
	for j := range b {
		for i, v := range mean {
			b[j] -= v * w.At(i, j)
		}
	}
	report.Rows, report.Inputs = xc.Dims()
	report.Outputs = len(y.Classes)
	m := &Linear{
		Kind: l.Name(), W: w, B: b, Link: Softmax,
		Levels: append([]string(nil), y.Classes...), Fitted: report,
	}
	if k == 1 {
		m.Link = Sigmoid
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("learn: logistic overflows, scale the columns of x down: %v", err)
	}
	return m, nil
}
