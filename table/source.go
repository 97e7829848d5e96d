package table

import (
	"fmt"
	"log/slog"
	"math"
	"strconv"

	"concord/secret"
)

// Source gives the rows of a file or of a database one after the other, in memory
// that does not grow with them. [OpenSource] makes one. It is used by one goroutine.
type Source interface {
	// Format says for people what is read, such as "CSV, separated by semicolons".
	Format() string
	// Columns are those of every row, in their order.
	Columns() []Column
	// Select says which of the columns Next is to read, by their indices, in the
	// order of a record's cells. It is called before the first Next; otherwise all
	// are read.
	Select(columns []int)
	// Next reads the next row into r, whose cells are good until the next call. At
	// the end it returns io.EOF. A row that cannot be read is a *CellError, after
	// which the next one can be, unless Ends says otherwise.
	Next(r *Record) error
	// Close lets go of the file or the connection.
	Close() error
}

// Column is a column of a source.
type Column struct {
	Name string
	// Kind is what the cells hold: Text for CSV, whose cells are all text, and Other
	// for what cannot be read.
	Kind Kind
	// Type is the source's own word for it, such as "timestamp"; "" for CSV.
	Type string
}

// Kind says what a cell or a column holds.
type Kind uint8

const (
	// Null is a cell without a value. Empty text is Text.
	Null Kind = iota
	// Text is text as the source has it.
	Text
	// Number is a number with a fraction, as a float64.
	Number
	// Whole is a whole number of up to 64 bits.
	Whole
	// Truth is true or false.
	Truth
	// Day is a day of the calendar. Times of the day do not count.
	Day
	// Any is for columns whose cells differ in kind, as SQLite's do.
	Any
	// Other is what is not read: lists, pictures, intervals.
	Other
)

var kindNames = [...]string{"nothing", "text", "numbers", "whole numbers", "truth values", "dates", "values of any kind", "values that are not read"}

// String says what a column of the kind holds.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", k)
}

// Record is one row of a source.
type Record struct {
	// Cells are those of the selected columns.
	Cells []Cell
	// Row counts the rows from 1.
	Row int
	// Line is the physical line on which the row begins, from 1, or 0 where the source has
	// no lines.
	Line  int
	lines []int // of each cell, where the row has several
}

// place is where the i-th cell stands.
func (r *Record) place(i int) (row, line int) {
	if i < len(r.lines) {
		return 0, r.lines[i]
	}
	if r.Line > 0 {
		return 0, r.Line
	}
	return r.Row, 0
}

// Cell is one cell. It prints nothing of what it holds.
type Cell struct {
	Kind Kind
	// text is what a Text cell holds; bits are the float of a Number and the integer of
	// the other kinds.
	text []byte
	bits uint64
}

// Text is what a Text cell holds: a part of the source's buffer. Elsewhere it is nil.
func (c Cell) Text() []byte { return c.text }

// Float is the value of a Number, a Whole, a Truth (0 or 1) or a Day (days since 1
// January 1970).
func (c Cell) Float() float64 {
	if c.Kind == Number {
		return math.Float64frombits(c.bits)
	}
	return float64(int64(c.bits))
}

// Int is the value of a Whole, a Truth or a Day.
func (c Cell) Int() int64 { return int64(c.bits) }

// TextCell holds text, and the other functions what they say.
func TextCell(b []byte) Cell { return Cell{Kind: Text, text: b} }

// NumberCell holds a number.
func NumberCell(x float64) Cell { return Cell{Kind: Number, bits: math.Float64bits(x)} }

// WholeCell holds a whole number.
func WholeCell(v int64) Cell { return Cell{Kind: Whole, bits: uint64(v)} }

// TruthCell holds true or false.
func TruthCell(is bool) Cell {
	if is {
		return Cell{Kind: Truth, bits: 1}
	}
	return Cell{Kind: Truth}
}

// DayCell holds a day, counted from 1 January 1970.
func DayCell(days int64) Cell { return Cell{Kind: Day, bits: uint64(days)} }

// spelled appends how the cell of a level or a subject is written: text as it is,
// whole numbers, also those that a source keeps as floats, in decimal, and false and
// true. ok is false for what has no one spelling.
func (c Cell) spelled(to []byte) (b []byte, ok bool) {
	switch c.Kind {
	case Text:
		return append(to, c.text...), true
	case Whole:
		return strconv.AppendInt(to, c.Int(), 10), true
	case Truth:
		return strconv.AppendBool(to, c.bits == 1), true
	case Number:
		if x := c.Float(); x == math.Trunc(x) && math.Abs(x) <= 1<<53 {
			return strconv.AppendInt(to, int64(x), 10), true
		}
	}
	return to, false
}

// String says only the kind.
func (c Cell) String() string { return "cell(" + c.Kind.String() + ")" }

// Format prints like String whatever the verb.
func (c Cell) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// LogValue prints like String in structured logs.
func (c Cell) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText refuses with [secret.ErrEncode]. encoding/json uses it too.
func (c Cell) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }
