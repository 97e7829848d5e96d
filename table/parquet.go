package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Limits of a Parquet file. A row group's columns are read side by side, so that the
// largest page of each is in memory at a time.
const (
	maxParquetFooter = 64 << 20
	maxParquetPage   = 128 << 20 // with the column's dictionary, packed and unpacked
	maxParquetPages  = 1 << 30
)

// parquetSource reads a Parquet file of flat columns, page by page: whole numbers,
// floats, decimals, truth values, dates, timestamps (of which the day counts, in UTC)
// and text. Nested columns are of kind Other.
type parquetSource struct {
	chosen
	file   io.ReaderAt
	closer io.Closer
	p      *parquet.File
	read   []parquetValue // of the columns; nil for those of kind Other
	leaf   []int          // of the columns: the index of their chunks

	groups []parquet.RowGroup
	chunks []parquetChunk // of the wanted columns in the open row group
	left   int64          // rows of it that are not read yet
	rows   int
}

// parquetValue turns a value that is there into a cell.
type parquetValue func(v parquet.Value, c *Cell)

// parquetChunk is a column of a row group while it is read.
type parquetChunk struct {
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    [128]parquet.Value
	have   []parquet.Value // of buf, not given yet
	ended  bool            // the page has no more
}

var errNotWhole = errors.New("the file is not whole Parquet")

// openParquet reads the footer of a Parquet file of that many bytes.
func openParquet(r io.ReaderAt, size int64) (s *parquetSource, problem *CellError) {
	// The library panics on some malformed files.
	defer func() {
		if recover() != nil {
			s, problem = nil, damagedParquet(errNotWhole)
		}
	}()
	var tail [8]byte // the footer's length, and PAR1: the library makes room for what it says
	if size < 12 {
		return nil, damagedParquet(errNotWhole)
	}
	if _, err := r.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return nil, unreadable(err, 0)
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case length > size-12:
		return nil, damagedParquet(errNotWhole)
	case length > maxParquetFooter:
		return nil, damagedParquet(fmt.Errorf("the description of its columns has more than %d bytes", maxParquetFooter))
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-int64(len(tail))-length); err != nil {
		return nil, unreadable(err, 0)
	}
	switch err := soundFooter(footer); {
	case errors.Is(err, errFooterMemory):
		problem := damagedParquet(fmt.Errorf("the description of its columns needs more than %d bytes of memory", maxFooterMemory))
		problem.Hint = "write the file with larger row groups (a million rows each is usual)"
		return nil, problem
	case err != nil:
		return nil, damagedParquet(errNotWhole)
	}
	p, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, damagedParquet(errNotWhole)
	}
	s = &parquetSource{file: r, p: p, groups: p.RowGroups()}
	for _, c := range p.Root().Columns() {
		kind, word, read := parquetColumn(c)
		s.add(Column{Name: c.Name(), Kind: kind, Type: word})
		s.read = append(s.read, read)
		leaf := -1
		if c.Leaf() {
			leaf = c.Index()
		}
		s.leaf = append(s.leaf, leaf)
	}
	return s, nil
}

func damagedParquet(err error) *CellError {
	return &CellError{Problem: "cannot be read: " + err.Error(), Hint: "write the file anew, or copy it again", Ends: true, cause: err}
}

// Format says Parquet.
func (s *parquetSource) Format() string { return "Parquet" }

// Close closes the file and the pages that are open.
func (s *parquetSource) Close() error {
	s.closeGroup()
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

func (s *parquetSource) closeGroup() {
	for i := range s.chunks {
		c := &s.chunks[i]
		parquet.Release(c.page)
		if c.pages != nil {
			c.pages.Close()
		}
	}
	s.chunks = nil
}

// Next reads the next value of every chunk.
func (s *parquetSource) Next(r *Record) (err error) {
	defer func() {
		if recover() != nil {
			err = s.damaged(-1, errNotWhole)
		}
	}()
	for s.left == 0 {
		if err := s.nextGroup(); err != nil {
			return err
		}
	}
	s.left--
	s.rows++
	r.Row, r.Line = s.rows, 0
	s.room(r)
	for i, j := range s.wanted {
		c := &s.chunks[i]
		if len(c.have) == 0 {
			if err := c.fill(); err != nil {
				return s.damaged(j, err)
			}
		}
		v, cell := c.have[0], &r.Cells[i]
		c.have = c.have[1:]
		if v.IsNull() {
			*cell = Cell{}
		} else {
			s.read[j](v, cell)
		}
	}
	return nil
}

// nextGroup opens the next row group; io.EOF after the last.
func (s *parquetSource) nextGroup() error {
	for i, j := range s.wanted {
		if s.chunks == nil {
			break
		}
		if len(s.chunks[i].have) > 0 || s.chunks[i].fill() != io.EOF {
			return s.damaged(j, errors.New("there are more cells than rows"))
		}
	}
	s.closeGroup()
	if len(s.groups) == 0 {
		return io.EOF
	}
	group := s.groups[0]
	at := len(s.p.RowGroups()) - len(s.groups)
	s.groups = s.groups[1:]
	if err := s.checkPages(at); err != nil {
		return err
	}
	if s.left = group.NumRows(); s.left < 0 {
		return s.damaged(-1, errNotWhole)
	}
	chunks := group.ColumnChunks()
	s.chunks = make([]parquetChunk, len(s.wanted))
	for i, j := range s.wanted {
		if s.leaf[j] < 0 || s.leaf[j] >= len(chunks) || s.read[j] == nil {
			return s.damaged(j, errNotWhole)
		}
		s.chunks[i].pages = chunks[s.leaf[j]].Pages()
	}
	return nil
}

// fill reads more values of a chunk, at least one; io.EOF at its end.
func (c *parquetChunk) fill() error {
	for {
		if c.values == nil || c.ended {
			parquet.Release(c.page)
			c.page, c.values = nil, nil
			page, err := c.pages.ReadPage()
			if err != nil {
				return err
			}
			c.page, c.values, c.ended = page, page.Values(), false
		}
		n, err := c.values.ReadValues(c.buf[:])
		if c.ended = err == io.EOF; err != nil && !c.ended {
			return err
		}
		if n > 0 {
			c.have = c.buf[:n]
			return nil
		}
	}
}

// damaged describes an error of column j, or of the file where j is negative.
func (s *parquetSource) damaged(j int, err error) *CellError {
	e := damagedParquet(errNotWhole)
	e.cause = err
	if s.rows > 0 {
		e.Problem = fmt.Sprintf("cannot be read after row %d: the file is not whole Parquet", s.rows)
	}
	if j >= 0 {
		e.Column, e.Name = j+1, s.columns[j].Name
	}
	return e
}

// parquetColumn says what a column holds and how a value becomes a cell.
func parquetColumn(c *parquet.Column) (Kind, string, parquetValue) {
	switch {
	case c.Repeated():
		return Other, "list", nil
	case !c.Leaf():
		return Other, "group", nil
	}
	word := c.Type().String()
	whole := func(of func(parquet.Value) int64) parquetValue {
		return func(v parquet.Value, c *Cell) { *c = WholeCell(of(v)) }
	}
	int32s := func(v parquet.Value) int64 { return int64(v.Int32()) }
	int64s := func(v parquet.Value) int64 { return v.Int64() }
	kind := c.Type().Kind()
	if logical := c.Type().LogicalType(); logical != nil {
		switch l := logical.Value.(type) {
		case nil, *format.StringType, *format.EnumType:
		case *format.NullType:
			return Any, word, func(_ parquet.Value, c *Cell) { *c = Cell{} }
		case *format.IntType:
			if !l.IsSigned && kind == parquet.Int32 {
				return Whole, word, whole(func(v parquet.Value) int64 { return int64(v.Uint32()) })
			}
			if !l.IsSigned {
				return Whole, word, unsigned64
			}
		case *format.DateType:
			return Day, word, func(v parquet.Value, c *Cell) { *c = DayCell(int64(v.Int32())) }
		case *format.TimestampType:
			perDay := int64(24*60*60*1e9) / max(1, int64(l.Unit.Value.Duration()))
			return Day, word, func(v parquet.Value, c *Cell) { *c = DayCell(floorDiv(v.Int64(), perDay)) }
		case *format.DecimalType:
			return Number, word, decimalCell(kind, int(l.Scale))
		default:
			return Other, word, nil
		}
	}
	switch kind {
	case parquet.Boolean:
		return Truth, word, func(v parquet.Value, c *Cell) { *c = TruthCell(v.Boolean()) }
	case parquet.Int32:
		return Whole, word, whole(int32s)
	case parquet.Int64:
		return Whole, word, whole(int64s)
	case parquet.Float:
		return Number, word, func(v parquet.Value, c *Cell) { *c = NumberCell(float64(v.Float())) }
	case parquet.Double:
		return Number, word, func(v parquet.Value, c *Cell) { *c = NumberCell(v.Double()) }
	case parquet.ByteArray:
		return Text, word, func(v parquet.Value, c *Cell) { *c = TextCell(v.ByteArray()) }
	}
	return Other, word, nil
}

// unsigned64 keeps what is beyond 2⁶³ as a number, which float64 rounds.
func unsigned64(v parquet.Value, c *Cell) {
	if x := v.Uint64(); x > math.MaxInt64 {
		*c = NumberCell(float64(x))
	} else {
		*c = WholeCell(int64(x))
	}
}

// decimalCell reads a decimal as the nearest float64.
func decimalCell(kind parquet.Kind, scale int) parquetValue {
	return func(v parquet.Value, c *Cell) {
		var x *big.Int
		switch kind {
		case parquet.Int32:
			x = big.NewInt(int64(v.Int32()))
		case parquet.Int64:
			x = big.NewInt(v.Int64())
		default: // two's complement, big-endian
			b := v.ByteArray()
			x = new(big.Int).SetBytes(b)
			if len(b) > 0 && b[0] >= 0x80 {
				x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
		}
		f, err := strconv.ParseFloat(x.String()+"e"+strconv.Itoa(-scale), 64)
		if err != nil {
			f = math.Inf(1)
		}
		*c = NumberCell(f)
	}
}

// floorDiv divides towards minus infinity.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
