package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/trees"
)

// Forest is a random forest [breiman2001], of
// classes or numbers, as scikit-learn's RandomForestClassifier and
// RandomForestRegressor. Each tree sees n rows drawn with replacement. A node
// is divided at the best of all thresholds of MaxFeatures columns drawn at
// random, by the Gini impurity or the squared error; more columns are drawn
// while all of them are constant in the node. Thresholds are midpoints. Scores
// are the mean over the trees of the shares of the classes, or of the means of
// the numbers, in the leaf of a row. A class without rows has probability 0.
//
// Shares are rounded to multiples of T/2²³, T the least power of two that is not
// below the number of trees, and still sum to 1: 1.5e-5 for 100 trees. Their sums
// over the trees are then exact in 32 bits as in 64, and equal votes are equal
// wherever the model is run.
//
// Columns are rounded to 32 bits first, as scikit-learn does. Two of its
// absolute tolerances are left out: here only equal values are equal (there,
// values within 1e-7), and only a node of equal numbers is pure (there, one with
// a variance below 2.2e-16), so that the scale of x and y makes no difference.
//
// Cost O(n · depth · MaxFeatures) a tree, and once a radix sort of each column.
type Forest struct {
	// Trees is their number; 0 means 100.
	Trees int
	// MaxDepth bounds the number of divisions above a leaf; 0 means no bound.
	MaxDepth int
	// MinLeaf is the least number of distinct rows in a leaf; 0 means 1.
	MinLeaf int
	// MaxFeatures is the number of columns tried at a node, at most d; 0 means
	// √d rounded down for classes, and d for numbers.
	MaxFeatures int
	// MaxNodes bounds the nodes of all trees together: a fit that makes more ends
	// with [ErrTooManyNodes]. With 0 a fit that might make more than indices of 32
	// bits can tell, 2n for each tree, does not begin.
	MaxNodes int
	// NoBootstrap shows every tree all rows once.
	NoBootstrap bool
	// Seed chooses rows and columns.
	Seed uint64
	// Workers is the number of goroutines; 0 means GOMAXPROCS. The model does
	// not depend on it.
	Workers int
}

func (f Forest) check() error {
	switch {
	case f.Trees < 0 || f.Trees > 1<<20:
		return fmt.Errorf("learn: forest's Trees is %d, want 1 to %d, or 0 for 100", f.Trees, 1<<20)
	case f.MaxDepth < 0:
		return fmt.Errorf("learn: forest's MaxDepth is %d, want a positive number, or 0 for no bound", f.MaxDepth)
	case f.MinLeaf < 0:
		return fmt.Errorf("learn: forest's MinLeaf is %d, want a positive number", f.MinLeaf)
	case f.MaxFeatures < 0:
		return fmt.Errorf("learn: forest's MaxFeatures is %d, want a positive number, or 0 for the default", f.MaxFeatures)
	case f.MaxNodes < 0 || f.MaxNodes > math.MaxInt32:
		return fmt.Errorf("learn: forest's MaxNodes is %d, want 1 to %d, or 0 for that", f.MaxNodes, math.MaxInt32)
	}
	return nil
}

// ErrTooManyNodes says that a forest would have more nodes than its MaxNodes.
// Leaves of more rows, less depth or fewer trees make a smaller one.
var ErrTooManyNodes = errors.New("learn: forest has too many nodes")

// Name is "forest".
func (Forest) Name() string { return "forest" }

// CarriesRows is false: trees hold thresholds and means, and no rows. They do
// tell of single rows all the same. A threshold is the midpoint of two values
// of one column; with MinLeaf 1, many leaves hold the label or the number of a
// single row; and a party that has a row can see from the leaves whether it was
// probably learned from. A larger MinLeaf or a MaxDepth tells less.
func (Forest) CarriesRows() bool { return false }

// Fit returns a *TreeEnsemble. It reports Exact, and tells [OnProgress] of trees.
func (f Forest) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if err := checkData(x, y); err != nil {
		return nil, err
	}
	cols, response, err := treeData(x, y)
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	set := trees.ForestConfig{
		Trees: f.Trees, MaxDepth: f.MaxDepth, MinLeaf: max(f.MinLeaf, 1), MaxFeatures: f.MaxFeatures,
		Bootstrap: !f.NoBootstrap, Seed: f.Seed, Workers: trees.Workers(f.Workers), MaxNodes: f.MaxNodes,
	}
	if set.Trees == 0 {
		set.Trees = 100
	}
	if set.MaxFeatures == 0 {
		set.MaxFeatures = d
		if y.Classification() {
			set.MaxFeatures = max(1, int(math.Sqrt(float64(d))))
		}
	}
	if set.MaxFeatures > d {
		return nil, fmt.Errorf("learn: forest's MaxFeatures is %d, x has %d columns", set.MaxFeatures, d)
	}
	// A tree has fewer than 2n nodes; their indices have 32 bits.
	if set.MaxNodes == 0 && float64(set.Trees)*float64(2*n) > math.MaxInt32 {
		return nil, fmt.Errorf("learn: %d trees of %d rows may have more than %d nodes, want fewer trees or a MaxNodes", set.Trees, n, math.MaxInt32)
	}
	// The sum over the trees is divided by their number afterwards.
	if top := math.MaxFloat64 / float64(set.Trees); slices.ContainsFunc(response.Values, func(v float64) bool { return math.Abs(v) > top }) {
		return nil, fmt.Errorf("learn: forest overflows, the sum of %d trees is larger than a number can be, scale the target down", set.Trees)
	}
	set.Progress = treeProgress(ctx, "trees")
	e, err := trees.GrowForest(ctx, cols, response, set)
	if err == trees.ErrNodes {
		return nil, fmt.Errorf("%w: %d trees of %d rows have more than %d, want a larger MinLeaf, a MaxDepth or fewer Trees",
			ErrTooManyNodes, set.Trees, n, f.MaxNodes)
	}
	if err != nil {
		return nil, err
	}
	m := &TreeEnsemble{
		Kind: f.Name(), Columns: d, Nodes: e.Nodes, Roots: e.Roots,
		Values: mat.NewDense(len(e.Values)/e.Width, e.Width, e.Values),
		Base:   make([]float64, e.Width), Mean: true, Link: Identity,
		Levels: slices.Clone(y.Classes),
		Fitted: Report{Rows: n, Inputs: d, Outputs: e.Width, Status: Exact},
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("learn: forest overflows, scale the target down: %v", err)
	}
	return m, nil
}
