package dataset

import (
	"fmt"
	"math/bits"

	"gonum.org/v1/gonum/mat"
)

// Rows are n rows of m numbers. They are read by index, so that bytes and bits
// need not become eight bytes each at once.
type Rows interface {
	// Dims returns the number of rows and of columns.
	Dims() (n, m int)
	// Take copies rows, in the order and as often as they are named, into a new
	// len(rows) × m matrix; NaN means missing. It panics if rows is empty or an
	// index is not below n.
	Take(rows []int) *mat.Dense
}

// Dense are rows of float64: x itself, which must not be empty, and is kept.
func Dense(x *mat.Dense) Rows { return denseRows{x} }

type denseRows struct{ x *mat.Dense }

// Dims are rows and columns.
func (r denseRows) Dims() (n, m int) { return r.x.Dims() }

// Take copies rows, by their indices.
func (r denseRows) Take(rows []int) *mat.Dense {
	_, m := r.x.Dims()
	out := mat.NewDense(len(rows), m, nil)
	for i, row := range rows {
		out.SetRow(i, r.x.RawRowView(row))
	}
	return out
}

// Bytes are n rows of m bytes, of which 0 to 255 become 0 to 1: data, row after
// row, which is kept. It panics unless len(data) = n m.
func Bytes(n, m int, data []byte) Rows {
	if len(data) != n*m {
		panic(fmt.Sprintf("dataset: %d bytes for %d × %d numbers", len(data), n, m))
	}
	r := &byteRows{n: n, m: m, data: data}
	for i := range r.value {
		r.value[i] = float64(i) / 255
	}
	return r
}

type byteRows struct {
	n, m  int
	data  []byte
	value [256]float64
}

// Dims are rows and columns.
func (r *byteRows) Dims() (n, m int) { return r.n, r.m }

// Take copies rows, by their indices.
func (r *byteRows) Take(rows []int) *mat.Dense {
	out := mat.NewDense(len(rows), r.m, nil)
	for i, row := range rows {
		to := out.RawRowView(i)
		for j, b := range r.data[row*r.m : (row+1)*r.m] {
			to[j] = r.value[b]
		}
	}
	return out
}

// Bits are n rows of m bits, 0 or 1, as numpy.packbits packs them along a row:
// ⌈m/8⌉ bytes a row, the first bit the highest of its byte. data is kept. It
// panics unless it has n ⌈m/8⌉ bytes.
func Bits(n, m int, data []byte) Rows {
	stride := (m + 7) / 8
	if len(data) != n*stride {
		panic(fmt.Sprintf("dataset: %d bytes for %d × %d bits", len(data), n, m))
	}
	return &bitRows{n: n, m: m, stride: stride, data: data}
}

type bitRows struct {
	n, m, stride int
	data         []byte
}

// Dims are rows and columns.
func (r *bitRows) Dims() (n, m int) { return r.n, r.m }

// Take copies rows, by their indices.
func (r *bitRows) Take(rows []int) *mat.Dense {
	out := mat.NewDense(len(rows), r.m, nil)
	for i, row := range rows {
		to := out.RawRowView(i)
		for k, b := range r.data[row*r.stride : (row+1)*r.stride] {
			for ; b != 0; b &^= 0x80 >> bits.LeadingZeros8(b) {
				if j := 8*k + bits.LeadingZeros8(b); j < r.m { // the last byte may be padded
					to[j] = 1
				}
			}
		}
	}
	return out
}
