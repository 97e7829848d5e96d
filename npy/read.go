package npy

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"
)

// DefaultBytes is the limit on decoded data when Limits.Bytes is 0: 16 GiB.
const DefaultBytes = 16 << 30

// chunk is how many elements are decoded at a time; with 8 bytes each the two
// buffers fit into a second-level cache.
const chunk = 8 << 10

// Limits bounds what a file may claim. The zero value bounds only the memory.
type Limits struct {
	// Rows and Cols are the most that are read; 0 means any number.
	Rows, Cols int
	// Bytes is the most memory that the decoded array may take, 8 bytes for
	// every element; 0 means DefaultBytes.
	Bytes int64
	// Input is the size of the file where the caller knows it, else 0. Then the
	// header is compared with it before anything is read, and memory is taken
	// at once. Without it memory grows with the data that are there, up to
	// half as much again as they need.
	Input int64
}

// ReadMatrix reads a whole file as a matrix; a one-dimensional array becomes a
// column. Integers must be exact in float64. An array without rows or without
// columns comes back as the empty matrix, which has neither.
//
// Errors: a header that is malformed, beyond the limits, or that does not agree
// with the number of bytes that follow.
//
// Cost: one pass; for Fortran order a second copy of the array.
func ReadMatrix(r io.Reader, lim Limits) (*mat.Dense, error) {
	h, f, err := readHeader(r, lim)
	if err != nil {
		return nil, err
	}
	values, err := read(r, h, f, lim, f.floats)
	if err != nil {
		return nil, err
	}
	rows, cols := dims(h)
	if rows == 0 || cols == 0 {
		return &mat.Dense{}, nil
	}
	if h.Fortran && rows > 1 && cols > 1 {
		return mat.DenseCopyOf(mat.NewDense(cols, rows, values).T()), nil
	}
	return mat.NewDense(rows, cols, values), nil
}

// ReadInts reads a whole file of integers or booleans with one column. Errors
// are those of ReadMatrix, and a type of floats.
func ReadInts(r io.Reader, lim Limits) ([]int64, error) {
	h, f, err := readHeader(r, lim)
	if err != nil {
		return nil, err
	}
	if err := oneColumnOfInts(h, f); err != nil {
		return nil, err
	}
	return read(r, h, f, lim, f.ints)
}

func oneColumnOfInts(h Header, f Field) error {
	if f.Kind == 'f' {
		return fmt.Errorf("npy: dtype %q holds floats, integers are wanted", h.Dtype)
	}
	if len(h.Shape) == 2 && h.Shape[1] != 1 {
		return fmt.Errorf("npy: shape %s, one column is wanted", h.shape())
	}
	return nil
}

// dims is the shape as a matrix.
func dims(h Header) (rows, cols int) {
	if len(h.Shape) == 1 {
		return h.Shape[0], 1
	}
	return h.Shape[0], h.Shape[1]
}

// readHeader reads the header and compares it with the limits.
func readHeader(r io.Reader, lim Limits) (Header, Field, error) {
	h, err := ReadHeader(r)
	if err != nil {
		return h, Field{}, err
	}
	f, err := parseDtype(h.Dtype)
	if err != nil {
		return h, f, err
	}
	if n := len(h.Shape); n != 1 && n != 2 {
		return h, f, fmt.Errorf("npy: shape %s has %d dimensions, must have 1 or 2", h.shape(), n)
	}
	rows, cols := dims(h)
	if err := lim.Check(rows, cols); err != nil {
		return h, f, fmt.Errorf("npy: shape %s: %w", h.shape(), err)
	}
	if lim.Input > 0 && lim.Input != h.Bytes() {
		return h, f, wrongSize(h, max(0, lim.Input-h.DataOffset))
	}
	return h, f, nil
}

// Check says whether an array of that many rows and columns is within the
// limits; the dimensions must not be negative.
func (lim Limits) Check(rows, cols int) error {
	most := lim.Bytes
	if most == 0 {
		most = DefaultBytes
	}
	most = min(most, math.MaxInt) // where int has 32 bits
	switch {
	case lim.Rows > 0 && rows > lim.Rows:
		return fmt.Errorf("%d rows, at most %d are read", rows, lim.Rows)
	case lim.Cols > 0 && cols > lim.Cols:
		return fmt.Errorf("%d columns, at most %d are read", cols, lim.Cols)
	case cols > 0 && int64(rows) > most/8/int64(cols):
		return fmt.Errorf("%d × %d elements of 8 bytes, at most %d bytes are read", rows, cols, most)
	}
	return nil
}

func wrongSize(h Header, there int64) error {
	return fmt.Errorf("npy: shape %s needs %d bytes of data, %d are there", h.shape(), h.DataBytes(), there)
}

// read decodes all elements of a header within the limits, and makes sure that
// nothing follows them.
func read[T any](r io.Reader, h Header, f Field, lim Limits, decode func([]T, []byte) error) ([]T, error) {
	n := int(h.Elements())
	first := min(n, chunk)
	if lim.Input > 0 {
		first = n
	}
	values := make([]T, 0, first)
	err := scan(r, h, f, decode, func(_ Header, _ int64, part []T) error {
		if done := len(values); done+len(part) > cap(values) {
			grown := make([]T, done, min(n, done+max(len(part), done/2)))
			copy(grown, values)
			values = grown
		}
		values = append(values, part...)
		return nil
	})
	return values, err
}
