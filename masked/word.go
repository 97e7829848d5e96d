package masked

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// FractionBits are those of a Word.
const FractionBits = 64

// wordBytes is the size of a word in messages: a little-endian integer of 128 bits.
const wordBytes = 16

// Word is a fixed point number in two's complement with 64 fraction bits: the number
// (Hi·2⁶⁴ + Lo)/2⁶⁴ for Hi read as a signed integer. Its arithmetic is modulo 2¹²⁸.
type Word struct{ Hi, Lo uint64 }

// Add returns w + o modulo 2¹²⁸.
func (w Word) Add(o Word) Word {
	lo, carry := bits.Add64(w.Lo, o.Lo, 0)
	hi, _ := bits.Add64(w.Hi, o.Hi, carry)
	return Word{hi, lo}
}

// Sub returns w − o modulo 2¹²⁸.
func (w Word) Sub(o Word) Word {
	lo, borrow := bits.Sub64(w.Lo, o.Lo, 0)
	hi, _ := bits.Sub64(w.Hi, o.Hi, borrow)
	return Word{hi, lo}
}

// Fixed returns the word nearest to x, ties to even, so within 2⁻⁶⁵ of it, and whether
// there is one: |x| < 2⁶³.
func Fixed(x float64) (Word, bool) {
	if !(math.Abs(x) < 1<<63) { // NaN too
		return Word{}, false
	}
	fraction, exponent := math.Frexp(math.Abs(x)) // in [1/2, 1) times 2^exponent, or 0
	m := uint64(fraction * (1 << 53))
	var w Word
	switch shift := exponent - 53 + FractionBits; { // the word is m·2^shift, below 2¹²⁷
	case shift >= 64:
		w.Hi = m << (shift - 64)
	case shift >= 0:
		w.Hi, w.Lo = m>>(64-shift), m<<shift
	case shift > -55: // m has 53 bits; below, less than a quarter of the last bit is left
		w.Lo = m >> -shift
		rest, half := m&(1<<-shift-1), uint64(1)<<(-shift-1)
		if rest > half || rest == half && w.Lo&1 == 1 {
			w.Lo++
		}
	}
	if x < 0 {
		w = Word{}.Sub(w)
	}
	return w, true
}

// Float returns the float64 nearest to the word, ties to even.
func (w Word) Float() float64 {
	sign := 1.0
	if w.Hi>>63 == 1 {
		sign, w = -1, Word{}.Sub(w)
	}
	// The highest 64 bits from the first one on, and whether anything follows: float64
	// drops 11 of them and rounds to even, for which one such bit is enough.
	exponent := 0
	switch n := bits.LeadingZeros64(w.Hi); {
	case w == Word{}:
		return 0
	case n == 64:
		w.Hi, w.Lo = w.Lo, 0
		exponent = -FractionBits
	case n > 0:
		w.Hi, w.Lo = w.Hi<<n|w.Lo>>(64-n), w.Lo<<n
		exponent = -n
	}
	if w.Lo != 0 {
		w.Hi |= 1
	}
	return sign * math.Ldexp(float64(w.Hi), exponent)
}

func getWord(b []byte) Word {
	return Word{Hi: binary.LittleEndian.Uint64(b[8:16]), Lo: binary.LittleEndian.Uint64(b[:8])}
}

func putWord(b []byte, w Word) {
	binary.LittleEndian.PutUint64(b[:8], w.Lo)
	binary.LittleEndian.PutUint64(b[8:16], w.Hi)
}

// addWords adds to the words in dst those in src.
func addWords(dst, src []byte) {
	src = src[:len(dst)]
	for i := 0; i+wordBytes <= len(dst); i += wordBytes {
		putWord(dst[i:i+wordBytes], getWord(dst[i:i+wordBytes]).Add(getWord(src[i:i+wordBytes])))
	}
}

// subWords subtracts from the words in dst those in src.
func subWords(dst, src []byte) {
	src = src[:len(dst)]
	for i := 0; i+wordBytes <= len(dst); i += wordBytes {
		putWord(dst[i:i+wordBytes], getWord(dst[i:i+wordBytes]).Sub(getWord(src[i:i+wordBytes])))
	}
}
