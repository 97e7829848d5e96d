package bundle

import (
	"encoding/binary"
	"io"
	"math"
)

// The zip of a bundle has no freedom: members are stored in a given order, at
// 1 January 1980, without attributes, extra fields, comments, data descriptors
// or gaps. Its bytes follow from the names, sizes, checksums and contents, and
// are those that archive/zip's Writer.CreateRaw makes.

// entry is a member of the zip. Its size is below 4 GiB.
type entry struct {
	name   string
	size   int64
	crc    uint32
	offset int64
}

const (
	localBytes = 30 // of a local header, before the name
	midnight   = 0  // MS-DOS time
	newYear80  = 1<<5 | 1
	zipVersion = 20 // 2.0: a plain archive
)

// local returns the header before a member.
func (e *entry) local() []byte {
	b := make([]byte, 0, localBytes+len(e.name))
	b = binary.LittleEndian.AppendUint32(b, 0x04034b50)
	return append(e.common(b), e.name...)
}

// common appends what stands in both headers of a member.
func (e *entry) common(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, zipVersion)
	b = le.AppendUint16(b, 0) // flags: no descriptor, no encryption
	b = le.AppendUint16(b, 0) // method: stored
	b = le.AppendUint16(b, midnight)
	b = le.AppendUint16(b, newYear80)
	b = le.AppendUint32(b, e.crc)
	b = le.AppendUint32(b, uint32(e.size))
	b = le.AppendUint32(b, uint32(e.size))
	b = le.AppendUint16(b, uint16(len(e.name)))
	return le.AppendUint16(b, 0) // extra fields
}

// central returns the member's entry in the directory. Beyond 4 GiB the offset
// stands in a zip64 extra field, and the sizes with it.
func (e *entry) central() []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 0x02014b50)
	b = le.AppendUint16(b, zipVersion)
	b = e.common(b)
	b = le.AppendUint16(b, 0) // comment
	b = le.AppendUint16(b, 0) // disk
	b = le.AppendUint16(b, 0) // internal attributes
	b = le.AppendUint32(b, 0) // external attributes
	if e.offset < math.MaxUint32 {
		b = le.AppendUint32(b, uint32(e.offset))
		return append(b, e.name...)
	}
	le.PutUint32(b[20:], math.MaxUint32)
	le.PutUint32(b[24:], math.MaxUint32)
	le.PutUint16(b[30:], 28)
	b = le.AppendUint32(b, math.MaxUint32)
	b = append(b, e.name...)
	b = le.AppendUint16(b, 1) // zip64
	b = le.AppendUint16(b, 24)
	b = le.AppendUint64(b, uint64(e.size))
	b = le.AppendUint64(b, uint64(e.size))
	return le.AppendUint64(b, uint64(e.offset))
}

// directory returns all that follows the last member, which ends at offset at.
func directory(entries []entry, at int64) []byte {
	le := binary.LittleEndian
	var b []byte
	for i := range entries {
		b = append(b, entries[i].central()...)
	}
	size, end := uint64(len(b)), uint64(at)+uint64(len(b))
	records, size32, at32 := uint64(len(entries)), uint32(size), uint32(at)
	if at >= math.MaxUint32 {
		b = le.AppendUint32(b, 0x06064b50)
		b = le.AppendUint64(b, 44) // bytes that follow in this record
		b = le.AppendUint16(b, 45) // version 4.5: zip64
		b = le.AppendUint16(b, 45)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, records)
		b = le.AppendUint64(b, records)
		b = le.AppendUint64(b, size)
		b = le.AppendUint64(b, uint64(at))
		b = le.AppendUint32(b, 0x07064b50)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, end)
		b = le.AppendUint32(b, 1)
		records, size32, at32 = math.MaxUint16, math.MaxUint32, math.MaxUint32
	}
	b = le.AppendUint32(b, 0x06054b50)
	b = le.AppendUint32(b, 0) // disks
	b = le.AppendUint16(b, uint16(records))
	b = le.AppendUint16(b, uint16(records))
	b = le.AppendUint32(b, size32)
	b = le.AppendUint32(b, at32)
	return le.AppendUint16(b, 0) // comment
}

// layOut sets the offsets and returns the directory's, and the whole size.
func layOut(entries []entry) (at, size int64) {
	for i := range entries {
		entries[i].offset = at
		at += localBytes + int64(len(entries[i].name)) + entries[i].size
	}
	return at, at + int64(len(directory(entries, at)))
}

// writeZip writes the zip of entries that are laid out; body writes the content
// of the i-th.
func writeZip(w io.Writer, entries []entry, body func(w io.Writer, i int) error) error {
	for i := range entries {
		if _, err := w.Write(entries[i].local()); err != nil {
			return err
		}
		if err := body(w, i); err != nil {
			return err
		}
	}
	last := entries[len(entries)-1]
	_, err := w.Write(directory(entries, last.offset+localBytes+int64(len(last.name))+last.size))
	return err
}
