package anchor

import (
	"errors"
	"fmt"
	"log/slog"
	"math"

	"gonum.org/v1/gonum/mat"

	"concord/anchor/spec"
	"concord/linalg"
	"concord/secret"
)

// Pairs are pooled second moments of standardised columns of which parties may have
// different ones: every pair is summed over the rows that have both.
type Pairs struct {
	// Sums are Σ x_j x_k (m × m) and Counts the rows of each sum; a pair that nobody
	// has together has the count 0.
	Sums, Counts *mat.SymDense
	// Means of the columns (m); nil for zero, as pooled standardisation leaves them.
	Means []float64
}

// String says only how many columns there are.
func (p Pairs) String() string {
	if p.Sums == nil {
		return "secret(no pooled moments)"
	}
	return fmt.Sprintf("secret(pooled moments of %d columns)", p.Sums.SymmetricDim())
}

// Format prints like String whatever the verb.
func (p Pairs) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

// LogValue prints like String in structured logs.
func (p Pairs) LogValue() slog.Value { return slog.StringValue(p.String()) }

// MarshalText refuses with [secret.ErrEncode]. encoding/json uses it too.
func (p Pairs) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with [secret.ErrEncode]. encoding/gob uses it too.
func (p Pairs) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }

// Gaussian is the data-like anchor without rows: rows (a × m) of the normal law with the
// pooled means and covariances,
//
//	A = 1 x̄ᵀ + N L^{T},  N standard normal from the seed,  C = L Lᵀ
//
// which no party's row is near more than the covariances make it. With bases over partly
// different columns it relates what the parties hold: A_iᵀA_j is about a F_iᵀ C F_j, and C
// has what orthonormal and independent anchors have not, the covariances across views.
// [Covariance] makes C of the moments. All who have the seed and the same moments make
// the same A, to 1e-12 relative where C is not near-singular (its least eigenvalue is
// floored). The errors are those of Covariance and of [Spec.Resolve], and an empty or
// erased seed. Cost O(m³ + a m²), and m³ an iteration where pairs are missing.
func Gaussian(seed Seed, p Pairs, rows int) (secret.Matrix, Completed, error) {
	if err := seed.check(); err != nil {
		return secret.Matrix{}, Completed{}, err
	}
	c, about, err := Covariance(p)
	if err != nil {
		return secret.Matrix{}, about, err
	}
	defer c.Zero()
	m := c.SymmetricDim()
	if rows < m {
		return secret.Matrix{}, about, fmt.Errorf("anchor: %d rows for %d features: the anchor needs rank %d, so give at least %d rows", rows, m, m, m)
	}
	if err := spec.Fits(rows, m); err != nil {
		return secret.Matrix{}, about, err
	}
	var chol mat.Cholesky
	if !chol.Factorize(c) {
		return secret.Matrix{}, about, errors.New("anchor: the pooled covariances are not positive definite")
	}
	var l mat.TriDense
	chol.LTo(&l)
	n := linalg.Normal(rows, m, seed.stream(labelGaussian))
	var a mat.Dense
	a.Mul(n, l.T())
	n.Zero()
	l.Zero()
	for i := range rows {
		if p.Means == nil {
			break
		}
		row := a.RawRowView(i)
		for j := range row {
			row[j] += p.Means[j]
		}
	}
	return secret.NewMatrix(&a), about, nil
}

// Completed says how a covariance was completed.
type Completed struct {
	// Missing pairs of columns that nobody has together.
	Missing int
	// Blind says that some of them are not even joined by columns between them: their
	// covariance is 0 because nothing is known, and an alignment across them is blind.
	Blind int
	// Iterations of the completion.
	Iterations int
	// Shrunk is by how much the known covariances were brought nearer to 0 before they
	// could be completed: figures of different rows need not fit each other.
	Shrunk float64
	// Constant columns vary over nobody's rows, as a level that is declared and that
	// nobody has: they are drawn as independent ones.
	Constant int
	// Floored counts the eigenvalues that were raised to the floor.
	Floored int
}

const (
	// eigenFloor is the least eigenvalue of a covariance, relative to the mean variance:
	// √eps leaves the anchor's factor half of its digits, and 1e-6 keeps cond(A) ≤ 1e3·√m,
	// with which A⁺A F is exact to ten digits.
	eigenFloor = 1e-6
	// constant is the variance of a column, standardised if it varies, below which it does
	// not.
	constant = 1e-12
	// completionTol ends the completion when no entry moves more, relative to the unit
	// variances.
	completionTol = 1e-14
	// completionMost bounds its sweeps.
	completionMost = 2000
)

// Covariance makes the covariance C (m × m) of pairwise moments:
//
//  1. c_jk = (Σ x_j x_k)/n_jk − x̄_j x̄_k, and unit diagonals are kept apart
//  2. pairs that nobody has together get the values of the law of most entropy with the
//     others given: those for which C⁻¹ is 0 there [dempster1972], found column by column
//     as regressions on the columns with which it is known ([hastie2009],
//     algorithm 17.1). Two columns that are related through others in between get
//     what these explain, and no more; two that nothing relates get 0.
//  3. figures of different rows need not be those of any law: known correlations are shrunk
//     by as little of 0, .001, .01, .05, .1, .2, .5 as lets step 2 end, and eigenvalues
//     below 1e-6 of the mean variance are raised to that.
//
// A column that does not vary gets the variance 1 and the covariance 0.
//
// The errors name columns by number: shapes that do not fit, a column that nobody has,
// numbers that are not finite. Cost O(m³), and where pairs are missing O(m³) for every column
// of a sweep, at most 2000 sweeps. docs/methods.md section 9.6.
func Covariance(p Pairs) (*mat.SymDense, Completed, error) {
	var about Completed
	if p.Sums == nil || p.Counts == nil || p.Sums.SymmetricDim() == 0 || p.Sums.SymmetricDim() != p.Counts.SymmetricDim() {
		return nil, about, errors.New("anchor: pooled moments and their counts are missing, or of different sizes")
	}
	m := p.Sums.SymmetricDim()
	if p.Means != nil && len(p.Means) != m {
		return nil, about, fmt.Errorf("anchor: %d pooled means for %d columns", len(p.Means), m)
	}
	deviation := make([]float64, m)
	known := make([][]bool, m)
	r := mat.NewSymDense(m, nil)
	at := func(j, k int) float64 {
		v := p.Sums.At(j, k) / p.Counts.At(j, k)
		if p.Means != nil {
			v -= p.Means[j] * p.Means[k]
		}
		return v
	}
	for j := range m {
		known[j] = make([]bool, m)
		if !(p.Counts.At(j, j) > 0) {
			return nil, about, fmt.Errorf("anchor: nobody has column %d: its pooled count is 0", j+1)
		}
		v := at(j, j)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, about, fmt.Errorf("anchor: the moments of column %d are not finite", j+1)
		}
		if v > constant {
			deviation[j] = math.Sqrt(v)
		} else {
			about.Constant++
			deviation[j] = 1
		}
	}
	for j := range m {
		for k := range j + 1 {
			n := p.Counts.At(j, k)
			if !(n >= 0) || math.IsInf(n, 0) {
				return nil, about, fmt.Errorf("anchor: the count of columns %d and %d is no count", j+1, k+1)
			}
			if n == 0 {
				about.Missing++
				continue
			}
			v := at(j, k) / (deviation[j] * deviation[k])
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, about, fmt.Errorf("anchor: the moments of columns %d and %d are not finite", j+1, k+1)
			}
			if j == k {
				v = 1 // of a constant column too
			}
			// Correlations of different rows can be beyond 1.
			r.SetSym(j, k, max(-1, min(1, v)))
			known[j][k], known[k][j] = true, true
		}
	}
	about.Blind = apart(known)
	full, err := complete(r, known, &about)
	if err != nil {
		return nil, about, err
	}
	w, v, err := linalg.EigSym(full)
	if err != nil {
		return nil, about, fmt.Errorf("anchor: the pooled covariances: %w", err)
	}
	if w[len(w)-1] < eigenFloor || w[0] < eigenFloor {
		out := mat.NewSymDense(m, nil)
		for i := range w {
			if w[i] < eigenFloor {
				w[i] = eigenFloor
				about.Floored++
			}
			out.SymRankOne(out, w[i], v.ColView(i))
		}
		full.Zero()
		full = out
	}
	for j := range m {
		for k := range j + 1 {
			full.SetSym(j, k, full.At(j, k)*deviation[j]*deviation[k])
		}
	}
	return full, about, nil
}

// apart counts the pairs of columns that no chain of known pairs joins.
func apart(known [][]bool) int {
	m := len(known)
	group := make([]int, m)
	for j := range group {
		group[j] = -1
	}
	sizes := []int{}
	for j := range m {
		if group[j] >= 0 {
			continue
		}
		id, queue := len(sizes), []int{j}
		sizes = append(sizes, 0)
		group[j] = id
		for len(queue) > 0 {
			from := queue[0]
			queue = queue[1:]
			sizes[id]++
			for to, ok := range known[from] {
				if ok && group[to] < 0 {
					group[to] = id
					queue = append(queue, to)
				}
			}
		}
	}
	pairs := m * (m - 1) / 2
	for _, n := range sizes {
		pairs -= n * (n - 1) / 2
	}
	return pairs
}

// complete fills the unknown entries of a correlation matrix in.
func complete(r *mat.SymDense, known [][]bool, about *Completed) (*mat.SymDense, error) {
	if about.Missing == 0 {
		return mat.NewSymDense(r.SymmetricDim(), append([]float64(nil), r.RawSymmetric().Data...)), nil
	}
	for _, shrink := range []float64{0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5} {
		if full, sweeps, ok := covarianceSelection(r, known, shrink); ok {
			about.Shrunk, about.Iterations = shrink, sweeps
			return full, nil
		}
	}
	return nil, errors.New("anchor: the pooled correlations of pairs do not fit each other, whatever fills the pairs that nobody has together")
}

// covarianceSelection is Dempster's completion of the known correlations, shrunk. ok is
// false where it meets a regression without a solution, or does not end: then the
// known part fits no law.
//
//	for each column j:  W_KK β = r_Kj over the columns K known with j,  w_·j = W_·K β
func covarianceSelection(r *mat.SymDense, known [][]bool, shrink float64) (w *mat.SymDense, sweeps int, ok bool) {
	m := r.SymmetricDim()
	keep := 1 - shrink
	w = mat.NewSymDense(m, nil)
	neighbours := make([][]int, m)
	complete := make([]bool, m)
	for j := range m {
		for k := range m {
			if k != j && known[j][k] {
				neighbours[j] = append(neighbours[j], k)
				if k < j {
					w.SetSym(j, k, keep*r.At(j, k))
				}
			}
		}
		w.SetSym(j, j, 1)
		complete[j] = len(neighbours[j]) == m-1
	}
	for sweeps = 1; sweeps <= completionMost; sweeps++ {
		moved := 0.0
		for j := range m {
			if complete[j] {
				continue // nothing of it is unknown
			}
			near := neighbours[j]
			if len(near) == 0 {
				continue // and nothing known
			}
			part := mat.NewSymDense(len(near), nil)
			right := mat.NewVecDense(len(near), nil)
			for a, ka := range near {
				right.SetVec(a, keep*r.At(j, ka))
				for b, kb := range near[:a+1] {
					part.SetSym(a, b, w.At(ka, kb))
				}
			}
			var chol mat.Cholesky
			if !chol.Factorize(part) || chol.Cond() > 1e12 {
				return nil, sweeps, false
			}
			var beta mat.VecDense
			if err := chol.SolveVecTo(&beta, right); err != nil {
				return nil, sweeps, false
			}
			explained := mat.Dot(&beta, right)
			if !(explained < 1) {
				return nil, sweeps, false
			}
			for k := range m {
				if k == j || known[j][k] {
					continue
				}
				v := 0.0
				for a, ka := range near {
					v += w.At(k, ka) * beta.AtVec(a)
				}
				moved = max(moved, math.Abs(v-w.At(j, k)))
				w.SetSym(j, k, v)
			}
		}
		if moved <= completionTol*float64(m) {
			var chol mat.Cholesky
			return w, sweeps, chol.Factorize(w)
		}
	}
	return nil, sweeps, false
}
