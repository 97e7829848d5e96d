package table

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// readNumber reads a trimmed cell that is a finite decimal number in the one spelling
// that is read,
//
//	[+-]? ( digits ( . digits? )? | . digits ) ( [eE] [+-]? digits )?
//
// with a comma for the point where comma says so. strconv.ParseFloat alone would also
// accept hexadecimal floats, underscores, NaN and infinities.
//
// The result is the nearest float64, as strconv has it: see [nearest]. Digits are read
// eight at a time ([lemire2021], section 4), because bytes one by one cost a wrong branch for
// each length.
func readNumber(cell []byte, comma bool) (x float64, ok bool) {
	point := byte('.')
	if comma {
		point = ','
	}
	digits, negative := cell, false
	if len(cell) > 0 && (cell[0] == '+' || cell[0] == '-') {
		digits, negative = cell[1:], cell[0] == '-'
	}
	var mantissa uint64
	var power int
	if n := len(digits); n <= 8 && cap(digits) >= 8 {
		if mantissa, power, ok = fewDigits(digits, point); ok { // both are floats, see nearest
			x = float64(mantissa) / powersOfTen[power&7]
			if negative {
				x = -x
			}
			return x, true
		}
	} else if n > 8 {
		mantissa, power, ok = manyDigits(digits, point)
		power = -power
	}
	if !ok {
		var sure bool
		if mantissa, power, sure, ok = anyDigits(digits, point); !ok {
			return 0, false
		} else if !sure {
			return slowNumber(cell, comma)
		}
	}
	if x, ok = nearest(mantissa, power); !ok {
		return slowNumber(cell, comma)
	}
	if negative {
		x = -x
	}
	return x, true
}

const (
	ones  = 0x0101010101010101
	zeros = '0' * ones
	highs = 0x80 * ones
)

// notDigits has the highest bit of the lowest byte that is no digit set, and of no byte
// before it.
func notDigits(w uint64) uint64 { return ((w + 0x46*ones) | (w - zeros)) & highs }

// eightDigits is the number that eight digits are, the first in the lowest byte.
func eightDigits(w uint64) uint64 {
	w = (w & (0x0f * ones)) * (10<<8 + 1) >> 8
	w = (w & 0x00ff00ff00ff00ff) * (100<<16 + 1) >> 16
	return (w & 0x0000ffff0000ffff) * (10000<<32 + 1) >> 32
}

// fewDigits reads up to eight digits and points: b has so many bytes and a capacity of
// eight. fraction is how many digits stand behind the point. ok is false for what is
// not of this form.
func fewDigits(b []byte, point byte) (mantissa uint64, fraction int, ok bool) {
	n := uint(len(b)) * 8
	if n == 0 {
		return 0, 0, false
	}
	// The last byte at the top, and digits 0 before the first.
	w := binary.LittleEndian.Uint64(b[:8])<<(64-n) | zeros>>n
	x := w ^ ones*uint64(point)
	if at := (x - ones) &^ x & highs; at != 0 {
		if n == 8 {
			return 0, 0, false
		}
		k := uint(bits.TrailingZeros64(at)) &^ 7
		before := w & (1<<k - 1)
		w = w&^(1<<k-1)&^(0xff<<k) | before<<8 | '0'
		fraction = int(7 - k/8)
	}
	return eightDigits(w), fraction, notDigits(w) == 0
}

// manyDigits reads digits with at most one point, nine bytes or more; up to seven digits
// before the point and nineteen in all from the first that is not 0. ok is false for
// what is not of this form.
func manyDigits(b []byte, point byte) (mantissa uint64, fraction int, ok bool) {
	w := binary.LittleEndian.Uint64(b)
	k := uint(bits.TrailingZeros64(notDigits(w))) / 8
	if k == 8 || b[k] != point {
		return 0, 0, false
	}
	if k > 0 {
		mantissa = eightDigits(w<<(64-8*k) | zeros>>(8*k))
	}
	rest := b[k+1:]
	fraction = len(rest)
	if fraction > 19 || len(b)-1 > 19 && (mantissa > 0 || fraction > 19) {
		return 0, 0, false
	}
	for ; len(rest) >= 8; rest = rest[8:] {
		w := binary.LittleEndian.Uint64(rest)
		if notDigits(w) != 0 {
			return 0, 0, false
		}
		mantissa = mantissa*1e8 + eightDigits(w)
	}
	if r := uint(len(rest)) * 8; r > 0 {
		w := binary.LittleEndian.Uint64(b[len(b)-8:])>>(64-r)<<(64-r) | zeros>>r
		if notDigits(w) != 0 {
			return 0, 0, false
		}
		mantissa = mantissa*wholePowers[r/8] + eightDigits(w)
	}
	return mantissa, fraction, true
}

var wholePowers = [8]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// anyDigits reads a number without its sign byte by byte. ok is false for what is none;
// sure says that all digits are in mantissa, which has up to nineteen from the first
// that is not 0.
func anyDigits(b []byte, point byte) (mantissa uint64, power int, sure, ok bool) {
	i, digits, fraction := 0, 0, 0
	seen := false
	for ; i < len(b); i++ {
		if c := b[i] - '0'; c <= 9 {
			mantissa = 10*mantissa + uint64(c)
			if mantissa > 0 || digits > 0 {
				digits++
			}
			if seen {
				fraction++
			}
			continue
		}
		if b[i] != point || seen {
			break
		}
		seen = true
	}
	if i == 0 || i == 1 && seen {
		return 0, 0, false, false
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		down := false
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			down = b[i] == '-'
			i++
		}
		from := i
		for ; i < len(b) && b[i]-'0' <= 9; i++ {
			power = min(10*power+int(b[i]-'0'), 1<<20)
		}
		if i == from {
			return 0, 0, false, false
		}
		if down {
			power = -power
		}
	}
	return mantissa, power - fraction, digits <= 19, i == len(b)
}

// nearest is the float64 nearest to mantissa · 10^power; ok is false where that is left
// to strconv.
//
// Where mantissa is below 2⁵³ and the power at most 22 both are floats, so that one
// multiplication or division rounds once ([clinger1990], section 4). Otherwise the power
// is known as an integer T of 128 bits and a power of two, too small by less than 1, and
// with m, which is mantissa shifted to 64 bits,
//
//	m T / 2⁶⁴ ≤ m (T + δ) / 2⁶⁴ < m T / 2⁶⁴ + 1    with 0 ≤ δ < 1
//
// so that 128 bits of the product, which lose less than 1 as well, say on which side of
// the middle between two floats the number lies, unless they are within 4 of it (after a
// shift by one bit). That is the way of [lemire2021], without its second look.
func nearest(mantissa uint64, power int) (x float64, ok bool) {
	if mantissa < 1<<53 && -22 <= power && power <= 22 {
		if power < 0 {
			return float64(mantissa) / powersOfTen[-power], true
		}
		return float64(mantissa) * powersOfTen[power], true
	}
	if mantissa == 0 {
		return 0, true
	}
	if power < -mostPower || power > mostPower {
		return 0, false
	}
	t := &widePowers[power+mostPower]
	shift := bits.LeadingZeros64(mantissa)
	m := mantissa << shift
	high, low := bits.Mul64(m, t.high)
	more, _ := bits.Mul64(m, t.low)
	low, carry := bits.Add64(low, more, 0)
	high += carry
	if high>>63 == 0 {
		high, low = high<<1|low>>63, low<<1
		shift++
	}
	below := high & (1<<11 - 1)
	const half = 1 << 10
	if below == half && low == 0 || below == half-1 && low >= math.MaxUint64-3 {
		return 0, false
	}
	float := high >> 11
	if below >= half {
		float++
	}
	// float has 53 bits, or is 2⁵³, which the sum below carries into the exponent.
	exponent := t.exponent - shift + 64 + 64 + 11 + 52 + 1023
	return math.Float64frombits(uint64(exponent-1)<<52 + float), true
}

var powersOfTen = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// slowNumber is readNumber for a number of that spelling.
func slowNumber(cell []byte, comma bool) (float64, bool) {
	if comma {
		cell = bytes.Replace(cell, []byte{','}, []byte{'.'}, 1)
	}
	x, err := strconv.ParseFloat(string(cell), 64)
	return x, err == nil
}
