package learn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/learn/internal/trees"
)

// EarlyStopping tells whether boosting holds out rows to stop early.
type EarlyStopping string

// When boosting stops early.
const (
	// StopAuto: if there are more than 10,000 rows.
	StopAuto EarlyStopping = ""
	// StopEarly: always; x needs two rows.
	StopEarly EarlyStopping = "on"
	// StopNever: never; every fit has MaxIter rounds.
	StopNever EarlyStopping = "off"
)

// Boosting is gradient boosting of trees on histograms, of classes or numbers
// ([friedman2001]; [ke2017]), as
// scikit-learn's HistGradientBoostingClassifier and Regressor. Each of MaxIter
// rounds adds a tree for each raw prediction f, fitted to the derivatives g and
// h of the loss and shrunk by Rate; its leaves have −Σg/(Σh + L2). Of all
// leaves the one that gains most is divided next, at a threshold between two of
// at most Bins bins. The loss of a row is
//
//	numbers          ½ Σⱼ (fⱼ − yⱼ)²
//	two classes      −log p(y),   p = σ(f) for the second class
//	more classes     −log p(y),   p = softmax(f)
//
// Scores are p, or f for numbers. The report's Objective is the mean loss of
// the rows learned from.
//
// Columns are rounded to 32 bits first, and thresholds down to 32 bits;
// scikit-learn keeps 64. Otherwise fits without early stopping agree with its
// own up to rounding: of splits that gain the same, either may be taken. The
// rows held out, and the 200,000 that choose the bins of larger data, are drawn
// by another generator. Several numbers share the rounds and the stopping.
//
// Cost O(n d) a tree and level, n memory for each group of four columns.
type Boosting struct {
	// MaxIter is the number of rounds; 0 means 100.
	MaxIter int
	// Rate is the learning rate, positive; 0 means 0.1.
	Rate float64
	// MaxLeaves bounds the leaves of a tree, at least 2; 0 means 31.
	MaxLeaves int
	// MaxDepth bounds the number of divisions above a leaf; 0 means no bound.
	MaxDepth int
	// MinLeaf is the least number of rows in a leaf; 0 means 20.
	MinLeaf int
	// L2 is the penalty of the leaves' numbers, 0 or positive.
	L2 float64
	// Bins is the largest number of bins of a column, 2 to 255; 0 means 255.
	Bins int
	// EarlyStopping holds out a tenth of the rows, of each class its share, and
	// ends when their mean loss has not fallen by more than 1e-7 in 10 rounds.
	// All trees are kept.
	EarlyStopping EarlyStopping
	// Seed chooses the rows held out.
	Seed uint64
	// Workers is the number of goroutines; 0 means GOMAXPROCS. The model does
	// not depend on it.
	Workers int
}

func (b Boosting) check() error {
	switch {
	case b.MaxIter < 0 || b.MaxIter > 1<<20:
		return fmt.Errorf("learn: boosting's MaxIter is %d, want 1 to %d, or 0 for 100", b.MaxIter, 1<<20)
	case math.IsNaN(b.Rate) || math.IsInf(b.Rate, 0) || b.Rate < 0:
		return fmt.Errorf("learn: boosting's Rate is %g, want a positive finite number", b.Rate)
	case b.MaxLeaves < 0 || b.MaxLeaves == 1:
		return fmt.Errorf("learn: boosting's MaxLeaves is %d, want at least 2, or 0 for 31", b.MaxLeaves)
	case b.MaxDepth < 0:
		return fmt.Errorf("learn: boosting's MaxDepth is %d, want a positive number, or 0 for no bound", b.MaxDepth)
	case b.MinLeaf < 0:
		return fmt.Errorf("learn: boosting's MinLeaf is %d, want a positive number", b.MinLeaf)
	case math.IsNaN(b.L2) || math.IsInf(b.L2, 0) || b.L2 < 0:
		return fmt.Errorf("learn: boosting's L2 is %g, want a finite number of at least 0", b.L2)
	case b.Bins < 0 || b.Bins == 1 || b.Bins > 255:
		return fmt.Errorf("learn: boosting's Bins is %d, want 2 to 255", b.Bins)
	}
	switch b.EarlyStopping {
	case StopAuto, StopEarly, StopNever:
		return nil
	}
	return fmt.Errorf("learn: boosting's EarlyStopping is %q, want %q, %q or %q", b.EarlyStopping, StopAuto, StopEarly, StopNever)
}

// Name is "boosting".
func (Boosting) Name() string { return "boosting" }

// CarriesRows is false: trees hold thresholds and sums over at least MinLeaf
// rows, and no rows. A threshold is all the same the midpoint of two values of
// one column, and a MinLeaf of 1 tells of single rows; see [Forest.CarriesRows].
func (Boosting) CarriesRows() bool { return false }

// Fit returns a *TreeEnsemble with the link Sigmoid for two classes, Softmax
// for more, Identity for numbers. It reports Converged if it stopped early,
// IterationLimit if it might have but had not yet after MaxIter rounds, and
// Exact if all MaxIter rounds were wanted. Iterations are the rounds, of which it
// tells [OnProgress].
func (b Boosting) Fit(ctx context.Context, x *mat.Dense, y Target) (Model, error) {
	if err := b.check(); err != nil {
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
	stop := b.EarlyStopping == StopEarly || b.EarlyStopping == StopAuto && n > 10000
	if stop && n < 2 {
		return nil, fmt.Errorf("learn: boosting stops early by rows held out, x has %d, want at least 2", n)
	}
	set := trees.BoostConfig{
		Rounds: b.MaxIter, Rate: b.Rate, MaxLeaves: b.MaxLeaves, MaxDepth: b.MaxDepth, MinLeaf: b.MinLeaf, L2: b.L2,
		Bins: b.Bins, EarlyStop: stop, Patience: 10, StopTol: 1e-7, Seed: b.Seed, Workers: trees.Workers(b.Workers),
	}
	if set.Rounds == 0 {
		set.Rounds = 100
	}
	if set.Rate == 0 {
		set.Rate = .1
	}
	if set.MaxLeaves == 0 {
		set.MaxLeaves = 31
	}
	if set.MinLeaf == 0 {
		set.MinLeaf = 20
	}
	if set.Bins == 0 {
		set.Bins = 255
	}
	k := max(response.Classes, response.Outputs)
	// Nodes have 32-bit indices.
	if leaves := min(set.MaxLeaves, max(1, n/set.MinLeaf)); float64(set.Rounds)*float64(k)*float64(2*leaves) > math.MaxInt32 {
		return nil, fmt.Errorf("learn: %d rounds of %d trees of %d leaves have more than %d nodes, want fewer rounds", set.Rounds, k, leaves, math.MaxInt32)
	}
	set.Progress = treeProgress(ctx, "rounds")
	e, err := trees.Boost(ctx, cols, response, set)
	if err != nil {
		return nil, err
	}
	m := &TreeEnsemble{
		Kind: b.Name(), Columns: d, Nodes: e.Nodes, Roots: e.Roots,
		Values: mat.NewDense(len(e.Values), 1, e.Values),
		Output: e.Output, Base: e.Base, Link: Identity, Levels: slices.Clone(y.Classes),
		Fitted: Report{Rows: n, Inputs: d, Outputs: k, Status: Exact, Iterations: e.Rounds, Objective: e.Loss},
	}
	switch {
	case k == 2 && y.Classification():
		m.Link = Sigmoid
	case y.Classification():
		m.Link = Softmax
	}
	switch {
	case e.Stopped:
		m.Fitted.Status = Converged
	case stop:
		m.Fitted.Status = IterationLimit
	}
	if err := m.Check(); err != nil || math.IsNaN(e.Loss) || math.IsInf(e.Loss, 0) {
		return nil, fmt.Errorf("learn: boosting overflows, lower its rate or scale the target down")
	}
	return m, nil
}
