package profile

import (
	"math"
	"math/bits"
	"testing"
)

func hashOf(i int) uint64 { return hashNumbers(0, []float64{float64(i)}) }

func TestTallyExact(t *testing.T) {
	a := newTally(tallyMost)
	for i := range 10_000 {
		for range 1 + i%3 {
			a.add(hashOf(i), 1)
		}
	}
	if !a.exact() || a.used != 10_000 || a.again() != 3333+2*3333 {
		t.Errorf("%d different, %d again; want 10000 and 9999", a.used, a.again())
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
	if a.exact() || len(a.keys) > 4*4096 {
		t.Errorf("exact %v with %d places", a.exact(), len(a.keys))
	}
	different := float64(a.used << a.depth)
	if math.Abs(different/n-1) > 0.08 || math.Abs(float64(a.again())/(n/4)-1) > 0.15 {
		t.Errorf("about %g different and %d again of %d and %d", different, a.again(), n, n/4)
	}
}

// Where nothing came twice, none is said to have, however much was left out.
func TestTallyNoneAgain(t *testing.T) {
	a := newTally(4096)
	for i := range 100_000 {
		a.add(hashOf(i), 1)
	}
	if n := a.again(); a.exact() || n != 0 {
		t.Errorf("exact %v, %d came again", a.exact(), n)
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
			if a.depth != whole.depth || a.used != whole.used || a.again() != whole.again() {
				t.Errorf("most %d: %d kept at depth %d, %d again; whole %d at %d, %d", most, a.used, a.depth, a.again(), whole.used, whole.depth, whole.again())
			}
		}
	}
}

// One changed bit of the input changes about half of the 64 bits of the hash: in a
// thousand pairs the mean is 32 with a deviation of 4/√1000 = 0.13; 0.7 is five of them.
func TestHashSpreads(t *testing.T) {
	for _, size := range []int{1, 2, 24} {
		changed := 0
		x := make([]float64, size)
		for i := range 1000 {
			for k := range x {
				x[k] = float64(hashOf(1000*k + i))
			}
			h := hashNumbers(0, x)
			x[i%size] = math.Float64frombits(math.Float64bits(x[i%size]) ^ 1<<(i%62))
			changed += bits.OnesCount64(h ^ hashNumbers(0, x))
		}
		if mean := float64(changed) / 1000; math.Abs(mean-32) > 0.7 {
			t.Errorf("%d numbers: %.2f of 64 bits change", size, mean)
		}
	}
	if hashNumbers(0, []float64{0, math.NaN()}) != hashNumbers(0, []float64{math.Copysign(0, -1), -math.NaN()}) {
		t.Error("the two zeros, or two NaN, have different hashes")
	}
	if hashNumbers(0, []float64{1, 2}) == hashNumbers(0, []float64{2, 1}) {
		t.Error("the order of the numbers does not count")
	}
}
