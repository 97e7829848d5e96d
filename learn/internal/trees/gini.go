package trees

// Classes are divided so that the Gini impurities of the children, weighted,
// are least. With the weights lc and rc of class c on the left and right, and
// their sums l and r, that is the largest
//
//	Σ lc²/l + Σ rc²/r

// tryPair searches the splits of two classes: the tally of a rank is the sum of
// the payloads.
func tryPair[T rank](g *grower, ranks []T, levels int, t task) bool {
	rows := g.rows[t.lo:t.hi]
	pay := g.pay[t.lo:t.hi][:len(rows)]
	tally := g.tally[:levels]
	var found []uint32
	if levels <= len(rows) {
		for i, row := range rows {
			tally[ranks[row]] += pay[i]
		}
		n := 0
		list := g.levels[:len(tally)+1]
		for v, sum := range tally {
			list[n] = uint32(v)
			if sum != 0 {
				n++
			}
		}
		found = list[:n]
	} else {
		for i, row := range rows {
			v := uint32(ranks[row])
			tally[v] += pay[i]
			g.mark(v)
		}
		found = g.marked()
	}
	last := len(found) - 1
	var left uint64
	for i, v := range found[:last] {
		left += tally[v]
		tally[v] = 0
		g.pairSplit(left, t.pair-left, v, found[i+1])
	}
	tally[found[last]] = 0
	return last > 0
}

// tryPairOfLevels is tryPair for columns with two distinct numbers.
func tryPairOfLevels[T rank](g *grower, ranks []T, t task) bool {
	rows := g.rows[t.lo:t.hi]
	pay := g.pay[t.lo:t.hi][:len(rows)]
	var ones uint64
	for i, row := range rows {
		ones += pay[i] & -uint64(ranks[row])
	}
	if ones == 0 || ones == t.pair {
		return false
	}
	g.pairSplit(t.pair-ones, ones, 0, 1)
	return true
}

// pairSplit compares a split with the best so far.
func (g *grower) pairSplit(left, right uint64, v, next uint32) {
	if int(left&pairMask) < g.set.MinLeaf || int(right&pairMask) < g.set.MinLeaf {
		return
	}
	l0, l1 := float64(left>>pairBits&pairMask), float64(left>>(2*pairBits))
	r0, r1 := float64(right>>pairBits&pairMask), float64(right>>(2*pairBits))
	score := (l0*l0+l1*l1)/(l0+l1) + (r0*r0+r1*r1)/(r0+r1)
	if score > g.best.score {
		g.best.score, g.best.left, g.best.right, g.best.pair = score, v, next, left
	}
}

// denseClasses is how many tallies, of rank and class, may be kept for n rows.
func denseClasses(n int) int { return 2 * n }

// tryClasses searches the splits of any number of classes. Where there are few
// ranks and classes the weights are tallied by both. Else the samples of each
// rank are chained, so that neither time nor memory grows with the product.
func tryClasses[T rank](g *grower, ranks []T, levels int, t task) bool {
	k := g.y.Classes
	rows := g.rows[t.lo:t.hi]
	pay := g.pay[t.lo:t.hi][:len(rows)]
	var squareL, squareR, weightL, weightR float64
	left, right := g.left, g.total // total is moved from right to left, and back
	for _, w := range right {
		squareR += w * w
		weightR += w
	}
	countL := 0
	move := func(c int, w float64) {
		squareL += w * (2*left[c] + w)
		squareR -= w * (2*right[c] - w)
		left[c] += w
		right[c] -= w
		weightL += w
		weightR -= w
	}
	defer func() {
		for c, w := range left {
			right[c] += w
			left[c] = 0
		}
	}()
	compare := func(v, next uint32) {
		if countL < g.set.MinLeaf || len(rows)-countL < g.set.MinLeaf {
			return
		}
		score := squareL/weightL + squareR/weightR
		if score > g.best.score {
			g.best.score, g.best.left, g.best.right = score, v, next
		}
	}
	if levels*k <= denseClasses(len(rows)) {
		// The upper half of a tally counts the rows.
		tally := g.tally[:levels*k]
		for i, row := range rows {
			p := pay[i]
			tally[int(ranks[row])*k+int(p>>32)] += p&(1<<32-1) | 1<<32
		}
		last := -1
		for v := range levels {
			rank := tally[v*k : (v+1)*k]
			var any uint64
			for _, w := range rank {
				any |= w
			}
			if any == 0 {
				continue
			}
			if last >= 0 {
				compare(uint32(last), uint32(v))
			}
			first := last < 0
			last = v
			for c, w := range rank {
				if w != 0 {
					move(c, float64(uint32(w)))
					countL += int(w >> 32)
					rank[c] = 0
				}
			}
			if first && countL == len(rows) {
				return false
			}
		}
		return true
	}
	found := chain(g, ranks, rows)
	for i, v := range found {
		for s := g.head[v]; s != 0; s = g.next[s-1] {
			p := pay[s-1]
			move(int(p>>32), float64(uint32(p)))
			countL++
		}
		g.head[v] = 0
		if i+1 < len(found) {
			compare(v, found[i+1])
		}
	}
	return len(found) > 1
}

// chain links the samples of each rank, from head, and gives the ranks that
// occur, ascending.
func chain[T rank](g *grower, ranks []T, rows []uint32) []uint32 {
	next := g.next[:len(rows)]
	for i, row := range rows {
		v := uint32(ranks[row])
		next[i] = g.head[v]
		g.head[v] = int32(i) + 1
		g.mark(v)
	}
	return g.marked()
}

// totals sums a node for its searches. It is true if nothing is left to divide.
func (g *grower) totals(t task) (pure bool) {
	switch g.kind {
	case twoClasses:
		return t.pair>>(2*pairBits) == 0 || t.pair>>pairBits&pairMask == 0
	case manyClasses:
		pay := g.pay[t.lo:t.hi]
		clear(g.total)
		pure = true
		for _, p := range pay {
			g.total[p>>32] += float64(uint32(p))
			if p>>32 != pay[0]>>32 {
				pure = false
			}
		}
		return pure
	default:
		return g.numberTotals(t)
	}
}

// leaf makes a leaf: the share of each class, rounded by [shares], or the mean of
// each output.
func (g *grower) leaf(t task) {
	leaf := Node{Feature: Leaf, Left: int32(g.tree.rows)}
	switch g.kind {
	case twoClasses:
		w := [2]float64{float64(t.pair >> pairBits & pairMask), float64(t.pair >> (2 * pairBits))}
		switch {
		case w[1] == 0:
			leaf.Left = -1
		case w[0] == 0:
			leaf.Left = -2
		default:
			g.tree.values = shares(g.tree.values, w[:], shareBits(g.set.Trees))
			g.tree.rows++
		}
	case manyClasses:
		present, class := 0, 0
		for c, w := range g.total {
			if w > 0 {
				present, class = present+1, c
			}
		}
		if present == 1 {
			leaf.Left = int32(-1 - class)
			break
		}
		g.tree.values = shares(g.tree.values, g.total, shareBits(g.set.Trees))
		g.tree.rows++
	default:
		g.tree.values = g.means(t, g.tree.values)
		g.tree.rows++
	}
	g.tree.nodes = append(g.tree.nodes, leaf)
}
