package table

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestReadNumber compares with strconv, bit for bit, numbers of every length and form
// around the limits of the quick way.
func TestReadNumber(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 8))
	cells := []string{"0", "-0", "+.5", "5.", "007", "9007199254740991", "9007199254740992", "9007199254740993", "18446744073709551616", "0.000000000000000000000000000001",
		"1e22", "1e23", "1e-22", "1e-23", "123456789012345e22", "1e308", "1e309", "4.9e-324", "1e-400", "99999999999999999999999", "1e99999999999", "0e99999999999"}
	for range 200_000 {
		digits := 1 + rnd.IntN(25)
		cell := ""
		for range digits {
			cell += string(rune('0' + rnd.IntN(10)))
		}
		at := rnd.IntN(digits + 1)
		cell = []string{"", "-", "+"}[rnd.IntN(3)] + cell[:at] + "." + cell[at:]
		if rnd.IntN(3) == 0 {
			cell += fmt.Sprintf("e%d", rnd.IntN(80)-40)
		}
		cells = append(cells, cell)
	}
	for _, cell := range cells {
		want, err := strconv.ParseFloat(cell, 64)
		for _, comma := range []bool{false, true} {
			text := cell
			if comma {
				text = strings.Replace(cell, ".", ",", 1)
			}
			got, ok := readNumber([]byte(text), comma)
			if ok != (err == nil) || ok && math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s: %g, %t; strconv has %g, %v", text, got, ok, want, err)
			}
		}
	}
}
