package trees

// booster grows trees leaf by leaf: of all leaves the one with the largest gain
// is divided next, until there are enough leaves or none gains.
type booster struct {
	b   *binned
	set BoostConfig
	// rows are the training rows, those of a leaf side by side and ascending.
	rows, spare []uint32
	free        [][]cell // histograms that are not in use
	leaves      []leafNode
	found       []binSplit // by group of columns: of one child, then the other
}

// leafNode is a leaf of the growing tree: rows lo … hi − 1.
type leafNode struct {
	lo, hi, depth int
	node          int // its place among the nodes
	total         cell
	hist          []cell   // nil if the leaf is not to be divided
	split         binSplit // no gain if the leaf is not to be divided
}

func newBooster(b *binned, n int, set BoostConfig) *booster {
	return &booster{
		b: b, set: set,
		rows: make([]uint32, n), spare: make([]uint32, n),
		found: make([]binSplit, 2*len(b.words)),
	}
}

// grow appends a tree's nodes to e. Its leaves, with the rows in them, stay in
// leaves until the next call; values are not yet set.
func (o *booster) grow(e *Ensemble, grad []gradient) {
	for i := range o.rows {
		o.rows[i] = uint32(i)
	}
	var total cell
	for _, d := range grad {
		total.g += float64(d.g)
		total.h += float64(d.h)
	}
	total.n = len(grad)
	root := leafNode{hi: len(grad), node: len(e.Nodes), total: total}
	e.Roots = append(e.Roots, int32(root.node))
	e.Nodes = append(e.Nodes, Node{Feature: Leaf})
	if o.divisible(&root) {
		root.hist = o.histogram()
		groups := len(o.b.words)
		Parallel(o.workers(root.total.n), groups, func(group int) {
			o.b.fill(root.hist, group, o.rows, grad)
			o.found[group] = o.b.best(root.hist, group, root.total, o.set.MinLeaf, o.set.L2)
		})
		o.choose(&root, o.found[:groups])
	}
	o.leaves = append(o.leaves[:0], root)
	for len(o.leaves) < o.set.MaxLeaves {
		at := 0
		for i := range o.leaves {
			if o.leaves[i].split.gain > o.leaves[at].split.gain {
				at = i
			}
		}
		if o.leaves[at].split.gain <= 0 {
			break
		}
		o.divide(e, at, grad)
	}
	for i := range o.leaves {
		o.release(&o.leaves[i])
	}
}

// divisible tells whether a leaf is large enough and not too deep to divide.
func (o *booster) divisible(l *leafNode) bool {
	return l.total.n >= 2*o.set.MinLeaf && l.total.h >= leastCurvature &&
		(o.set.MaxDepth == 0 || l.depth < o.set.MaxDepth)
}

// divide puts two leaves in the place of one.
func (o *booster) divide(e *Ensemble, at int, grad []gradient) {
	parent := o.leaves[at]
	s := parent.split
	node := len(e.Nodes)
	e.Nodes[parent.node] = Node{
		Feature: int32(s.column), Threshold: o.b.thresholds[s.column][s.bin],
		Left: int32(node), Right: int32(node + 1),
	}
	e.Nodes = append(e.Nodes, Node{Feature: Leaf}, Node{Feature: Leaf})
	middle := o.partition(parent.lo, parent.hi, s)
	left := leafNode{lo: parent.lo, hi: middle, depth: parent.depth + 1, node: node, total: s.left}
	right := leafNode{lo: middle, hi: parent.hi, depth: parent.depth + 1, node: node + 1}
	right.total = cell{parent.total.g - s.left.g, parent.total.h - s.left.h, parent.total.n - s.left.n}
	small, large := &left, &right
	if right.total.n < left.total.n {
		small, large = large, small
	}
	divideSmall, divideLarge := o.divisible(small), o.divisible(large)
	if len(o.leaves)+1 < o.set.MaxLeaves && (divideSmall || divideLarge) {
		small.hist, large.hist, parent.hist = o.histogram(), parent.hist, nil
		groups := len(o.b.words)
		Parallel(o.workers(small.total.n), groups, func(group int) {
			o.b.fill(small.hist, group, o.rows[small.lo:small.hi], grad)
			if divideLarge {
				o.b.subtract(large.hist, small.hist, group)
				o.found[group] = o.b.best(large.hist, group, large.total, o.set.MinLeaf, o.set.L2)
			}
			if divideSmall {
				o.found[groups+group] = o.b.best(small.hist, group, small.total, o.set.MinLeaf, o.set.L2)
			}
		})
		if divideLarge {
			o.choose(large, o.found[:groups])
		}
		if divideSmall {
			o.choose(small, o.found[groups:])
		}
	}
	for _, l := range []*leafNode{&parent, &left, &right} {
		if l.split.gain <= 0 || l == &parent {
			o.release(l)
		}
	}
	o.leaves[at] = left
	o.leaves = append(o.leaves, right)
}

// choose takes the best of the groups' splits, of equal ones the first column's.
func (o *booster) choose(l *leafNode, found []binSplit) {
	for _, s := range found {
		if s.gain > l.split.gain {
			l.split = s
		}
	}
}

// workers is how many goroutines a histogram of so many rows is worth: waking
// one costs microseconds.
func (o *booster) workers(rows int) int {
	if rows*len(o.b.words)+o.b.bins < 1<<14 {
		return 1
	}
	return o.set.Workers
}

func (o *booster) histogram() []cell {
	if k := len(o.free); k > 0 {
		h := o.free[k-1]
		o.free = o.free[:k-1]
		return h
	}
	return make([]cell, o.b.bins+255)
}

func (o *booster) release(l *leafNode) {
	if l.hist != nil {
		o.free = append(o.free, l.hist)
		l.hist = nil
	}
}

// partition moves the rows lo … hi − 1 that go right behind the others, keeping
// the order, and gives where they begin.
func (o *booster) partition(lo, hi int, s binSplit) int {
	words, shift := o.b.words[s.column/lanes], 8*(s.column%lanes)
	rows := o.rows[lo:hi]
	spare := o.spare[:len(rows)]
	l, r := 0, 0
	for _, row := range rows {
		rows[l], spare[r] = row, row
		goes := 0
		if uint8(words[row]>>shift) > s.bin {
			goes = 1
		}
		r += goes
		l += 1 - goes
	}
	copy(rows[l:], spare[:r])
	return lo + l
}
