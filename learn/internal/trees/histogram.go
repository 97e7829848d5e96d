package trees

// gradient is the first and second derivative of the loss of a row by its raw
// prediction, rounded to 32 bits as in scikit-learn.
type gradient struct{ g, h float32 }

// cell is the sums over the rows of a node in one bin.
type cell struct {
	g, h float64
	n    int
}

// add adds a row.
func (c *cell) add(g, h float64) {
	c.g += g
	c.h += h
	c.n++
}

// span is the cells of a group of columns.
func (b *binned) span(group int) (lo, hi int) {
	last := min(len(b.offsets), (group+1)*lanes) - 1
	return b.offsets[group*lanes], b.offsets[last] + len(b.thresholds[last]) + 1
}

// fill sums the gradients of the rows into the cells of a group of columns.
// The sums of a column depend on the order of the rows only. hist has 255 cells
// more than there are bins, so that any bin of a byte is in range.
func (b *binned) fill(hist []cell, group int, rows []uint32, grad []gradient) {
	words := b.words[group]
	first := group * lanes
	columns := min(len(b.offsets)-first, lanes)
	lo, hi := b.span(group)
	clear(hist[lo:hi])
	if columns < lanes {
		for j := first; j < first+columns; j++ {
			at := (*[256]cell)(hist[b.offsets[j]:])
			shift := 8 * (j % lanes)
			for _, row := range rows {
				d := grad[row]
				at[uint8(words[row]>>shift)].add(float64(d.g), float64(d.h))
			}
		}
		return
	}
	at0 := (*[256]cell)(hist[b.offsets[first]:])
	at1 := (*[256]cell)(hist[b.offsets[first+1]:])
	at2 := (*[256]cell)(hist[b.offsets[first+2]:])
	at3 := (*[256]cell)(hist[b.offsets[first+3]:])
	// Of one-hot columns most words are 0: rows in the first bin of all four.
	var zero cell
	grad = grad[:len(words)]
	for _, row := range rows {
		d, w := grad[row], words[row]
		g, h := float64(d.g), float64(d.h)
		if w == 0 {
			zero.add(g, h)
			continue
		}
		at0[uint8(w)].add(g, h)
		at1[uint8(w>>8)].add(g, h)
		at2[uint8(w>>16)].add(g, h)
		at3[uint8(w>>24)].add(g, h)
	}
	for _, c := range []*cell{&at0[0], &at1[0], &at2[0], &at3[0]} {
		c.g += zero.g
		c.h += zero.h
		c.n += zero.n
	}
}

// subtract makes the cells of a group of columns those of the rows of a that
// are not in part.
func (b *binned) subtract(a, part []cell, group int) {
	lo, hi := b.span(group)
	part = part[lo:hi]
	for i := range a[lo:hi] {
		c, p := &a[lo+i], &part[i]
		c.g -= p.g
		c.h -= p.h
		c.n -= p.n
	}
}

// binSplit is a way of dividing a node: bins up to bin of a column go left.
type binSplit struct {
	gain   float64 // 0 if there is none
	column int
	bin    uint8
	left   cell // sums of the rows that go left
}

// leastCurvature is the least sum of second derivatives in a node, scikit-learn's
// min_hessian_to_split.
const leastCurvature = 1e-3

// best is the split of a group's columns with the largest gain
//
//	gl²/(hl + λ) + gr²/(hr + λ) − g²/(h + λ)
//
// that leaves at least minLeaf rows on either side; of equal ones the first. A
// gain that is not positive is none.
func (b *binned) best(hist []cell, group int, total cell, minLeaf int, l2 float64) binSplit {
	var best binSplit
	first := group * lanes
	parent := total.g * leafValue(total, l2)
	for j := first; j < min(len(b.offsets), first+lanes); j++ {
		var left cell
		for i := range b.thresholds[j] {
			c := &hist[b.offsets[j]+i]
			left.g += c.g
			left.h += c.h
			left.n += c.n
			right := cell{total.g - left.g, total.h - left.h, total.n - left.n}
			if left.n < minLeaf || left.h < leastCurvature {
				continue
			}
			if right.n < minLeaf || right.h < leastCurvature {
				break
			}
			gain := parent - left.g*leafValue(left, l2) - right.g*leafValue(right, l2)
			if gain > best.gain {
				best = binSplit{gain, j, uint8(i), left}
			}
		}
	}
	return best
}

// leafValue is the Newton step −g/(h + λ). The last term keeps scikit-learn from
// dividing by zero.
func leafValue(c cell, l2 float64) float64 { return -c.g / (c.h + l2 + 1e-15) }
