package pooled

import (
	"math"
	"math/big"
	"math/bits"

	"concord/masked"
)

// Word is one number of what is summed, as an integer modulo 2¹²⁸ in two's complement: the
// number times 2^f, f fraction bits that all parties know.
type Word = masked.Word

// magnitude is |w| as two's complement has it, and whether w is negative.
func magnitude(w Word) (Word, bool) {
	if w.Hi>>63 == 1 {
		return Word{}.Sub(w), true
	}
	return w, false
}

// spare is how many of a word's 128 bits no sum may reach: the sign's, and one for what
// rounding adds to sums that are at their bound.
const spare = 2

// fraction is the number of fraction bits of a statistic of which parties send at most
// 2^exp for each of count units (rows, or parties), so that no sum of them reaches 2¹²⁶:
//
//	f = 126 − ⌈log₂ count⌉ − exp
func fraction(count uint64, exp int) int {
	if count > 1 {
		exp += bits.Len64(count - 1)
	}
	return 128 - spare - exp
}

// wordOf is v·2^f rounded to an integer, ties to even, for a finite v with |v·2^f| < 2¹²⁷.
// v is a multiple of a power of two with 53 digits: what is rounded away is below 2^−f.
func wordOf(v float64, f int) Word {
	if v == 0 {
		return Word{}
	}
	frac, exp := math.Frexp(math.Abs(v)) // frac in [1/2, 1)
	digits := uint64(math.Ldexp(frac, 53))
	shift := exp - 53 + f // |v|·2^f = digits·2^shift
	var w Word
	switch {
	case shift > 127-53:
		panic("pooled: a word overflows, which its bound should have excluded")
	case shift >= 64:
		w.Hi = digits << (shift - 64)
	case shift > 0:
		w.Hi, w.Lo = digits>>(64-shift), digits<<shift
	case shift > -54:
		w.Lo = roundShift(digits, -shift)
	}
	if v < 0 {
		return Word{}.Sub(w)
	}
	return w
}

// roundShift is x / 2^n rounded to an integer, ties to even, for n < 64.
func roundShift(x uint64, n int) uint64 {
	if n == 0 {
		return x
	}
	whole, rest, half := x>>n, x&(1<<n-1), uint64(1)<<(n-1)
	if rest > half || rest == half && whole&1 == 1 {
		whole++
	}
	return whole
}

// floatOf is w·2^−f, rounded to the nearest float64.
func floatOf(w Word, f int) float64 {
	abs, negative := magnitude(w)
	var top uint64
	exp := -f
	if abs.Hi == 0 {
		top = abs.Lo
	} else {
		n := bits.LeadingZeros64(abs.Hi)
		top = abs.Hi<<n | abs.Lo>>(64-n) // a shift by 64 gives 0
		if abs.Lo<<n != 0 {
			top |= 1 // below the last digit that counts: breaks ties
		}
		exp += 64 - n
	}
	v := math.Ldexp(float64(top), exp)
	if negative {
		return -v
	}
	return v
}

// intOf is w as a signed integer.
func intOf(w Word) *big.Int {
	abs, negative := magnitude(w)
	v := new(big.Int).SetUint64(abs.Hi)
	v.Lsh(v, 64)
	v.Or(v, new(big.Int).SetUint64(abs.Lo))
	if negative {
		v.Neg(v)
	}
	return v
}

// wide is an unsigned integer of 192 bits, for sums of squares.
type wide struct{ a, b, c uint64 } // a·2¹²⁸ + b·2⁶⁴ + c

// addSquare adds q².
func (s *wide) addSquare(q uint64) {
	hi, lo := bits.Mul64(q, q)
	var carry uint64
	s.c, carry = bits.Add64(s.c, lo, 0)
	s.b, carry = bits.Add64(s.b, hi, carry)
	s.a += carry
}

// over returns s / 2^n rounded to an integer, ties upwards, for n from 0 to 63. What is
// left must fit a word, as the bound of what was summed says.
func (s wide) over(n int) Word {
	if n == 0 {
		return Word{Hi: s.b, Lo: s.c}
	}
	half := s.c >> (n - 1) & 1
	return Word{Hi: s.a<<(64-n) | s.b>>n, Lo: s.b<<(64-n) | s.c>>n}.Add(Word{Lo: half})
}
