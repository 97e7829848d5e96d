package table

import (
	"strings"
	"time"
	"unicode"

	"concord/contract"
)

// dateLayout reads dates of one layout and turns them into numbers.
type dateLayout struct {
	layout string // as the contract writes it
	parse  string // as package time does
	from   int64  // the reference day, from 1 January 1970
	age    bool
}

// newDateLayout takes a feature that the contract has checked.
func newDateLayout(f *contract.Feature) dateLayout {
	d := dateLayout{layout: f.Layout, parse: f.DateLayout(), age: f.As == "age"}
	if from, err := time.Parse(time.DateOnly, f.From); err == nil {
		d.from = dayOf(from)
	}
	return d
}

// read returns the days from 1 January 1970 to a date of the layout that is in the
// calendar.
func (d *dateLayout) read(cell []byte) (day int64, ok bool) {
	t, err := time.Parse(d.parse, string(cell))
	return dayOf(t), err == nil
}

// value is the number that a day becomes, as contract.Feature.DateValue defines it.
func (d *dateLayout) value(day int64) float64 {
	days := float64(day - d.from)
	if d.age {
		return -days / contract.DaysOfYear
	}
	return days
}

// dayOf counts the days from 1 January 1970 to the day of t, wherever that is.
func dayOf(t time.Time) int64 {
	const perDay = 24 * 60 * 60
	y, m, d := t.Date()
	s := time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix()
	if s < 0 {
		s -= perDay - 1
	}
	return s / perDay
}

// hint recognises dates of another layout.
func (d *dateLayout) hint(cell string) string {
	groups := strings.FieldsFunc(cell, func(r rune) bool { return !unicode.IsDigit(r) })
	switch {
	case len(groups) > 3 && strings.Contains(cell, ":"):
		return "write the date alone, without the time of the day"
	case len(groups) == 3 && len(cell) <= 10:
		return "write every date in the contract's layout; one of another layout, or that is not in the calendar, is not guessed at"
	case len(groups) == 1 && digits(cell) == len(cell):
		return "a spreadsheet has turned the date into a number: format the column as dates before saving it"
	}
	return ""
}
