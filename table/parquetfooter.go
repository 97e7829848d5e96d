package table

import (
	"errors"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The library makes room for as many columns and row groups as a footer says there are, and
// recurs over structs and columns in each other, so that a footer of a few bytes may end the
// program: running out of memory or stack is no panic that can be recovered from. The footer
// is therefore decoded once by a reader that refuses such lengths and depths before the
// library sees them.
const (
	// maxThriftDepth bounds structs in each other; Parquet's go six deep.
	maxThriftDepth = 32
	// maxSchemaDepth bounds columns in each other. Those that are read are not nested.
	maxSchemaDepth = 200
	// What the elements of lists take in memory, in bytes: columns and row groups, with what
	// the library keeps of each; and all else. In the file each takes one byte at least.
	outerBytes, innerBytes = 1 << 10, 64
	outerDepth             = 2
	maxFooterMemory        = 256 << 20
)

var errFooterMemory = errors.New("too much memory")

// thriftReader is the library's reader, by a name that is not one of its methods.
type thriftReader = thrift.Reader

// boundedThrift reads a struct of Thrift's compact protocol, whose lists are no longer than
// the bytes that follow, and all together no larger than maxFooterMemory. Sets, maps and
// lists of lists, which Parquet does not have, are refused.
type boundedThrift struct {
	thriftReader
	size   int   // of the struct and what follows it, in bytes
	memory int   // what the lists so far take
	open   []int // of the structs that are open: how many are to end in its list, itself included
}

// ReadField notes where structs begin and end.
func (r *boundedThrift) ReadField() (thrift.Field, error) {
	f, err := r.thriftReader.ReadField()
	switch last := len(r.open) - 1; {
	case err != nil:
	case f.Type == thrift.STRUCT:
		err = r.begin(1)
	case f.Type == thrift.STOP && last >= 0:
		if r.open[last]--; r.open[last] == 0 {
			r.open = r.open[:last]
		}
	}
	return f, err
}

// begin opens structs that follow one another.
func (r *boundedThrift) begin(n int) error {
	if len(r.open) >= maxThriftDepth {
		return errNotWhole
	}
	r.open = append(r.open, n)
	return nil
}

// ReadList refuses lists that are too long.
func (r *boundedThrift) ReadList() (thrift.List, error) {
	l, err := r.thriftReader.ReadList()
	n := int(l.Size)
	switch {
	case err != nil || n == 0:
		return l, err
	case n < 0 || n > r.size-r.BytesRead() || l.Type == thrift.LIST || l.Type == thrift.SET || l.Type == thrift.MAP:
		return l, errNotWhole
	case l.Type == thrift.STRUCT && len(r.open) <= outerDepth:
		r.memory += n * outerBytes
	default:
		r.memory += n * innerBytes
	}
	if r.memory > maxFooterMemory {
		return l, errFooterMemory
	}
	if l.Type == thrift.STRUCT {
		err = r.begin(n)
	}
	return l, err
}

// ReadSet refuses.
func (r *boundedThrift) ReadSet() (thrift.Set, error) { return thrift.Set{}, errNotWhole }

// ReadMap refuses.
func (r *boundedThrift) ReadMap() (thrift.Map, error) { return thrift.Map{}, errNotWhole }

// soundFooter says why a footer must not be given to the library.
func soundFooter(footer []byte) error {
	r := &boundedThrift{thriftReader: new(thrift.CompactProtocol).NewReaderFromBytes(footer), size: len(footer), open: []int{1}}
	var meta format.FileMetaData
	if err := thrift.NewDecoder(r).Decode(&meta); err != nil {
		return err
	}
	var open []int32 // how many columns are to come in each of the groups that are open
	for _, e := range meta.Schema {
		if n := e.NumChildren.V; e.NumChildren.Valid && n > 0 {
			if open = append(open, n); len(open) > maxSchemaDepth {
				return errNotWhole
			}
			continue
		}
		for len(open) > 0 {
			last := len(open) - 1
			if open[last]--; open[last] > 0 {
				break
			}
			open = open[:last]
		}
	}
	return nil
}
