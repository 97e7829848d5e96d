package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// lexer divides comma-separated text (RFC 4180) into records and fields. It reads
// what encoding/csv reads with FieldsPerRecord -1, TrimLeadingSpace and without
// LazyQuotes, and finds the same errors on the same lines (FuzzLexer holds both side
// by side), in about a third of the time: where no quotation mark stands in a line,
// its fields are parts of the buffer. Leading spaces of such fields stay.
//
// encoding/csv in its place, which was tried, reads and checks a table of 50 numbers of four
// decimals at 146 MB/s of one core instead of 305; a check is to make 150 in all.
//
// A record is at most limit bytes long, and the buffer never much longer.
type lexer struct {
	r     io.Reader
	comma []byte // the delimiter, one character
	space func(rune) bool
	limit int

	buf      []byte
	pos, end int   // buf[pos:end] was read and not yet divided
	ended    error // what ended reading, io.EOF included
	since    int   // bytes of the record before pos
	line     int   // lines read so far
	start    int   // the line on which the record begins

	fields [][]byte
	// lines has the line of each field of a record of several lines, else nil.
	lines []int
	store []byte // the fields of a line with quotation marks
	ends  []int
	multi []int
}

// Errors of a record, as encoding/csv has them.
var (
	errBareQuote     = errors.New("a bare quotation mark")
	errQuote         = errors.New("a quotation mark that is not closed")
	errRecordTooLong = errors.New("record too long")
)

// blockSize is how much is read at a time: what fits into a second-level cache.
const blockSize = 256 << 10

func newLexer(r io.Reader, comma rune, limit int) *lexer {
	return &lexer{
		r: r, limit: limit,
		comma: utf8.AppendRune(nil, comma),
		space: func(c rune) bool { return c != comma && unicode.IsSpace(c) },
	}
}

// record returns the fields of the next record; they are good until the next call.
// Where the error is errBareQuote or errQuote they are those before it. After
// errBareQuote the next line can be read, after any other error nothing can.
func (l *lexer) record() ([][]byte, error) {
	l.lines = nil
	for {
		l.since = 0
		line, err := l.readLine()
		if err != nil {
			return nil, err
		}
		if len(line) == lineEnd(line) {
			continue
		}
		l.start = l.line
		if bytes.IndexByte(line, '"') >= 0 {
			return l.quoted(line)
		}
		l.split(line[:len(line)-lineEnd(line)])
		return l.fields, nil
	}
}

// split divides a line without quotation marks.
func (l *lexer) split(line []byte) {
	fields := l.fields[:0]
	if len(l.comma) > 1 {
		for {
			before, after, more := bytes.Cut(line, l.comma)
			fields = append(fields, before)
			if !more {
				l.fields = fields
				return
			}
			line = after
		}
	}
	// Eight bytes at a time: each delimiter sets the highest bit of its byte.
	comma, from, i := ones*uint64(l.comma[0]), 0, 0
	for ; i+8 <= len(line); i += 8 {
		x := binary.LittleEndian.Uint64(line[i:]) ^ comma
		for at := ^((x&^highs + ^uint64(highs)) | x | ^uint64(highs)); at != 0; at &= at - 1 {
			end := i + bits.TrailingZeros64(at)/8
			fields = append(fields, line[from:end])
			from = end + 1
		}
	}
	for ; i < len(line); i++ {
		if line[i] == l.comma[0] {
			fields = append(fields, line[from:i])
			from = i + 1
		}
	}
	l.fields = append(fields, line[from:])
}

// quoted divides a record that begins with the given line, after encoding/csv's
// readRecord.
func (l *lexer) quoted(line []byte) ([][]byte, error) {
	l.store, l.ends, l.multi = l.store[:0], l.ends[:0], l.multi[:0]
	var err error
	for more := true; more && err == nil; {
		line = bytes.TrimLeftFunc(line, l.space)
		at := l.line
		if len(line) == 0 || line[0] != '"' {
			field, rest, found := bytes.Cut(line, l.comma)
			if more = found; !found {
				field = field[:len(field)-lineEnd(field)]
			}
			if bytes.IndexByte(field, '"') >= 0 {
				err = errBareQuote
				break
			}
			l.store = append(l.store, field...)
			line = rest
		} else if line, more, err = l.inQuotes(line[1:]); err != nil {
			break
		}
		l.ends, l.multi = append(l.ends, len(l.store)), append(l.multi, at)
	}
	l.fields = l.fields[:0]
	from := 0
	for _, end := range l.ends {
		l.fields = append(l.fields, l.store[from:end])
		from = end
	}
	if l.line > l.start {
		l.lines = l.multi
	}
	return l.fields, err
}

// inQuotes reads the rest of a field after its opening quotation mark; more says
// that a delimiter follows it, and rest is what follows that.
func (l *lexer) inQuotes(line []byte) (rest []byte, more bool, err error) {
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			if len(line) == 0 { // the end of the text
				return nil, false, errQuote
			}
			l.store = append(l.store, line...)
			if line, err = l.readLine(); err != nil && err != io.EOF {
				return nil, false, err
			}
			continue
		}
		l.store = append(l.store, line[:i]...)
		line = line[i+1:]
		switch {
		case len(line) > 0 && line[0] == '"':
			l.store = append(l.store, '"')
			line = line[1:]
		case bytes.HasPrefix(line, l.comma):
			return line[len(l.comma):], true, nil
		case len(line) == lineEnd(line):
			return nil, false, nil
		default:
			return nil, false, errQuote
		}
	}
}

// readLine returns the next line with its end, which is "\n" where it was "\r\n".
// A carriage return before the end of the text is dropped. The line is good until
// the next call.
func (l *lexer) readLine() ([]byte, error) {
	for looked := 0; ; {
		if i := bytes.IndexByte(l.buf[l.pos+looked:l.end], '\n'); i >= 0 {
			n := looked + i + 1
			line := l.buf[l.pos : l.pos+n]
			l.took(n)
			if n >= 2 && line[n-2] == '\r' {
				line[n-2] = '\n'
				line = line[:n-1]
			}
			return line, nil
		}
		looked = l.end - l.pos
		switch {
		case l.ended == io.EOF && looked > 0:
			line := bytes.TrimSuffix(l.buf[l.pos:l.end], []byte("\r"))
			l.took(looked)
			if len(line) == 0 {
				l.line-- // which encoding/csv does not count as a line
			}
			return line, nil
		case l.ended != nil:
			return nil, l.ended
		case l.since+looked >= l.limit:
			l.ended = errRecordTooLong
			return nil, l.ended
		}
		l.fill()
	}
}

func (l *lexer) took(n int) {
	l.pos += n
	l.since += n
	l.line++
}

// fill reads more behind what is in the buffer.
func (l *lexer) fill() {
	if l.end == len(l.buf) && l.pos > 0 {
		l.end = copy(l.buf, l.buf[l.pos:l.end])
		l.pos = 0
	}
	if l.end == len(l.buf) {
		grown := make([]byte, max(blockSize, 2*len(l.buf)))
		copy(grown, l.buf[:l.end])
		l.buf = grown
	}
	for range 100 { // a reader that gives nothing again and again is broken
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.ended = err
		}
		if n > 0 || err != nil {
			return
		}
	}
	l.ended = io.ErrNoProgress
}

// lineEnd is the length of the line end.
func lineEnd(line []byte) int {
	if len(line) > 0 && line[len(line)-1] == '\n' {
		return 1
	}
	return 0
}
