package trees

// Sum adds to z (n × k, row by row) the leaves' numbers of all trees, in the
// order of the trees, for the rows of x (n × d, row by row).
// Cost O(n · depth) a tree.
func (e *Ensemble) Sum(z []float64, k int, x []float32, d int) {
	if len(z)/k != len(x)/d {
		panic("trees: x and the sums have different rows")
	}
	n := len(x) / d
	nodes := e.Nodes
	for t, root := range e.Roots {
		first := 0
		if e.Output != nil {
			first = int(e.Output[t])
		}
		for i := range n {
			row := x[i*d : (i+1)*d]
			node := &nodes[root]
			for node.Feature >= 0 {
				to, right := node.Left, node.Right
				if row[node.Feature] > node.Threshold {
					to = right
				}
				node = &nodes[to]
			}
			leaf := e.Values[int(node.Left)*e.Stride:][:e.Width]
			out := z[i*k+first:][:len(leaf)]
			for j, v := range leaf {
				out[j] += v
			}
		}
	}
}
