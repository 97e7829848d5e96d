package learn

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/smo"
	"concord/linalg"
)

// KernelMachine is a fitted [SVM]. With s support vectors v and r machines, the
// decisions (n × r) are
//
//	D = K Coef + 1 Interceptᵀ,  K[i, j] = exp(−Gamma ‖xᵢ − vⱼ‖²)
//
// Numbers are D itself. For classes machine q decides between the classes a < b of
// Pairs[q]: for a where D > 0, otherwise for b. The score of a class is the number
// of its pairs that it wins, plus a share of less than a third from the sum of what
// they say, t:
//
//	votes + t / (3 (|t| + 1))
//
// as scikit-learn's decision_function. For two classes the scores are D and −D.
//
// It contains training rows: see [Learner.CarriesRows].
type KernelMachine struct {
	// Kind is the name of the learner that fitted it.
	Kind string
	// Columns is d.
	Columns int
	// Vectors are the support vectors (s × d); nil for none.
	Vectors *mat.Dense
	// Coef are the dual coefficients, with signs (s × r); nil with Vectors.
	Coef *mat.Dense
	// Intercept has a number for each machine.
	Intercept []float64
	// Gamma is that of the kernel.
	Gamma float64
	// Centre is a point amid the data (d numbers) from which differences are
	// taken: it keeps digits and does not change the result.
	Centre []float64
	// Pairs are the classes of each machine; nil for regression.
	Pairs [][2]int
	// Levels name the classes; nil for regression.
	Levels []string
	// Fitted is how the fit went.
	Fitted Report
}

// Check returns an error unless the shapes agree, all numbers are finite, and the
// pairs are all pairs of the classes in order.
func (m *KernelMachine) Check() error {
	s, d := dims(m.Vectors)
	rows, r := dims(m.Coef)
	switch {
	case m.Columns < 1:
		return fmt.Errorf("learn: svm has %d inputs, want at least 1", m.Columns)
	case s > 0 && d != m.Columns:
		return fmt.Errorf("learn: support vectors have %d columns, want %d", d, m.Columns)
	case rows != s:
		return fmt.Errorf("learn: svm has coefficients for %d of %d support vectors", rows, s)
	case len(m.Intercept) == 0 || s > 0 && r != len(m.Intercept):
		return fmt.Errorf("learn: svm has %d intercepts for %d machines", len(m.Intercept), r)
	case !(m.Gamma > 0) || math.IsInf(m.Gamma, 0):
		return fmt.Errorf("learn: gamma of svm is %g, want a positive number", m.Gamma)
	case len(m.Centre) != m.Columns:
		return fmt.Errorf("learn: svm has a centre of %d numbers, want %d", len(m.Centre), m.Columns)
	}
	if m.Levels != nil {
		k, q := len(m.Levels), 0
		for a := range k {
			for b := a + 1; b < k; b++ {
				if q >= len(m.Pairs) || m.Pairs[q] != [2]int{a, b} {
					return fmt.Errorf("learn: svm of %d classes lacks the pair %d, %d in its place", k, a+1, b+1)
				}
				q++
			}
		}
		if q != len(m.Intercept) || q != len(m.Pairs) {
			return fmt.Errorf("learn: svm of %d classes has %d machines, want %d", k, len(m.Intercept), q)
		}
	} else if m.Pairs != nil {
		return fmt.Errorf("learn: svm has pairs of classes and no classes")
	}
	for _, numbers := range [][]float64{m.Intercept, m.Centre} {
		for j, v := range numbers {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("learn: number %d of svm is not finite", j+1)
			}
		}
	}
	if err := checkFinite("support vector", m.Vectors); err != nil {
		return err
	}
	return checkFinite("dual coefficient", m.Coef)
}

// Inputs is d.
func (m *KernelMachine) Inputs() int { return m.Columns }

// Classes is a copy of Levels.
func (m *KernelMachine) Classes() []string { return slices.Clone(m.Levels) }

// Report is how the fit went.
func (m *KernelMachine) Report() Report { return m.Fitted }

func (m *KernelMachine) outputs() int {
	if m.Levels != nil {
		return len(m.Levels)
	}
	return len(m.Intercept)
}

// Decisions are D (n × r), what each machine says; for many classes that is much
// larger than Scores. Errors are those of Scores. Cost O(n s (d + r)).
func (m *KernelMachine) Decisions(x *mat.Dense) (*mat.Dense, error) {
	if err := m.checkBoth(x); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	out := mat.NewDense(n, len(m.Intercept), nil)
	m.decide(x, func(from int, d *mat.Dense) {
		rows, _ := d.Dims()
		out.Slice(from, from+rows, 0, len(m.Intercept)).(*mat.Dense).Copy(d)
	})
	return out, nil
}

// Scores are n × k; see [KernelMachine].
func (m *KernelMachine) Scores(x *mat.Dense) (*mat.Dense, error) {
	if err := m.checkBoth(x); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	scores := mat.NewDense(n, m.outputs(), nil)
	m.decide(x, func(from int, d *mat.Dense) {
		rows, _ := d.Dims()
		for i := range rows {
			m.score(scores.RawRowView(from+i), d.RawRowView(i))
		}
	})
	return scores, nil
}

func (m *KernelMachine) checkBoth(x *mat.Dense) error {
	if err := m.Check(); err != nil {
		return err
	}
	return checkInput(x, m.Columns)
}

// score turns decisions of a row into its scores.
func (m *KernelMachine) score(scores, decisions []float64) {
	switch len(m.Levels) {
	case 0:
		copy(scores, decisions)
		return
	case 2:
		scores[0], scores[1] = decisions[0], -decisions[0]
		return
	}
	sum := make([]float64, len(scores))
	for q, pair := range m.Pairs {
		d := decisions[q]
		sum[pair[0]] += d
		sum[pair[1]] -= d
		if d > 0 {
			scores[pair[0]]++
		} else {
			scores[pair[1]]++
		}
	}
	for c, t := range sum {
		scores[c] += t / (3 * (math.Abs(t) + 1))
	}
}

// scoreRows is the number of rows whose kernel values are made at once.
const scoreRows = 256

// decide calls f with the decisions of the rows from from on, for all rows of x,
// from several goroutines.
func (m *KernelMachine) decide(x *mat.Dense, f func(from int, d *mat.Dense)) {
	n, _ := x.Dims()
	s, _ := dims(m.Vectors)
	var vectors *mat.Dense
	var squares []float64
	if s > 0 {
		vectors, squares = m.around(m.Vectors)
	}
	linalg.Parallel((n+scoreRows-1)/scoreRows, func(b int) {
		from, to := b*scoreRows, min((b+1)*scoreRows, n)
		out := mat.NewDense(to-from, len(m.Intercept), nil)
		if s > 0 {
			out.Mul(m.kernel(x.Slice(from, to, 0, m.Columns).(*mat.Dense), vectors, squares), m.Coef)
		}
		for i := range to - from {
			row := out.RawRowView(i)
			for j, v := range m.Intercept {
				row[j] += v
			}
		}
		f(from, out)
	})
}

// kernel is K (n × s). Vectors are around Centre and have these squares. Rows for
// which products lose digits are done by squared differences, as in training; a
// distance that overflows gives 0.
func (m *KernelMachine) kernel(x, vectors *mat.Dense, squares []float64) *mat.Dense {
	rows, own := m.around(x)
	n, _ := x.Dims()
	largest := slices.Max(squares)
	k := mat.NewDense(n, len(squares), nil)
	k.Mul(rows, vectors.T())
	for i := range n {
		out := k.RawRowView(i)
		if smo.Loss(m.Gamma, max(own[i], largest)) <= 0x1p-24 {
			for j, p := range out {
				out[j] = math.Exp(-m.Gamma * max(0, own[i]+squares[j]-2*p))
			}
			continue
		}
		row := rows.RawRowView(i)
		for j := range out {
			sum := 0.0
			for c, v := range vectors.RawRowView(j) {
				sum += (v - row[c]) * (v - row[c])
			}
			out[j] = math.Exp(-m.Gamma * sum)
		}
	}
	return k
}

// around is x − Centre and its squared row lengths.
func (m *KernelMachine) around(x *mat.Dense) (*mat.Dense, []float64) {
	n, d := x.Dims()
	out, squares := mat.NewDense(n, d, nil), make([]float64, n)
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			row[j] = v - m.Centre[j]
			squares[i] += row[j] * row[j]
		}
	}
	return out, squares
}

// collect puts the support vectors of all machines together, in the order of the
// rows of x.
func (m *KernelMachine) collect(x *mat.Dense, fitted []machine) error {
	n, d := x.Dims()
	place := make([]int, n) // among the support vectors, from 1
	for _, f := range fitted {
		for _, i := range f.at {
			place[i] = 1
		}
	}
	count := 0
	for i, used := range place {
		count += used
		place[i] = count * used
	}
	if count > maxCoef/len(fitted) {
		return fmt.Errorf("learn: svm has %d support vectors in %d machines, want at most %d coefficients", count, len(fitted), maxCoef)
	}
	m.Columns, m.Intercept = d, make([]float64, len(fitted))
	m.Fitted = Report{Rows: n, Inputs: d, Outputs: m.outputs(), Status: Converged}
	if count > 0 {
		m.Vectors, m.Coef = mat.NewDense(count, d, nil), mat.NewDense(count, len(fitted), nil)
		for i, k := range place {
			if k > 0 {
				copy(m.Vectors.RawRowView(k-1), x.RawRowView(i))
			}
		}
	}
	for q, f := range fitted {
		m.Intercept[q] = f.intercept
		for k, i := range f.at {
			m.Coef.Set(place[i]-1, q, f.coef[k])
		}
		m.Fitted.Iterations += f.Iterations
		m.Fitted.Objective += f.Primal
		m.Fitted.Gradient = max(m.Fitted.Gradient, f.Violation)
		if !f.Converged {
			m.Fitted.Status = IterationLimit
		}
	}
	if math.IsInf(m.Fitted.Objective, 0) {
		return fmt.Errorf("learn: the losses of svm overflow, scale the numbers to learn down")
	}
	return nil
}
