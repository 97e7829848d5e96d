package table

import (
	"bytes"
	"fmt"
	"io"
)

const (
	hintUTF8   = "save the file as CSV in UTF-8"
	hintLatin1 = "it looks like Latin-1 or Windows-1252: save the file as CSV in UTF-8"
	hintQuote  = `a cell with a comma, a quotation mark or a line end stands in quotation marks, and a quotation mark in it is doubled`
)

// csvSource is separated text: RFC 4180 with any delimiter, in UTF-8, which may be
// gzip-compressed and begin with a byte order mark. The first line that is not empty
// holds the columns' names. Empty lines are skipped.
type csvSource struct {
	chosen
	lex   *lexer
	file  io.Closer // or nil
	gzip  bool
	comma rune
	last  int // the last line that was read
	rows  int
	held  [][]byte // a record that is to be given before another is read
}

// openCSV reads the header. delimiter is 0 where the header is to tell it; wanted are
// the names that it may have, or nil. The memory of a record is bounded by the number
// of columns that are expected.
func openCSV(r io.Reader, delimiter rune, wanted map[string]bool, columns int) (*csvSource, *CellError) {
	text, problem := openText(r)
	if problem != nil {
		return nil, problem
	}
	first := text.firstLine()
	if bytes.ContainsRune(first, '\r') {
		return nil, &CellError{Line: 1, Problem: "the lines end with carriage returns only", Hint: "save the file with line feeds (Unix) or both (Windows)"}
	}
	if delimiter == 0 {
		if delimiter, problem = findDelimiter(first, wanted); problem != nil {
			return nil, problem
		}
	}
	s := &csvSource{lex: newLexer(text, delimiter, maxRecord+columns*maxRecordColumn), gzip: text.gzip, comma: delimiter}
	names, err := s.lex.record()
	if err != nil {
		e := s.failure(names, err)
		e.Ends, e.more = true, err == errBareQuote || err == errQuote
		return nil, e
	}
	s.last = s.lex.line
	for _, name := range names {
		s.add(Column{Name: string(bytes.TrimSpace(name)), Kind: Text})
	}
	return s, nil
}

// Format says what separates the cells, and whether the file is compressed.
func (s *csvSource) Format() string {
	format := "CSV, separated by " + delimiterName(s.comma)
	if s.gzip {
		format += ", gzip"
	}
	return format
}

// Close closes the file.
func (s *csvSource) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Next reads the next line that is not empty, and what goes on below it in quotation marks.
func (s *csvSource) Next(r *Record) error {
	fields := s.held
	s.held = nil
	if fields == nil {
		var err error
		if fields, err = s.lex.record(); err == io.EOF {
			return err
		} else if err != nil {
			return s.failure(fields, err)
		}
		before := s.last
		s.last = s.lex.line
		s.rows++
		if len(s.columns) == 1 && len(fields) == 1 && s.lex.start > before+1 {
			// Where there is one column, an empty line is an empty cell.
			s.held = fields
			return &CellError{Line: s.lex.start - 1, Column: 1, Problem: "the cell is empty", Hint: hintComplete}
		}
	}
	if len(fields) != len(s.columns) {
		return s.wrongWidth(len(fields))
	}
	r.Row, r.Line, r.lines = s.rows, s.lex.start, nil
	s.room(r)
	for i, j := range s.wanted {
		c := &r.Cells[i]
		c.Kind, c.text = Text, fields[j]
	}
	if s.lex.lines != nil {
		for _, j := range s.wanted {
			r.lines = append(r.lines, s.lex.lines[j])
		}
	}
	return nil
}

func (s *csvSource) wrongWidth(fields int) *CellError {
	e := &CellError{Line: s.lex.start, Problem: fmt.Sprintf("the row has %s, the header %d", count(fields, "field"), len(s.columns))}
	if fields > len(s.columns) {
		e.Hint = "a comma inside a cell separates: write numbers with a decimal point, and text with a comma in quotation marks"
		if s.comma != ',' {
			e.Hint = fmt.Sprintf("inside a cell %s separate too: write such cells in quotation marks", delimiterName(s.comma))
		}
	}
	return e
}

// failure describes an error of the lexer, which returned the given fields with it.
func (s *csvSource) failure(fields [][]byte, err error) *CellError {
	e := &CellError{Line: s.lex.start, Column: len(fields) + 1, Hint: hintQuote}
	switch err {
	case errBareQuote:
		e.Problem = `the cell has a quotation mark (") and does not begin with one`
		s.last = s.lex.line
	case errQuote:
		e.Problem = `the cell begins with a quotation mark (") that is not closed at its end`
		e.Ends, e.more = true, true
	case errRecordTooLong:
		e.Line, e.Column, e.Hint, e.cause = s.last+1, 0, `look for a quotation mark (") that is not closed`, err
		e.Problem = fmt.Sprintf("the row that begins here has %d bytes or more", s.lex.limit)
		e.Ends = true
	default:
		e = unreadable(err, s.last)
		e.Ends = true
	}
	return e
}
