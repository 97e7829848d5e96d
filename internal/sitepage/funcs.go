package sitepage

import (
	"fmt"
	"html/template"
	"strings"
	"time"
)

// Funcs are the functions of a site's templates: tidy and count, an instant as people
// read it (time) and as browsers do (stamp).
func Funcs() template.FuncMap {
	return template.FuncMap{
		"tidy":  Tidy,
		"count": countAny,
		"time":  func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
		"stamp": func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") },
	}
}

// Tidy is a text without line feeds, and with a mark in place of what is not text:
// control characters and those that turn the direction of what follows.
func Tidy(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r >= 0x7f && r < 0xa0,
			r == 0x061c, r == 0x200e, r == 0x200f, // marks of direction
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, // overrides and isolates
			r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe: // no characters
			return '\uFFFD'
		}
		return r
	}, s)
}

// Count says "1 row" or "1,234 rows", "2 parties" of a party; without a noun, the number
// alone.
func Count[N int | int64](n N, noun string) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	switch stem, y := strings.CutSuffix(noun, "ty"); {
	case noun == "":
		return digits
	case n == 1:
		return "1 " + noun
	case y:
		return digits + " " + stem + "ties"
	}
	return digits + " " + noun + "s"
}

// countAny is Count as templates call it.
func countAny(n any, noun string) (string, error) {
	switch n := n.(type) {
	case int:
		return Count(n, noun), nil
	case int64:
		return Count(n, noun), nil
	}
	return "", fmt.Errorf("a count is a %T, want an int or int64", n)
}
