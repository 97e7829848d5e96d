package table

import (
	"bytes"
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

// readNumber reads a trimmed cell that is a finite decimal number in the one spelling
// that is read,
//
//	[+-]? ( digits ( . digits? )? | . digits ) ( [eE] [+-]? digits )?
//
// with a comma for the point where comma says so. strconv.ParseFloat alone would also
// accept hexadecimal floats, underscores, NaN and infinities.
//
// The result is the nearest float64. Where all digits make a whole number below 2⁵³ and
// the power of ten is at most 22 both are exact floats, so that one multiplication or
// division rounds once (Clinger 1990, section 4); the rest is strconv's.
func readNumber(cell []byte, comma bool) (x float64, ok bool) {
	point := byte('.')
	if comma {
		point = ','
	}
	i, negative := 0, false
	if len(cell) > 0 && (cell[0] == '+' || cell[0] == '-') {
		negative = cell[0] == '-'
		i++
	}
	// Up to 19 digits do not overflow; with more of them strconv reads the number.
	var mantissa uint64
	from := i
	for ; i < len(cell) && cell[i]-'0' <= 9; i++ {
		mantissa = 10*mantissa + uint64(cell[i]-'0')
	}
	digits, fraction := i-from, 0
	if i < len(cell) && cell[i] == point {
		i++
		from = i
		for ; i < len(cell) && cell[i]-'0' <= 9; i++ {
			mantissa = 10*mantissa + uint64(cell[i]-'0')
		}
		fraction = i - from
		digits += fraction
	}
	if digits == 0 {
		return 0, false
	}
	power := 0
	if i < len(cell) && (cell[i] == 'e' || cell[i] == 'E') {
		i++
		down := false
		if i < len(cell) && (cell[i] == '+' || cell[i] == '-') {
			down = cell[i] == '-'
			i++
		}
		from := i
		for ; i < len(cell) && cell[i]-'0' <= 9; i++ {
			power = min(10*power+int(cell[i]-'0'), 1<<20)
		}
		if i == from {
			return 0, false
		}
		if down {
			power = -power
		}
	}
	if i != len(cell) {
		return 0, false
	}
	power -= fraction
	if digits <= 19 && mantissa < 1<<53 && -22 <= power && power <= 22 {
		x = float64(mantissa)
		if power < 0 {
			x /= powersOfTen[-power]
		} else {
			x *= powersOfTen[power]
		}
		if negative {
			x = -x
		}
		return x, true
	}
	return slowNumber(cell, comma)
}

var powersOfTen = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// slowNumber is readNumber for a number of that spelling.
func slowNumber(cell []byte, comma bool) (float64, bool) {
	if comma {
		cell = bytes.Replace(cell, []byte{','}, []byte{'.'}, 1)
	}
	x, err := strconv.ParseFloat(string(cell), 64)
	return x, err == nil
}

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
