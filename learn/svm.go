package learn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/smo"
	"concord/linalg"
)

// SVM is a support vector machine with the kernel
//
//	K(x, x') = exp(−γ ‖x − x'‖²)
//
// solved by sequential minimal optimisation as libsvm does [chang2011], with
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
// The cost is about O(n² d) to O(n³) for n rows of a pair; memory Cache bytes, and
// one number for each support vector and machine.
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
	// Cache is the memory for kernel rows in bytes, shared by the machines that are
	// fitted side by side, of which each has at least three rows; 0 means 200 MiB.
	Cache int
	// NoShrinking keeps all variables in view: slower, for comparison.
	NoShrinking bool
}

const (
	defaultSVMTol     = 1e-3
	defaultSVMEpsilon = 0.1
	defaultSVMMaxIter = 10_000_000
	defaultCache      = 200 << 20

	// maxPairs bounds the machines, and maxCoef the numbers of Coef: 1 GiB.
	maxPairs = 1 << 20
	maxCoef  = 1 << 27
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

// machine is one fitted machine: the rows that are support vectors, ascending
// within each class, their dual coefficients with signs, and the intercept.
type machine struct {
	at        []int
	coef      []float64
	intercept float64
	*smo.Solution
}

// Fit learns classes or numbers. A class without rows is never the likelier of
// its pairs. A fit that ran out of iterations has the status IterationLimit. It is
// an error if squared lengths of centred rows overflow, or if the model would have
// more than 2²⁷ coefficients.
func (l SVM) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := checkData(x, y); err != nil {
		return nil, err
	}
	if k := len(y.Classes); k*(k-1)/2 > maxPairs {
		return nil, fmt.Errorf("learn: svm has %d classes, which are %d pairs, want at most %d pairs", k, k*(k-1)/2, maxPairs)
	}
	centre, means, err := centred("x", x)
	if err != nil {
		return nil, err
	}
	if err := checkLengths(centre); err != nil {
		return nil, err
	}
	gamma := l.Gamma
	if gamma == 0 {
		gamma = scaleGamma(x)
	}
	m := &KernelMachine{Kind: l.Name(), Gamma: gamma, Centre: means, Levels: slices.Clone(y.Classes)}
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
	report := l.reports(ctx, len(jobs))
	linalg.Parallel(len(jobs), func(k int) {
		fitted[k], errs[k] = l.fitOne(ctx, centre, y, jobs[k], gamma, len(jobs), report)
		if errs[k] == nil {
			report(0)
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if err := m.collect(x, fitted); err != nil {
		return nil, err
	}
	return m, nil
}

// reports returns what is called with the steps of a machine now and then, and with
// 0 when it is done. One machine tells its steps, several how many are done.
func (l SVM) reports(ctx context.Context, machines int) func(steps int) {
	tell := progress(ctx)
	if tell == nil {
		return func(int) {}
	}
	var done atomic.Int64
	return func(steps int) {
		switch {
		case machines == 1 && steps > 0:
			tell(Progress{Stage: "steps", Done: steps})
		case steps == 0:
			tell(Progress{Stage: "machines", Done: int(done.Add(1)), Total: machines})
		}
	}
}

// checkLengths wants squared lengths of rows that do not overflow, also doubled.
func checkLengths(x *mat.Dense) error {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		if square := floats.Dot(row, row); math.IsInf(4*square, 0) {
			return fmt.Errorf("learn: row %d of x is so long that its square overflows, scale the columns down", i+1)
		}
	}
	return nil
}

// scaleGamma is 1/(d Var(x)), or 1 where that is no positive number. Means are of
// differences from the first element: exactly 0 if all are equal.
func scaleGamma(x *mat.Dense) float64 {
	n, d := x.Dims()
	first, mean, sum := x.At(0, 0), 0.0, 0.0
	for i := range n {
		for _, v := range x.RawRowView(i) {
			mean += (v - first) / float64(n*d)
		}
	}
	for i := range n {
		for _, v := range x.RawRowView(i) {
			sum += (v - first - mean) * (v - first - mean)
		}
	}
	if g := float64(n) / sum; g > 0 && !math.IsInf(g, 0) {
		return g // 1 / (d · sum/(n d))
	}
	return 1
}

// svmJob is one machine: a pair of classes with the rows of both, or a column of
// numbers.
type svmJob struct {
	pair   [2]int
	rows   [2][]int
	column int
}

func pairJobs(y Target) (jobs []svmJob) {
	of := make([][]int, len(y.Classes))
	for i, c := range y.Labels {
		of[c] = append(of[c], i)
	}
	for a := range of {
		for b := a + 1; b < len(of); b++ {
			jobs = append(jobs, svmJob{pair: [2]int{a, b}, rows: [2][]int{of[a], of[b]}})
		}
	}
	return jobs
}

func (l SVM) fitOne(ctx context.Context, x *mat.Dense, y Target, job svmJob, gamma float64, jobs int, report func(steps int)) (machine, error) {
	p := smo.Problem{C: cmp.Or(l.C, 1), Tol: cmp.Or(l.Tol, defaultSVMTol), MaxIter: cmp.Or(l.MaxIter, defaultSVMMaxIter), NoShrinking: l.NoShrinking}
	cache := cmp.Or(l.Cache, defaultCache) / min(jobs, runtime.GOMAXPROCS(0))
	var rows []int // of x, for each variable
	if y.Classification() {
		rows = slices.Concat(job.rows[0], job.rows[1])
		if len(job.rows[0]) == 0 || len(job.rows[1]) == 0 {
			return oneSided(job), nil
		}
		_, d := x.Dims()
		part := mat.NewDense(len(rows), d, nil)
		p.Y, p.P = make([]int8, len(rows)), make([]float64, len(rows))
		for k, i := range rows {
			copy(part.RawRowView(k), x.RawRowView(i))
			p.Y[k], p.P[k] = -1, -1
			if k < len(job.rows[0]) {
				p.Y[k] = 1
			}
		}
		p.Kernel = smo.NewRBF(part, gamma, cache, jobs == 1)
	} else {
		n, _ := x.Dims()
		epsilon := cmp.Or(l.Epsilon, defaultSVMEpsilon)
		p.Kernel = smo.NewDoubled(smo.NewRBF(x, gamma, cache, jobs == 1), n)
		p.Y, p.P, rows = make([]int8, 2*n), make([]float64, 2*n), make([]int, n)
		for i := range n {
			v := y.Values.At(i, job.column)
			p.Y[i], p.P[i] = 1, epsilon-v
			p.Y[n+i], p.P[n+i] = -1, epsilon+v
			rows[i] = i
		}
	}
	var s *smo.Solution
	var err error
	linalg.Serial(func() { // what is parallel is parallel within the kernel
		s, err = smo.Solve(ctx, p, func(steps int, _ float64) { report(steps) })
	})
	if err != nil {
		return machine{}, err
	}
	m := machine{intercept: -s.Rho, Solution: s}
	for k, i := range rows {
		c := s.Alpha[k] * float64(p.Y[k])
		if !y.Classification() {
			c -= s.Alpha[len(rows)+k]
		}
		if c != 0 {
			m.at, m.coef = append(m.at, i), append(m.coef, c)
		}
	}
	return m, nil
}

// oneSided always says the class that has rows, for none nothing.
func oneSided(job svmJob) machine {
	m := machine{Solution: &smo.Solution{Converged: true}}
	switch {
	case len(job.rows[0]) > 0:
		m.intercept = 1
	case len(job.rows[1]) > 0:
		m.intercept = -1
	}
	return m
}
