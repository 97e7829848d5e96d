package table

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"concord/study"
)

// Spellings for which a better message than "is not a number" is known.
var (
	nonFinite    = regexp.MustCompile(`(?i)^[+-]?(nan(\(.*\))?|[sq]nan|inf|infinity|∞|1\.#(inf|ind|qnan|snan)[0-9]*)$`)
	missingMark  = regexp.MustCompile(`(?i)^([#(<]?n\.?/?a\.?[)>]?|null|none|nil|missing|\.+|-+|\?+|\\n)$`)
	decimalComma = regexp.MustCompile(`^[+-]?[0-9][0-9.]*,[0-9][0-9,.]*([eE][+-]?[0-9]+)?$`)
	withUnit     = regexp.MustCompile(`^[<>≤≥~]|^[+-]?[0-9.]+ *[\pL%°µ/]`)
	otherNumber  = regexp.MustCompile(`^[+-]?(0[xX][0-9a-fA-F_.]+([pP][+-]?[0-9]+)?|[0-9_.]+)$`)
)

const (
	hintComplete = "this version needs complete rows: fill the cell in or leave the row out"
	hintComma    = "write numbers with a decimal point, and without thousands separators"
	hintUnit     = "write the number alone, without unit or sign of comparison"
	hintDecimal  = "write numbers in decimal, for example 0.25 or 2.5e-1"
	hintMinus    = "write the minus sign as -"
)

// parseNumber reads a trimmed cell. If it is not a finite decimal number,
// problem says so without repeating it.
func parseNumber(cell string) (x float64, problem, hint string) {
	if isDecimal(cell) {
		x, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return 0, "the number is too large for 64 bits", ""
		}
		return x, "", ""
	}
	switch {
	case cell == "":
		return 0, "the cell is empty", hintComplete
	case missingMark.MatchString(cell):
		return 0, "the cell marks a missing value", hintComplete
	case nonFinite.MatchString(cell):
		return 0, "the value is not a finite number", hintComplete
	case decimalComma.MatchString(cell):
		return 0, "the value is not a number; it has a comma", hintComma
	case otherNumber.MatchString(cell):
		return 0, "the value is not a decimal number", hintDecimal
	case strings.HasPrefix(cell, "−"):
		return 0, "the value is not a number", hintMinus
	case withUnit.MatchString(cell):
		return 0, "the value is not a number", hintUnit
	default:
		return 0, "the value is not a number", ""
	}
}

// isDecimal reports whether s is the one spelling of numbers that is read,
//
//	[+-]? ( digits ( . digits? )? | . digits ) ( [eE] [+-]? digits )?
//
// strconv.ParseFloat alone would also accept hexadecimal floats, underscores,
// NaN and infinities.
func isDecimal(s string) bool {
	s = unsigned(s)
	whole := digits(s)
	s = s[whole:]
	fraction := 0
	if strings.HasPrefix(s, ".") {
		fraction = digits(s[1:])
		s = s[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = unsigned(s[1:])
	return s != "" && digits(s) == len(s)
}

func unsigned(s string) string {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return s[1:]
	}
	return s
}

// digits counts the decimal digits with which s begins.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// looksLikeValue reports whether a header's name is a number in some spelling or
// begins with one: then the header may be missing and the name a cell of the
// first row.
func looksLikeValue(name string) bool {
	if _, err := strconv.ParseFloat(name, 64); err == nil {
		return true
	}
	return decimalComma.MatchString(name) || withUnit.MatchString(name)
}

// inside reports whether x lies in the closed range; without a range every
// finite number does.
func inside(x float64, r *study.Range) bool {
	return r == nil || r.Min <= x && x <= r.Max
}

func formatNumber(x float64) string {
	if a := math.Abs(x); a >= 1e-4 && a < 1e15 || x == 0 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
