package table

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Limits of one record, the header included, in bytes: enough for any row of
// numbers, and a bound on what a quotation mark that is never closed can collect.
const (
	maxRecord       = 1 << 20
	maxRecordColumn = 1 << 10 // and so much more for each column of the contract
)

// peekSize is how much of the file's beginning is looked at to recognise what
// it is.
const peekSize = 64 << 10

// magics are the beginnings of files that are often taken for CSV.
var magics = []struct{ prefix, what, hint string }{
	{"PK\x03\x04", "is a zip file or a spreadsheet, not CSV text", "save the sheet as CSV (UTF-8, comma)"},
	{"\xd0\xcf\x11\xe0", "is a spreadsheet, not CSV text", "save the sheet as CSV (UTF-8, comma)"},
	{"PAR1", "is a Parquet file, and CSV text is wanted here", "name the file itself; it cannot be read from a pipe"},
	{"\x93NUMPY", "is a NumPy file, and CSV text is wanted here", "name the file itself; it cannot be read from a pipe"},
	{"SQLite format 3\x00", "is a SQLite database, and CSV text is wanted here", "name the file itself; it cannot be read from a pipe"},
	{"\x1f\x8b", "is compressed more than once", "compress it once, with gzip, or not at all"},
	{"BZh", "is compressed with bzip2; gzip is read", "compress it with gzip or not at all"},
	{"\xfd7zXZ\x00", "is compressed with xz; gzip is read", "compress it with gzip or not at all"},
	{"\x28\xb5\x2f\xfd", "is compressed with zstd; gzip is read", "compress it with gzip or not at all"},
	{"\xff\xfe", "is UTF-16 text; UTF-8 is read", "save it as CSV in UTF-8"},
	{"\xfe\xff", "is UTF-16 text; UTF-8 is read", "save it as CSV in UTF-8"},
}

// text is the text of a CSV file, decompressed if it was compressed and without a
// byte order mark.
type text struct {
	*bufio.Reader
	gzip bool
}

// openText recognises what r holds.
func openText(r io.Reader) (*text, *CellError) {
	raw, packed := bufio.NewReaderSize(r, peekSize), false
	start, err := raw.Peek(2)
	if err != nil && err != io.EOF {
		return nil, unreadable(err, 0)
	}
	if bytes.Equal(start, []byte{0x1f, 0x8b}) {
		zr, err := gzip.NewReader(raw)
		if err != nil {
			return nil, unreadable(err, 0)
		}
		raw, packed = bufio.NewReaderSize(zr, peekSize), true
	}
	start, err = raw.Peek(peekSize)
	if err != nil && err != io.EOF {
		return nil, unreadable(err, 0)
	}
	if bytes.HasPrefix(start, []byte("\xef\xbb\xbf")) {
		start = start[3:]
		if _, err := raw.Discard(3); err != nil {
			return nil, unreadable(err, 0)
		}
	}
	if bytes.ContainsFunc(start, isControl) {
		for _, m := range magics {
			if bytes.HasPrefix(start, []byte(m.prefix)) {
				return nil, &CellError{Problem: m.what, Hint: m.hint}
			}
		}
	}
	if len(bytes.TrimSpace(start)) == 0 && len(start) < peekSize-3 {
		return nil, &CellError{Problem: "is empty", Hint: "the first line must be the header with the columns' names"}
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return nil, &CellError{Problem: "has zero bytes: it is UTF-16 text, or no text at all; UTF-8 is read", Hint: "save it as CSV in UTF-8"}
	}
	return &text{raw, packed}, nil
}

// isControl recognises characters that text does not have.
func isControl(r rune) bool { return r < '\t' || '\r' < r && r < ' ' }

// firstLine returns the beginning of the file up to the first end of a line that is
// not empty, as far as it was peeked. It is called before the first Read.
func (t *text) firstLine() []byte {
	start, _ := t.Peek(peekSize - 3)
	for {
		line, rest, more := bytes.Cut(start, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) > 0 || !more {
			return line
		}
		start = rest
	}
}

// unreadable describes an error of the file or of its compression. Such errors
// speak of the file, not of its content.
func unreadable(err error, line int) *CellError {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the file's name stands before it anyway
	}
	e := &CellError{Problem: fmt.Sprintf("cannot be read: %v", err), cause: err}
	if line > 0 {
		e.Problem = fmt.Sprintf("cannot be read after line %d: %v", line, err)
	}
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		e.Hint = "the file is damaged or was not copied completely; copy it again"
	}
	return e
}
