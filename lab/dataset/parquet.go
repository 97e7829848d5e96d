package dataset

import (
	endian "encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// openParquet reads a Parquet file of flat columns: whole numbers, floats,
// booleans (the levels false and true) and strings. A null is missing, and a
// text that means so in CSV.
//
// A line in errors is a row here, counted from 1.
func openParquet(path string, opt Options) (f *frame, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("dataset: %w", err)
	}
	return readParquet(file, info.Size(), filepath.Base(path), opt)
}

func readParquet(r io.ReaderAt, size int64, name string, opt Options) (f *frame, err error) {
	t := &frame{file: name}
	// The library panics on some malformed files.
	defer func() {
		if recover() != nil {
			f, err = nil, t.errorf("the file is not whole Parquet")
		}
	}()
	// The library makes room for what the footer says it is long: up to 4 GiB.
	var tail [8]byte // the footer's length, and PAR1
	if size >= int64(len(tail)) {
		if _, err := r.ReadAt(tail[:], size-int64(len(tail))); err != nil {
			return nil, t.errorf("%w", err)
		}
		if length := int64(endian.LittleEndian.Uint32(tail[:])); length > size {
			return nil, t.errorf("the file is not whole Parquet: a footer of %d bytes in a file of %d", length, size)
		}
	}
	p, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, t.errorf("%w", err)
	}
	var names []string
	var cells []cellReader
	for _, c := range p.Root().Columns() {
		names = append(names, c.Name())
		read, err := readerOf(c)
		switch {
		case !c.Leaf(): // it would take the places of several columns
			return nil, t.errorf("column %d (%q) is nested, only flat columns are read", len(names), c.Name())
		case slices.Contains(opt.Drop, c.Name()):
			read = nil
		case err != nil:
			return nil, t.errorf("column %d (%q) is %w", len(names), c.Name(), err)
		}
		cells = append(cells, read)
	}
	if err := t.addColumns(names, opt.most); err != nil {
		return nil, err
	}
	if n := p.NumRows(); n < 0 || len(names) > 0 && n > opt.maxBytes()/12/int64(len(names)) {
		return nil, t.errorf("%d rows of %d columns are more than %d bytes", n, len(names), opt.maxBytes())
	}
	for _, group := range p.RowGroups() {
		if err := t.readGroup(group, cells, opt); err != nil {
			return nil, err
		}
	}
	if int64(t.n) != p.NumRows() {
		return nil, t.errorf("%d rows, the file says %d", t.n, p.NumRows())
	}
	return t, nil
}

// readGroup reads the columns of a row group, one after the other.
func (f *frame) readGroup(group parquet.RowGroup, cells []cellReader, opt Options) error {
	n := group.NumRows()
	if n < 0 || (int64(f.n)+n)*int64(len(cells)) > opt.maxBytes()/12 {
		return f.errorf("the table is larger than %d bytes", opt.maxBytes())
	}
	chunks := group.ColumnChunks()
	if len(chunks) != len(cells) {
		return f.errorf("a row group has %d columns, the schema has %d", len(chunks), len(cells))
	}
	for j, chunk := range chunks {
		if cells[j] == nil {
			continue // to be dropped
		}
		rows, err := f.readChunk(chunk, f.columns[j], cells[j], n)
		if err != nil {
			return err
		}
		if rows != n {
			return f.errorf("column %d (%q): %d cells for %d rows", j+1, f.columns[j].name, rows, n)
		}
	}
	f.n += int(n)
	return nil
}

func (f *frame) readChunk(chunk parquet.ColumnChunk, c *column, cell cellReader, n int64) (rows int64, err error) {
	pages := chunk.Pages()
	defer pages.Close()
	values := make([]parquet.Value, 1024)
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, f.errorf("column %d (%q): %w", c.at, c.name, err)
		}
		rd := page.Values()
		for end := false; !end; {
			k, err := rd.ReadValues(values)
			if end = err == io.EOF; err != nil && !end {
				return rows, f.errorf("column %d (%q): %w", c.at, c.name, err)
			}
			if rows+int64(k) > n {
				return rows, f.errorf("column %d (%q): more than %d cells in a row group", c.at, c.name, n)
			}
			for _, v := range values[:k] {
				rows++
				line := f.n + int(rows)
				if v.IsNull() {
					c.addMissing(line)
				} else if err := cell(c, v, line); err != nil {
					return rows, f.errorf("row %d, column %d (%q): %w", line, c.at, c.name, err)
				}
			}
		}
		parquet.Release(page)
	}
}

// cellReader puts a value that is there into a column.
type cellReader func(c *column, v parquet.Value, line int) error

// readerOf knows the types that are read; nil for a nested column.
func readerOf(c *parquet.Column) (cellReader, error) {
	if c.Repeated() {
		return nil, errors.New("a list, only flat columns are read")
	}
	if !c.Leaf() {
		return nil, nil
	}
	unsigned := false
	if logical := c.Type().LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case nil:
		case *format.IntType:
			unsigned = !l.IsSigned
		case *format.StringType, *format.EnumType, *format.NullType:
		default:
			return nil, fmt.Errorf("of type %s, which is not read: turn it into numbers or leave it out with --drop %q", logical, c.Name())
		}
	}
	switch kind := c.Type().Kind(); {
	case kind == parquet.Boolean:
		return func(c *column, v parquet.Value, line int) error {
			c.add(map[bool]string{false: "false", true: "true"}[v.Boolean()], line)
			return nil
		}, nil
	case kind == parquet.Int32 && unsigned:
		return number(func(v parquet.Value) float64 { return float64(v.Uint32()) }), nil
	case kind == parquet.Int32:
		return number(func(v parquet.Value) float64 { return float64(v.Int32()) }), nil
	case kind == parquet.Int64 && unsigned:
		return number(func(v parquet.Value) float64 { return float64(v.Uint64()) }), nil
	case kind == parquet.Int64:
		return number(func(v parquet.Value) float64 { return float64(v.Int64()) }), nil
	case kind == parquet.Float:
		return number(func(v parquet.Value) float64 { return float64(v.Float()) }), nil
	case kind == parquet.Double:
		return number(func(v parquet.Value) float64 { return v.Double() }), nil
	case kind == parquet.ByteArray:
		return textCell, nil
	}
	return nil, fmt.Errorf("of type %s, only numbers, booleans and strings are read: leave it out with --drop %q", c.Type(), c.Name())
}

func number(of func(parquet.Value) float64) cellReader {
	return func(c *column, v parquet.Value, line int) error {
		switch x := of(v); {
		case math.IsNaN(x):
			c.addMissing(line)
		case math.IsInf(x, 0):
			return errors.New("the cell is infinite")
		default:
			c.addNumber(x)
		}
		return nil
	}
}

func textCell(c *column, v parquet.Value, line int) error {
	b := v.ByteArray()
	if len(b) > maxCell {
		return fmt.Errorf("the cell has %d bytes, at most %d are read", len(b), maxCell)
	}
	if !utf8.Valid(b) {
		return errors.New("the cell is not UTF-8 text")
	}
	c.add(string(b), line)
	return nil
}
