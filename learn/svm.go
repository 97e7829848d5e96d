package learn

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/smo"
	"concord/linalg"
)

// SVM is a support vector machine with the kernel
//
//	K(x, x') = exp(−γ ‖x − x'‖²)
//
// solved by sequential minimal optimisation as libsvm does (Chang, Lin 2011), with
// scikit-learn's defaults. Classes are learned one against one: for each pair a < b
// a machine on the rows of the two,
//
//	min ½‖w‖² + C Σ max(0, 1 − yᵢ (w·φ(xᵢ) + b)),  y = 1 for a and −1 for b
//
// Numbers are learned by ε-regression, one machine a column, with the loss
// max(0, |w·φ(x) + b − y| − ε).
//
// Columns should have about unit scale. Pairs are fitted side by side on all cores;
// the result does not depend on how many.
//
// The cost is about O(n² d) to O(n³) for n rows of a pair; memory Cache bytes.
type SVM struct {
	// C is the price of a row's loss, positive; 0 means 1.
	C float64
	// Gamma is γ, positive; 0 means 1/(d Var(x)), the variance of all elements,
	// and 1 where that is 0.
	Gamma float64
	// Epsilon is ε of the regression, not negative; 0 means 0.1.
	Epsilon float64
	// Tol bounds the violation of the optimality conditions; 0 means 1e-3.
	Tol float64
	// MaxIter bounds the steps of one machine; 0 means 10,000,000.
	MaxIter int
	// Cache is the memory for kernel rows in bytes; 0 means 200 MiB.
	Cache int
	// NoShrinking keeps all variables in view: slower, for comparison.
	NoShrinking bool
}

const (
	defaultSVMTol     = 1e-3
	defaultSVMEpsilon = 0.1
	defaultSVMMaxIter = 10_000_000
	defaultCache      = 200 << 20
)

// Name is "svm".
func (SVM) Name() string { return "svm" }

// CarriesRows is true: the support vectors are training rows.
func (SVM) CarriesRows() bool { return true }

func (l SVM) check() error {
	for _, s := range []struct {
		name  string
		value float64
	}{{"C", l.C}, {"Gamma", l.Gamma}, {"Epsilon", l.Epsilon}, {"Tol", l.Tol}, {"MaxIter", float64(l.MaxIter)}, {"Cache", float64(l.Cache)}} {
		if !(s.value >= 0) || math.IsInf(s.value, 0) {
			return fmt.Errorf("learn: %s of svm is %g, want a positive number, or 0 for the default", s.name, s.value)
		}
	}
	return nil
}

// machine is one fitted machine: dual coefficients of the rows at, and the
// intercept.
type machine struct {
	coef      []float64
	intercept float64
	*smo.Solution
}

// Fit learns classes or numbers. A class without rows is never the likelier of
// its pairs. A fit that ran out of iterations has the status IterationLimit.
func (l SVM) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := checkData(x, y); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	centre, means, err := centred("x", x)
	if err != nil {
		return nil, err
	}
	gamma := l.Gamma
	if gamma == 0 {
		gamma = scaleGamma(x)
	}
	m := &KernelMachine{Kind: l.Name(), Gamma: gamma, Levels: y.Classes}
	var jobs []svmJob
	if y.Classification() {
		jobs = pairJobs(y)
		for _, j := range jobs {
			m.Pairs = append(m.Pairs, j.pair)
		}
	} else {
		_, q := y.Values.Dims()
		for c := range q {
			jobs = append(jobs, svmJob{column: c})
		}
	}
	fitted := make([]machine, len(jobs))
	errs := make([]error, len(jobs))
	tell, done := progress(ctx), atomic.Int64{}
	linalg.Parallel(len(jobs), func(k int) {
		fitted[k], errs[k] = l.fitOne(ctx, centre, y, jobs[k], gamma, len(jobs))
		if count := done.Add(1); tell != nil && errs[k] == nil {
			tell(Progress{Stage: "machines", Done: int(count), Total: len(jobs)})
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	m.collect(x, n, d, means, jobs, fitted)
	return m, nil
}

// scaleGamma is 1/(d Var(x)), or 1.
func scaleGamma(x *mat.Dense) float64 {
	n, d := x.Dims()
	mean := mat.Sum(x) / float64(n*d)
	sum := 0.0
	for i := range n {
		for _, v := range x.RawRowView(i) {
			sum += (v - mean) * (v - mean)
		}
	}
	if g := float64(n) / sum; g > 0 && !math.IsInf(g, 0) {
		return g // 1 / (d · sum/(n d))
	}
	return 1
}

// svmJob is one machine: a pair of classes with its rows, or a column of numbers.
type svmJob struct {
	pair   [2]int
	rows   []int // nil for all
	column int
}

func pairJobs(y Target) (jobs []svmJob) {
	of := make([][]int, len(y.Classes))
	for i, c := range y.Labels {
		of[c] = append(of[c], i)
	}
	for a := range of {
		for b := a + 1; b < len(of); b++ {
			rows := make([]int, 0, len(of[a])+len(of[b]))
			rows = append(append(rows, of[a]...), of[b]...)
			jobs = append(jobs, svmJob{pair: [2]int{a, b}, rows: rows})
		}
	}
	return jobs
}

func (l SVM) fitOne(ctx context.Context, x *mat.Dense, y Target, job svmJob, gamma float64, jobs int) (machine, error) {
	p := smo.Problem{C: l.C, Tol: l.Tol, MaxIter: l.MaxIter, NoShrinking: l.NoShrinking}
	if p.C == 0 {
		p.C = 1
	}
	if p.Tol == 0 {
		p.Tol = defaultSVMTol
	}
	if p.MaxIter == 0 {
		p.MaxIter = defaultSVMMaxIter
	}
	cache := l.Cache
	if cache == 0 {
		cache = defaultCache
	}
	cache /= min(jobs, runtime.GOMAXPROCS(0))
	if job.rows == nil {
		n, _ := x.Dims()
		epsilon := l.Epsilon
		if epsilon == 0 {
			epsilon = defaultSVMEpsilon
		}
		p.Kernel = smo.NewDoubled(smo.NewRBF(x, gamma, cache), n)
		p.Y, p.P = make([]int8, 2*n), make([]float64, 2*n)
		for i := range n {
			v := y.Values.At(i, job.column)
			p.Y[i], p.P[i] = 1, epsilon-v
			p.Y[n+i], p.P[n+i] = -1, epsilon+v
		}
		s, err := smo.Solve(ctx, p, nil)
		if err != nil {
			return machine{}, err
		}
		m := machine{coef: make([]float64, n), intercept: -s.Rho, Solution: s}
		for i := range n {
			m.coef[i] = s.Alpha[i] - s.Alpha[n+i]
		}
		return m, nil
	}
	// A class without rows: always the other.
	count := len(job.rows)
	first := 0
	for _, i := range job.rows {
		if y.Labels[i] == job.pair[0] {
			first++
		}
	}
	if first == 0 || first == count {
		intercept := 1.0
		if first == 0 {
			intercept = -1
		}
		if count == 0 {
			intercept = 0
		}
		return machine{coef: make([]float64, count), intercept: intercept, Solution: &smo.Solution{Converged: true}}, nil
	}
	_, d := x.Dims()
	part := mat.NewDense(count, d, nil)
	p.Y, p.P = make([]int8, count), make([]float64, count)
	for k, i := range job.rows {
		copy(part.RawRowView(k), x.RawRowView(i))
		p.Y[k], p.P[k] = -1, -1
		if k < first {
			p.Y[k] = 1
		}
	}
	p.Kernel = smo.NewRBF(part, gamma, cache)
	s, err := smo.Solve(ctx, p, nil)
	if err != nil {
		return machine{}, err
	}
	m := machine{coef: make([]float64, count), intercept: -s.Rho, Solution: s}
	for k := range count {
		m.coef[k] = s.Alpha[k] * float64(p.Y[k])
	}
	return m, nil
}

// collect puts the support vectors of all machines together.
func (m *KernelMachine) collect(x *mat.Dense, n, d int, means []float64, jobs []svmJob, fitted []machine) {
	at := make([]int, n) // place among the support vectors, from 1
	count := 0
	row := func(j svmJob, k int) int {
		if j.rows == nil {
			return k
		}
		return j.rows[k]
	}
	for q, j := range jobs {
		for k, c := range fitted[q].coef {
			if i := row(j, k); c != 0 && at[i] == 0 {
				count++
				at[i] = count
			}
		}
	}
	count = 0
	for i := range at { // in the order of the rows
		if at[i] > 0 {
			count++
			at[i] = count
		}
	}
	m.Columns = d
	m.Centre = means
	m.Fitted = Report{Rows: n, Inputs: d, Status: Converged}
	m.Intercept = make([]float64, len(jobs))
	if count > 0 {
		m.Vectors, m.Coef = mat.NewDense(count, d, nil), mat.NewDense(count, len(jobs), nil)
		for i, k := range at {
			if k > 0 {
				copy(m.Vectors.RawRowView(k-1), x.RawRowView(i))
			}
		}
	}
	for q, j := range jobs {
		f := fitted[q]
		m.Intercept[q] = f.intercept
		for k, c := range f.coef {
			if c != 0 {
				m.Coef.Set(at[row(j, k)]-1, q, c)
			}
		}
		m.Fitted.Iterations += f.Iterations
		m.Fitted.Objective += f.Objective
		m.Fitted.Gradient = max(m.Fitted.Gradient, f.Violation)
		if !f.Converged {
			m.Fitted.Status = IterationLimit
		}
	}
	m.Fitted.Outputs = m.outputs()
}
