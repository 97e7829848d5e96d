package table

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Spellings for which a better message than "is not a number" is known.
var (
	nonFinite    = regexp.MustCompile(`(?i)^[+-]?(nan(\(.*\))?|[sq]nan|inf|infinity|∞|1\.#(inf|ind|qnan|snan)[0-9]*)$`)
	missingMark  = regexp.MustCompile(`(?i)^([#(<]?n\.?/?a\.?[)>]?|null|none|nil|missing|\.+|-+|\?+|\\n)$`)
	decimalComma = regexp.MustCompile(`^[+-]?[0-9][0-9.]*,[0-9][0-9,.]*([eE][+-]?[0-9]+)?$`)
	withUnit     = regexp.MustCompile(`^[<>≤≥~]|^[+-]?[0-9.]+ *[\pL%°µ/]`)
	decimal      = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	otherNumber  = regexp.MustCompile(`^[+-]?(0[xX][0-9a-fA-F_.]+([pP][+-]?[0-9]+)?|[0-9_.]+)$`)
)

const (
	hintComplete = "the contract wants a value here: fill the cell in or leave the row out"
	hintMark     = "only empty cells, and what the contract's missing_values name, are missing values: leave the cell empty, or ask the analyst for a contract that names the mark"
	hintComma    = "write numbers with a decimal point, and without thousands separators; where the comma is the decimal point of the whole file, say --decimal-comma"
	hintPoint    = "write numbers with a decimal comma, and without thousands separators; or leave --decimal-comma away"
	hintUnit     = "write the number alone, without unit or sign of comparison"
	hintDecimal  = "write numbers in decimal, for example 0.25 or 2.5e-1"
	hintMinus    = "write the minus sign as -"
)

// notNumber says why a trimmed cell is no number, without repeating it.
func notNumber(cell string, comma bool) (problem, hint string) {
	if comma {
		if strings.ContainsRune(cell, '.') && strings.Trim(cell, "+-0123456789.,") == "" {
			return "the value is not a number; it has a point, and the decimal comma is wanted", hintPoint
		}
		cell = strings.Replace(cell, ",", ".", 1)
	}
	switch {
	case isDecimal(cell):
		return "the number is too large for 64 bits", ""
	case missingMark.MatchString(cell):
		return "the cell marks a missing value", hintMark
	case nonFinite.MatchString(cell):
		return "the value is not a finite number", hintMark
	case decimalComma.MatchString(cell):
		return "the value is not a number; it has a comma", hintComma
	case otherNumber.MatchString(cell):
		return "the value is not a decimal number", hintDecimal
	case strings.HasPrefix(cell, "−"):
		return "the value is not a number", hintMinus
	case withUnit.MatchString(cell):
		return "the value is not a number", hintUnit
	}
	return "the value is not a number", ""
}

// isDecimal reports whether s is a number as readNumber describes it.
func isDecimal(s string) bool { return decimal.MatchString(s) }

// looksLikeValue reports whether a header's name is a number in some spelling or
// begins with one: then the header may be missing and the name a cell of the
// first row.
func looksLikeValue(name string) bool {
	if _, err := strconv.ParseFloat(name, 64); err == nil {
		return true
	}
	return decimalComma.MatchString(name) || withUnit.MatchString(name)
}

func formatNumber(x float64) string {
	if a := math.Abs(x); a >= 1e-4 && a < 1e15 || x == 0 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
