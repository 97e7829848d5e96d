package profile

import (
	"math"
	"math/bits"
)

// tallyMost is how many different things a tally keeps apart before it samples: 2²³,
// for which it takes 200 MB at most.
const tallyMost = 1 << 23

// tally counts how often each of many things occurs, things told apart by 64-bit hashes, in
// bounded memory. Up to most of them the counts are exact, but for two things with one hash:
// with probability below n²/2⁶⁵, one in a million for five million things. Beyond, only things
// whose hash begins with depth zero bits are kept, and what is told of all is that times
// 2^depth (adaptive sampling, [flajolet1990]): off by 1.2/√most, 0.04 %, as a standard error.
//
// Merging is associative. Adding takes a memory access.
type tally struct {
	most   int
	depth  uint
	keys   []uint64 // 0 is a free place
	counts []uint32
	used   int

	fetched uint64 // keeps addAll's first look from being left out
}

func newTally(most int) *tally { return &tally{most: most} }

// add counts k more of the thing with the hash.
func (t *tally) add(hash uint64, k uint32) {
	if hash == 0 {
		hash = 1
	}
	if bits.LeadingZeros64(hash) < int(t.depth) {
		return
	}
	if 4*(t.used+1) > 3*len(t.keys) {
		t.resize(max(64, 2*len(t.keys)))
	}
	at := t.place(hash)
	if t.keys[at] == 0 {
		t.keys[at] = hash
		t.used++
	}
	t.counts[at] = uint32(min(uint64(t.counts[at])+uint64(k), 1<<32-1))
	for t.used > t.most {
		t.depth++
		t.resize(len(t.keys))
	}
}

// addAll counts one more of each thing with one of the hashes. Looking at all places
// first lets the memory fetch them side by side.
func (t *tally) addAll(hashes []uint64) {
	if mask := len(t.keys) - 1; mask > 0 {
		for _, hash := range hashes {
			t.fetched ^= t.keys[int(hash)&mask]
		}
	}
	for _, hash := range hashes {
		t.add(hash, 1)
	}
}

// place is where the hash stands or may stand.
func (t *tally) place(hash uint64) int {
	mask := len(t.keys) - 1
	at := int(hash) & mask
	for t.keys[at] != 0 && t.keys[at] != hash {
		at = (at + 1) & mask
	}
	return at
}

// resize moves what depth keeps into a table of the given size, a power of two.
func (t *tally) resize(size int) {
	keys, counts := t.keys, t.counts
	t.keys, t.counts, t.used = make([]uint64, size), make([]uint32, size), 0
	for i, hash := range keys {
		if hash == 0 || bits.LeadingZeros64(hash) < int(t.depth) {
			continue
		}
		at := t.place(hash)
		t.keys[at], t.counts[at] = hash, counts[i]
		t.used++
	}
}

// merge adds what o has counted.
func (t *tally) merge(o *tally) {
	if o.depth > t.depth {
		t.depth = o.depth
		t.resize(len(t.keys))
	}
	for i, hash := range o.keys {
		if hash != 0 {
			t.add(hash, o.counts[i])
		}
	}
}

// exact reports whether nothing was left out.
func (t *tally) exact() bool { return t.depth == 0 }

// again is how often a thing came that had come before: 0 if none did, whatever was left
// out.
func (t *tally) again() int64 {
	var n int64
	for _, count := range t.counts {
		n += max(0, int64(count)-1)
	}
	return n << t.depth
}

// hashNumbers mixes the bits of numbers into 64, in the way of wyhash: a multiplication to
// 128 bits folded for each. It is the same in every run and is written nowhere. Both zeros are
// one, and so are all NaN.
func hashNumbers(h uint64, x []float64) uint64 {
	for _, v := range x {
		h = fold(h^floatBits(v), 0xe7037ed1a0b428db)
	}
	return fold(h, 0x589965cc75374cc3)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x1d8e4e27c47d124f, b)
	return hi ^ lo
}

func floatBits(v float64) uint64 {
	switch {
	case v == 0:
		return 0
	case v != v:
		return 0x7ff8000000000001
	}
	return math.Float64bits(v)
}
