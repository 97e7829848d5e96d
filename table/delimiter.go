package table

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// delimiters are what a header may tell by itself, and their names for people.
var delimiters = []struct {
	mark rune
	name string
}{{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {'|', "vertical bars"}}

// delimiterName names a delimiter in the plural.
func delimiterName(mark rune) string {
	for _, d := range delimiters {
		if d.mark == mark {
			return d.name
		}
	}
	return fmt.Sprintf("%q", mark)
}

// ParseDelimiter reads what a person calls a delimiter: one character, or "tab".
func ParseDelimiter(s string) (rune, error) {
	if s == "tab" || s == `\t` {
		return '\t', nil
	}
	mark, size := utf8.DecodeRuneInString(s)
	if size != len(s) || size == 0 || !delimits(mark) {
		return 0, fmt.Errorf("table: the delimiter is %q; it must be one character that is neither a letter, a digit, a quotation mark nor a line end, or the word tab", s)
	}
	return mark, nil
}

// delimits reports whether a character may stand between cells.
func delimits(mark rune) bool {
	if mark == utf8.RuneError || mark == '"' || mark == '\n' || mark == '\r' || mark == 0 || mark == '\ufeff' {
		return false
	}
	return !unicode.IsLetter(mark) && !unicode.IsDigit(mark)
}

// findDelimiter says what separates the columns of a header: that under which it has
// names that are wanted, if there is only one. Without any it is the one mark that
// stands in the header, or a comma, so that what is wrong with the header can be told.
// Where several are possible nothing is guessed.
func findDelimiter(header []byte, wanted map[string]bool) (rune, *CellError) {
	var known, there []rune
	for _, d := range delimiters {
		if bytes.ContainsRune(header, d.mark) {
			there = append(there, d.mark)
		}
		fields, _ := newLexer(bytes.NewReader(header), d.mark, len(header)+1).record()
		for _, field := range fields {
			if wanted[string(bytes.TrimSpace(field))] {
				known = append(known, d.mark)
				break
			}
		}
	}
	switch {
	case len(known) == 1:
		return known[0], nil
	case len(there) == 0:
		return ',', nil
	case len(known) > 1:
		return 0, ambiguous(known)
	case len(there) == 1:
		return there[0], nil
	case wanted == nil:
		return 0, ambiguous(there)
	}
	return ',', nil
}

func ambiguous(marks []rune) *CellError {
	names := make([]string, len(marks))
	for i, mark := range marks {
		names[i] = delimiterName(mark)
	}
	return &CellError{Line: 1, Problem: "the header does not tell what separates its columns: it could be " + strings.Join(names, " or "),
		Hint: "say it with --delimiter, for example --delimiter ';' or --delimiter tab"}
}
