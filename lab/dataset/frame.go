package dataset

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"concord/table"
)

const (
	// maxCell bounds one cell; a longer one is a file gone wrong, such as a
	// quotation mark that is never closed.
	maxCell = 64 << 10
	// maxName bounds a column's name, which errors print.
	maxName = 200
	// maxColumns bounds what a header may claim.
	maxColumns = 1 << 17
	// defaultBytes is the limit on decoded data: 4 GiB.
	defaultBytes = 4 << 30
)

// frame is a table whose columns are not coded yet.
type frame struct {
	file    string // for errors
	place   string // what errors count: "line" of text, or "row"
	n       int
	columns []*column
}

func (f *frame) column(name string) *column {
	for _, c := range f.columns {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (f *frame) errorf(format string, args ...any) error {
	return fmt.Errorf("dataset: %s: "+format, append([]any{f.file}, args...)...)
}

// cellError is about the cell of a column in a line or row.
func (f *frame) cellError(at int, c *column, format string, args ...any) error {
	return f.errorf("%s %d, column %d (%q): %w", f.place, at, c.at, c.name, fmt.Errorf(format, args...))
}

// addColumns makes the columns; most says how many different texts each keeps.
func (f *frame) addColumns(columns []table.Column, most func(name string) int) error {
	if len(columns) > maxColumns {
		return f.errorf("%d columns, at most %d are read", len(columns), maxColumns)
	}
	seen := make(map[string]int, len(columns))
	for j, column := range columns {
		name := column.Name
		switch {
		case len(name) > maxName:
			return f.errorf("column %d: the name has %d bytes, at most %d are read", j+1, len(name), maxName)
		case !utf8.ValidString(name):
			return f.errorf("column %d: the name is not UTF-8 text", j+1)
		case name == "": // as R writes the rows' names
			name = fmt.Sprintf("column%d", j+1)
		}
		if first := seen[name]; first > 0 {
			if _, number := table.ParseNumber(name, false); number { // a cell, where there is no header
				return f.errorf("columns %d and %d have the same name, a number: the first line must name the columns", first, j+1)
			}
			return f.errorf("columns %d and %d have the same name %q", first, j+1, name)
		}
		seen[name] = j + 1
		f.columns = append(f.columns, newColumn(name, j+1, most(name)))
	}
	return nil
}

// readFrame reads a file of any format that package table knows into columns. Those that
// opt drops stay empty.
func readFrame(path string, opt Options, most func(name string) int) (*frame, error) {
	src, err := table.OpenSource(path, table.Options{}, append([]string{opt.label(), opt.By}, opt.Drop...)...)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	f := &frame{file: filepath.Base(path), place: "row"}
	if err := f.addColumns(src.Columns(), most); err != nil {
		return nil, err
	}
	var chosen []int
	for j, c := range src.Columns() {
		if slices.Contains(opt.Drop, f.columns[j].name) {
			continue
		}
		if c.Kind == table.Other || c.Kind == table.Day {
			return nil, f.errorf("column %d (%q) is of type %s, which is not read: turn it into numbers or leave it out with --drop %q", j+1, c.Name, c.Type, c.Name)
		}
		chosen = append(chosen, j)
	}
	src.Select(chosen)
	return f, f.fill(src, chosen, opt.maxBytes())
}

// fill reads all rows of the chosen columns.
func (f *frame) fill(src table.Source, chosen []int, maxBytes int64) error {
	var r table.Record
	text := int64(0)
	for {
		err := src.Next(&r)
		var problem *table.CellError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &problem):
			problem.File = f.file
			return &table.Errors{Problems: []*table.CellError{problem}}
		case err != nil:
			return err
		}
		at := r.Row
		if r.Line > 0 {
			at, f.place = r.Line, "line"
		}
		f.n++
		for i, j := range chosen {
			text += int64(len(r.Cells[i].Text()))
			if err := f.columns[j].take(r.Cells[i], at); err != nil {
				return f.cellError(at, f.columns[j], "%w", err)
			}
		}
		// A cell takes a number and a code.
		if text > maxBytes || int64(f.n)*int64(len(f.columns)) > maxBytes/12 {
			return f.errorf("%s %d: the table is larger than %d bytes", f.place, at, maxBytes)
		}
	}
}
