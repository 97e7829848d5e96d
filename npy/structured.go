package npy

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxField bounds the bytes of one element of text.
const maxField = 1 << 20

// Field is one column of a structured array, or the element of a plain one.
type Field struct {
	// Name is "" in a plain array.
	Name string
	// Dtype is NumPy's spelling, such as "<f8".
	Dtype string
	// Kind is 'f' for floats, 'i' and 'u' for integers, 'b' for bools, 'S' for bytes, 'U'
	// for text of 4 bytes a character, 'M' for dates, 'V' for padding.
	Kind byte
	// Size is in bytes, Offset that from the beginning of the record.
	Size, Offset int
	// Big: numbers are big-endian.
	Big bool
	// Unit is that of dates, such as "D" or "ns".
	Unit string
}

// Layout says how the elements of an array lie in its file.
type Layout struct {
	Fields []Field
	// Structured: each element is a record of the fields; otherwise there is one field.
	Structured bool
	// Record is the length of an element in bytes.
	Record     int
	Fortran    bool
	Shape      []int
	DataOffset int64
}

// ReadLayout reads exactly the header, like [ReadHeader], and also takes text, dates and
// structured types of plain fields. Names and types come from the file; nothing is
// evaluated.
func ReadLayout(r io.Reader) (Layout, error) {
	h, fields, err := readDict(r, true)
	if err != nil {
		return Layout{}, err
	}
	l := Layout{Fields: fields, Structured: fields != nil, Fortran: h.Fortran, Shape: h.Shape, DataOffset: h.DataOffset}
	if !l.Structured {
		f, err := parseField("", h.Dtype)
		if err != nil {
			return Layout{}, err
		}
		l.Fields = []Field{f}
	}
	for j := range l.Fields {
		l.Fields[j].Offset = l.Record
		l.Record += l.Fields[j].Size
	}
	return l, h.check(l.Record)
}

// record reads a list of fields, [('age', '<f8'), ('ward', '<U4')].
func (p *dictParser) record() error {
	p.take('[')
	p.fields = []Field{}
	for !p.take(']') {
		if len(p.fields) > 0 && !p.take(',') {
			return p.want(", or ]")
		}
		if p.take(']') { // after a last comma
			break
		}
		if !p.take('(') {
			return p.want("(")
		}
		if p.peek() == '(' {
			return errors.New("npy: a field has a title, only names are read")
		}
		name, err := p.name()
		if err != nil {
			return err
		}
		if !p.take(',') {
			return p.want(",")
		}
		if p.peek() == '[' {
			return fmt.Errorf("npy: field %q is structured itself, only plain ones are read", name)
		}
		dtype, err := p.string()
		if err != nil {
			return err
		}
		if !p.take(')') {
			return fmt.Errorf("npy: field %q is an array itself, only plain ones are read", name)
		}
		f, err := parseField(name, dtype)
		if err != nil {
			return err
		}
		if f.Kind != 'V' && slices.ContainsFunc(p.fields, func(g Field) bool { return g.Name == name }) {
			return fmt.Errorf("npy: two fields are named %q", name)
		}
		p.fields = append(p.fields, f)
	}
	if len(p.fields) == 0 {
		return errors.New("npy: the structured type has no fields")
	}
	return nil
}

// name reads a quoted string of any characters without escapes and control characters.
func (p *dictParser) name() (string, error) {
	quote := p.peek()
	if quote != '\'' && quote != '"' {
		return "", p.want("a quoted string")
	}
	end := strings.IndexByte(p.text[p.at+1:], quote)
	if end < 0 {
		return "", p.want("a quoted string")
	}
	s := p.text[p.at+1 : p.at+1+end]
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '\\' }) {
		return "", p.want("a quoted string of plain characters")
	}
	p.at += end + 2
	return s, nil
}

// parseField reads the type of a field.
func parseField(name, dtype string) (Field, error) {
	f := Field{Name: name, Dtype: dtype}
	wrong := fmt.Errorf("npy: dtype %q is not read, only f4, f8, i1 to i8, u1 to u8, b1, S, U and M8", dtype)
	if len(dtype) < 3 || !strings.ContainsRune("<>|", rune(dtype[0])) {
		if len(dtype) >= 2 && dtype[1] == 'O' {
			return f, errObjects
		}
		return f, wrong
	}
	f.Kind, f.Big = dtype[1], dtype[0] == '>'
	size, unit, dated := strings.Cut(dtype[2:], "[")
	n, err := strconv.Atoi(size)
	if err != nil || n < 0 || len(size) > 9 || dated != (f.Kind == 'M') {
		if f.Kind == 'O' {
			return f, errObjects
		}
		return f, wrong
	}
	f.Size = n
	switch f.Kind {
	case 'f':
		if n != 4 && n != 8 {
			return f, wrong
		}
	case 'i', 'u':
		if n != 1 && n != 2 && n != 4 && n != 8 {
			return f, wrong
		}
	case 'b':
		if n != 1 {
			return f, wrong
		}
	case 'M':
		var ok bool
		if f.Unit, ok = strings.CutSuffix(unit, "]"); !ok || n != 8 {
			return f, wrong
		}
	case 'U':
		if f.Size *= 4; n > maxField {
			return f, fmt.Errorf("npy: dtype %q has elements of %d bytes, at most %d are read", dtype, 4*int64(n), maxField)
		}
	case 'S', 'V':
	case 'O':
		return f, errObjects
	default:
		return f, wrong
	}
	if f.Size > maxField {
		return f, fmt.Errorf("npy: dtype %q has elements of %d bytes, at most %d are read", dtype, f.Size, maxField)
	}
	return f, nil
}
