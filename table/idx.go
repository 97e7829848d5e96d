package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"concord/npy"
)

// maxPixels bounds the columns of an IDX file, of which a header of some bytes may name
// millions; a contract has fewer.
const maxPixels = 1 << 20

// idxTypes are the types of elements of the IDX format, in NumPy's words.
var idxTypes = map[byte]npy.Field{
	0x08: {Dtype: "u1", Kind: 'u', Size: 1}, 0x09: {Dtype: "i1", Kind: 'i', Size: 1},
	0x0b: {Dtype: ">i2", Kind: 'i', Size: 2, Big: true}, 0x0c: {Dtype: ">i4", Kind: 'i', Size: 4, Big: true},
	0x0d: {Dtype: ">f4", Kind: 'f', Size: 4, Big: true}, 0x0e: {Dtype: ">f8", Kind: 'f', Size: 8, Big: true},
}

// isIDX recognises the magic number of an IDX file: two zero bytes, a type, and how many
// dimensions there are.
func isIDX(b []byte) bool {
	if len(b) < 4 || b[0] != 0 || b[1] != 0 {
		return false
	}
	_, known := idxTypes[b[2]]
	return known && b[3] >= 1 && b[3] <= 4
}

// idxArray is one IDX file whose header was read.
type idxArray struct {
	field npy.Field
	rows  int64
	width int64 // elements of a row
	r     io.Reader
}

func readIDX(r io.Reader) (a idxArray, err error) {
	r = bufio.NewReaderSize(r, 256<<10)
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil || !isIDX(head) {
		return a, errors.New("it is no IDX file")
	}
	a = idxArray{field: idxTypes[head[2]], width: 1, r: r}
	for k := range int(head[3]) {
		var d [4]byte
		if _, err := io.ReadFull(r, d[:]); err != nil {
			return a, errors.New("the file ends in its header")
		}
		n := int64(binary.BigEndian.Uint32(d[:]))
		if k == 0 {
			a.rows = n
			continue
		}
		if a.width *= n; a.width < 1 || a.width > maxPixels {
			return a, fmt.Errorf("a row has %d elements; 1 to %d are read", a.width, maxPixels)
		}
	}
	return a, nil
}

// openIDX reads the headers of an IDX file, whose columns are pixel1, pixel2, …, the last
// index running fastest, and of the file of its labels, if there is one.
func openIDX(pixels, labels io.Reader, label string) (*binarySource, *CellError) {
	a, err := readIDX(pixels)
	if err != nil {
		return nil, &CellError{Problem: "cannot be read: " + err.Error(), Ends: true}
	}
	s := &binarySource{format: "IDX", rows: a.rows}
	for j := range int(a.width) {
		f := a.field
		f.Offset = j * f.Size
		s.field("pixel"+strconv.Itoa(j+1), f)
	}
	n := int(a.width) * a.field.Size
	s.row = make([]byte, n, n+8)
	s.streams = []binaryStream{{a.r, s.row}}
	if labels == nil {
		return s, nil
	}
	y, err := readIDX(labels)
	switch {
	case err != nil:
		return nil, &CellError{Problem: "the file of the labels cannot be read: " + err.Error(), Ends: true}
	case y.width != 1:
		return nil, &CellError{Problem: fmt.Sprintf("the file of the labels has %d elements a row; one is wanted", y.width), Ends: true}
	case y.rows != a.rows:
		return nil, &CellError{Problem: fmt.Sprintf("the file of the labels has %s, this one %d", count(int(y.rows), "row"), a.rows), Ends: true}
	}
	f := y.field
	f.Offset = n
	s.field(label, f)
	s.row = s.row[:n+f.Size]
	s.streams = []binaryStream{{a.r, s.row[:n]}, {y.r, s.row[n:]}}
	return s, nil
}
