package trees

import (
	"context"
	"errors"
	"math"
	"sync"
)

// ForestConfig is the settings of a forest, all of them set.
type ForestConfig struct {
	Trees       int // at least 1, at most 2²⁰
	MaxDepth    int // 0 means no limit
	MinLeaf     int // distinct rows in a leaf, at least 1
	MaxFeatures int // columns tried at a node, 1 … d
	Bootstrap   bool
	Seed        uint64
	Workers     int // goroutines, at least 1
	MaxNodes    int // of all trees; 0 means math.MaxInt32

	// Progress is told how many trees are done, one call at a time; nil for nobody.
	Progress func(done, total int)
}

// ErrNodes says that a forest would have more than MaxNodes nodes.
var ErrNodes = errors.New("trees: too many nodes")

// GrowForest grows a random forest on the columns x, d of n finite numbers, n
// and d at least 1. Values of a leaf are the shares of the classes, rounded (see
// shares.go), or the means of the outputs, among the bootstrapped samples in it;
// the forest's answer is their mean over the trees.
//
// Splits are exact: every threshold between neighbouring values of a node is
// tried. They are found by counting ranks, so that a node of m rows costs O(m)
// for each column tried, whether or not many rows share a value; a column's
// ranks are sorted once.
//
// It returns ctx's error when ctx is done, and [ErrNodes] as soon as the trees that
// are made have too many nodes.
func GrowForest(ctx context.Context, x [][]float32, y Response, set ForestConfig) (*Ensemble, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if set.MaxNodes == 0 {
		set.MaxNodes = math.MaxInt32
	}
	cols := rankColumns(x, set.Workers)
	var mean []float64
	unit := 1.
	if y.Classes == 0 {
		y.Values, unit = scaled(y.Values) // so that no square overflows
		mean = columnMeans(y.Values, y.Outputs)
	}
	grown := make([]tree, set.Trees)
	var mu sync.Mutex
	var failed error
	var idle []*grower
	done, nodes := 0, 0
	Parallel(set.Workers, set.Trees, func(i int) {
		mu.Lock()
		stop := failed != nil
		var g *grower
		if len(idle) > 0 {
			g = idle[len(idle)-1]
			idle = idle[:len(idle)-1]
		}
		mu.Unlock()
		if stop {
			return
		}
		if g == nil {
			g = newGrower(cols, y, mean, set)
		}
		err := ctx.Err()
		if err == nil {
			grown[i], err = g.grow(ctx, i)
		}
		mu.Lock()
		defer mu.Unlock()
		idle = append(idle, g)
		nodes += len(grown[i].nodes)
		if err == nil && nodes > set.MaxNodes {
			err = ErrNodes
		}
		if err != nil {
			failed = err
			return
		}
		done++
		if set.Progress != nil {
			set.Progress(done, set.Trees)
		}
	})
	if failed != nil {
		return nil, failed
	}
	e := join(grown, y)
	if y.Classes == 0 {
		for i := range e.Values {
			e.Values[i] *= unit
		}
	}
	return e, nil
}

// columnMeans is the mean of each of the q columns of values (n × q).
func columnMeans(values []float64, q int) []float64 {
	mean := make([]float64, q)
	n := float64(len(values) / q)
	for i, v := range values {
		mean[i%q] += v / n
	}
	return mean
}

// join puts the trees together. The first rows of the values are those of the
// leaves of one class only.
func join(grown []tree, y Response) *Ensemble {
	k := max(y.Classes, y.Outputs)
	e := &Ensemble{Width: k, Stride: k}
	nodes, rows := 0, y.Classes
	for _, t := range grown {
		nodes += len(t.nodes)
		rows += t.rows
	}
	e.Nodes = make([]Node, 0, nodes)
	e.Roots = make([]int32, 0, len(grown))
	e.Values = make([]float64, y.Classes*y.Classes, rows*k)
	for c := range y.Classes {
		e.Values[c*y.Classes+c] = 1
	}
	for _, t := range grown {
		root, row := int32(len(e.Nodes)), int32(len(e.Values)/k)
		e.Roots = append(e.Roots, root)
		for _, n := range t.nodes {
			switch {
			case n.Feature != Leaf:
				n.Left += root
				n.Right += root
			case n.Left < 0:
				n.Left = -1 - n.Left
			default:
				n.Left += row
			}
			e.Nodes = append(e.Nodes, n)
		}
		e.Values = append(e.Values, t.values...)
	}
	return e
}
