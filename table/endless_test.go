package table_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"concord/table"
)

// TestEndlessRun holds that a page of some bytes that says one value a billion times is
// refused before room is made for them.
func TestEndlessRun(t *testing.T) {
	const n = 1 << 30
	p := &thrift.CompactProtocol{}
	file := []byte("PAR1")
	dictAt := len(file)
	dict := []byte{1, 0, 0, 0}
	h := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: 4, CompressedPageSize: 4}
	h.DictionaryPageHeader.V = format.DictionaryPageHeader{NumValues: 1, Encoding: format.Plain}
	h.DictionaryPageHeader.Valid = true
	b, err := thrift.Marshal(p, h)
	if err != nil {
		t.Fatal(err)
	}
	file = append(append(file, b...), dict...)
	dataAt := len(file)
	body := binary.AppendUvarint([]byte{1}, n<<1)
	body = append(body, 0)
	h = format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(body))}
	h.DataPageHeader.V = format.DataPageHeader{NumValues: n, Encoding: format.RLEDictionary, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}
	h.DataPageHeader.Valid = true
	b, err = thrift.Marshal(p, h)
	if err != nil {
		t.Fatal(err)
	}
	file = append(append(file, b...), body...)
	end := len(file)
	meta := format.ColumnMetaData{Type: format.Int32, Encoding: thrift.Slice[format.Encoding]{format.Plain, format.RLEDictionary}, PathInSchema: thrift.Slice[string]{"age"},
		NumValues: n, TotalUncompressedSize: int64(end - 4), TotalCompressedSize: int64(end - 4), DataPageOffset: int64(dataAt), DictionaryPageOffset: int64(dictAt)}
	root := format.SchemaElement{Name: "root"}
	root.NumChildren.V, root.NumChildren.Valid = 1, true
	leaf := format.SchemaElement{Name: "age"}
	leaf.Type.V, leaf.Type.Valid = format.Int32, true
	leaf.RepetitionType.V, leaf.RepetitionType.Valid = format.Required, true
	f := format.FileMetaData{Version: 1, Schema: thrift.Slice[format.SchemaElement]{root, leaf}, NumRows: n,
		RowGroups: thrift.Slice[format.RowGroup]{{Columns: thrift.Slice[format.ColumnChunk]{{FileOffset: 4, MetaData: meta}}, TotalByteSize: int64(end - 4), NumRows: n}}}
	b, err = thrift.Marshal(p, f)
	if err != nil {
		t.Fatal(err)
	}
	file = append(file, b...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(b)))
	file = append(file, "PAR1"...)
	path := filepath.Join(t.TempDir(), "x")
	_ = os.WriteFile(path, file, 0o600)
	src, err := table.OpenSource(path, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var r table.Record
	err = src.Next(&r)
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.Contains(err.Error(), "bytes of memory") || made > 32<<20 {
		t.Errorf("error %v, %d MB were made", err, made>>20)
	}
}
