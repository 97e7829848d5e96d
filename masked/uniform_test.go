package masked

import (
	"bytes"
	"fmt"
	"math/big"
	"math/bits"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// falseReject is the probability with which TestUniform would reject words that are
// uniform: the sum over its checks. The message is always the same one (fixed keys, fixed
// polynomial), so the test passes always or never.
const falseReject = 1e-6

// checkUniform returns what speaks against independent uniform words, "" if nothing does.
//
//	bytes      how often each of the 256 values stands at each of the 16 places: χ², 255 each
//	bits       how often each of the 128 bits is 1: χ² with 128
//	neighbours how often each bit is the next word's: χ² with 128
//	pairs      how often two neighbouring bits of a word are alike: χ² with 127
func checkUniform(words []Word) string {
	n := float64(len(words))
	var count [16][256]float64
	var ones, same, alike [128]float64
	for i, w := range words {
		for place := range 8 {
			count[place][byte(w.Lo>>(8*place))]++
			count[8+place][byte(w.Hi>>(8*place))]++
		}
		next := words[(i+1)%len(words)]
		for half, x := range [2]struct{ now, next, shifted uint64 }{{w.Lo, next.Lo, w.Lo>>1 | w.Hi<<63}, {w.Hi, next.Hi, w.Hi >> 1}} {
			for v := x.now; v != 0; v &= v - 1 {
				ones[64*half+bits.TrailingZeros64(v)]++
			}
			for v := ^(x.now ^ x.next); v != 0; v &= v - 1 {
				same[64*half+bits.TrailingZeros64(v)]++
			}
			for v := ^(x.now ^ x.shifted); v != 0; v &= v - 1 {
				alike[64*half+bits.TrailingZeros64(v)]++
			}
		}
	}
	const checks = 16 + 3
	test := func(name string, squares float64, freedom int) string {
		p := distuv.ChiSquared{K: float64(freedom)}.Survival(squares)
		if p < falseReject/checks {
			return fmt.Sprintf("%s: χ² %.1f for %d, by chance with %.1g", name, squares, freedom, p)
		}
		return ""
	}
	binomial := func(counts []float64) float64 { // each of mean n/2, variance n/4
		sum := 0.0
		for _, c := range counts {
			sum += (c - n/2) * (c - n/2) / (n / 4)
		}
		return sum
	}
	for place := range count {
		squares := 0.0
		for _, c := range count[place] {
			squares += (c - n/256) * (c - n/256) / (n / 256)
		}
		if s := test(fmt.Sprintf("byte %d", place+1), squares, 255); s != "" {
			return s
		}
	}
	if s := test("bits", binomial(ones[:]), 128); s != "" {
		return s
	}
	if s := test("neighbours", binomial(same[:]), 128); s != "" {
		return s
	}
	return test("pairs of bits", binomial(alike[:127]), 127)
}

// TestUniform looks at a party's masked message of 2²⁰ words whose own figures are as far
// from uniform as can be, and at what a careless mask would leave.
func TestUniform(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	const n = 1 << 20
	ids := frozenIdentities(t)
	c := Config{Study: [32]byte{1}, Epoch: [32]byte{2}, Stage: 1, Colluders: 1, Statistics: Statistics{N: n, Digest: [32]byte{3}, Bound: 1e8}}
	for _, id := range ids {
		c.Parties = append(c.Parties, id.Statement)
	}
	r, err := New(c, ids["identity1.json"])
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i % 3) // most words are alike, all low halves zero
	}
	v, err := Encode(c.Statistics, values)
	if err != nil {
		t.Fatal(err)
	}
	g := r.current()
	var coefficients []*big.Int
	for i := range g.threshold {
		coefficients = append(coefficients, big.NewInt(int64(20261122+i)))
	}
	var body bytes.Buffer
	if err := r.ready(g, v, &body, coefficients); err != nil {
		t.Fatal(err)
	}
	words := make([]Word, n)
	for i := range words {
		words[i] = getWord(body.Bytes()[wordBytes*i:])
	}
	if s := checkUniform(words); s != "" {
		t.Errorf("a masked message is not uniform: %s", s)
	}
	spoilt := func(name string, f func(i int) Word) {
		bad := make([]Word, n)
		for i := range bad {
			bad[i] = f(i)
		}
		if checkUniform(bad) == "" {
			t.Errorf("%s passes for uniform: the test cannot fail", name)
		}
	}
	own := v.reveal()
	spoilt("an unmasked vector", func(i int) Word { return own[i] })
	spoilt("a mask of 64 bits", func(i int) Word { return own[i].Add(Word{Lo: words[i].Lo}) })
	spoilt("a mask of 127 bits", func(i int) Word { return Word{Hi: words[i].Hi &^ (1 << 63), Lo: words[i].Lo} })
	spoilt("the same mask every second word", func(i int) Word { return words[i&^1] })
	spoilt("a bit that is 1 in 51 of 100 words", func(i int) Word {
		w := words[i]
		if i%50 == 0 {
			w.Lo |= 1
		}
		return w
	})
}
