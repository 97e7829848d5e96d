package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// What is written; more is read.
const (
	Float64 = "<f8"
	Float32 = "<f4"
	Int64   = "<i8"
)

// dtype is a type of elements that can be read.
type dtype struct {
	kind byte // 'f' float, 'i' signed, 'u' unsigned, 'b' bool
	size int  // bytes
	big  bool // big-endian
}

// parseDtype reads NumPy's array-protocol spelling: a byte order, a kind and a
// size in bytes.
func parseDtype(s string) (dtype, error) {
	wrong := fmt.Errorf("npy: dtype %q is not read, only f4, f8, i1, i2, i4, i8, u1, u2, u4 and b1", s)
	if len(s) != 3 {
		if len(s) >= 2 && s[1] == 'O' {
			return dtype{}, errObjects
		}
		return dtype{}, wrong
	}
	d := dtype{kind: s[1], size: int(s[2] - '0'), big: s[0] == '>'}
	switch s[1:] {
	case "i1", "u1", "b1":
		if s[0] != '|' {
			return dtype{}, fmt.Errorf("npy: dtype %q has a byte order, a one-byte type has none", s)
		}
	case "f4", "f8", "i2", "i4", "i8", "u2", "u4":
		if s[0] != '<' && s[0] != '>' {
			return dtype{}, fmt.Errorf("npy: dtype %q has no byte order, must begin with < or >", s)
		}
	default:
		return dtype{}, wrong
	}
	return d, nil
}

var errObjects = errors.New("npy: the array holds Python objects (a pickle), only numbers are read")

func (d dtype) order() binary.ByteOrder {
	if d.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// floats decodes len(dst) elements. The error names the element within dst.
func (d dtype) floats(dst []float64, src []byte) error {
	switch {
	case d.kind == 'f' && d.size == 8 && !d.big: // the common one, without calls through an interface
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
		return nil
	case d.kind == 'f' && d.size == 8:
		for i := range dst {
			dst[i] = math.Float64frombits(d.order().Uint64(src[8*i:]))
		}
		return nil
	case d.kind == 'f':
		for i := range dst {
			dst[i] = float64(math.Float32frombits(d.order().Uint32(src[4*i:])))
		}
		return nil
	}
	whole := make([]int64, len(dst))
	if err := d.ints(whole, src); err != nil {
		return err
	}
	for i, v := range whole {
		if v > 1<<53 || v < -1<<53 { // beyond it float64 skips integers
			return elementError{i, "is an integer beyond 2^53, which float64 does not hold"}
		}
		dst[i] = float64(v)
	}
	return nil
}

// ints decodes len(dst) elements of an integer type. The error names the
// element within dst.
func (d dtype) ints(dst []int64, src []byte) error {
	order := d.order()
	for i := range dst {
		p := src[d.size*i:]
		switch {
		case d.kind == 'b' && p[0] > 1:
			return elementError{i, "is neither 0 nor 1 in an array of type bool"}
		case d.kind == 'i' && d.size == 1:
			dst[i] = int64(int8(p[0]))
		case d.size == 1:
			dst[i] = int64(p[0])
		case d.kind == 'i' && d.size == 2:
			dst[i] = int64(int16(order.Uint16(p)))
		case d.size == 2:
			dst[i] = int64(order.Uint16(p))
		case d.kind == 'i' && d.size == 4:
			dst[i] = int64(int32(order.Uint32(p)))
		case d.size == 4:
			dst[i] = int64(order.Uint32(p))
		default:
			dst[i] = int64(order.Uint64(p))
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
