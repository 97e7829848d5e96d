// Package idx reads the IDX file format of the MNIST pictures: a magic number,
// the dimensions as big-endian integers, then the elements, the last index
// running fastest (http://yann.lecun.com/exdb/mnist/).
//
// Start with [ReadBytes]. Only unsigned bytes are read.
package idx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// maxDims bounds the dimensions; pictures have three.
const maxDims = 4

// unsignedByte is the format's code for the elements' type.
const unsignedByte = 0x08

// ReadBytes reads a whole file of unsigned bytes whose dimensions must be
// shape, and returns its elements.
//
// Errors: another type or shape, and more or fewer bytes than the shape needs.
// Memory grows with the data that are there. It panics if shape has no or more
// than four dimensions or one below 1, or if its product overflows.
func ReadBytes(r io.Reader, shape ...int) ([]byte, error) {
	if len(shape) == 0 || len(shape) > maxDims {
		panic(fmt.Sprintf("idx: %d dimensions, want 1 to %d", len(shape), maxDims))
	}
	need := 1
	for _, d := range shape {
		if d < 1 || d > math.MaxInt32 || need > math.MaxInt/2/d {
			panic(fmt.Sprintf("idx: shape %v", shape))
		}
		need *= d
	}
	header := make([]byte, 4+4*len(shape))
	if _, err := io.ReadFull(r, header[:4]); err != nil {
		return nil, short("magic number", err)
	}
	switch {
	case header[0] != 0 || header[1] != 0:
		return nil, fmt.Errorf("idx: not an IDX file: it does not begin with two zero bytes")
	case header[2] != unsignedByte:
		return nil, fmt.Errorf("idx: elements of type %#x, only unsigned bytes (%#x) are read", header[2], unsignedByte)
	case int(header[3]) != len(shape):
		return nil, fmt.Errorf("idx: %d dimensions, must be %d", header[3], len(shape))
	}
	if _, err := io.ReadFull(r, header[4:]); err != nil {
		return nil, short("header", err)
	}
	for k, want := range shape {
		if d := binary.BigEndian.Uint32(header[4+4*k:]); int64(d) != int64(want) {
			return nil, fmt.Errorf("idx: dimension %d is %d, must be %d", k+1, d, want)
		}
	}
	var data bytes.Buffer
	n, err := io.Copy(&data, io.LimitReader(r, int64(need)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("idx: %w", err)
	case n < int64(need):
		return nil, fmt.Errorf("idx: shape %v needs %d bytes, %d are there", shape, need, n)
	case n > int64(need):
		return nil, fmt.Errorf("idx: shape %v needs %d bytes, more are there", shape, need)
	}
	return data.Bytes(), nil
}

func short(what string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("idx: the file ends in its %s", what)
	}
	return fmt.Errorf("idx: %w", err)
}
