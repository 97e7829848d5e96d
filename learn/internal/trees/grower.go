package trees

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Response is what the trees of a forest learn: classes or numbers.
type Response struct {
	// Classes is the number of classes, 0 for numbers.
	Classes int
	// Labels has the class of each of the n rows, below Classes.
	Labels []int32
	// Outputs is q, the numbers of a row.
	Outputs int
	// Values are n × q numbers, row by row.
	Values []float64
}

// The payload of a sample, what a search needs to know of it, is one word:
//
//	two classes     weight of class 1 << 42 | weight of class 0 << 21 | 1
//	else            class << 32 | weight
//
// The first kind is summed as it is: three sums in one addition, if there are
// fewer than 2²¹ rows.
const (
	pairBits = 21
	pairMask = 1<<pairBits - 1
	pairRows = 1 << pairBits
)

// criterion is how splits are searched.
type criterion int

const (
	twoClasses  criterion = iota // packed payloads
	manyClasses                  // Gini of any number of classes
	oneNumber                    // squared error
	manyNumbers                  // sum of the squared errors of the outputs
)

// split is a way of dividing a node: ranks up to left of the feature go left.
type split struct {
	score       float64 // what is maximised; comparable within a node only
	feature     int32
	left, right uint32 // neighbouring ranks among the rows of the node
	pair        uint64 // two classes: the sum of the payloads on the left
}

// task is a node to be made: samples lo … hi − 1.
type task struct {
	lo, hi    int
	depth     int
	constants int    // features known to be constant in the node
	parent    int    // −1 for the root
	right     bool   // which child of the parent
	pair      uint64 // two classes: the sum of the payloads
}

// grower grows one tree after another. It owns scratch space for all of them.
type grower struct {
	cols []column
	y    Response
	set  ForestConfig
	kind criterion
	rng  *rand.Rand

	// The samples in the order of the tree, a node's side by side, ascending
	// by row; and space for those that go right while a node is divided.
	rows, spareRows   []uint32
	pay, sparePay     []uint64
	value, spareValue []float64 // oneNumber: weight times (y − mean)

	// features is a permutation of the columns: a node's known constants come
	// first. constants keeps the order of those for siblings and children.
	features, constants []int32

	tally   []uint64  // by rank, or by rank and class; zero between searches
	sums    []float64 // by rank; zero between searches
	marks   []uint64  // a bit for each rank; zero between searches
	summary []uint64  // a bit for each word of marks; zero between searches
	levels  []uint32  // ranks that occur in the node, ascending
	head    []int32   // by rank, the last sample, plus one; zero between searches
	next    []int32   // the sample before it with the same rank, plus one
	left    []float64 // totals of the samples on the left: by class or output
	total   []float64 // totals of the node

	weight uint64    // numbers: total weight of the node
	sum    float64   // oneNumber: total of value in the node
	mean   []float64 // of each output over all rows; subtracted for accuracy
	best   split
	tasks  []task
	tree   tree

	ctx     context.Context // of the tree being grown
	work    int             // samples seen since ctx was last asked
	stopped error           // its answer
}

// tree is what a grower makes.
type tree struct {
	nodes []Node // Left of a leaf is a row of values, or −1 − c for a leaf of class c only
	rows  int    // of values
	// values are those of the leaves that are not of one class only.
	values []float64
}

func newGrower(cols []column, y Response, mean []float64, set ForestConfig) *grower {
	n := len(y.Labels)
	if y.Classes == 0 {
		n = len(y.Values) / y.Outputs
	}
	g := &grower{cols: cols, y: y, set: set, mean: mean}
	switch {
	case y.Classes == 2 && n < pairRows:
		g.kind = twoClasses
	case y.Classes > 0:
		g.kind = manyClasses
	case y.Outputs == 1:
		g.kind = oneNumber
	default:
		g.kind = manyNumbers
	}
	g.rows, g.spareRows = make([]uint32, n), make([]uint32, n)
	g.pay, g.sparePay = make([]uint64, n), make([]uint64, n)
	g.features = make([]int32, len(cols))
	g.constants = make([]int32, len(cols))
	levels := 0
	for i := range cols {
		levels = max(levels, cols[i].levels())
	}
	g.levels = make([]uint32, levels+1)
	g.marks = make([]uint64, levels/64+1)
	g.summary = make([]uint64, levels/64/64+1)
	switch g.kind {
	case twoClasses:
		g.tally = make([]uint64, levels)
	case oneNumber:
		g.tally = make([]uint64, levels)
		g.sums = make([]float64, levels)
		g.value, g.spareValue = make([]float64, n), make([]float64, n)
	case manyClasses:
		g.tally = make([]uint64, denseClasses(n))
	}
	if g.kind == manyClasses || g.kind == manyNumbers {
		g.head, g.next = make([]int32, levels), make([]int32, n)
		g.left = make([]float64, max(y.Classes, y.Outputs))
		g.total = make([]float64, max(y.Classes, y.Outputs))
	}
	return g
}

// grow makes the tree of the given index.
func (g *grower) grow(ctx context.Context, index int) (tree, error) {
	g.rng = rand.New(rand.NewPCG(g.set.Seed, mix(uint64(index))))
	g.draw()
	for i := range g.features {
		g.features[i] = int32(i)
	}
	g.tree = tree{}
	g.ctx, g.stopped = ctx, nil
	g.tasks = append(g.tasks[:0], task{hi: len(g.rows), parent: -1})
	if g.kind == twoClasses {
		for _, p := range g.pay {
			g.tasks[0].pair += p
		}
	}
	for len(g.tasks) > 0 {
		t := g.tasks[len(g.tasks)-1]
		g.tasks = g.tasks[:len(g.tasks)-1]
		g.node(t)
		if g.stopped != nil {
			return tree{}, g.stopped
		}
	}
	return g.tree, nil
}

// mix is the finalizer of SplitMix64 [steele2014]: neighbouring trees get unlike generators.
func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// draw fills the samples: all rows once, or n draws with replacement, as
// weights of the rows that were drawn.
func (g *grower) draw() {
	n := cap(g.rows)
	g.rows, g.pay = g.rows[:n], g.pay[:n]
	weight := g.spareRows[:n]
	if g.set.Bootstrap {
		clear(weight)
		for range n {
			weight[g.rng.IntN(n)]++
		}
	} else {
		for i := range weight {
			weight[i] = 1
		}
	}
	m := 0
	for i, w := range weight {
		if w == 0 {
			continue
		}
		g.rows[m] = uint32(i)
		switch g.kind {
		case twoClasses:
			g.pay[m] = 1 | uint64(w)<<(pairBits*(1+g.y.Labels[i]))
		case manyClasses:
			g.pay[m] = uint64(g.y.Labels[i])<<32 | uint64(w)
		default:
			g.pay[m] = uint64(w)
		}
		if g.kind == oneNumber {
			g.value[m] = float64(w) * (g.y.Values[i] - g.mean[0])
		}
		m++
	}
	g.rows, g.pay = g.rows[:m], g.pay[:m]
}

// node makes a leaf, or divides the samples and leaves two tasks.
func (g *grower) node(t task) {
	at := len(g.tree.nodes)
	if t.parent >= 0 {
		if t.right {
			g.tree.nodes[t.parent].Right = int32(at)
		} else {
			g.tree.nodes[t.parent].Left = int32(at)
		}
	}
	rows := t.hi - t.lo
	pure := g.totals(t)
	if pure || rows < 2 || rows < 2*g.set.MinLeaf || g.set.MaxDepth > 0 && t.depth >= g.set.MaxDepth {
		g.leaf(t)
		return
	}
	constants := g.search(t)
	if math.IsInf(g.best.score, -1) {
		g.leaf(t)
		return
	}
	c := &g.cols[g.best.feature]
	g.tree.nodes = append(g.tree.nodes, Node{
		Feature:   g.best.feature,
		Threshold: between(c.values[g.best.left], c.values[g.best.right]),
	})
	var middle int
	switch {
	case c.narrow != nil:
		middle = divide(g, c.narrow, t.lo, t.hi)
	case c.middle != nil:
		middle = divide(g, c.middle, t.lo, t.hi)
	default:
		middle = divide(g, c.wide, t.lo, t.hi)
	}
	// The left child is made first.
	g.tasks = append(g.tasks,
		task{middle, t.hi, t.depth + 1, constants, at, true, t.pair - g.best.pair},
		task{t.lo, middle, t.depth + 1, constants, at, false, g.best.pair})
}

// search tries columns drawn at random without replacement, as scikit-learn's
// BestSplitter does: MaxFeatures of them, and more until one is not constant.
// Columns that are constant in a node are so in its children, and drawing one
// of those costs nothing. It sets best and gives the number of columns known to
// be constant in the node.
func (g *grower) search(t task) (constants int) {
	g.best.score = math.Inf(-1)
	known, found, drawn, visited := t.constants, 0, 0, 0
	end := len(g.features) // what was tried is kept at the end
	f := g.features
	for g.stopped == nil && end > known+found && (visited < g.set.MaxFeatures || visited <= found+drawn) {
		visited++
		j := drawn + int(g.rng.Uint64N(uint64(end-found-drawn)))
		if j < known {
			f[drawn], f[j] = f[j], f[drawn]
			drawn++
			continue
		}
		j += found
		if g.work += t.hi - t.lo; g.work > 1<<20 {
			g.work, g.stopped = 0, g.ctx.Err()
		}
		if !g.try(f[j], t) {
			f[j], f[known+found] = f[known+found], f[j]
			found++
			continue
		}
		end--
		f[end], f[j] = f[j], f[end]
	}
	// Siblings and children rely on the order of the constants.
	copy(f[:known], g.constants[:known])
	copy(g.constants[known:known+found], f[known:known+found])
	return known + found
}

// try looks for a better split by the feature; it is false if the feature is
// constant in the node.
func (g *grower) try(feature int32, t task) bool {
	c := &g.cols[feature]
	if c.levels() == 1 {
		return false
	}
	before := g.best.score
	var varies bool
	switch {
	case c.narrow != nil:
		varies = tryRanks(g, c.narrow, c.levels(), t)
	case c.middle != nil:
		varies = tryRanks(g, c.middle, c.levels(), t)
	default:
		varies = tryRanks(g, c.wide, c.levels(), t)
	}
	if g.best.score > before {
		g.best.feature = feature
	}
	return varies
}

func tryRanks[T rank](g *grower, ranks []T, levels int, t task) bool {
	switch g.kind {
	case twoClasses:
		if levels == 2 {
			return tryPairOfLevels(g, ranks, t)
		}
		return tryPair(g, ranks, levels, t)
	case oneNumber:
		return tryNumber(g, ranks, levels, t)
	case manyClasses:
		return tryClasses(g, ranks, levels, t)
	default:
		return tryNumbers(g, ranks, levels, t)
	}
}

// mark notes that a rank occurs in the node.
func (g *grower) mark(rank uint32) {
	g.marks[rank>>6] |= 1 << (rank & 63)
	g.summary[rank>>12] |= 1 << (rank >> 6 & 63)
}

// marked is the ranks that were marked, ascending, and forgets the marks.
func (g *grower) marked() []uint32 {
	n := 0
	for s, words := range g.summary {
		if words == 0 {
			continue
		}
		g.summary[s] = 0
		for ; words != 0; words &= words - 1 {
			w := s<<6 | bits.TrailingZeros64(words)
			marks := g.marks[w]
			g.marks[w] = 0
			for ; marks != 0; marks &= marks - 1 {
				g.levels[n] = uint32(w<<6 | bits.TrailingZeros64(marks))
				n++
			}
		}
	}
	return g.levels[:n]
}

// divide moves the samples lo … hi − 1 that go right by the best split behind
// those that go left, keeping the order, and gives where they begin.
func divide[T rank](g *grower, ranks []T, lo, hi int) int {
	limit := g.best.left
	rows, pay := g.rows[lo:hi], g.pay[lo:hi]
	pay = pay[:len(rows)]
	spareRows, sparePay := g.spareRows[:len(rows)], g.sparePay[:len(rows)]
	l, r := 0, 0
	if g.kind == oneNumber {
		value, spareValue := g.value[lo:hi][:len(rows)], g.spareValue[:len(rows)]
		for i, row := range rows {
			v := value[i]
			value[l], spareValue[r] = v, v
			goes := 0
			if uint32(ranks[row]) > limit {
				goes = 1
			}
			r += goes
			l += 1 - goes
		}
		copy(value[l:], spareValue[:r])
		l, r = 0, 0
	}
	for i, row := range rows {
		p := pay[i]
		rows[l], pay[l] = row, p
		spareRows[r], sparePay[r] = row, p
		goes := 0
		if uint32(ranks[row]) > limit {
			goes = 1
		}
		r += goes
		l += 1 - goes
	}
	copy(rows[l:], spareRows[:r])
	copy(pay[l:], sparePay[:r])
	return lo + l
}
