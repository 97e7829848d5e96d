package dataset

import (
	"crypto/sha256"
	endian "encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Digest names the contents: every number of X and of the label, classes, groups and
// the published test rows, with the names of columns. Data of equal contents have the
// same digest if they are stored in the same way. It takes a pass over the data.
func (d *Data) Digest() [sha256.Size]byte {
	h := sha256.New()
	n, m := d.X.Dims()
	fmt.Fprintf(h, "concord/lab/data/v1 %d %d %q %q %v %d %q %v %v\n", n, m, d.Features, d.Y.Classes, d.Y.Labels, d.Positive, d.Groups, d.Group, d.Test)
	buffer := make([]byte, 0, 8*m)
	add := func(row []float64) {
		buffer = buffer[:0]
		for _, v := range row {
			buffer = endian.LittleEndian.AppendUint64(buffer, math.Float64bits(v))
		}
		h.Write(buffer)
	}
	each := func(x *mat.Dense) {
		rows, _ := x.Dims()
		for i := range rows {
			add(x.RawRowView(i))
		}
	}
	switch x := d.X.(type) {
	case denseRows:
		each(x.x)
	case *byteRows:
		h.Write(x.data)
	case *bitRows:
		h.Write(x.data)
	default:
		for i := range n {
			each(x.Take([]int{i}))
		}
	}
	if d.Y.Values != nil {
		each(d.Y.Values)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
