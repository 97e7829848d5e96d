// Package draft writes a first study.yaml from the shape of one file of rows: which
// columns there are and what kind of values they hold. It stands at the beginning of a
// study, before any contract, at a site that has data.
//
// Feed rows to a [Draft] with Add, then call [Draft.YAML]. Nothing that is written is a
// value of the file: ranges, units and levels are left as FILL IN, a text that a
// contract refuses until a person has replaced it. Only what is known without the file
// is spelled out: 0 and 1, yes and no, and the usual marks of missing values. Levels of
// categories are values; they are written on demand alone ([Options.Levels]).
//
// Types are told apart by all values, not by the first ones, and doubtful cases are
// asked about in comments: nothing is guessed silently.
//
// Cost: O(1) for each cell and, for each column, memory for up to a thousand different
// short values.
package draft

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Options say what is known before the file is read. The zero value knows nothing.
type Options struct {
	// Label and Subject are the names of those columns, or "".
	Label, Subject string
	// Levels writes the levels of categories and the label's classes: values of the file.
	Levels bool
	// DecimalComma reads 1,5 as a number.
	DecimalComma bool
}

// Draft collects what columns hold.
type Draft struct {
	opt     Options
	columns []*column
	rows    int64
	ragged  int64
}

// New begins a draft for a file with the given columns. It fails where the options name
// a column that is not there, or one name for both.
func New(names []string, opt Options) (*Draft, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("draft: the file has no columns")
	}
	if opt.Label != "" && opt.Label == opt.Subject {
		return nil, fmt.Errorf("draft: the column %q cannot be both label and subject", opt.Label)
	}
	d := &Draft{opt: opt}
	seen := map[string]bool{}
	for i, name := range names {
		name = strings.TrimSpace(name)
		if likeValue(name) {
			return nil, fmt.Errorf("draft: the name of column %d looks like a value: the file has no header, or columns that are named by numbers", i+1)
		}
		d.columns = append(d.columns, newColumn(name, i+1, seen[name]))
		seen[name] = true
	}
	for _, wanted := range []struct{ what, name string }{{"label", opt.Label}, {"subject", opt.Subject}} {
		if wanted.name != "" && !seen[wanted.name] {
			return nil, fmt.Errorf("draft: the %s's column %q is not in the header, which has %s", wanted.what, wanted.name, d.titles())
		}
	}
	return d, nil
}

// titles lists the columns, the first twenty of them.
func (d *Draft) titles() string {
	const most = 20
	var list []string
	for _, c := range d.columns[:min(len(d.columns), most)] {
		list = append(list, c.title())
	}
	text := strings.Join(list, ", ")
	if more := len(d.columns) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Add takes one row: a cell for each column, spaces around it not counting. The cells
// are not kept. A row with more or fewer cells is counted and left aside.
func (d *Draft) Add(cells [][]byte) {
	d.rows++
	if len(cells) != len(d.columns) {
		d.ragged++
		return
	}
	for j, cell := range cells {
		d.columns[j].add(bytes.TrimSpace(cell), d.opt.DecimalComma)
	}
}

// Rows is how many rows were added.
func (d *Draft) Rows() int64 { return d.rows }

// Ragged is how many of the rows had another number of cells than there are columns.
func (d *Draft) Ragged() int64 { return d.ragged }

// likeValue reports whether a name in a header is a number or a date: then the header
// may be a row, and nothing of it is to be written.
func likeValue(name string) bool {
	if _, err := strconv.ParseFloat(strings.Replace(name, ",", ".", 1), 64); err == nil {
		return true
	}
	var d dates
	d.add([]byte(name))
	return !d.layoutless()
}
