package table

import (
	"fmt"
	"slices"
	"strings"
)

// MaxProblems is how many problems of one file are collected before reading
// stops, so that a person mends the file in one go.
const MaxProblems = 20

// CellError is one problem of a file. It never holds the content of a cell.
type CellError struct {
	// File is the file's name as it was given.
	File string
	// Line is the physical line from 1, the header's included; 0 where the
	// problem is the whole file's, or the file has no lines.
	Line int
	// Row is the row from 1 where the source has no lines, otherwise 0.
	Row int
	// Column is the field from 1; 0 where the problem is the whole line's.
	Column int
	// Name is the column's name in the contract, or "".
	Name string
	// Problem says what is wrong and what would be right.
	Problem string
	// Hint is a cure, or "".
	Hint string
	// Ends says that nothing can be read after it.
	Ends bool

	more  bool // and that there is more
	cause error
}

// Error says where and what: "patients.csv: line 17, column 4 (age): …".
func (e *CellError) Error() string { return e.at([]int{max(e.Line, e.Row)}) }

// at is Error for several lines, or rows.
func (e *CellError) at(places []int) string {
	var b strings.Builder
	b.WriteString(e.File)
	word := "row"
	if e.Line > 0 {
		word = "line"
	}
	if e.Line > 0 || e.Row > 0 {
		fmt.Fprintf(&b, ": %s", Places(word, places, len(places)))
	}
	if e.Column > 0 {
		if e.Line > 0 || e.Row > 0 {
			b.WriteString(",")
		} else {
			b.WriteString(":")
		}
		fmt.Fprintf(&b, " column %d", e.Column)
		if e.Name != "" {
			fmt.Fprintf(&b, " (%s)", e.Name)
		}
	}
	b.WriteString(": ")
	b.WriteString(e.Problem)
	return b.String()
}

// Unwrap returns what the reader of the file reported, or nil.
func (e *CellError) Unwrap() error { return e.cause }

// Errors holds the problems of one file, at least one and at most MaxProblems,
// in the order of the file.
type Errors struct {
	Problems []*CellError
	// Stopped says that reading ended at MaxProblems: there may be more.
	Stopped bool
}

// groupFrom is from how many equal problems on a column is told of them together.
const groupFrom = 4

// mostPlaces is how many lines are told of equal problems.
const mostPlaces = 5

// Error lists the problems, one a line; of many that are equal but for the line the first
// lines.
func (e *Errors) Error() string {
	type kind struct {
		column       int
		problem      string
		inLine, cell bool
	}
	kindOf := func(p *CellError) kind { return kind{p.Column, p.Problem, p.Line > 0, p.Line > 0 || p.Row > 0} }
	equal := map[kind][]int{}
	for _, p := range e.Problems {
		k := kindOf(p)
		equal[k] = append(equal[k], max(p.Line, p.Row))
	}
	lines := make([]string, 0, len(e.Problems)+1)
	for _, p := range e.Problems {
		k := kindOf(p)
		places := equal[k]
		switch {
		case !k.cell || len(places) < groupFrom:
			lines = append(lines, p.Error())
		case places[0] == max(p.Line, p.Row): // the others are told with it
			lines = append(lines, p.at(places))
		}
	}
	if e.Stopped {
		lines = append(lines, fmt.Sprintf("%s: reading stopped after %s, there may be more", e.Problems[0].File, count(len(e.Problems), "problem")))
	}
	return strings.Join(lines, "\n")
}

// Hint lists the different cures in the order of the problems, separated by
// semicolons; "" if none is known.
func (e *Errors) Hint() string {
	var hints []string
	for _, p := range e.Problems {
		if p.Hint != "" && !slices.Contains(hints, p.Hint) {
			hints = append(hints, p.Hint)
		}
	}
	return strings.Join(hints, "; ")
}

// Unwrap returns the problems.
func (e *Errors) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// problems collects the problems of one file.
type problems struct {
	file string
	list []*CellError
}

func (p *problems) add(e CellError) {
	if p.full() {
		return
	}
	e.File = p.file
	p.list = append(p.list, &e)
}

func (p *problems) full() bool { return len(p.list) == MaxProblems }

// err returns all problems as one error, or nil if there are none. stopped says
// that the rest of the file was not looked at.
func (p *problems) err(stopped bool) error {
	if len(p.list) == 0 {
		return nil
	}
	return &Errors{Problems: p.list, Stopped: stopped}
}

// listNames joins names for people, the first twenty of them.
func listNames(names []string) string {
	const most = 20
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Places says where n things stand, of which the first places are given: "line 3",
// "lines 3, 7", "rows 3, 4, 5, 6, 7 and 12 more".
func Places(word string, places []int, n int) string {
	if len(places) != 1 {
		word += "s"
	}
	var b strings.Builder
	b.WriteString(word)
	for i, at := range places[:min(len(places), mostPlaces)] {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %d", at)
	}
	if more := n - min(len(places), mostPlaces); more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// count says "1 row" or "2 rows".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
