package learn

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

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

// Classes are the levels; nil for regression.
func (m *KernelMachine) Classes() []string { return m.Levels }

// Report is how the fit went.
func (m *KernelMachine) Report() Report { return m.Fitted }

func (m *KernelMachine) outputs() int {
	if m.Levels != nil {
		return len(m.Levels)
	}
	return len(m.Intercept)
}

// scoreRows is the number of rows whose kernel values are made at once.
const scoreRows = 256

// Decisions are D (n × r), what each machine says. Errors are those of Scores.
func (m *KernelMachine) Decisions(x *mat.Dense) (*mat.Dense, error) {
	if err := checkInput(x, m.Columns); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	s, _ := dims(m.Vectors)
	r := len(m.Intercept)
	out := mat.NewDense(n, r, nil)
	var vectors *mat.Dense
	var vv []float64
	if s > 0 {
		vectors, vv = m.around(m.Vectors)
	}
	linalg.Parallel((n+scoreRows-1)/scoreRows, func(b int) {
		from, to := b*scoreRows, min((b+1)*scoreRows, n)
		part := out.Slice(from, to, 0, r).(*mat.Dense)
		if s > 0 {
			rows, xx := m.around(x.Slice(from, to, 0, m.Columns).(*mat.Dense))
			k := mat.NewDense(to-from, s, nil)
			k.Mul(rows, vectors.T())
			for i := range to - from {
				row := k.RawRowView(i)
				for j, p := range row {
					row[j] = math.Exp(-m.Gamma * max(0, xx[i]+vv[j]-2*p))
				}
			}
			part.Mul(k, m.Coef)
		}
		for i := range to - from {
			row := part.RawRowView(i)
			for j, v := range m.Intercept {
				row[j] += v
			}
		}
	})
	return out, nil
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

// Scores are n × k; see [KernelMachine].
func (m *KernelMachine) Scores(x *mat.Dense) (*mat.Dense, error) {
	decisions, err := m.Decisions(x)
	if err != nil || m.Levels == nil {
		return decisions, err
	}
	n, _ := decisions.Dims()
	k := len(m.Levels)
	scores := mat.NewDense(n, k, nil)
	sum := make([]float64, k)
	for i := range n {
		row, from := scores.RawRowView(i), decisions.RawRowView(i)
		if k == 2 {
			row[0], row[1] = from[0], -from[0]
			continue
		}
		clear(sum)
		for q, pair := range m.Pairs {
			sum[pair[0]] += from[q]
			sum[pair[1]] -= from[q]
			if from[q] > 0 {
				row[pair[0]]++
			} else {
				row[pair[1]]++
			}
		}
		for c, t := range sum {
			row[c] += t / (3 * (math.Abs(t) + 1))
		}
	}
	return scores, nil
}
