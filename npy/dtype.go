package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// What is written; more is read.
const (
	Float64 = "<f8"
	Float32 = "<f4"
	Int64   = "<i8"
)

// parseDtype reads NumPy's array-protocol spelling of a plain number: a byte order, a kind
// and a size in bytes.
func parseDtype(s string) (Field, error) {
	f, err := parseField("", s)
	switch {
	case err == errObjects:
		return f, err
	case len(s) == 3 && !strings.ContainsRune("<>|", rune(s[0])):
		return f, fmt.Errorf("npy: dtype %q has no byte order, must begin with < or >", s)
	case err != nil || len(s) != 3 || !strings.ContainsRune("fiub", rune(f.Kind)) || f.Kind == 'u' && f.Size == 8:
		return f, fmt.Errorf("npy: dtype %q is not read, only f4, f8, i1, i2, i4, i8, u1, u2, u4 and b1", s)
	case f.Size == 1 && s[0] != '|':
		return f, fmt.Errorf("npy: dtype %q has a byte order, a one-byte type has none", s)
	case f.Size != 1 && s[0] == '|':
		return f, fmt.Errorf("npy: dtype %q has no byte order, must begin with < or >", s)
	}
	return f, nil
}

var errObjects = errors.New("npy: the array holds Python objects (a pickle), only numbers are read")

// Order is that of the bytes of numbers.
func (f *Field) Order() binary.ByteOrder {
	if f.Big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Float decodes an element of kind f.
func (f *Field) Float(b []byte) float64 {
	if f.Size == 8 {
		return math.Float64frombits(f.Order().Uint64(b))
	}
	return float64(math.Float32frombits(f.Order().Uint32(b)))
}

// Int decodes an element of another kind of numbers, b and M among them. Of u8 it gives the
// bits.
func (f *Field) Int(b []byte) int64 {
	signed := f.Kind == 'i'
	switch {
	case f.Size == 1 && signed:
		return int64(int8(b[0]))
	case f.Size == 1:
		return int64(b[0])
	case f.Size == 2 && signed:
		return int64(int16(f.Order().Uint16(b)))
	case f.Size == 2:
		return int64(f.Order().Uint16(b))
	case f.Size == 4 && signed:
		return int64(int32(f.Order().Uint32(b)))
	case f.Size == 4:
		return int64(f.Order().Uint32(b))
	}
	return int64(f.Order().Uint64(b))
}

// floats decodes len(dst) elements. The error names the element within dst.
func (f Field) floats(dst []float64, src []byte) error {
	if f.Kind == 'f' && f.Size == 8 && !f.Big { // the common one: a loop of its own is twice as fast
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
		return nil
	}
	for i := range dst {
		b := src[f.Size*i:]
		if f.Kind == 'f' {
			dst[i] = f.Float(b)
			continue
		}
		v := f.Int(b)
		if f.Kind == 'b' && v > 1 {
			return elementError{i, notBool}
		}
		if v > 1<<53 || v < -1<<53 { // beyond it float64 skips integers
			return elementError{i, "is an integer beyond 2^53, which float64 does not hold"}
		}
		dst[i] = float64(v)
	}
	return nil
}

const notBool = "is neither 0 nor 1 in an array of type bool"

// ints decodes len(dst) elements of an integer type. The error names the
// element within dst.
func (f Field) ints(dst []int64, src []byte) error {
	for i := range dst {
		if dst[i] = f.Int(src[f.Size*i:]); f.Kind == 'b' && dst[i] > 1 {
			return elementError{i, notBool}
		}
	}
	return nil
}

// elementError says what is wrong with an element, never its value.
type elementError struct {
	at   int
	what string
}

// Error counts the elements from 1.
func (e elementError) Error() string {
	return fmt.Sprintf("npy: element %d %s", e.at+1, e.what)
}
