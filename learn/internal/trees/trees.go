// Package trees grows decision trees: random forests with exact splits, and
// gradient boosting on histograms. It is the engine of learn.Forest and
// learn.Boosting, which check its arguments; start there.
//
// [GrowForest] and [Boost] take the columns of x as 32-bit numbers and give an
// [Ensemble], which [Ensemble.Sum] applies. Both depend on their seed and not
// on the number of goroutines. The package knows no missing numbers and no
// sample weights other than those of the bootstrap.
//
// Papers: [breiman2001], [friedman2001], [ke2017]. Semantics follow scikit-learn 1.2.
package trees

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// Node is a node of a tree. An inner node sends a row to Left if
//
//	x[Feature] ≤ Threshold
//
// in 32-bit arithmetic, else to Right.
type Node struct {
	// Feature is a column of x, from 0, or −1 for a leaf.
	Feature int32
	// Threshold is finite.
	Threshold float32
	// Left and Right are indices of nodes, larger than the node's own. Left of
	// a leaf is a row of the ensemble's values, and Right is 0.
	Left, Right int32
}

// Leaf is the Feature of a leaf.
const Leaf = -1

// Ensemble is a number of trees with the numbers in their leaves.
type Ensemble struct {
	// Nodes are those of all trees, a tree after another.
	Nodes []Node
	// Roots are the indices of the first node of each tree.
	Roots []int32
	// Values are the numbers of the leaves, Width a row, the rows Stride apart.
	// Leaves may share them.
	Values        []float64
	Width, Stride int
	// Output is for each tree the output to which the first number of its
	// leaves is added; nil for 0.
	Output []int32
}

// between is the largest 32-bit number that is not above the middle of a and b,
// a < b. Since it lies in [a, b), and no 32-bit number lies between it and the
// middle, x ≤ between(a, b) and x ≤ (a + b)/2 are the same for 32-bit x.
func between(a, b float32) float32 {
	middle := float64(a)/2 + float64(b)/2
	t := float32(middle)
	if float64(t) > middle {
		t = math.Nextafter32(t, float32(math.Inf(-1)))
	}
	return t
}

// Workers is the number of goroutines that n stands for: 0 means GOMAXPROCS.
func Workers(n int) int {
	if n <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return n
}

// Parallel calls f for 0 … n − 1 on so many goroutines and waits. The order of
// the calls is free.
func Parallel(workers, n int, f func(i int)) {
	workers = min(workers, n)
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	run := func() {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			f(i)
		}
	}
	for range workers - 1 {
		wait.Go(run)
	}
	run()
	wait.Wait()
}
