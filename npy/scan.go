package npy

import (
	"errors"
	"fmt"
	"io"
)

// ScanMatrix reads a whole file as [ReadMatrix] does, but keeps nothing: visit gets
// the elements in the file's order, a part at a time, with the index of the part's
// first one. A part is good until visit returns.
//
// Cost: one pass in constant memory.
func ScanMatrix(r io.Reader, lim Limits, visit func(h Header, first int64, part []float64) error) error {
	h, f, err := readHeader(r, lim)
	if err != nil {
		return err
	}
	return scan(r, h, f, f.floats, visit)
}

// ScanInts is ScanMatrix for what [ReadInts] reads.
func ScanInts(r io.Reader, lim Limits, visit func(h Header, first int64, part []int64) error) error {
	h, f, err := readHeader(r, lim)
	if err != nil {
		return err
	}
	if err := oneColumnOfInts(h, f); err != nil {
		return err
	}
	return scan(r, h, f, f.ints, visit)
}

func scan[T any](r io.Reader, h Header, f Field, decode func([]T, []byte) error, visit func(Header, int64, []T) error) error {
	n := h.Elements()
	values, buf := make([]T, min(n, chunk)), make([]byte, int(min(n, chunk))*f.Size)
	for done := int64(0); done < n; {
		step := int(min(n-done, chunk))
		part := buf[:step*f.Size]
		if k, err := io.ReadFull(r, part); err == io.EOF || err == io.ErrUnexpectedEOF {
			return wrongSize(h, done*int64(f.Size)+int64(k))
		} else if err != nil {
			return err
		}
		if err := decode(values[:step], part); err != nil {
			var e elementError
			if errors.As(err, &e) {
				e.at += int(done)
				return e
			}
			return err
		}
		if err := visit(h, done, values[:step]); err != nil {
			return err
		}
		done += int64(step)
	}
	return nothingFollows(r, h)
}

// nothingFollows makes sure that the elements are the end of the file.
func nothingFollows(r io.Reader, h Header) error {
	var one [1]byte
	switch _, err := io.ReadFull(r, one[:]); err {
	case io.EOF:
		return nil
	case nil:
		return fmt.Errorf("npy: shape %s needs %d bytes of data, more are there", h.shape(), h.DataBytes())
	default:
		return err
	}
}

// Position is the row and column of an element, counted from 1, by its index in
// the file's order.
func (h Header) Position(index int64) (row, col int64) {
	rows, cols := dims(h)
	if h.Fortran && len(h.Shape) == 2 {
		return index%int64(rows) + 1, index/int64(rows) + 1
	}
	return index/int64(cols) + 1, index%int64(cols) + 1
}
