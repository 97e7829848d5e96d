package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// checkPages reads the headers of all pages of a row group's wanted columns and refuses
// pages that would need too much memory, before the library makes room for one: a cell
// of a gigabyte lies in a page of a gigabyte.
func (s *parquetSource) checkPages(group int) error {
	total := int64(0)
	for _, j := range s.wanted {
		if s.leaf[j] < 0 {
			continue
		}
		columns := s.p.Metadata().RowGroups[group].Columns
		if s.leaf[j] >= len(columns) {
			return s.damaged(j, errNotWhole)
		}
		largest, err := s.largestPages(&columns[s.leaf[j]].MetaData)
		if err != nil {
			return s.damaged(j, err)
		}
		e := &CellError{Column: j + 1, Name: s.columns[j].Name, Ends: true, more: true}
		switch total += largest; {
		case largest > maxParquetPage:
			e.Problem = fmt.Sprintf("a page of the column needs %d bytes of memory; at most %d are read", largest, maxParquetPage)
			e.Hint = "look for a cell that is far too long; else write the file with smaller pages (one megabyte each is usual)"
			return e
		case total > maxParquetPages:
			e.Problem = fmt.Sprintf("with this column the pages that are read at a time need more than %d bytes of memory", maxParquetPages)
			e.Hint = "write the file with smaller pages (one megabyte each is usual)"
			return e
		}
	}
	return nil
}

// indexBytes is what the library needs at least for a value that is one of many equal
// ones, of which a page of some bytes holds billions.
const indexBytes = 4

// largestPages is the memory of a column's largest page and its dictionary, packed and
// unpacked.
func (s *parquetSource) largestPages(m *format.ColumnMetaData) (int64, error) {
	at := m.DataPageOffset
	if m.DictionaryPageOffset != 0 {
		at = m.DictionaryPageOffset
	}
	end := at + m.TotalCompressedSize
	if at < 0 || m.TotalCompressedSize < 0 || end < at || end > s.p.Size() {
		return 0, errNotWhole
	}
	var dictionary, page int64
	for values := int64(0); at < end && values < m.NumValues; {
		h, n, err := s.pageHeader(at, end)
		if err != nil {
			return 0, err
		}
		if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 {
			return 0, errNotWhole
		}
		size := int64(h.CompressedPageSize) + int64(h.UncompressedPageSize)
		switch h.Type {
		case format.DictionaryPage:
			dictionary = max(dictionary, size)
		case format.DataPage, format.DataPageV2:
			n := int64(h.DataPageHeader.V.NumValues)
			if h.Type == format.DataPageV2 {
				n = int64(h.DataPageHeaderV2.V.NumValues)
			}
			if n < 0 {
				return 0, errNotWhole
			}
			page = max(page, size+indexBytes*n)
			values += n
		}
		at += int64(n) + int64(h.CompressedPageSize)
	}
	return dictionary + page, nil
}

// pageHeader reads the header at an offset, and its length. A header of a megabyte is
// refused.
func (s *parquetSource) pageHeader(at, end int64) (h format.PageHeader, length int, err error) {
	protocol := thrift.CompactProtocol{}
	for _, room := range []int64{256, 16 << 10, 1 << 20} {
		b := make([]byte, min(room, end-at))
		if _, err := s.file.ReadAt(b, at); err != nil && err != io.EOF {
			return h, 0, err
		}
		h = format.PageHeader{}
		r := protocol.NewReaderFromBytes(b)
		if err = thrift.NewDecoder(r).Decode(&h); err == nil {
			return h, r.BytesRead(), nil
		}
	}
	return h, 0, errors.Join(errNotWhole, err)
}
