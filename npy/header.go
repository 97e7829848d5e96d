package npy

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

const (
	magic = "\x93NUMPY"
	// MaxHeaderBytes bounds a header that is read, as NumPy itself does
	// (numpy.lib.format, max_header_size).
	MaxHeaderBytes = 10_000
	// maxDims is NumPy's own limit (NPY_MAXDIMS).
	maxDims = 32
	// maxDim bounds every dimension: products of a few stay far from overflow.
	maxDim = 1 << 40
)

// Header says what an array file holds.
type Header struct {
	// Dtype is NumPy's spelling: "<f8" is a little-endian float64.
	Dtype string
	// Fortran: the first index runs fastest.
	Fortran bool
	Shape   []int
	// DataOffset is the number of bytes before the first element.
	DataOffset int64
}

// Elements is the number of elements, the product of the shape.
func (h Header) Elements() int64 {
	n := int64(1)
	for _, d := range h.Shape {
		n *= int64(d)
	}
	return n
}

// DataBytes is the number of bytes that the elements take.
func (h Header) DataBytes() int64 {
	f, err := parseDtype(h.Dtype)
	if err != nil {
		panic(err) // ReadHeader admits no other
	}
	return h.Elements() * int64(f.Size)
}

// Bytes is the size of the whole file.
func (h Header) Bytes() int64 { return h.DataOffset + h.DataBytes() }

// ReadHeader reads exactly the header, so that r stands at the first element.
// It refuses types that are not plain numbers and shapes whose size overflows,
// but admits any number of dimensions.
func ReadHeader(r io.Reader) (Header, error) {
	h, _, err := readDict(r, false)
	if err != nil {
		return Header{}, err
	}
	f, err := parseDtype(h.Dtype)
	if err != nil {
		return h, err
	}
	return h, h.check(f.Size)
}

// headerText reads the dictionary of a header and says how many bytes there are before
// the first element.
func headerText(r io.Reader) (text []byte, offset int64, err error) {
	var prefix [8]byte
	if n, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, 0, cut("the magic string and version", len(prefix), n, err)
	}
	if string(prefix[:6]) != magic {
		return nil, 0, errors.New("npy: not a NumPy array file: it does not begin with \\x93NUMPY")
	}
	lenBytes := 2
	switch {
	case prefix[7] == 0 && (prefix[6] == 2 || prefix[6] == 3):
		lenBytes = 4
	case prefix[7] != 0 || prefix[6] != 1:
		return nil, 0, fmt.Errorf("npy: format version %d.%d, this program reads 1.0, 2.0 and 3.0", prefix[6], prefix[7])
	}
	var length [4]byte
	if n, err := io.ReadFull(r, length[:lenBytes]); err != nil {
		return nil, 0, cut("the header's length", lenBytes, n, err)
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size > MaxHeaderBytes {
		return nil, 0, fmt.Errorf("npy: the header has %d bytes, at most %d are read", size, MaxHeaderBytes)
	}
	text = make([]byte, size)
	if n, err := io.ReadFull(r, text); err != nil {
		return nil, 0, cut("the header", int(size), n, err)
	}
	return text, int64(len(prefix) + lenBytes + len(text)), nil
}

// cut describes a short read; other errors of the reader pass through.
func cut(what string, want, got int, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("npy: %s needs %d bytes, %d are there", what, want, got)
	}
	return err
}

// check refuses shapes whose bytes cannot be counted.
func (h Header) check(size int) error {
	total := int64(max(1, size))
	for _, n := range h.Shape {
		if int64(n) > maxDim {
			return fmt.Errorf("npy: shape %s: a dimension is %d, at most %d are read", h.shape(), n, int64(maxDim))
		}
		if n > 0 && total > math.MaxInt64/2/int64(n) {
			return fmt.Errorf("npy: shape %s of %q is too large to count its bytes", h.shape(), cmp.Or(h.Dtype, "a structured type"))
		}
		if n > 0 {
			total *= int64(n)
		}
	}
	return nil
}

// shape prints as Python does: (3, 4), (3,), ().
func (h Header) shape() string {
	parts := make([]string, len(h.Shape))
	for i, n := range h.Shape {
		parts[i] = strconv.Itoa(n)
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// newHeader describes an array that is about to be written.
func newHeader(dtype string, shape ...int) Header {
	h := Header{Dtype: dtype, Shape: shape}
	h.DataOffset = int64(len(h.encode()))
	return h
}

// encode returns the header of version 1 byte for byte as NumPy writes it: room
// for 21 digits in the first dimension, then 1 to 64 bytes of padding to a
// multiple of 64 (numpy.lib.format._write_array_header and _wrap_header).
func (h Header) encode() []byte {
	const prefix, align, growth = 10, 64, 21
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", h.Dtype, h.shape())
	dict += strings.Repeat(" ", max(0, growth-len(strconv.Itoa(h.Shape[0]))))
	pad := align - (prefix+len(dict)+1)%align
	size := len(dict) + pad + 1
	var b bytes.Buffer
	b.WriteString(magic)
	b.Write([]byte{1, 0, byte(size), byte(size >> 8)})
	b.WriteString(dict)
	b.WriteString(strings.Repeat(" ", pad))
	b.WriteByte('\n')
	return b.Bytes()
}

// Size is the number of bytes of the file that holds an array of that type
// (Float64, Float32 or Int64) and shape, known before it is written.
func Size(dtype string, shape ...int) int64 { return newHeader(dtype, shape...).Bytes() }
