package draft

import (
	"bytes"
	"hash/maphash"
	"math"
	"unicode/utf8"

	"concord/table"
)

const (
	// mostLevels is how many different values are told apart; a contract may have as many.
	mostLevels = 1000
	// mostText is the longest value, in bytes, that may be a level.
	mostText = 64
	// mostDifferent is up to how many rows repeated values of an identifier are found.
	mostDifferent = 1 << 20
)

// column is what is known of one column.
type column struct {
	name   string
	at     int  // from 1
	double bool // the name stands further left already

	cells, empty int64
	invalid      int64            // not UTF-8
	codes        map[string]int64 // marks of missing values, by their spelling
	numbers      int64            // decimal numbers, codes among them
	whole        int64            // of which have no fraction
	commas       int64            // numbers with a decimal comma
	dates        dates
	long         int64 // cells longer than a level may be
	negative     bool  // numbers below zero that are no codes
	digits       int   // of the largest number's whole part that is no code
	successive   bool  // each whole number is one more than that before
	last         float64

	levels map[string]int64 // nil beyond mostLevels
	// seen holds hashes, to find out whether all values differ; nil once two are equal.
	seen map[uint64]struct{}
	seed maphash.Seed
	all  bool // so far all cells that are not empty differ
}

func newColumn(name string, at int, double bool) *column {
	return &column{name: name, at: at, double: double, codes: map[string]int64{}, levels: map[string]int64{},
		seen: map[uint64]struct{}{}, seed: maphash.MakeSeed(), all: true, successive: true}
}

// filled is how many cells hold a value, codes of missing ones not counted.
func (c *column) filled() int64 {
	n := c.cells - c.empty
	for _, k := range c.codes {
		n -= k
	}
	return n
}

// different is how many different values there are, codes not counted; ok is false
// beyond mostLevels.
func (c *column) different() (n int, ok bool) { return len(c.levels), c.levels != nil }

func (c *column) add(cell []byte, decimalComma bool) {
	c.cells++
	if len(cell) == 0 {
		c.empty++
		return
	}
	if !utf8.Valid(cell) {
		c.invalid++
		c.levels = nil
		return
	}
	number, whole, comma := c.number(cell, decimalComma)
	if isCode(cell) || !math.IsNaN(number) && isNumericCode(cell) {
		c.codes[string(cell)]++ // codes come from a short list, in few spellings
		return
	}
	switch {
	case comma:
		c.commas++
	case !math.IsNaN(number):
		c.numbers++
		if whole {
			c.whole++
		}
	default:
		c.dates.add(cell)
	}
	if !math.IsNaN(number) {
		c.negative = c.negative || number < 0
		c.digits = max(c.digits, wholeDigits(number))
		if n := c.numbers + c.commas; n > 1 && number != c.last+1 {
			c.successive = false
		}
		c.last = number
	}
	if len(cell) > mostText {
		c.long++
		c.levels = nil
	}
	if c.levels != nil {
		if _, known := c.levels[string(cell)]; known || len(c.levels) < mostLevels {
			c.levels[string(cell)]++
		} else {
			c.levels = nil
		}
	}
	if c.all && len(c.seen) < mostDifferent {
		h := maphash.Bytes(c.seed, cell)
		if _, ok := c.seen[h]; ok {
			c.all, c.seen = false, nil
		} else {
			c.seen[h] = struct{}{}
		}
	}
}

// number reads a cell as the table's readers do: NaN if it is none.
func (c *column) number(cell []byte, decimalComma bool) (x float64, whole, comma bool) {
	comma = bytes.IndexByte(cell, ',') >= 0
	x, ok := table.ParseNumber(cell, comma)
	if !ok {
		return math.NaN(), false, false
	}
	return x, x == math.Trunc(x) && !bytes.ContainsAny(cell, ".,"), comma && !decimalComma
}

// wholeDigits is how many digits the whole part of a number has.
func wholeDigits(x float64) int {
	x = math.Abs(x)
	n := 1
	for x >= 10 && n < 400 {
		x /= 10
		n++
	}
	return n
}

// textCodes are the usual marks of missing values, in lower case.
var textCodes = map[string]bool{
	"na": true, "n/a": true, "n.a.": true, "#n/a": true, "<na>": true, "nan": true, "null": true, "nil": true, "none": true, "missing": true,
	".": true, "-": true, "--": true, "?": true, "unknown": true, "not available": true, "k.a.": true, "unbekannt": true, `\n`: true,
}

func isCode(cell []byte) bool {
	return len(cell) <= 13 && textCodes[string(bytes.ToLower(cell))]
}

// isNumericCode recognises numbers that often stand for a missing value: several nines,
// with or without a minus sign. Whether they do is asked, not assumed.
func isNumericCode(cell []byte) bool {
	digits := bytes.TrimPrefix(cell, []byte("-"))
	digits = bytes.TrimSuffix(digits, []byte(".0"))
	least := 3
	if len(digits) < len(cell) && cell[0] == '-' {
		least = 1
	}
	return len(digits) >= least && len(digits) <= 8 && len(bytes.Trim(digits, "9")) == 0
}
