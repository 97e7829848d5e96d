package learn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// KNN keeps the training rows and lets the nearest vote: a check on the other
// learners, and a warning (a neighbour is a row). Distances are Euclidean; of
// equal ones the lower row counts. Columns should have about the same scale.
type KNN struct {
	// Neighbours is the number of rows that vote; 0 means 5.
	Neighbours int
}

// Name is "knn".
func (KNN) Name() string { return "knn" }

// CarriesRows is true: the model is the training rows.
func (KNN) CarriesRows() bool { return true }

func (l KNN) check() error {
	if l.Neighbours < 0 {
		return fmt.Errorf("learn: Neighbours of knn is %d, want a positive number, or 0 for 5", l.Neighbours)
	}
	return nil
}

// Fit keeps x and y. Fewer rows than Neighbours are an error, and numbers of x
// above 1e100, whose distances could overflow.
func (l KNN) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := checkData(x, y); err != nil {
		return nil, err
	}
	if err := checkSize("x", x); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	k := l.Neighbours
	if k == 0 {
		k = 5
	}
	if k > n {
		return nil, fmt.Errorf("learn: %d neighbours of %d rows: take fewer", k, n)
	}
	m := &Neighbours{Rows: mat.DenseCopyOf(x), K: k, Levels: y.Classes}
	if y.Classification() {
		m.Votes = y.oneHot()
	} else {
		m.Votes = mat.DenseCopyOf(y.Values)
	}
	_, outputs := m.Votes.Dims()
	m.Fitted = Report{Rows: n, Inputs: d, Outputs: outputs, Status: Exact}
	return m, nil
}

// Neighbours is a fitted [KNN]. Scores are the means of the votes of the K nearest
// rows: shares of the classes, or the mean number. It contains training rows: see
// [Learner.CarriesRows].
type Neighbours struct {
	// Rows are the training rows (n × d).
	Rows *mat.Dense
	// Votes has a row for each: a 1 in the column of its class, or its numbers.
	Votes *mat.Dense
	// K is the number of rows that vote.
	K int
	// Levels name the classes; nil for regression.
	Levels []string
	// Fitted is how the fit went.
	Fitted Report
}

// Check returns an error unless the shapes agree and all numbers are finite,
// those of Rows at most 1e100.
func (m *Neighbours) Check() error {
	n, _ := dims(m.Rows)
	votes, k := dims(m.Votes)
	switch {
	case n == 0:
		return fmt.Errorf("learn: knn has no rows")
	case votes != n:
		return fmt.Errorf("learn: knn has votes of %d rows, want %d", votes, n)
	case m.K < 1 || m.K > n:
		return fmt.Errorf("learn: knn has %d neighbours of %d rows", m.K, n)
	case m.Levels != nil && len(m.Levels) != k:
		return fmt.Errorf("learn: knn has %d classes for %d columns of votes", len(m.Levels), k)
	}
	if err := checkFinite("number of knn", m.Rows); err != nil {
		return err
	}
	if err := checkSize("number of knn", m.Rows); err != nil {
		return err
	}
	return checkFinite("vote of knn", m.Votes)
}

// Inputs is d.
func (m *Neighbours) Inputs() int {
	_, d := dims(m.Rows)
	return d
}

// Classes are the levels; nil for regression.
func (m *Neighbours) Classes() []string { return m.Levels }

// Report is how the fit went.
func (m *Neighbours) Report() Report { return m.Fitted }

// Scores are n × k. Numbers of x above 1e100 are an error. The cost is O(n N d)
// for N training rows.
func (m *Neighbours) Scores(x *mat.Dense) (*mat.Dense, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := checkInput(x, m.Inputs()); err != nil {
		return nil, err
	}
	if err := checkSize("x", x); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	_, k := m.Votes.Dims()
	squares := rowSquares(m.Rows)
	largest := slices.Max(squares)
	out := mat.NewDense(n, k, nil)
	linalg.Parallel((n+scoreRows-1)/scoreRows, func(b int) {
		from, to := b*scoreRows, min((b+1)*scoreRows, n)
		part := x.Slice(from, to, 0, d).(*mat.Dense)
		own := rowSquares(part)
		var products mat.Dense
		products.Mul(part, m.Rows.T())
		near := make([]float64, len(squares))
		for i := range to - from {
			for j, p := range products.RawRowView(i) {
				near[j] = own[i] + squares[j] - 2*p
			}
			// What rounding may have changed; the rows within it are measured again.
			margin := 8 * float64(d+2) * linalg.Eps * (own[i] + largest)
			m.vote(out.RawRowView(from+i), part.RawRowView(i), near, margin)
		}
	})
	return out, nil
}

// vote adds up the votes for a row, given distances to all rows up to margin.
func (m *Neighbours) vote(out, row, near []float64, margin float64) {
	limit := kth(near, m.K) + 2*margin
	type neighbour struct {
		distance float64
		at       int
	}
	var found []neighbour
	for j, v := range near {
		if v <= limit {
			found = append(found, neighbour{distance(row, m.Rows.RawRowView(j)), j})
		}
	}
	slices.SortFunc(found, func(a, b neighbour) int {
		switch {
		case a.distance < b.distance:
			return -1
		case a.distance > b.distance:
			return 1
		}
		return a.at - b.at
	})
	for _, f := range found[:m.K] {
		for c, v := range m.Votes.RawRowView(f.at) {
			out[c] += v / float64(m.K)
		}
	}
}

// kth is the k-th smallest of v.
func kth(v []float64, k int) float64 {
	least := make([]float64, 0, k+1) // ascending
	for _, x := range v {
		if len(least) == k && !(x < least[k-1]) {
			continue
		}
		at, _ := slices.BinarySearch(least, x)
		least = slices.Insert(least, at, x)
		if len(least) > k {
			least = least[:k]
		}
	}
	return least[k-1]
}

// distance is ‖x − y‖.
func distance(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += (v - y[j]) * (v - y[j])
	}
	return math.Sqrt(sum)
}

func rowSquares(x *mat.Dense) []float64 {
	n, _ := x.Dims()
	squares := make([]float64, n)
	for i := range n {
		for _, v := range x.RawRowView(i) {
			squares[i] += v * v
		}
	}
	return squares
}
