package learn

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/trees"
)

// TreeNode is a node of a [TreeEnsemble]. An inner node sends a row to Left if
//
//	x[Feature] ≤ Threshold
//
// where x is rounded to 32 bits, else to Right; both are indices into Nodes. A
// leaf has Feature [TreeLeaf], and Left is its row of Values.
type TreeNode = trees.Node

// TreeLeaf is the Feature of a leaf.
const TreeLeaf = trees.Leaf

// MaxTreeNodes is the most nodes of a [TreeEnsemble] that can become a file. A fit
// may make more.
const MaxTreeNodes = 1 << 22

// TreeEnsemble is a fitted forest or boosted trees. With leafₜ(x) the leaf of
// tree t in which a row ends,
//
//	z      = Base + Σₜ Values[leafₜ(x)]          (the sum over T if Mean)
//	scores = link(z)
//
// where the first number of a leaf of tree t belongs to column Output[t] of z.
//
// Rows are compared as 32-bit numbers with 32-bit thresholds, so that a runtime
// that computes in 32 bits finds the same leaves.
type TreeEnsemble struct {
	// Kind is the name of the learner that fitted it.
	Kind string
	// Columns is d.
	Columns int
	// Nodes are those of all trees, one tree after another; children stand
	// behind their parent.
	Nodes []TreeNode
	// Roots are for each tree, ascending, the index of its first node.
	Roots []int32
	// Values has the numbers of the leaves: as many columns as z, or, if there
	// is an Output, usually 1. Leaves may share a row.
	Values *mat.Dense
	// Output is for each tree the column of z to which the first number of its
	// leaves is added; nil means 0.
	Output []int32
	// Base has a number for each column of z.
	Base []float64
	// Mean tells to divide the sum over the trees by their number.
	Mean bool
	// Link is what turns z into scores.
	Link Link
	// Levels name the classes; nil for regression. Sigmoid has two and z one
	// column, otherwise z has a column for each.
	Levels []string
	// Fitted is how the fit went.
	Fitted Report
}

// Check returns an error unless all indices are in range, every walk down a
// tree ends in a leaf of that tree, and all numbers are finite. Fit returns
// models that pass; others may be made by hand. Cost O(nodes).
func (m *TreeEnsemble) Check() error {
	k := len(m.Base)
	rows, width := dims(m.Values)
	switch {
	case m.Columns < 1:
		return fmt.Errorf("learn: trees have %d inputs, want at least 1", m.Columns)
	case len(m.Roots) == 0:
		return fmt.Errorf("learn: ensemble has no trees")
	case rows == 0:
		return fmt.Errorf("learn: ensemble has no values")
	case k == 0:
		return fmt.Errorf("learn: ensemble has no base")
	case m.Output != nil && len(m.Output) != len(m.Roots):
		return fmt.Errorf("learn: ensemble has outputs for %d trees, want %d", len(m.Output), len(m.Roots))
	case m.Output == nil && width != k:
		return fmt.Errorf("learn: leaves have %d numbers for %d outputs", width, k)
	case len(m.Nodes) > math.MaxInt32:
		return fmt.Errorf("learn: ensemble has %d nodes, want at most %d", len(m.Nodes), math.MaxInt32)
	}
	for t, o := range m.Output {
		if o < 0 || int(o) > k-width {
			return fmt.Errorf("learn: tree %d adds to output %d, want 0 to %d", t+1, o, k-width)
		}
	}
	switch m.Link {
	case Identity:
		if m.Levels != nil && len(m.Levels) != k {
			return fmt.Errorf("learn: ensemble has %d classes for %d outputs", len(m.Levels), k)
		}
	case Softmax:
		if len(m.Levels) != k || k < 2 {
			return fmt.Errorf("learn: softmax ensemble has %d classes for %d outputs, want as many, at least 2", len(m.Levels), k)
		}
	case Sigmoid:
		if len(m.Levels) != 2 || k != 1 {
			return fmt.Errorf("learn: sigmoid ensemble has %d classes and %d outputs, want 2 and 1", len(m.Levels), k)
		}
	default:
		return fmt.Errorf("learn: link is %q, want %q, %q or %q", m.Link, Identity, Sigmoid, Softmax)
	}
	for j, v := range m.Base {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("learn: base %d is not a finite number", j+1)
		}
	}
	if err := checkFinite("leaf value", m.Values); err != nil {
		return err
	}
	if m.Roots[0] != 0 {
		return fmt.Errorf("learn: the first tree begins at node %d, want 0", m.Roots[0])
	}
	for t, root := range m.Roots {
		end := int32(len(m.Nodes))
		if t+1 < len(m.Roots) {
			end = m.Roots[t+1]
		}
		if end <= root || int(end) > len(m.Nodes) {
			return fmt.Errorf("learn: tree %d has no nodes", t+1)
		}
		for i := root; i < end; i++ {
			if err := m.checkNode(i, end, rows); err != nil {
				return fmt.Errorf("learn: tree %d, node %d: %v", t+1, i-root, err)
			}
		}
	}
	return nil
}

// checkNode checks node i of a tree that ends before node end.
func (m *TreeEnsemble) checkNode(i, end int32, rows int) error {
	n := &m.Nodes[i]
	switch {
	case n.Feature == TreeLeaf:
		if n.Left < 0 || int(n.Left) >= rows {
			return fmt.Errorf("leaf has value %d, want 0 to %d", n.Left, rows-1)
		}
	case n.Feature < 0 || int(n.Feature) >= m.Columns:
		return fmt.Errorf("feature is %d, want 0 to %d", n.Feature, m.Columns-1)
	case n.Left <= i || n.Left >= end || n.Right <= i || n.Right >= end:
		return fmt.Errorf("children are not behind it in the same tree")
	case n.Threshold-n.Threshold != 0:
		return fmt.Errorf("threshold is not a finite number")
	}
	return nil
}

// Inputs is d.
func (m *TreeEnsemble) Inputs() int { return m.Columns }

// Classes is a copy of Levels.
func (m *TreeEnsemble) Classes() []string { return slices.Clone(m.Levels) }

// Report is Fitted.
func (m *TreeEnsemble) Report() Report { return m.Fitted }

// scoreBlock is how many of n rows are scored at a time: many, since a block
// brings every tree into the cache, but no more than fit there themselves, and
// some for each worker.
func scoreBlock(n, d, workers int) int {
	return max(1, min(max(1<<18/d, 64), 2048, (n+workers-1)/workers))
}

// Scores is n × k, or n × 2 for Sigmoid; see [TreeEnsemble]. A number too large
// for 32 bits is an error. It uses all processors, with the same result for any
// number of them. Cost O(n · T · depth).
func (m *TreeEnsemble) Scores(x *mat.Dense) (*mat.Dense, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	n, d := dims(x)
	if n == 0 {
		return nil, fmt.Errorf("learn: x has no rows, want at least one")
	}
	if d != m.Columns {
		return nil, fmt.Errorf("learn: x has %d columns, the model wants %d", d, m.Columns)
	}
	if err := checkFinite("x", x); err != nil {
		return nil, err
	}
	k := len(m.Base)
	e := trees.Ensemble{Nodes: m.Nodes, Roots: m.Roots, Output: m.Output}
	values := m.Values.RawMatrix()
	e.Values, e.Width, e.Stride = values.Data, values.Cols, values.Stride
	out := k
	if m.Link == Sigmoid {
		out = 2
	}
	scores := mat.NewDense(n, out, nil)
	var bad atomic.Int64 // an element of x that is too large, plus one
	workers := trees.Workers(0)
	block := scoreBlock(n, d, workers)
	trees.Parallel(workers, (n+block-1)/block, func(b int) {
		lo, hi := b*block, min(n, (b+1)*block)
		x32 := make([]float32, 0, (hi-lo)*d)
		for i := lo; i < hi; i++ {
			for j, v := range x.RawRowView(i) {
				if math.Abs(v) > math.MaxFloat32 {
					bad.Store(int64(i)*int64(d) + int64(j) + 1)
					return
				}
				x32 = append(x32, float32(v))
			}
		}
		z := make([]float64, (hi-lo)*k)
		e.Sum(z, k, x32, d)
		for i := lo; i < hi; i++ {
			m.link(scores.RawRowView(i), z[(i-lo)*k:(i-lo+1)*k])
		}
	})
	if at := bad.Load(); at > 0 {
		return nil, tooLarge(int(at-1)/d, int(at-1)%d)
	}
	return scores, checkFinite("score", scores)
}

// link writes a row of scores, given the sums over the trees, which it changes.
func (m *TreeEnsemble) link(score, z []float64) {
	for j := range z {
		if m.Mean {
			z[j] /= float64(len(m.Roots))
		}
		z[j] += m.Base[j]
	}
	switch m.Link {
	case Sigmoid:
		score[0], score[1] = sigmoid(-z[0]), sigmoid(z[0])
	case Softmax:
		softmax(z)
		copy(score, z)
	default:
		copy(score, z)
	}
}
