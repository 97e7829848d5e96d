package table

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"concord/contract"
)

// LabelMode says what is done with the label's column.
type LabelMode int

const (
	// Required is for training rows: a file without the label is refused.
	Required LabelMode = iota
	// Optional is for new rows: the column may be absent or empty. Where it is
	// there, every row must have its label.
	Optional
	// Ignored does not read the column.
	Ignored
)

// Options say how a source is read and how strictly it must follow the contract. The
// zero value is right for training rows in a file that says by itself what it is.
type Options struct {
	// Label defaults to Required.
	Label LabelMode
	// AllowExtra skips columns that the contract does not have, whatever is
	// in them. By default each is an error.
	AllowExtra bool
	// AllowOutOfRange counts values outside a feature's range instead of
	// refusing them; see [Table.OutOfRange].
	AllowOutOfRange bool
	// MaxRows is the most rows that are read; more are an error. Zero and
	// less mean the contract's.
	MaxRows int
	// Survey is for [Scan]: what is wrong with cells and rows is counted and does not end
	// reading.
	Survey bool

	// Delimiter separates the columns of CSV text; 0 lets the header tell it, if it
	// does so without doubt.
	Delimiter rune
	// DecimalComma says that numbers in CSV text have a comma for the decimal point. It is
	// never guessed.
	DecimalComma bool
	// Query is what a database is asked: one statement that begins with SELECT.
	Query string
	// Names are those of the columns of a NumPy matrix, which has none, by their places.
	Names []string
	// Digest asks for the SHA-256 of the rows in their order, see [Summary.Digest].
	Digest bool
	// Labels is the path of the IDX file with the labels of IDX pictures.
	Labels string
}

// Open reads the rows of a source into a table. path is a file of CSV text, Parquet,
// SQLite, NumPy or IDX, gzip-compressed where that is CSV or IDX: its beginning tells
// which; or the address of a PostgreSQL database, postgres://host/name.
//
// What is wrong is an *Errors that lists up to [MaxProblems] problems with their places,
// and no cell's content. Nothing is returned with it.
//
// Cost: O(n p) time in one pass, n p numbers of memory and what the source needs for
// some rows.
func Open(path string, c *contract.Contract, opt Options) (*Table, error) {
	src, p, err := open(path, c, opt)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return read(src, c, opt, p)
}

// ReadCSV reads rows from separated text (RFC 4180, with any delimiter) in UTF-8, which
// may be gzip-compressed and begin with a byte order mark; name is for errors. The
// first line holds the columns' names, in any order. Spaces around names and
// cells do not count. Empty lines are skipped. Equal rows are kept. Errors are those of
// [Open].
//
// Cost: that of Open, and one record of memory, whose length is bounded (1 MiB and
// 1 KiB for each column of the contract).
func ReadCSV(r io.Reader, name string, c *contract.Contract, opt Options) (*Table, error) {
	p := &problems{file: name}
	src, problem := openCSV(r, opt.Delimiter, wantedNames(c), columns(c))
	if problem != nil {
		p.add(*problem)
		return nil, p.err(problem.more)
	}
	return read(src, c, opt, p)
}

// looseColumns is how many columns a source without a contract may be expected to have:
// it bounds a record of CSV text to 65 MiB.
const looseColumns = 1 << 16

// OpenSource opens a source without a contract. Of the columns' names those that are known
// tell the delimiter of CSV text, where its header does not do so by itself.
func OpenSource(path string, opt Options, known ...string) (Source, error) {
	want := wanted{label: "label", columns: looseColumns}
	for _, name := range known {
		if want.names == nil {
			want.names = map[string]bool{}
		}
		want.names[name] = true
	}
	src, _, err := openAny(path, want, opt)
	return src, err
}

func open(path string, c *contract.Contract, opt Options) (Source, *problems, error) {
	return openAny(path, wanted{wantedNames(c), c.Label.Name, columns(c)}, opt)
}

// wanted is what is looked for in a source.
type wanted struct {
	names   map[string]bool // nil for any
	label   string          // what the labels beside IDX pictures are called
	columns int             // how many columns are expected
}

// openAny opens a source of any format: its beginning tells which.
func openAny(path string, want wanted, opt Options) (Source, *problems, error) {
	p := &problems{file: PublicName(path)}
	src, problem, err := recognise(path, want, opt)
	if problem != nil {
		p.add(*problem)
		err = p.err(problem.more)
	}
	if err != nil {
		return nil, nil, err
	}
	return src, p, nil
}

// recognise opens a source. The error is that of a file that cannot be opened, the
// problem all else.
func recognise(path string, want wanted, opt Options) (src Source, problem *CellError, err error) {
	if isPostgres(path) {
		src, problem = nonNil(openPostgres(path, opt.Query))
		return src, problem, nil
	}
	f, info, problem, err := openRegular(path)
	if errors.Is(err, fs.ErrNotExist) && likeAddress(path) {
		return nil, &CellError{Problem: "is no file, and no address of a database that is read", Hint: hintAddress, Ends: true}, nil
	}
	if err != nil || problem != nil {
		return nil, problem, err
	}
	keep := false
	defer func() {
		if !keep {
			f.Close()
		}
	}()
	var start [16]byte
	n, _ := f.ReadAt(start[:], 0)
	is := func(magic string) bool { return bytes.HasPrefix(start[:n], []byte(magic)) }
	if problem := misplaced(opt, is); problem != nil {
		return nil, problem, nil
	}
	switch {
	case is("SQLite format 3\x00"):
		src, problem = nonNil(openSQLite(path, opt.Query))
		return src, problem, nil
	case is("PAR1"):
		s, problem := openParquet(f, info.Size())
		if problem != nil {
			return nil, problem, nil
		}
		s.closer, keep = f, true
		return s, nil, nil
	case is("\x93NUMPY"):
		s, problem := openNPY(f, info.Size(), opt.Names)
		if problem != nil {
			return nil, problem, nil
		}
		s.closers, keep = append(s.closers, f), true
		return s, nil, nil
	case is("PK\x03\x04") && hasArrays(f, info.Size()):
		s, problem := openNPZ(f, info.Size())
		if problem != nil {
			return nil, problem, nil
		}
		s.closers, keep = append(s.closers, f), true
		return s, nil, nil
	case is("\x00\x00") || is("\x1f\x8b"):
		if pixels, problem := pictures(f, start[:n]); pixels != nil || problem != nil {
			if problem != nil {
				return nil, problem, nil
			}
			s, problem, err := withLabels(pixels, want.label, opt)
			if s != nil {
				s.closers, keep = append(s.closers, f), true
				return s, nil, nil
			}
			return nil, problem, err
		}
	}
	s, problem := openCSV(f, opt.Delimiter, want.names, want.columns)
	if problem != nil {
		return nil, problem, nil
	}
	s.file, keep = f, true
	return s, nil, nil
}

// nonNil keeps a nil source from becoming one that is not.
func nonNil(s *sqlSource, problem *CellError) (Source, *CellError) {
	if problem != nil {
		return nil, problem
	}
	return s, nil
}

// misplaced refuses options that another format has.
func misplaced(opt Options, is func(string) bool) *CellError {
	binary := is("SQLite") || is("PAR1") || is("\x93NUMPY") || is("\x00\x00")
	switch {
	case opt.Query != "" && !is("SQLite format 3\x00"):
		return &CellError{Problem: "is no database, and a query was given", Hint: "leave --query away"}
	case binary && (opt.Delimiter != 0 || opt.DecimalComma):
		return &CellError{Problem: "is no CSV text, and has neither a delimiter nor a decimal comma", Hint: "leave --delimiter and --decimal-comma away"}
	case len(opt.Names) > 0 && !is("\x93NUMPY"):
		return &CellError{Problem: "has names for its columns; --columns is for the matrix of a .npy file", Hint: "leave --columns away"}
	}
	return nil
}

// hasArrays reports whether a zip archive has a member that is named like an array.
func hasArrays(r io.ReaderAt, size int64) bool {
	z, err := zip.NewReader(r, size)
	return err == nil && slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, ".npy") })
}

// pictures returns the IDX file that f is, unpacked if it is compressed; nil if it is
// something else, and then f stands at its beginning.
func pictures(f *os.File, start []byte) (io.Reader, *CellError) {
	if isIDX(start) {
		return f, nil
	}
	if len(start) >= 2 && start[0] == 0x1f {
		if zr, err := gzip.NewReader(f); err == nil {
			var head [4]byte
			if _, err := io.ReadFull(zr, head[:]); err == nil && isIDX(head[:]) {
				return io.MultiReader(bytes.NewReader(head[:]), zr), nil
			}
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, unreadable(err, 0)
	}
	return nil, nil
}

// withLabels opens IDX pictures and the file of their labels.
func withLabels(pixels io.Reader, label string, opt Options) (*binarySource, *CellError, error) {
	if opt.Labels == "" {
		s, problem := openIDX(pixels, nil, label)
		return s, problem, nil
	}
	g, _, problem, err := openRegular(opt.Labels)
	if problem != nil {
		problem.Problem = "the file of the labels " + problem.Problem
	}
	if err != nil || problem != nil {
		return nil, problem, err
	}
	var start [4]byte
	n, _ := g.ReadAt(start[:], 0)
	labels, problem := pictures(g, start[:n])
	if labels == nil && problem == nil {
		problem = &CellError{Problem: "the file of the labels is no IDX file", Hint: "give --labels the IDX file with one label a picture"}
	}
	if problem != nil {
		g.Close()
		return nil, problem, nil
	}
	s, problem := openIDX(pixels, labels, label)
	if problem != nil {
		g.Close()
		return nil, problem, nil
	}
	s.closers = append(s.closers, g)
	return s, nil, nil
}

// read keeps the rows of a source.
func read(src Source, c *contract.Contract, opt Options, p *problems) (*Table, error) {
	opt.Survey = false
	var data []float64
	var lines []int
	y := &target{}
	sum, err := scan(src, c, opt, p, func(r *Row) error {
		data, lines = append(data, r.X...), append(lines, r.Line)
		if r.Class >= 0 {
			y.classes = append(y.classes, r.Class)
		} else if r.Value == r.Value {
			y.values = append(y.values, r.Value)
		}
		if r.Subject >= 0 {
			y.person = append(y.person, r.Subject)
		}
		return nil
	})
	if err != nil {
		clear(data)
		return nil, err
	}
	t := newTable(c, data, y, lines, sum.Outside)
	t.file, t.columns, t.missing, t.digest = p.file, sum.Columns, sum.Missing, sum.Digest
	_, t.lined = src.(*csvSource)
	return t, nil
}
