package table

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"concord/npy"
)

// maxBinaryRow bounds the bytes of one row, or of the buffers of all columns together.
const maxBinaryRow = 64 << 20

// binarySource reads arrays of elements of fixed length: NumPy's .npy and .npz, and
// IDX. Rows lie one after the other in one stream or several, or each column has a
// stream of its own.
type binarySource struct {
	chosen
	format  string
	fields  []npy.Field // of the columns
	closers []io.Closer

	rows, read int64
	// Streams of whole rows, one after the other in row.
	streams []binaryStream
	row     []byte
	// open opens the stream of a column where each has its own; they are opened for the
	// wanted columns at the first Next.
	open func(column int) (io.Reader, error)
	each []binaryStream

	texts []byte
}

// binaryStream gives some bytes for every row.
type binaryStream struct {
	r     io.Reader
	bytes []byte
}

// Format says NumPy, NumPy archive or IDX.
func (s *binarySource) Format() string { return s.format }

// Close closes what was opened, the last first.
func (s *binarySource) Close() error {
	var err error
	for _, c := range slices.Backward(s.closers) {
		err = errors.Join(err, c.Close())
	}
	return err
}

// field adds a column.
func (s *binarySource) field(name string, f npy.Field) {
	s.add(Column{Name: name, Kind: fieldKind(f), Type: f.Dtype})
	s.fields = append(s.fields, f)
}

// Next reads the next element of every stream.
func (s *binarySource) Next(r *Record) error {
	if s.open != nil && s.each == nil {
		if err := s.openColumns(); err != nil {
			return err
		}
	}
	streams := s.streams
	if s.open != nil {
		streams = s.each
	}
	if s.read == s.rows {
		for i := range streams {
			if n, err := streams[i].r.Read(make([]byte, 1)); n > 0 {
				return s.broken("more data follow after the last row")
			} else if err != nil && err != io.EOF {
				return s.broken(err.Error())
			}
		}
		return io.EOF
	}
	for i := range streams {
		if _, err := io.ReadFull(streams[i].r, streams[i].bytes); err == io.EOF || err == io.ErrUnexpectedEOF {
			return s.broken(fmt.Sprintf("the file ends there, and says that it has %d rows", s.rows))
		} else if err != nil {
			return s.broken(err.Error())
		}
	}
	s.read++
	r.Row, r.Line = int(s.read), 0
	s.room(r)
	s.texts = s.texts[:0]
	for i, j := range s.wanted {
		f := &s.fields[j]
		b := s.row
		if s.open != nil {
			b = s.each[i].bytes
		} else {
			b = b[f.Offset : f.Offset+f.Size]
		}
		r.Cells[i] = s.cell(f, b)
	}
	return nil
}

// openColumns opens the streams of the wanted columns.
func (s *binarySource) openColumns() error {
	s.each = make([]binaryStream, len(s.wanted))
	for i, j := range s.wanted {
		r, err := s.open(j)
		if err != nil {
			e := s.broken(err.Error())
			e.Column, e.Name = j+1, s.columns[j].Name
			return e
		}
		size := max(512, min(64<<10, maxBinaryRow/len(s.wanted)))
		s.each[i] = binaryStream{bufio.NewReaderSize(r, size), make([]byte, s.fields[j].Size)}
	}
	return nil
}

// broken describes what ends reading. Errors of the readers are about files.
func (s *binarySource) broken(why string) *CellError {
	e := &CellError{Problem: fmt.Sprintf("cannot be read after row %d: %s", s.read, why), Ends: true,
		Hint: "the file is damaged or was not copied completely; copy it again"}
	if s.read == 0 {
		e.Problem = "cannot be read: " + why
	}
	return e
}

// fieldKind says what cells of a type hold.
func fieldKind(f npy.Field) Kind {
	switch f.Kind {
	case 'f':
		return Number
	case 'i', 'u':
		return Whole
	case 'b':
		return Truth
	case 'S', 'U':
		return Text
	case 'M':
		if f.Unit == "D" || perDay[f.Unit] > 0 {
			return Day
		}
	}
	return Other
}

// perDay is how many of NumPy's units a day has.
var perDay = map[string]int64{"D": 1, "h": 24, "m": 24 * 60, "s": 24 * 3600, "ms": 24 * 3600e3, "us": 24 * 3600e6, "ns": 24 * 3600e9}

// cell decodes an element.
func (s *binarySource) cell(f *npy.Field, b []byte) Cell {
	switch {
	case f.Kind == 'f':
		return NumberCell(f.Float(b))
	case f.Kind == 'b':
		return TruthCell(b[0] != 0)
	case f.Kind == 'S':
		return TextCell(bytes.TrimRight(b, "\x00"))
	case f.Kind == 'U':
		return s.text(b, f.Order())
	}
	v := f.Int(b)
	switch {
	case f.Kind == 'u' && v < 0: // of 8 bytes
		return NumberCell(float64(uint64(v)))
	case f.Kind != 'M':
		return WholeCell(v)
	case v == math.MinInt64: // not a time
		return Cell{}
	}
	return DayCell(floorDiv(v, perDay[f.Unit]))
}

// text decodes characters of 4 bytes each, padded with zeros.
func (s *binarySource) text(b []byte, order binary.ByteOrder) Cell {
	n := len(b)
	for n >= 4 && order.Uint32(b[n-4:]) == 0 {
		n -= 4
	}
	from := len(s.texts)
	for ; n >= 4; n, b = n-4, b[4:] {
		r := order.Uint32(b)
		if r > utf8.MaxRune {
			r = utf8.RuneError
		}
		s.texts = utf8.AppendRune(s.texts, rune(r))
	}
	return TextCell(s.texts[from:])
}

// openNPY reads the header of a .npy file: a structured array of one dimension, or a
// matrix, whose columns get the given names by their position.
func openNPY(r io.ReaderAt, size int64, names []string) (*binarySource, *CellError) {
	file := io.NewSectionReader(r, 0, size)
	l, err := npy.ReadLayout(file)
	if err != nil {
		return nil, notArray(err)
	}
	s := &binarySource{format: "NumPy"}
	if l.Structured {
		if len(l.Shape) != 1 {
			return nil, &CellError{Problem: fmt.Sprintf("is a structured array of %d dimensions; one is read", len(l.Shape)), Hint: hintArray, Ends: true}
		}
		for _, f := range l.Fields {
			if f.Kind != 'V' {
				s.field(f.Name, f)
			}
		}
	} else if problem := s.matrix(&l, names); problem != nil {
		return nil, problem
	}
	s.rows = int64(l.Shape[0])
	width := int64(l.Record)
	if !l.Structured {
		width *= int64(len(s.columns))
	}
	if width < 1 || width > maxBinaryRow {
		return nil, &CellError{Problem: fmt.Sprintf("a row has %d bytes; 1 to %d are read", width, maxBinaryRow), Ends: true}
	}
	if there := size - l.DataOffset; there != s.rows*width {
		return nil, s.broken(fmt.Sprintf("%d rows need %d bytes of data, %d are there", s.rows, s.rows*width, there))
	}
	if !l.Structured && l.Fortran && s.rows > 0 {
		s.open = func(column int) (io.Reader, error) {
			n := s.rows * int64(l.Record)
			return io.NewSectionReader(r, l.DataOffset+int64(column)*n, n), nil
		}
		return s, nil
	}
	s.row = make([]byte, width)
	s.streams = []binaryStream{{bufio.NewReaderSize(file, 256<<10), s.row}}
	return s, nil
}

const hintArray = "save the columns with numpy.savez, each under its own name, or as a structured array; for a matrix give the columns' names with --columns"

// matrix gives names to the columns of a matrix.
func (s *binarySource) matrix(l *npy.Layout, names []string) *CellError {
	if len(l.Shape) != 2 {
		return &CellError{Problem: fmt.Sprintf("is an array of %d dimensions; a matrix or a structured array is read", len(l.Shape)), Hint: hintArray, Ends: true}
	}
	if len(names) == 0 {
		return &CellError{Problem: "is a matrix, whose columns have no names", Hint: "give the names of all columns, in order, with --columns age,weight,outcome; or save the columns with numpy.savez, each under its own name", Ends: true}
	}
	if len(names) != l.Shape[1] {
		return &CellError{Problem: fmt.Sprintf("the matrix has %s, and --columns names %d", count(l.Shape[1], "column"), len(names)), Hint: "name every column, in order", Ends: true}
	}
	for j, name := range names {
		f := l.Fields[0]
		f.Offset = j * l.Record
		s.field(name, f)
	}
	return nil
}

func notArray(err error) *CellError {
	return &CellError{Problem: "cannot be read: " + err.Error(), Hint: hintArray, Ends: true, cause: err}
}

// openNPZ reads the directory of an archive with an array for each column.
func openNPZ(r io.ReaderAt, size int64) (*binarySource, *CellError) {
	archive, err := npy.OpenArchive(r, size)
	if err != nil {
		return nil, notArray(err)
	}
	s := &binarySource{format: "NumPy archive", rows: -1}
	for _, name := range archive.Names() {
		member, err := archive.Open(name)
		if err != nil {
			return nil, notArray(err)
		}
		l, err := npy.ReadLayout(member)
		member.Close()
		at := CellError{Column: len(s.columns) + 1, Name: name, Hint: hintArray, Ends: true}
		switch {
		case err != nil:
			at.Problem = "cannot be read: " + err.Error()
			return nil, &at
		case l.Structured || len(l.Shape) == 0 || len(l.Shape) > 2 || len(l.Shape) == 2 && l.Shape[1] != 1:
			at.Problem = "the array is no column"
			return nil, &at
		case s.rows >= 0 && s.rows != int64(l.Shape[0]):
			at.Problem, at.Hint = fmt.Sprintf("the array has %s, the one before %d", count(l.Shape[0], "row"), s.rows), "save arrays of one length"
			return nil, &at
		}
		s.rows = int64(l.Shape[0])
		s.field(name, l.Fields[0])
	}
	if len(s.columns) == 0 {
		return nil, &CellError{Problem: "is a zip archive without arrays", Hint: hintArray, Ends: true}
	}
	s.open = func(column int) (io.Reader, error) {
		member, err := archive.Open(s.columns[column].Name)
		if err != nil {
			return nil, err
		}
		s.closers = append(s.closers, member)
		if _, err := npy.ReadLayout(member); err != nil {
			return nil, err
		}
		return member, nil
	}
	return s, nil
}
