package profile

import (
	"encoding/binary"
	"math"
	"math/bits"
	"testing"
)

func hashOf(i int) uint64 { return hash64(binary.LittleEndian.AppendUint64(nil, uint64(i))) }

func TestTallyExact(t *testing.T) {
	a := newTally(tallyMost)
	for i := range 10_000 {
		for range 1 + i%3 {
			a.add(hashOf(i), 1)
		}
	}
	repeated, most := a.repeated()
	if !a.exact() || a.different() != 10_000 || repeated != 6666 || most != 3 {
		t.Errorf("%d different, %d repeated, at most %d times; want 10000, 6666, 3", a.different(), repeated, most)
	}
}

// A tally of 4,096 things sees a hundred thousand of which every fourth comes twice. The
// standard error is 1.2/√4096 = 1.9 %; 8 % are four of them. The hash is fixed: this
// passes always or never.
func TestTallySamples(t *testing.T) {
	a := newTally(4096)
	const n = 100_000
	for i := range n {
		a.add(hashOf(i), 1)
		if i%4 == 0 {
			a.add(hashOf(i), 1)
		}
	}
	repeated, _ := a.repeated()
	if a.exact() || len(a.keys) > 4*4096 {
		t.Errorf("exact %v with %d places", a.exact(), len(a.keys))
	}
	if math.Abs(float64(a.different())/n-1) > 0.08 || math.Abs(float64(repeated)/(n/4)-1) > 0.15 {
		t.Errorf("about %d different and %d repeated of %d and %d", a.different(), repeated, n, n/4)
	}
}

// However the things are divided and merged, the tally is the same.
func TestTallyMerge(t *testing.T) {
	for _, most := range []int{100, 5000} {
		fill := func(from, to int) *tally {
			a := newTally(most)
			for i := from; i < to; i++ {
				a.add(hashOf(i%1500), 1)
			}
			return a
		}
		whole := fill(0, 3000)
		left, right := fill(0, 700), fill(700, 1900)
		left.merge(right)
		left.merge(fill(1900, 3000))
		other := fill(1900, 3000)
		right = fill(700, 1900)
		right.merge(other)
		right.merge(fill(0, 700))
		for _, a := range []*tally{left, right} {
			n, k := a.repeated()
			wn, wk := whole.repeated()
			if a.depth != whole.depth || a.different() != whole.different() || n != wn || k != wk {
				t.Errorf("most %d: %d different at depth %d, %d repeated; whole %d at %d, %d", most, a.different(), a.depth, n, whole.different(), whole.depth, wn)
			}
		}
	}
}

// One changed bit of the input changes about half of the 64 bits of the hash: in a
// thousand pairs the mean is 32 with a deviation of 4/√1000 = 0.13; 0.7 is five of them.
func TestHashSpreads(t *testing.T) {
	for _, size := range []int{1, 7, 8, 9, 24} {
		changed := 0
		b := make([]byte, size)
		for i := range 1000 {
			for k := range b {
				b[k] = byte(hashOf(i) >> (8 * (k % 8)))
			}
			h := hash64(b)
			b[i%size] ^= 1 << (i % 8)
			changed += bits.OnesCount64(h ^ hash64(b))
		}
		if mean := float64(changed) / 1000; math.Abs(mean-32) > 0.7 {
			t.Errorf("%d bytes: %.2f of 64 bits change", size, mean)
		}
	}
	if hashNumbers(0, []float64{0, math.NaN()}) != hashNumbers(0, []float64{math.Copysign(0, -1), -math.NaN()}) {
		t.Error("the two zeros, or two NaN, have different hashes")
	}
	if hashNumbers(0, []float64{1, 2}) == hashNumbers(0, []float64{2, 1}) {
		t.Error("the order of the numbers does not count")
	}
}
