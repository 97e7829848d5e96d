package wire

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how many characters a name may have.
const maxText = 200

// CheckText admits what can be read aloud and cannot disguise itself: no
// control, format (bidirectional overrides, zero-width) or surrogate
// characters, no space at either end.
func CheckText(what, s string) error {
	switch {
	case s == "":
		return fmt.Errorf("%s is missing", what)
	case utf8.RuneCountInString(s) > maxText:
		return fmt.Errorf("%s has %d characters, at most %d are allowed", what, utf8.RuneCountInString(s), maxText)
	case !utf8.ValidString(s):
		return fmt.Errorf("%s is not valid UTF-8", what)
	case strings.TrimSpace(s) != s || strings.Contains(s, "  "):
		return fmt.Errorf("%s has a space at an end, or two in a row", what)
	}
	for _, r := range s {
		if r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) && r != ' ' || unicode.In(r, invisible...) {
			return fmt.Errorf("%s has the invisible character %U", what, r)
		}
	}
	return nil
}

// invisible characters that count as graphic: format characters, variation
// selectors, fillers, and the braille blank.
var invisible = []*unicode.RangeTable{
	unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
	{R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}}},
}

// Finite reports whether x is a number.
func Finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// List joins names, at most n of them.
func List(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s … and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
