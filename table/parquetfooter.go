package table

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Thrift's compact protocol, of which the footer of a Parquet file is a struct:
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
const (
	thriftByte   = 3
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// maxThriftDepth bounds structs and lists in each other; Parquet's go six deep.
const maxThriftDepth = 32

// What the elements of a footer's lists take in memory, in bytes: columns and row groups,
// which lie in lists of the file or of a row group, with what the library keeps of each;
// structs deeper in; and all else. In the file each takes one byte at least.
const (
	outerBytes = 1 << 10
	innerBytes = 64
	plainBytes = 24
	outerDepth = 3 // of the lists of row groups

	maxFooterMemory = 256 << 20
)

// maxSchemaDepth bounds columns in each other, over which the library recurs. Those that
// are read are not nested.
const maxSchemaDepth = 200

// thriftWalk goes over a struct without making anything of it.
type thriftWalk struct {
	rest   []byte
	memory int // what its lists would take
}

// soundThrift reports whether b begins with a struct whose lists and texts are no longer than
// the bytes that follow. The library makes room for as many as a length says. memory is
// about what it takes for all.
func soundThrift(b []byte) (memory int, ok bool) {
	w := &thriftWalk{rest: b}
	ok = w.value(thriftStruct, 0)
	return w.memory, ok
}

// soundSchema reports whether the columns of a footer that is sound otherwise are nested
// less than maxSchemaDepth deep.
func soundSchema(footer []byte) bool {
	var meta format.FileMetaData
	protocol := thrift.CompactProtocol{}
	if thrift.NewDecoder(protocol.NewReaderFromBytes(footer)).Decode(&meta) != nil {
		return false
	}
	var open []int32 // how many columns are to come in each of the groups that are open
	for _, e := range meta.Schema {
		if n := e.NumChildren.V; e.NumChildren.Valid && n > 0 {
			open = append(open, n)
			if len(open) > maxSchemaDepth {
				return false
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
	return true
}

func (w *thriftWalk) byte() (byte, bool) {
	if len(w.rest) == 0 {
		return 0, false
	}
	b := w.rest[0]
	w.rest = w.rest[1:]
	return b, true
}

func (w *thriftWalk) uvarint() (uint64, bool) {
	v, n := binary.Uvarint(w.rest)
	if n <= 0 {
		return 0, false
	}
	w.rest = w.rest[n:]
	return v, true
}

func (w *thriftWalk) skip(n uint64) bool {
	if n > uint64(len(w.rest)) {
		return false
	}
	w.rest = w.rest[n:]
	return true
}

// value goes over a value of a type as it stands in a list.
func (w *thriftWalk) value(kind byte, depth int) bool {
	if depth > maxThriftDepth {
		return false
	}
	switch kind {
	case 1, 2, thriftByte: // a truth value in a list
		return w.skip(1)
	case 4, 5, 6: // whole numbers
		_, ok := w.uvarint()
		return ok
	case thriftDouble:
		return w.skip(8)
	case thriftBinary:
		n, ok := w.uvarint()
		return ok && w.skip(n)
	case thriftList, thriftSet:
		return w.list(depth)
	case thriftMap:
		return w.pairs(depth)
	case thriftStruct:
		return w.fields(depth)
	}
	return false
}

// list goes over a list, each of whose elements has a byte at least.
func (w *thriftWalk) list(depth int) bool {
	head, ok := w.byte()
	n := uint64(head >> 4)
	if ok && n == 15 {
		n, ok = w.uvarint()
	}
	if !ok || n > uint64(len(w.rest)) {
		return false
	}
	switch {
	case head&15 != thriftStruct:
		w.memory += int(n) * plainBytes
	case depth <= outerDepth:
		w.memory += int(n) * outerBytes
	default:
		w.memory += int(n) * innerBytes
	}
	for range n {
		if !w.value(head&15, depth+1) {
			return false
		}
	}
	return true
}

func (w *thriftWalk) pairs(depth int) bool {
	n, ok := w.uvarint()
	if !ok || n == 0 {
		return ok
	}
	kinds, ok := w.byte()
	if !ok || n > uint64(len(w.rest)) {
		return false
	}
	for range n {
		if !w.value(kinds>>4, depth+1) || !w.value(kinds&15, depth+1) {
			return false
		}
	}
	return true
}

func (w *thriftWalk) fields(depth int) bool {
	for {
		head, ok := w.byte()
		if !ok || head == 0 {
			return ok
		}
		if head>>4 == 0 { // the field's number follows
			if _, ok := w.uvarint(); !ok {
				return false
			}
		}
		if kind := head & 15; kind != 1 && kind != 2 && !w.value(kind, depth+1) { // truth values are in the head
			return false
		}
	}
}
