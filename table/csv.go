package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"concord/study"
)

// LabelMode says what is done with the label's column.
type LabelMode int

const (
	// Required is for training rows: a file without the label is refused.
	Required LabelMode = iota
	// Optional is for new rows: the column may be absent or empty. Where it is
	// there, every row must have its label.
	Optional
	// Ignored does not read the column.
	Ignored
)

// Options say how strictly a file must follow the contract. The zero value is
// right for training rows.
type Options struct {
	// Label defaults to Required.
	Label LabelMode
	// AllowExtra skips columns that the contract does not have, whatever is
	// in them. By default each is an error.
	AllowExtra bool
	// AllowOutOfRange counts values outside a feature's range instead of
	// refusing them; see [Table.OutOfRange].
	AllowOutOfRange bool
	// MaxRows is the most rows that are read; more are an error. Zero and
	// less mean the contract's.
	MaxRows int
}

const (
	hintUTF8  = "save the file as CSV in UTF-8"
	hintQuote = `a cell with a comma, a quotation mark or a line end stands in quotation marks, and a quotation mark in it is doubled`
)

// OpenCSV reads the CSV file at path, gzip-compressed or not. See [ReadCSV].
func OpenCSV(path string, c *study.Contract, opt Options) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("table: %w", err)
	}
	defer f.Close()
	return ReadCSV(f, path, c, opt)
}

// ReadCSV reads rows from comma-separated text (RFC 4180) in UTF-8, which may
// be gzip-compressed and begin with a byte order mark; name is for errors. The
// first line holds the columns' names, in any order. Spaces around names and
// cells do not count. Numbers are decimal with a point; there are no missing
// values. Empty lines are skipped. Equal rows are kept.
//
// What is wrong is an [Errors] that lists up to [MaxProblems] problems with line
// and column, and no cell's content. Nothing is returned with it.
//
// Cost: O(n m) time and one pass, n m numbers of memory and one record, whose
// length is bounded (1 MiB and 1 KiB for each column of the contract).
func ReadCSV(r io.Reader, name string, c *study.Contract, opt Options) (*Table, error) {
	p := &problems{file: name}
	src, problem := newSource(r, columns(c))
	if problem == nil {
		problem = checkFirstLine(src.firstLine(), c)
	}
	if problem != nil {
		p.add(*problem)
		return nil, p.err(false)
	}
	rd := &reader{src: src, csv: csv.NewReader(src), contract: c, opt: opt, problems: p}
	rd.csv.FieldsPerRecord = -1 // counted here, with a better message
	rd.csv.ReuseRecord = true
	rd.csv.TrimLeadingSpace = true
	if opt.MaxRows <= 0 {
		rd.opt.MaxRows = c.MaxRows
	}
	return rd.read()
}

// reader reads one file.
type reader struct {
	src      *source
	csv      *csv.Reader
	contract *study.Contract
	opt      Options
	*problems

	at     layout
	levels map[string]int
	last   int // the last line that was read
	blank  int // rows whose optional label is empty
	// What becomes the table. Rows stop being kept at the first problem.
	data    []float64
	target  target
	lines   []int
	outside []int
	// people numbers the subjects by their cells; person has a number for each row.
	people map[string]int
	person []int
}

func (rd *reader) read() (*Table, error) {
	header, more := rd.record()
	if header == nil {
		return nil, rd.err(more)
	}
	rd.at = readHeader(header, rd.contract, rd.opt, rd.problems)
	if err := rd.err(rd.full()); err != nil {
		return nil, err
	}
	rd.outside = make([]int, rd.contract.M())
	rd.levels = make(map[string]int, len(rd.contract.Label.Levels))
	for k, level := range rd.contract.Label.Levels {
		rd.levels[level] = k
	}
	for n := 0; ; n++ {
		fields, more := rd.record()
		if fields == nil {
			if n == 0 && len(rd.list) == 0 {
				rd.add(CellError{Problem: "has a header and no rows"})
			}
			rd.blankLabels(n)
			if err := rd.err(more); err != nil {
				return nil, err
			}
			rd.target.person = rd.person
			t := newTable(rd.contract, rd.data, &rd.target, rd.lines, rd.outside)
			t.file = rd.file
			for _, field := range rd.at.features {
				t.columns = append(t.columns, field+1)
			}
			return t, nil
		}
		if n == rd.opt.MaxRows {
			line, _ := rd.csv.FieldPos(0)
			rd.add(CellError{Line: line, Problem: fmt.Sprintf("there are more than %s, the most that may be read", count(rd.opt.MaxRows, "row")),
				Hint: "the contract's max_rows bounds what one party may contribute"})
			return nil, rd.err(false)
		}
		rd.row(fields)
		if rd.full() {
			return nil, rd.err(true)
		}
	}
}

// record returns the fields of the next record, or nil where reading ends: at
// the end of the file, or at a problem after which lines and columns could not
// be told any more. more says that the rest of the file was not looked at.
func (rd *reader) record() (fields []string, more bool) {
	for {
		fields, err := rd.csv.Read()
		if rd.src.err != nil {
			rd.add(*rd.src.failure(rd.last))
			return nil, false
		}
		if err == io.EOF {
			return nil, false
		}
		rd.src.next()
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			// Read returns the fields before the error.
			e := CellError{Line: syntax.StartLine, Column: len(fields) + 1, Hint: hintQuote,
				Problem: `the cell has a quotation mark (") and does not begin with one`}
			header := rd.last == 0
			rd.last = syntax.Line
			if syntax.Err == csv.ErrQuote {
				e.Problem = `the cell begins with a quotation mark (") that is not closed at its end`
				rd.add(e)
				return nil, true
			}
			rd.add(e)
			if header || rd.full() {
				return nil, true
			}
			continue
		}
		if blank := rd.blankBefore(fields); blank > 0 {
			rd.add(CellError{Line: blank, Column: 1, Problem: "the cell is empty", Hint: hintComplete})
		}
		if rd.full() {
			return nil, true
		}
		return fields, false
	}
}

// blankBefore keeps count of the lines. It returns the line before the record if
// that is empty and the file has one column, where an empty line is an empty
// cell, and else 0.
func (rd *reader) blankBefore(fields []string) int {
	first, _ := rd.csv.FieldPos(0)
	before := rd.last
	rd.last, _ = rd.csv.FieldPos(len(fields) - 1)
	rd.last += strings.Count(fields[len(fields)-1], "\n")
	if before > 0 && len(fields) == 1 && rd.at.width == 1 && first > before+1 {
		return first - 1
	}
	return 0
}

// row reads one record into the table, or adds what is wrong with it.
func (rd *reader) row(fields []string) {
	line, _ := rd.csv.FieldPos(0)
	if len(fields) != rd.at.width {
		e := CellError{Line: line, Problem: fmt.Sprintf("the row has %s, the header %d", count(len(fields), "field"), rd.at.width)}
		if len(fields) > rd.at.width {
			e.Hint = "a comma inside a cell separates: write numbers with a decimal point, and text with a comma in quotation marks"
		}
		rd.add(e)
		return
	}
	before := len(rd.list)
	for j, f := range rd.contract.Features {
		x, ok := rd.number(fields, rd.at.features[j], f.Name)
		if !ok {
			continue
		}
		if !inside(x, f.Range) {
			if !rd.opt.AllowOutOfRange {
				rd.outOfRange(f, rd.at.features[j])
				continue
			}
			rd.outside[j]++
		}
		if len(rd.list) == 0 {
			rd.data = append(rd.data, x)
		}
	}
	if rd.at.label >= 0 {
		rd.label(fields)
	}
	if rd.at.subject >= 0 {
		rd.subject(fields)
	}
	if len(rd.list) == before {
		rd.lines = append(rd.lines, line)
	}
}

// number reads one numeric cell; field counts from 0.
func (rd *reader) number(fields []string, field int, name string) (float64, bool) {
	x, problem, hint := parseNumber(strings.TrimSpace(fields[field]))
	if problem == "" {
		return x, true
	}
	if !utf8.ValidString(fields[field]) {
		problem, hint = "the cell is not valid UTF-8", hintUTF8
	}
	rd.cell(field, name, problem, hint)
	return 0, false
}

// label reads the label's cell.
func (rd *reader) label(fields []string) {
	l, field := rd.contract.Label, rd.at.label
	if rd.opt.Label == Optional && strings.TrimSpace(fields[field]) == "" {
		rd.blank++
		return
	}
	if l.Type == "number" {
		if y, ok := rd.number(fields, field, l.Name); ok && len(rd.list) == 0 {
			rd.target.values = append(rd.target.values, y)
		}
		return
	}
	cell := strings.TrimSpace(fields[field])
	k, ok := rd.levels[cell]
	switch {
	case ok:
		if len(rd.list) == 0 {
			rd.target.classes = append(rd.target.classes, k)
		}
	case cell == "":
		rd.cell(field, l.Name, "the cell is empty", hintComplete)
	case !utf8.ValidString(cell):
		rd.cell(field, l.Name, "the cell is not valid UTF-8", hintUTF8)
	default:
		rd.cell(field, l.Name, "the label is none of the contract's classes: "+listNames(l.Levels), respelled(cell, l.Levels))
	}
}

// subject reads the cell that tells people apart: only which rows are of the same
// person is kept of it.
func (rd *reader) subject(fields []string) {
	cell := strings.TrimSpace(fields[rd.at.subject])
	if cell == "" {
		rd.cell(rd.at.subject, rd.contract.Subject, "the cell is empty", hintComplete)
		return
	}
	who, ok := rd.people[cell]
	if !ok {
		if rd.people == nil {
			rd.people = map[string]int{}
		}
		who = len(rd.people)
		rd.people[strings.Clone(cell)] = who
	}
	if len(rd.list) == 0 {
		rd.person = append(rd.person, who)
	}
}

// blankLabels judges an optional label that is empty in some of n rows: it is
// there in all rows or in none.
func (rd *reader) blankLabels(n int) {
	if rd.blank > 0 && rd.blank < n {
		rd.add(CellError{Column: rd.at.label + 1, Name: rd.contract.Label.Name,
			Problem: fmt.Sprintf("the label is empty in %d of %d rows", rd.blank, n),
			Hint:    "fill the label in for every row, or empty or remove the whole column"})
	}
}

// respelled is a hint for a label that differs from a class by its spelling.
func respelled(cell string, levels []string) string {
	x, problem, _ := parseNumber(cell)
	for _, level := range levels {
		if strings.EqualFold(cell, level) {
			return "classes must be spelled as in the contract, capitals included"
		}
		if y, other, _ := parseNumber(level); problem == "" && other == "" && x == y {
			return "classes must be spelled as in the contract; the file writes a class as another spelling of the same number, such as 1.0 for 1"
		}
	}
	return ""
}

func (rd *reader) outOfRange(f study.Feature, field int) {
	unit := ""
	if f.Unit != "" {
		unit = " " + f.Unit
	}
	rd.cell(field, f.Name, fmt.Sprintf("the value is outside the contract's range, %s to %s%s", formatNumber(f.Range.Min), formatNumber(f.Range.Max), unit),
		"correct the value or leave the row out; if it is right, the contract's range is too narrow")
}

// cell adds a problem of one cell; field counts from 0.
func (rd *reader) cell(field int, name, problem, hint string) {
	line, _ := rd.csv.FieldPos(field)
	rd.add(CellError{Line: line, Column: field + 1, Name: name, Problem: problem, Hint: hint})
}
