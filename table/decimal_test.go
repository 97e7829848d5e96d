package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// asStrconv compares readNumber with strconv, bit for bit, with a point and with a comma,
// in memory that ends with the cell and in memory that goes on with digits.
func asStrconv(t *testing.T, cell string) {
	t.Helper()
	want, err := strconv.ParseFloat(cell, 64)
	fits := err == nil && decimal.MatchString(cell)
	for _, comma := range []bool{false, true} {
		text := cell
		if comma {
			if strings.Contains(cell, ",") {
				continue
			}
			text = strings.Replace(cell, ".", ",", 1)
			if strings.Contains(text, ".") {
				continue // 1.2.3, whose first point alone becomes a comma
			}
		}
		for _, behind := range []string{"", "9,.1234567"} {
			b := append([]byte(text), behind...)
			b = b[:len(text):len(b)]
			got, ok := readNumber(b, comma)
			if ok != fits || ok && math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%q before %q: %g, %t; strconv has %g, %v", text, behind, got, ok, want, err)
			}
		}
	}
}

func TestReadNumber(t *testing.T) {
	for _, cell := range []string{"0", "-0", "+.5", "5.", "007", "9007199254740991", "9007199254740992", "9007199254740993", "18446744073709551616", "0.000000000000000000000000000001",
		"1e22", "1e23", "1e-22", "1e-23", "123456789012345e22", "1e308", "1e309", "4.9e-324", "1e-400", "99999999999999999999999", "1e99999999999", "0e99999999999",
		"", ".", "-", "+.", "-.", "1.2.3", "12345678.", ".12345678", "1234567.", "1234567.8", "12345678.9", "--1", "1e", "1e+", "e5", ".e5", "1.e5", "1 2", "0x1p4", "1_0", "inf", "NaN",
		"0.0000000000000000001", "0.0012345678901234567", "0.00012345678901234567890", "00000000000000000000000000001", "9999999999999999999", "18446744073709551615", "18446744073709551617e-10"} {
		asStrconv(t, cell)
	}
}

// TestReadNumberDigits takes digits of every length and form.
func TestReadNumberDigits(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 8))
	for range 50_000 {
		cell := strings.Repeat("0", rnd.IntN(3)*rnd.IntN(8))
		for range 1 + rnd.IntN(25) {
			cell += string(rune('0' + rnd.IntN(10)))
		}
		at := rnd.IntN(len(cell) + 1)
		cell = []string{"", "-", "+"}[rnd.IntN(3)] + cell[:at] + "." + cell[at:]
		if rnd.IntN(3) == 0 {
			cell += fmt.Sprintf("e%d", rnd.IntN(140)-70)
		}
		asStrconv(t, cell)
	}
}

// TestReadNumberFloats takes floats of every size as programs write them.
func TestReadNumberFloats(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(2, 8))
	for range 10_000 {
		x := math.Float64frombits(rnd.Uint64())
		if rnd.IntN(2) == 0 {
			x = rnd.NormFloat64() * math.Pow(10, float64(rnd.IntN(30)-15))
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		for _, precision := range []int{-1, 15, 16, 17, 18} {
			asStrconv(t, strconv.FormatFloat(x, 'g', precision, 64))
		}
		if math.Abs(x) < 1e20 {
			asStrconv(t, strconv.FormatFloat(x, 'f', rnd.IntN(20), 64))
		}
	}
}

// TestReadNumberRefuses takes strings that are nearly numbers.
func TestReadNumberRefuses(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(4, 8))
	const letters = "0123456789012345678901234567890123456789....,eE+-:/ x_\xff\x80"
	for range 100_000 {
		b := make([]byte, rnd.IntN(22))
		for i := range b {
			b[i] = letters[rnd.IntN(len(letters)-rnd.IntN(18))]
		}
		asStrconv(t, string(b))
	}
}
