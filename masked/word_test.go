package masked

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rational is the exact value of a word.
func rational(w Word) *big.Rat {
	n := new(big.Int).SetUint64(w.Hi)
	n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w.Lo))
	if w.Hi>>63 == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), 64))
}

// TestFixed compares with exact arithmetic, and Float with what big.Float rounds.
func TestFixed(t *testing.T) {
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 65))
	check := func(t fataler, x float64) {
		w, ok := Fixed(x)
		if !ok {
			t.Fatalf("%g has no word", x)
		}
		off := new(big.Rat).Sub(rational(w), new(big.Rat).SetFloat64(x))
		if off.Abs(off).Cmp(half) > 0 {
			t.Fatalf("%g is off by %v", x, off)
		}
		if off.Cmp(half) == 0 && w.Lo&1 == 1 {
			t.Fatalf("%g is a tie and became odd", x)
		}
		want, _ := rational(w).Float64()
		if got := w.Float(); got != want {
			t.Fatalf("%v became %g, want %g", w, got, want)
		}
	}
	for _, x := range []float64{
		0, 1, -1, 0.1, -0.1, 1e-19, -1e-19, math.SmallestNonzeroFloat64, 1 << 62, -(1 << 62), math.Nextafter(1<<63, 0), -math.Nextafter(1<<63, 0),
		math.Ldexp(1, -64), math.Ldexp(1, -65), math.Ldexp(3, -65), math.Ldexp(5, -65), math.Ldexp(1, -66), math.Nextafter(math.Ldexp(1, -65), 1), math.Ldexp(1<<53-1, -65), math.Ldexp(1<<53-1, -66), math.Ldexp(1<<53-1, -118),
	} {
		check(t, x)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1 << 63, -(1 << 63), 1e300} {
		if _, ok := Fixed(x); ok {
			t.Errorf("%g has a word", x)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, math.Ldexp(rapid.Float64Range(-1, 1).Draw(t, "fraction"), rapid.IntRange(-80, 62).Draw(t, "exponent")))
		w := Word{rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo")}
		if rapid.Bool().Draw(t, "small") {
			w.Hi = 0 - w.Hi>>63
		}
		want, _ := rational(w).Float64()
		if got := w.Float(); got != want {
			t.Fatalf("%v became %g, want %g", w, got, want)
		}
	})
}

func TestEncodeRefuses(t *testing.T) {
	s := numbered(3, 100)
	for _, x := range []float64{100.0001, -101, math.NaN(), math.Inf(1)} {
		_, err := Encode(s, []float64{1, x, 2})
		if err == nil || !strings.Contains(err.Error(), `"sum 2"`) || strings.Contains(err.Error(), "101") || strings.Contains(err.Error(), "100.0001") {
			t.Errorf("%g: %v", x, err)
		}
	}
	if _, err := Encode(s, []float64{1, 2}); err == nil {
		t.Error("two values for three statistics")
	}
	for _, x := range []float64{100, -100} {
		if _, err := Encode(s, []float64{1, x, 2}); err != nil {
			t.Error(err)
		}
	}
}

func TestOverflow(t *testing.T) {
	if err := numbered(1, 1e8).Check(500); err != nil {
		t.Error(err) // the largest contract
	}
	err := numbered(1, 1<<61).Check(4)
	if err == nil || !strings.Contains(err.Error(), "4 parties with entries up to 2.305843009213694e+18 make sums up to 9.223372036854776e+18") {
		t.Error(err)
	}
	// Just below, the largest entries of all have the right sum and sign.
	const parties = 3
	bound := float64(1<<61) * 4 / 3 * (1 - 1e-15)
	if err := numbered(1, bound).Check(parties); err != nil {
		t.Fatal(err)
	}
	for _, sign := range []float64{1, -1} {
		var sum Word
		for range parties {
			w, _ := Fixed(sign * bound)
			sum = sum.Add(w)
		}
		if got := sum.Float(); math.Abs(got-sign*3*bound) > 3*2048 {
			t.Errorf("%g", got)
		}
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if numbered(1, bad).Check(3) == nil {
			t.Errorf("bound %g", bad)
		}
	}
	for _, n := range []int{0, -1, MaxWords + 1} {
		if numbered(n, 1).Check(3) == nil {
			t.Errorf("%d statistics", n)
		}
	}
}
