package table

import "math/big"

// mostPower bounds the powers of ten of widePowers: numbers beyond are strconv's. Up to
// it no result is subnormal or overflows.
const mostPower = 48

// widePower is (2⁶⁴ high + low) · 2^exponent, with the highest bit of high set: a power
// of ten, cut off after 128 bits.
type widePower struct {
	high, low uint64
	exponent  int
}

// widePowers are 10^−mostPower to 10^mostPower.
var widePowers = func() (out [2*mostPower + 1]widePower) {
	ten := big.NewInt(10)
	for i := range out {
		power := i - mostPower
		t, exponent := big.NewInt(1), 0
		if power >= 0 {
			t.Exp(ten, big.NewInt(int64(power)), nil)
			exponent = t.BitLen() - 128
			if exponent < 0 {
				t.Lsh(t, uint(-exponent))
			} else {
				t.Rsh(t, uint(exponent))
			}
		} else {
			// 2^k / 10^-power lies in [2¹²⁷, 2¹²⁸) for this k.
			d := new(big.Int).Exp(ten, big.NewInt(int64(-power)), nil)
			exponent = -(127 + d.BitLen())
			t.Quo(t.Lsh(t, uint(-exponent)), d)
		}
		low := new(big.Int).And(t, new(big.Int).SetUint64(1<<64-1)).Uint64()
		out[i] = widePower{new(big.Int).Rsh(t, 64).Uint64(), low, exponent}
	}
	return out
}()
