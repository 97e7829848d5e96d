package privacy

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/linalg"
)

// Column says how the values of one feature tell rows apart.
type Column struct {
	// Distinct is the number of different values, Single the number of rows whose
	// value no other row has.
	Distinct, Single int
	// Constant says that there is one value only; Integer that all values are whole
	// numbers; Running that values strictly increase, or strictly decrease, from row to
	// row, as running numbers and times of entry do.
	Constant, Integer, Running bool
	// Identifier says that the feature looks like a number given to each row: at least
	// 95 of 100 rows have a value of their own, although values are whole numbers or
	// run on. Measurements with many digits differ from row to row as well and are
	// not meant: their values are no key to another list.
	Identifier bool
}

// identifierShare is the share of rows with values of their own from which a feature
// of whole numbers is taken for an identifier: a few rows may be entered twice. Of
// values drawn at random from v ones, so many are single only if v is more than 19 n
// (e^(−n/v) ≥ 0.95), far from an age or a count.
const identifierShare = 0.95

// identifierRows is the number of rows below which no feature is taken for an
// identifier. Twenty ages between 20 and 60 are all different once in 275 times.
const identifierRows = 20

// Columns describes the features of x (n × m). It speaks against an attacker who holds
// a guess of the rows and any other list with the same feature: an identifier left
// among the features is a key to every such list. It finds numbers given to rows, not
// combinations of features that single somebody out. Fewer than 20 rows show no
// identifier. The cost is O(n m).
func Columns(x *mat.Dense) ([]Column, error) {
	if err := checkMatrix("data", x); err != nil {
		return nil, err
	}
	n, m := x.Dims()
	columns := make([]Column, m)
	linalg.Parallel(m, func(j int) {
		c := Column{Integer: true}
		up, down := n > 1, n > 1
		for i := range n {
			v := x.At(i, j)
			c.Integer = c.Integer && v == math.Trunc(v)
			if i > 0 {
				before := x.At(i-1, j)
				up, down = up && v > before, down && v < before
			}
		}
		for run := range runs(ordered(x, j)) {
			c.Distinct++
			if run.to-run.from == 1 {
				c.Single++
			}
		}
		c.Constant, c.Running = c.Distinct == 1, up || down
		c.Identifier = n >= identifierRows && (c.Integer || c.Running) && float64(c.Single) >= identifierShare*float64(n)
		columns[j] = c
	})
	return columns, nil
}

// Cell is a value of a label, or a combination of several, and the number of its rows.
type Cell[K comparable] struct {
	Key   K
	Count int
}

// RareCells returns the cells of labels (one for each row) that have fewer than least
// rows, in the order of their first rows. Labels travel as they are, so whoever knows
// that a person takes part knows the label of somebody in a cell of one, and of most in
// few: the analyst is who this speaks of. A combination of labels is an array or
// struct of them. A NaN is a cell of its own. The cost is O(n).
func RareCells[K comparable](labels []K, least int) []Cell[K] {
	var cells []Cell[K]
	at := map[K]int{}
	for _, key := range labels {
		i, ok := at[key]
		if !ok {
			i = len(cells)
			at[key] = i
			cells = append(cells, Cell[K]{Key: key})
		}
		cells[i].Count++
	}
	return slices.DeleteFunc(cells, func(c Cell[K]) bool { return c.Count >= least })
}

// Dimension says how much of the data's dimension the shared columns keep.
type Dimension struct {
	// Features is m, Rank that of the data, Shared is l.
	Features, Rank, Shared int
	// OfFeatures is l/m, OfRank is l/Rank. From OfRank = 1 on, collusion can give back
	// every row exactly although l < m; it is +Inf for data of zeros.
	OfFeatures, OfRank float64
}

// Dimensions returns those of x (n × m) under a basis of l columns. Columns are brought
// to one magnitude first, so that units do not matter. Data whose rank is below its
// number of features has features that follow from the others.
//
// The cost is O(n m min(n, m)) in time. Tall data is read in blocks of rows, each
// reduced to its triangular factor, so there is no copy of it.
func Dimensions(x *mat.Dense, l int) (Dimension, error) {
	if err := checkMatrix("data", x); err != nil {
		return Dimension{}, err
	}
	n, m := x.Dims()
	if l < 1 {
		return Dimension{}, fmt.Errorf("privacy: the basis has %d columns, must have at least 1", l)
	}
	even, err := reduced(x)
	if err != nil {
		return Dimension{}, fmt.Errorf("privacy: data: %v", err)
	}
	s, err := linalg.SingularValues(even)
	if err != nil {
		return Dimension{}, fmt.Errorf("privacy: data: %v", err)
	}
	d := Dimension{Features: m, Shared: l, Rank: linalg.NumericalRank(s, n, m, 0)}
	d.OfFeatures, d.OfRank = float64(l)/float64(m), float64(l)/float64(d.Rank)
	return d, nil
}

// reduced returns x with its columns of magnitudes near 1, or, if x is tall, the
// triangular factor of its QR decomposition, which has the same singular values.
func reduced(x *mat.Dense) (*mat.Dense, error) {
	n, m := x.Dims()
	rows := max(4096, 4*m)
	if n <= rows {
		even, _ := evened(x)
		return even, nil
	}
	s := columnScales(x)
	var r *mat.Dense
	for from := 0; from < n; from += rows {
		to, held := min(from+rows, n), 0
		if r != nil {
			held, _ = r.Dims()
		}
		stack := mat.NewDense(held+to-from, m, nil)
		if r != nil {
			stack.Slice(0, held, 0, m).(*mat.Dense).Copy(r)
		}
		for i := from; i < to; i++ {
			row := stack.RawRowView(held + i - from)
			for j, v := range x.RawRowView(i) {
				row[j] = v * s[j]
			}
		}
		var err error
		if _, r, err = linalg.QR(stack); err != nil {
			return nil, err
		}
	}
	return r, nil
}
