package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/smo"
	"concord/linalg"
)

// LinearSVM is a support vector machine without a kernel, by coordinate descent of
// the dual as liblinear does [hsieh2008], with the semantics of
// scikit-learn's LinearSVC: for each class against the rest
//
//	min ½(‖w‖² + b²) + C Σ max(0, 1 − yᵢ (w·xᵢ + b))²
//
// (the intercept is penalised), one machine for two classes. Numbers are learned as
// by LinearSVR, one machine a column:
//
//	min ½(‖w‖² + b²) + C Σ max(0, |w·xᵢ + b − yᵢ| − ε)
//
// Scores are w·x + b of each class, for two classes −z and z. Columns should have
// about unit scale. The cost is O(n d) a pass.
type LinearSVM struct {
	// C is the price of a row's loss, positive; 0 means 1.
	C float64
	// Epsilon is ε of the regression, not negative.
	Epsilon float64
	// Tol bounds the violation of the optimality conditions, for numbers the share
	// that is left of the first pass's; 0 means 1e-4.
	Tol float64
	// MaxIter bounds the passes over the rows; 0 means 1000.
	MaxIter int
	// Seed draws the order of the rows.
	Seed uint64
}

// Name is "svm-linear".
func (LinearSVM) Name() string { return "svm-linear" }

// CarriesRows is false: the model is d numbers a class.
func (LinearSVM) CarriesRows() bool { return false }

func (l LinearSVM) check() error {
	for _, s := range []struct {
		name  string
		value float64
	}{{"C", l.C}, {"Epsilon", l.Epsilon}, {"Tol", l.Tol}, {"MaxIter", float64(l.MaxIter)}} {
		if !(s.value >= 0) || math.IsInf(s.value, 0) {
			return fmt.Errorf("learn: %s of svm-linear is %g, want a positive number, or 0 for the default", s.name, s.value)
		}
	}
	return nil
}

// Fit learns classes or numbers; the model is a [Linear]. A fit that ran out of
// passes has the status IterationLimit. It is an error if the squared length of a
// row overflows.
func (l LinearSVM) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := checkData(x, y); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	wide := mat.NewDense(n, d+1, nil)
	for i := range n {
		row := wide.RawRowView(i)
		copy(row, x.RawRowView(i))
		row[d] = 1
	}
	if err := checkLengths(wide); err != nil {
		return nil, err
	}
	p := smo.LinearProblem{X: wide, C: l.C, Regression: !y.Classification(), Epsilon: l.Epsilon, Tol: l.Tol, MaxIter: l.MaxIter}
	if p.C == 0 {
		p.C = 1
	}
	if p.Tol == 0 {
		p.Tol = 1e-4
	}
	if p.MaxIter == 0 {
		p.MaxIter = 1000
	}
	machines := len(y.Classes)
	switch {
	case p.Regression:
		_, machines = y.Values.Dims()
	case machines == 2:
		machines = 1
	}
	fitted := make([]*smo.LinearSolution, machines)
	errs := make([]error, machines)
	tell := progress(ctx)
	linalg.Parallel(machines, func(k int) {
		q := p
		q.Rand = rand.New(rand.NewPCG(l.Seed, uint64(k)))
		q.Y = make([]float64, n)
		for i := range n {
			switch {
			case p.Regression:
				q.Y[i] = y.Values.At(i, k)
			case y.Labels[i] == k && machines > 1, machines == 1 && y.Labels[i] == 1:
				q.Y[i] = 1
			default:
				q.Y[i] = -1
			}
		}
		var report func(int, float64)
		if tell != nil {
			report = func(pass int, _ float64) {
				tell(Progress{Stage: "passes", Done: pass, Total: p.MaxIter})
			}
		}
		fitted[k], errs[k] = smo.Linear(ctx, q, report)
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	outputs := max(machines, len(y.Classes))
	m := &Linear{Kind: l.Name(), W: mat.NewDense(d, outputs, nil), B: make([]float64, outputs), Link: Identity, Levels: y.Classes}
	m.Fitted = Report{Rows: n, Inputs: d, Outputs: outputs, Status: Converged}
	for k, f := range fitted {
		put := func(column int, sign float64) {
			for j := range d {
				m.W.Set(j, column, sign*f.W[j])
			}
			m.B[column] = sign * f.W[d]
		}
		if machines < outputs { // two classes
			put(0, -1)
			put(1, 1)
		} else {
			put(k, 1)
		}
		m.Fitted.Iterations = max(m.Fitted.Iterations, f.Iterations)
		m.Fitted.Objective += f.Objective
		m.Fitted.Gradient = max(m.Fitted.Gradient, f.Violation)
		if !f.Converged {
			m.Fitted.Status = IterationLimit
		}
	}
	if math.IsInf(m.Fitted.Objective, 0) || math.IsInf(m.Fitted.Gradient, 0) {
		return nil, fmt.Errorf("learn: the losses of svm-linear overflow, scale the numbers to learn down")
	}
	return m, nil
}
