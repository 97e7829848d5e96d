package npy

import (
	"errors"
	"fmt"
	"io"
	"strconv"
)

// readDict reads a header, whose text is a Python dictionary of three keys:
//
//	{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//
// in any order, followed by spaces and one line feed. Nothing is evaluated. fields are
// those of a structured type.
func readDict(r io.Reader, structured bool) (h Header, fields []Field, err error) {
	text, offset, err := headerText(r)
	if err != nil {
		return h, nil, err
	}
	p := &dictParser{text: string(text), structured: structured}
	if h, err = p.header(); err != nil {
		return h, nil, err
	}
	h.DataOffset = offset
	if p.spaces(); p.text[p.at:] != "\n" {
		return h, nil, p.want("spaces and one line feed up to the end of the header")
	}
	return h, p.fields, nil
}

type dictParser struct {
	text string
	at   int
	// structured types are read, into fields.
	structured bool
	fields     []Field
}

func (p *dictParser) header() (Header, error) {
	var h Header
	seen := map[string]bool{}
	if !p.take('{') {
		return h, p.want("{")
	}
	for !p.take('}') {
		if len(seen) > 0 && !p.take(',') {
			return h, p.want(", or }")
		}
		if p.take('}') { // after a last comma
			break
		}
		key, err := p.string()
		if err != nil {
			return h, err
		}
		if seen[key] {
			return h, fmt.Errorf("npy: header: key %q stands twice", key)
		}
		seen[key] = true
		if !p.take(':') {
			return h, p.want(":")
		}
		switch key {
		case "descr":
			h.Dtype, err = p.descr()
		case "fortran_order":
			h.Fortran, err = p.bool()
		case "shape":
			h.Shape, err = p.tuple()
		default:
			err = fmt.Errorf("npy: header: unknown key %q", key)
		}
		if err != nil {
			return h, err
		}
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			return h, fmt.Errorf("npy: header: key %q is missing", key)
		}
	}
	return h, nil
}

func (p *dictParser) spaces() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

func (p *dictParser) peek() byte {
	p.spaces()
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *dictParser) take(c byte) bool {
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

func (p *dictParser) want(what string) error {
	return fmt.Errorf("npy: header: byte %d of the dictionary must be %s", p.at+1, what)
}

// string reads a quoted string of printable ASCII without escapes.
func (p *dictParser) string() (string, error) {
	quote := p.peek()
	if quote != '\'' && quote != '"' {
		return "", p.want("a quoted string")
	}
	for end := p.at + 1; end < len(p.text); end++ {
		c := p.text[end]
		if c == quote {
			s := p.text[p.at+1 : end]
			p.at = end + 1
			return s, nil
		}
		if c < ' ' || c > '~' || c == '\\' {
			break
		}
	}
	return "", p.want("a quoted string of plain characters")
}

func (p *dictParser) descr() (string, error) {
	if p.peek() == '[' && p.structured {
		return "", p.record()
	}
	if p.peek() == '[' {
		return "", errors.New("npy: the array has a structured dtype, only plain numbers are read")
	}
	return p.string()
}

func (p *dictParser) bool() (bool, error) {
	p.spaces()
	for _, word := range []string{"True", "False"} {
		if len(p.text)-p.at >= len(word) && p.text[p.at:p.at+len(word)] == word {
			p.at += len(word)
			return word == "True", nil
		}
	}
	return false, p.want("True or False")
}

// tuple reads non-negative integers: (), (3,), (3, 4) or (3, 4,).
func (p *dictParser) tuple() ([]int, error) {
	if !p.take('(') {
		return nil, p.want("(")
	}
	shape := []int{}
	lastComma := false
	for !p.take(')') {
		if len(shape) > 0 && !p.take(',') {
			return nil, p.want(", or )")
		}
		if lastComma = len(shape) > 0 && p.take(')'); lastComma {
			break
		}
		n, err := p.int()
		if err != nil {
			return nil, err
		}
		if shape = append(shape, n); len(shape) > maxDims {
			return nil, fmt.Errorf("npy: header: the shape has more than %d dimensions", maxDims)
		}
	}
	if len(shape) == 1 && !lastComma { // in Python (3) is a number
		return nil, errors.New("npy: header: the shape is a number, must be a tuple")
	}
	return shape, nil
}

func (p *dictParser) int() (int, error) {
	if p.peek() == '-' {
		return 0, errors.New("npy: header: the shape has a negative dimension")
	}
	start := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	digits := p.text[start:p.at]
	if digits == "" || len(digits) > 1 && digits[0] == '0' {
		p.at = start
		return 0, p.want("an integer without leading zeros")
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0, fmt.Errorf("npy: header: dimension %s is too large", digits)
	}
	return n, nil
}
