package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"
)

// WriteHeader writes the header of a float64 matrix of that shape. Whoever calls it
// writes the elements, row by row in little-endian order.
func WriteHeader(w io.Writer, rows, cols int) error {
	_, err := w.Write(newHeader(Float64, rows, cols).encode())
	return err
}

// WriteMatrix writes m (rows × columns) as float64 in C order,
// Size(Float64, rows, cols) bytes.
func WriteMatrix(w io.Writer, m *mat.Dense) error {
	return writeMatrix(w, m, Float64, func(b []byte, v float64) ([]byte, bool) {
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v)), true
	})
}

// WriteMatrix32 writes m rounded to float32 in C order,
// Size(Float32, rows, cols) bytes. A finite number beyond the range of float32
// is an error.
func WriteMatrix32(w io.Writer, m *mat.Dense) error {
	return writeMatrix(w, m, Float32, func(b []byte, v float64) ([]byte, bool) {
		s := float32(v)
		ok := !math.IsInf(float64(s), 0) || math.IsInf(v, 0)
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(s)), ok
	})
}

func writeMatrix(w io.Writer, m *mat.Dense, dtype string, put func([]byte, float64) ([]byte, bool)) error {
	rows, cols := 0, 0
	if !m.IsEmpty() {
		rows, cols = m.Dims()
	}
	if _, err := w.Write(newHeader(dtype, rows, cols).encode()); err != nil {
		return err
	}
	buf := make([]byte, 0, 8*chunk)
	for i := range rows {
		for j, v := range m.RawRowView(i) {
			if cap(buf)-len(buf) < 8 {
				if _, err := w.Write(buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
			var ok bool
			if buf, ok = put(buf, v); !ok {
				return fmt.Errorf("npy: row %d, column %d is beyond the range of float32", i+1, j+1)
			}
		}
	}
	_, err := w.Write(buf)
	return err
}

// WriteInts writes v as a one-dimensional array of int64, Size(Int64, len(v))
// bytes.
func WriteInts(w io.Writer, v []int64) error {
	if _, err := w.Write(newHeader(Int64, len(v)).encode()); err != nil {
		return err
	}
	buf := make([]byte, 0, 8*chunk)
	for len(v) > 0 {
		part := v[:min(len(v), chunk)]
		v = v[len(part):]
		buf = buf[:0]
		for _, x := range part {
			buf = binary.LittleEndian.AppendUint64(buf, uint64(x))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}
