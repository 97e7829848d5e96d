package trees

// sumRows is how many rows walk down a tree together.
const sumRows = 2048

// Sum adds to z (n × k, row by row) the leaves' numbers of all trees, in the
// order of the trees, for the rows of x (n × d, row by row).
//
// Rows walk down a tree together, a level at a time: one row's next node does
// not wait for another's to come from memory. Cost O(n · depth) a tree.
func (e *Ensemble) Sum(z []float64, k int, x []float32, d int) {
	n := len(x) / d
	if len(z) != n*k || len(x) != n*d {
		panic("trees: x and the sums have different rows")
	}
	for lo := 0; lo < n; lo += sumRows {
		hi := min(n, lo+sumRows)
		e.sum(z[lo*k:hi*k], k, x[lo*d:hi*d], d)
	}
}

func (e *Ensemble) sum(z []float64, k int, x []float32, d int) {
	var at [sumRows]int32      // the node of each row
	var walking [sumRows]int32 // the rows that are not yet in a leaf
	n := len(x) / d
	nodes := e.Nodes
	for t, root := range e.Roots {
		left := 0
		for i := range n {
			at[i] = root
			walking[i] = int32(i)
		}
		if nodes[root].Feature >= 0 {
			left = n
		}
		for left > 0 {
			still := 0
			for _, row := range walking[:left] {
				i := int(row) & (sumRows - 1)
				node := &nodes[at[i]]
				// No branch, which could not be foretold.
				goes := int32(0)
				if x[i*d+int(node.Feature)] > node.Threshold {
					goes = 1
				}
				to := node.Left ^ (node.Left^node.Right)&-goes
				at[i] = to
				walking[still] = row
				inner := 0
				if nodes[to].Feature >= 0 {
					inner = 1
				}
				still += inner
			}
			left = still
		}
		first := 0
		if e.Output != nil {
			first = int(e.Output[t])
		}
		for i := range n {
			leaf := e.Values[int(nodes[at[i]].Left)*e.Stride:][:e.Width]
			out := z[i*k+first:][:len(leaf)]
			for j, v := range leaf {
				out[j] += v
			}
		}
	}
}
