package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
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

// addColumns makes the columns; most says how many different texts each keeps.
func (f *frame) addColumns(names []string, most func(name string) int) error {
	if len(names) > maxColumns {
		return f.errorf("%d columns, at most %d are read", len(names), maxColumns)
	}
	seen := make(map[string]int, len(names))
	for j, name := range names {
		switch {
		case len(name) > maxName:
			return f.errorf("line 1, column %d: the name has %d bytes, at most %d are read", j+1, len(name), maxName)
		case !utf8.ValidString(name):
			return f.errorf("line 1, column %d: the name is not UTF-8 text", j+1)
		case name == "": // as R writes the rows' names
			name = fmt.Sprintf("column%d", j+1)
		}
		if first := seen[name]; first > 0 {
			if _, number := parseNumber(name); number { // a cell, where there is no header
				return f.errorf("columns %d and %d have the same name, a number: the first line must name the columns", first, j+1)
			}
			return f.errorf("columns %d and %d have the same name %q", first, j+1, name)
		}
		seen[name] = j + 1
		f.columns = append(f.columns, newColumn(name, j+1, most(name)))
	}
	return nil
}

// openCSV reads a file into columns.
func openCSV(path string, maxBytes int64, most func(name string) int) (*frame, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	defer f.Close()
	return readCSV(f, filepath.Base(path), maxBytes, most)
}

// readCSV reads separated text, gzip-compressed or not, whose first line names
// the columns.
func readCSV(r io.Reader, name string, maxBytes int64, most func(name string) int) (*frame, error) {
	f := &frame{file: name}
	if maxBytes <= 0 {
		maxBytes = defaultBytes
	}
	src, err := plainText(r, maxBytes)
	if err != nil {
		return nil, f.errorf("%w", err)
	}
	comma, err := separator(src)
	if err != nil {
		return nil, f.errorf("%w", err)
	}
	rd := csv.NewReader(src)
	rd.Comma = comma
	rd.FieldsPerRecord = -1 // counted here, with a better message
	rd.ReuseRecord = true
	rd.TrimLeadingSpace = comma != '\t'
	header, err := rd.Read()
	if err == io.EOF {
		return nil, f.errorf("the file is empty")
	}
	if err != nil {
		return nil, f.csvError(err)
	}
	names := slices.Clone(header)
	for j, name := range names {
		names[j] = strings.TrimSpace(name)
	}
	if err := f.addColumns(names, most); err != nil {
		return nil, err
	}
	for {
		record, err := rd.Read()
		if err == io.EOF {
			return f, nil
		}
		if err != nil {
			return nil, f.csvError(err)
		}
		line, _ := rd.FieldPos(0)
		if len(record) != len(f.columns) {
			return nil, f.errorf("line %d has %d cells, the header has %d", line, len(record), len(f.columns))
		}
		// A cell takes a number and a code.
		if f.n++; int64(f.n)*int64(len(f.columns)) > maxBytes/12 {
			return nil, f.errorf("line %d: the table is larger than %d bytes", line, maxBytes)
		}
		for j, cell := range record {
			if len(cell) > maxCell {
				line, _ := rd.FieldPos(j)
				return nil, f.errorf("line %d, column %d (%q): the cell has %d bytes, at most %d are read", line, j+1, f.columns[j].name, len(cell), maxCell)
			}
			if !utf8.ValidString(cell) {
				line, _ := rd.FieldPos(j)
				return nil, f.errorf("line %d, column %d (%q): the cell is not UTF-8 text", line, j+1, f.columns[j].name)
			}
			f.columns[j].add(strings.TrimSpace(cell), line)
		}
	}
}

// csvError leaves out what encoding/csv would say of the file's name and keeps
// line and column.
func (f *frame) csvError(err error) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		return f.errorf("line %d, byte %d: %v", p.Line, p.Column, p.Err)
	}
	return f.errorf("%w", err)
}

// plainText unpacks what begins like gzip, skips a byte order mark, and fails
// after limit bytes.
func plainText(r io.Reader, limit int64) (*bufio.Reader, error) {
	src := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := src.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, fmt.Errorf("the gzip file is damaged or cut short: %w", err)
		}
		r = unpacked{z}
	} else {
		r = src
	}
	src = bufio.NewReaderSize(&limited{r, limit, limit}, 1<<16)
	mark, err := src.Peek(3)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.Equal(mark, []byte{0xef, 0xbb, 0xbf}):
		src.Discard(3)
	case bytes.HasPrefix(mark, []byte{0xff, 0xfe}), bytes.HasPrefix(mark, []byte{0xfe, 0xff}):
		return nil, errors.New("the file is UTF-16, save it as UTF-8")
	}
	return src, nil
}

// unpacked says of what a file suffers.
type unpacked struct{ r io.Reader }

// Read says that it is the compressed file where unpacking fails.
func (u unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("the gzip file is damaged or cut short: %w", err)
	}
	return n, err
}

// limited fails where io.LimitReader would end.
type limited struct {
	r           io.Reader
	left, limit int64
}

// Read refuses what is beyond the limit.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		if n, err := l.r.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("more than %d bytes of text", l.limit)
	}
	p = p[:min(int64(len(p)), l.left)]
	n, err := l.r.Read(p)
	l.left -= int64(n)
	return n, err
}

// separator is that of comma, semicolon and tab which stands most often in the
// first line outside quotation marks.
func separator(src *bufio.Reader) (rune, error) {
	text, err := src.Peek(1 << 16)
	if err != nil && err != io.EOF {
		return 0, err
	}
	if bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') >= 0 {
		return 0, errors.New("lines end in a carriage return alone, save the file with line feeds")
	}
	count := map[byte]int{}
	quoted := false
	for _, b := range text {
		if b == '"' {
			quoted = !quoted
		}
		if b == '\n' && !quoted && len(count) > 0 {
			break
		}
		if !quoted {
			count[b]++
		}
	}
	best := byte(',')
	for _, b := range []byte{';', '\t'} {
		if count[b] > count[best] {
			best = b
		}
	}
	return rune(best), nil
}
