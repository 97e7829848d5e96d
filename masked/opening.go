package masked

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"
	"strings"

	"concord/wire"
)

// mostTries bounds how many choices of t shares are tried for one key: all there are of 15
// shares for 9.
const mostTries = 5005

const labelFit = "concord/masked/fit/v1"

// opening says with whose shares each key of a set opens.
type opening struct {
	of *group // of a copy it says nothing
	// good are the members whose reveal messages serve.
	good []wire.Hash
	// points has for each member of the set the t members of good whose shares give its key:
	// indices in the set's members, from 1. nil says that no tried t of them do.
	points [][]int
	// unopened names the first member whose key no shares give that are here, and problems
	// every member whose shares do not lie on one polynomial or not give its key.
	unopened error
	problems []error
}

// opened finds with whose shares the keys of all members open. The shares of one key lie on
// one polynomial of degree t − 1, whose value at 0 its dealer has committed to. A dealer
// that shares otherwise is named. Its key still opens where any t shares give it, so that
// sites with the same messages come to the same end whichever came first: more messages
// never close what fewer open.
//
// Cost: O(r² + n r) multiplications for n members of which r revealed; for a dealer that is
// named up to mostTries times O(t²).
func (r *Round) opened(g *group, good []wire.Hash) *opening {
	if g.opening != nil && g.opening.of == g && slices.Equal(g.opening.good, good) {
		return g.opening
	}
	o := &opening{of: g, good: good, points: make([][]int, len(g.members))}
	points := make([]int, len(good))
	for i, m := range good {
		at, _ := slices.BinarySearchFunc(g.members, m, compare)
		points[i] = at + 1
	}
	first := points[:g.threshold]
	w, dual := weights(first), duals(points)
	for i, dealer := range g.members {
		fits := r.shareOne(g, i, points, dual)
		if r.gives(g, i, first, w) {
			o.points[i] = first
		} else {
			o.points[i] = r.search(g, i, points)
		}
		switch {
		case o.points[i] == nil:
			err := r.wrong(dealer, "shared another key than it promised: with the shares of %s its masks cannot be taken off", strings.Join(r.names(good), ", "))
			if o.unopened == nil {
				o.unopened = err
			}
			o.problems = append(o.problems, err)
		case !fits:
			o.problems = append(o.problems, r.wrong(dealer, "gave shares of its key that do not fit one another: its program is broken, or it lies"))
		}
	}
	g.opening = o
	return o
}

// openedShares are what members, by their points, revealed of the key of member i.
func (g *group) openedShares(i int, points []int) [][]byte {
	shares := make([][]byte, len(points))
	for j, x := range points {
		shares[j] = g.reveal[g.members[x-1]].Opened[shareBytes*i:][:shareBytes]
	}
	return shares
}

// gives reports whether the shares of those points give the key that member i committed to.
func (r *Round) gives(g *group, i int, points []int, w []*big.Int) bool {
	key := join(w, g.openedShares(i, points))
	defer key.Erase()
	return commit(labelKey, key.Reveal()) == *g.ready[g.members[i]].Key
}

// search tries choices of t points in lexicographic order, mostTries at most.
func (r *Round) search(g *group, i int, points []int) []int {
	t, n := g.threshold, len(points)
	choice := make([]int, t)
	for j := range choice {
		choice[j] = j
	}
	some := make([]int, t)
	for range mostTries {
		for j, at := range choice {
			some[j] = points[at]
		}
		if r.gives(g, i, some, weights(some)) {
			return some
		}
		last := t - 1
		for last >= 0 && choice[last] == n-t+last {
			last--
		}
		if last < 0 {
			return nil
		}
		choice[last]++
		for j := last + 1; j < t; j++ {
			choice[j] = choice[j-1] + 1
		}
	}
	return nil
}

// duals are 1 / Π_{j≠i} (x_i − x_j) for the points x: the weighted sum of the values of a
// polynomial of degree below len(x) − 1 is 0.
func duals(x []int) []*big.Int {
	d := make([]*big.Int, len(x))
	for i := range x {
		product := big.NewInt(1)
		for j := range x {
			if i != j {
				product.Mod(product.Mul(product, big.NewInt(int64(x[i]-x[j]))), field)
			}
		}
		d[i] = product.ModInverse(product, field)
	}
	return d
}

// shareOne reports whether the shares of member i's key at some points lie on one polynomial
// of degree t − 1: whether Σ_j dual_j q(x_j) s_j = 0 for a polynomial q of degree r − t − 1,
// r shares, whose coefficients follow from the shares by SHA-256 (the dual code, as in
// [cascudo2017]). Of other shares one
// q in 2²⁵⁶ says so.
func (r *Round) shareOne(g *group, i int, points []int, dual []*big.Int) bool {
	free := len(points) - g.threshold
	if free == 0 {
		return true
	}
	shares := g.openedShares(i, points)
	h := sha256.New()
	h.Write(append([]byte(labelFit), 0))
	for j, s := range shares {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(points[j])))
		h.Write(s)
	}
	seed := h.Sum(nil)
	q := make([]*big.Int, free)
	for k := range q {
		one := sha256.Sum256(binary.BigEndian.AppendUint32(slices.Clone(seed), uint32(k)))
		q[k] = new(big.Int).SetBytes(one[:])
	}
	sum, term := new(big.Int), new(big.Int)
	for j, s := range shares {
		at, x := new(big.Int), big.NewInt(int64(points[j]))
		for k := free - 1; k >= 0; k-- {
			at.Mod(at.Add(at.Mul(at, x), q[k]), field)
		}
		term.SetBytes(s)
		term.Mod(term.Mul(term, at), field)
		sum.Mod(sum.Add(sum, term.Mul(term, dual[j])), field)
	}
	return sum.Sign() == 0
}

// ownStreams opens the keys of all members.
func (r *Round) ownStreams(g *group) ([]stream, error) {
	good, _ := r.reveals(g)
	o := r.opened(g, good)
	if o.unopened != nil {
		return nil, o.unopened
	}
	var streams []stream
	var w []*big.Int
	for i, dealer := range g.members {
		if i == 0 || !slices.Equal(o.points[i], o.points[i-1]) {
			w = weights(o.points[i])
		}
		key := join(w, g.openedShares(i, o.points[i]))
		streams = append(streams, newStream(r.ownKey(g, dealer, key), false))
		key.Erase()
	}
	return streams, nil
}
