package table

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// explain says what is wrong with a cell and what would cure it, without repeating it.
// mixed says that other cells of the file are UTF-8 beyond ASCII.
func (t *typed) explain(c *Cell, fault Fault, mixed bool) (problem, hint string) {
	cell := string(bytes.TrimSpace(c.text))
	switch {
	case fault == Outside:
		return t.outside()
	case fault == Missing && (c.Kind != Text || cell == ""):
		return "the cell is empty", hintComplete
	case fault == Missing:
		return "the cell is a missing value", hintComplete
	case c.Kind == Number && t.form == numbers:
		return "the value is not a finite number", hintMark
	case c.Kind != Text && t.form != levels:
		return fmt.Sprintf("the cell holds %s, and %s are wanted", c.Kind, t.wants()), ""
	case !utf8.ValidString(cell):
		return notUTF8(cell, mixed)
	case strings.IndexByte(cell, 0) >= 0:
		return "the cell has a zero byte", "the file is damaged or no text: write it anew"
	case t.form == numbers:
		return notNumber(cell, t.comma)
	case t.form == dates:
		return fmt.Sprintf("the value is not a date as the contract wants it, %s", t.dates.layout), t.dates.hint(cell)
	}
	if missingMark.MatchString(cell) || nonFinite.MatchString(cell) {
		hint = hintMark
	} else {
		hint = respelled(cell, t.names, t.what == nil)
	}
	switch {
	case t.what == nil:
		problem = "the label is none of the contract's classes: "
	case t.boolean():
		problem = "the value is none of the contract's two spellings: "
	default:
		problem = "the value is none of the contract's levels: "
	}
	return problem + listNames(t.names), hint
}

func (t *typed) wants() string {
	switch t.form {
	case numbers:
		return "numbers"
	case dates:
		return "dates"
	}
	return "levels"
}

func (t *typed) outside() (problem, hint string) {
	unit := ""
	switch {
	case t.form == dates && t.dates.age:
		unit = " years"
	case t.form == dates:
		unit = " days from the contract's day"
	case t.what.Unit != "":
		unit = " " + t.what.Unit
	}
	return fmt.Sprintf("the value is outside the contract's range, %s to %s%s", formatNumber(t.min), formatNumber(t.max), unit),
		"correct the value or leave the row out; if it is right, the contract's range is too narrow"
}

// notUTF8 describes text that is not UTF-8.
func notUTF8(cell string, mixed bool) (problem, hint string) {
	if mixed {
		return "the cell is not valid UTF-8, and cells before it are",
			"the file was put together from parts of different encodings: save each part as CSV in UTF-8 before they are joined"
	}
	return "the cell is not valid UTF-8", encodingHint(cell)
}

// encodingHint recognises the encodings of western Europe's spreadsheets: letters
// beyond ASCII are single bytes from 0xC0 on, between ASCII ones.
func encodingHint(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 && s[i] < 0xa0 && !strings.Contains("\x80\x82\x84\x85\x8a\x8e\x91\x92\x93\x94\x95\x96\x97\x99\x9a\x9e\x9f", string(s[i:i+1])) {
			return hintUTF8
		}
	}
	return hintLatin1
}

// respelled is a hint for a level that differs from one of the contract's by its
// spelling. It does not say from which.
func respelled(cell string, names []string, classes bool) string {
	noun := "levels"
	if classes {
		noun = "classes"
	}
	x, isNumber := readNumber([]byte(cell), false)
	for _, name := range names {
		if strings.EqualFold(cell, name) {
			return noun + " must be spelled as in the contract, capitals included"
		}
		if y, ok := readNumber([]byte(name), false); isNumber && ok && x == y {
			return noun + " must be spelled as in the contract; the file writes one as another spelling of the same number, such as 1.0 for 1"
		}
	}
	for _, name := range names {
		if fold(name) != "" && fold(cell) == fold(name) {
			return noun + " must be spelled as in the contract; the file writes one with other spaces or punctuation"
		}
		if sameButAccents(cell, name) {
			return noun + " must be spelled as in the contract; the file writes one with other accents"
		}
	}
	return ""
}

// sameButAccents reports whether two words have the same letters where both have
// letters of ASCII, whatever their capitals, combining marks left out.
func sameButAccents(a, b string) bool {
	x, y := bareLetters(a), bareLetters(b)
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	same := 0
	for i := range x {
		if x[i] < utf8.RuneSelf && y[i] < utf8.RuneSelf {
			if x[i] != y[i] {
				return false
			}
			same++
		} else if !unicode.IsLetter(x[i]) || !unicode.IsLetter(y[i]) {
			return false
		}
	}
	return same > 0
}

func bareLetters(s string) []rune {
	var out []rune
	for _, r := range s {
		if !unicode.Is(unicode.Mn, r) {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// digits counts the decimal digits with which s begins.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
