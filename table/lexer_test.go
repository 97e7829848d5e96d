package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
)

// lexed is one call of a reader of CSV: fields, their lines, and the error.
type lexed struct {
	fields []string
	lines  []int
	err    string
}

func (l lexed) String() string {
	return fmt.Sprintf("%q on lines %v, error %q", l.fields, l.lines, l.err)
}

// TestLexer holds the lexer beside encoding/csv on the texts of which the fuzz test
// starts.
func TestLexer(t *testing.T) {
	for _, text := range lexerTexts {
		for _, comma := range []rune{',', ';', '\t', ' ', '§'} {
			sameAsCSV(t, []byte(strings.ReplaceAll(text, ",", string(comma))), comma)
		}
	}
}

var lexerTexts = []string{
	"", "\n", "\r\n\r\n", "a", "a\r", "a\r\r\n", "a,b\n1,2\n", "a,b\r\n1,2\r\n\r\n 3 ,\t4", ",\n,,\n", "\"\"\n", "a,\"b\"\n", "\"a\nb\"\"c\",d\ne",
	"\"a\r\nb\",c\r\n", "\"a", "\"a\n", "\"a\n\n", "\"a\r", "a\"b,c\nd", "a,\"b\"c\nd", "\"a\" ,b\n", " \"a\",b\n", "\u00a0a,\u2003\"b\",\u0085c\n", "\xff,\"\xff\"\n", "a,  \n\"", "  \n",
	"x,\"y\n\n\nz\",w\n1,2,3\n", "\"a\",\n\"b\"", "a,b\"", "\"a\"\"\n\"", "\x00,\"\x00\"\n", "\"\n\n\r",
}

func FuzzLexer(f *testing.F) {
	for _, text := range lexerTexts {
		f.Add([]byte(text), byte(0))
		f.Add([]byte(strings.ReplaceAll(text, ",", ";")), byte(1))
	}
	f.Fuzz(func(t *testing.T, text []byte, which byte) {
		sameAsCSV(t, text, []rune{',', ';', '\t', ' ', '§'}[int(which)%5])
	})
}

// sameAsCSV compares what the lexer reads, all at once and byte by byte, with what
// encoding/csv reads: fields but for leading spaces, the lines on which they begin, and
// the errors with their lines. encoding/csv cannot trim spaces where a space separates.
func sameAsCSV(t *testing.T, text []byte, comma rune) {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = comma, -1, !unicode.IsSpace(comma)
	want := readAll(func() lexed {
		fields, err := r.Read()
		got := lexed{fields: trimmed(fields)}
		var syntax *csv.ParseError
		switch {
		case errors.As(err, &syntax) && syntax.Err == csv.ErrQuote:
			got.err = fmt.Sprint(errQuote, syntax.StartLine, syntax.Line)
		case errors.As(err, &syntax):
			got.err = fmt.Sprint(errBareQuote, syntax.StartLine, syntax.Line)
		case err != nil:
			got.err = err.Error()
		default:
			for i := range fields {
				line, _ := r.FieldPos(i)
				got.lines = append(got.lines, line)
			}
		}
		return got
	})
	for _, slow := range []bool{false, true} {
		var in io.Reader = bytes.NewReader(text)
		if slow {
			in = iotest.OneByteReader(in)
		}
		l := newLexer(in, comma, len(text)+1)
		if unicode.IsSpace(comma) {
			l.space = func(rune) bool { return false }
		}
		got := readAll(func() lexed {
			fields, err := l.record()
			got := lexed{}
			for i, field := range fields {
				got.fields = append(got.fields, string(field))
				if line := l.start; err == nil {
					if l.lines != nil {
						line = l.lines[i]
					}
					got.lines = append(got.lines, line)
				}
			}
			got.fields = trimmed(got.fields)
			switch err {
			case errQuote, errBareQuote:
				got.err = fmt.Sprint(err, l.start, l.line)
			case nil:
			default:
				got.err = err.Error()
			}
			return got
		})
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i].String() != got[i].String() {
				t.Fatalf("%q separated by %q: record %d\nlexer:        %v\nencoding/csv: %v", text, comma, i+1, got, want)
			}
		}
	}
}

func trimmed(fields []string) []string {
	var out []string
	for _, field := range fields {
		out = append(out, strings.TrimLeftFunc(field, unicode.IsSpace))
	}
	return out
}

// readAll calls next until its error is one after which nothing is read.
func readAll(next func() lexed) (out []lexed) {
	for {
		got := next()
		if got.fields == nil && got.err == "" {
			return out
		}
		out = append(out, got)
		if got.err != "" && !strings.HasPrefix(got.err, errBareQuote.Error()) {
			return out
		}
	}
}

// TestLexerIsBounded holds that an endless record is refused after its limit, without
// being kept.
func TestLexerIsBounded(t *testing.T) {
	for _, begin := range []string{"", "\"", "a,\"", "\"\n"} {
		in := io.MultiReader(strings.NewReader(begin), &endless{})
		l := newLexer(in, ',', 1<<20)
		var err error
		for err == nil {
			_, err = l.record()
		}
		if err != errRecordTooLong {
			t.Errorf("%q and an endless cell: %v", begin, err)
		}
		if len(l.buf) > 4<<20 || cap(l.store) > 4<<20 {
			t.Errorf("%q and an endless cell: buffers of %d and %d bytes", begin, len(l.buf), cap(l.store))
		}
	}
}

type endless struct{}

func (*endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}
