package trees

// Numbers are divided so that the sum of their squared distances from the means
// of the children, summed over the outputs, is least. With the weighted sums
// sl and sr and the weights l and r, that is the largest
//
//	sl²/l + sr²/r
//
// which does not change, up to a constant of the node, when the same number is
// subtracted from all. The mean over all rows is, for accuracy.

// tryNumber searches the splits of one output. The upper half of a tally counts
// the rows, the lower is their weight.
func tryNumber[T rank](g *grower, ranks []T, levels int, t task) bool {
	rows := g.rows[t.lo:t.hi]
	pay := g.pay[t.lo:t.hi][:len(rows)]
	value := g.value[t.lo:t.hi][:len(rows)]
	tally, sums := g.tally[:levels], g.sums[:levels]
	const one = 1 << 32
	var found []uint32
	if levels <= len(rows) {
		for i, row := range rows {
			v := ranks[row]
			tally[v] += pay[i] | one
			sums[v] += value[i]
		}
		n := 0
		list := g.levels[:len(tally)+1]
		for v, count := range tally {
			list[n] = uint32(v)
			if count != 0 {
				n++
			}
		}
		found = list[:n]
	} else {
		for i, row := range rows {
			v := uint32(ranks[row])
			tally[v] += pay[i] | one
			sums[v] += value[i]
			g.mark(v)
		}
		found = g.marked()
	}
	last := len(found) - 1
	var left uint64
	var sumL float64
	total, sum := g.weight|uint64(len(rows))<<32, g.sum
	for i, v := range found[:last] {
		left += tally[v]
		sumL += sums[v]
		tally[v], sums[v] = 0, 0
		right := total - left
		if int(left>>32) < g.set.MinLeaf || int(right>>32) < g.set.MinLeaf {
			continue
		}
		sumR := sum - sumL
		score := sumL*sumL/float64(uint32(left)) + sumR*sumR/float64(uint32(right))
		if score > g.best.score {
			g.best.score, g.best.left, g.best.right = score, v, found[i+1]
		}
	}
	tally[found[last]], sums[found[last]] = 0, 0
	return last > 0
}

// tryNumbers searches the splits of several outputs.
func tryNumbers[T rank](g *grower, ranks []T, _ int, t task) bool {
	rows := g.rows[t.lo:t.hi]
	pay := g.pay[t.lo:t.hi][:len(rows)]
	q := g.y.Outputs
	clear(g.left)
	var weightL float64
	countL := 0
	found := chain(g, ranks, rows)
	for i, v := range found {
		for s := g.head[v]; s != 0; s = g.next[s-1] {
			w := float64(pay[s-1])
			row := int(rows[s-1])
			for j, y := range g.y.Values[row*q : (row+1)*q] {
				g.left[j] += w * (y - g.mean[j])
			}
			weightL += w
			countL++
		}
		g.head[v] = 0
		if i+1 == len(found) || countL < g.set.MinLeaf || len(rows)-countL < g.set.MinLeaf {
			continue
		}
		weightR := float64(g.weight) - weightL
		var score float64
		for j, l := range g.left {
			r := g.total[j] - l
			score += l*l/weightL + r*r/weightR
		}
		if score > g.best.score {
			g.best.score, g.best.left, g.best.right = score, v, found[i+1]
		}
	}
	return len(found) > 1
}

// numberTotals sums a node's weights and numbers. It is true if all rows of the
// node have the same numbers.
func (g *grower) numberTotals(t task) (pure bool) {
	g.weight = 0
	for _, w := range g.pay[t.lo:t.hi] {
		g.weight += w
	}
	rows := g.rows[t.lo:t.hi]
	if g.kind == oneNumber {
		g.sum = 0
		pure = true
		first := g.y.Values[rows[0]]
		for i, v := range g.value[t.lo:t.hi] {
			g.sum += v
			if pure && g.y.Values[rows[i]] != first {
				pure = false
			}
		}
		return pure
	}
	q := g.y.Outputs
	clear(g.total)
	pure = true
	first := g.y.Values[int(rows[0])*q:][:q]
	for i, row := range rows {
		w := float64(g.pay[t.lo+i])
		for j, y := range g.y.Values[int(row)*q : (int(row)+1)*q] {
			g.total[j] += w * (y - g.mean[j])
			if y != first[j] {
				pure = false
			}
		}
	}
	return pure
}

// means appends the weighted means of a node's numbers: exactly the number
// where all are the same.
func (g *grower) means(t task, values []float64) []float64 {
	q := g.y.Outputs
	rows := g.rows[t.lo:t.hi]
	for j := range q {
		first := g.y.Values[int(rows[0])*q+j]
		var sum float64 // of the differences from the first
		for i, row := range rows {
			sum += float64(g.pay[t.lo+i]) * (g.y.Values[int(row)*q+j] - first)
		}
		values = append(values, first+sum/float64(g.weight))
	}
	return values
}
