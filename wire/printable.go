package wire

import (
	"strings"
	"unicode"
)

// Printable replaces what a terminal would obey instead of show: control and
// format characters, line breaks included. Texts that come from a server or
// another party pass through it.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) {
			return r
		}
		return '\uFFFD'
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
