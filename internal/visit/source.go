package visit

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"unicode/utf8"

	"concord/contract"
	"concord/table"
	"concord/wire"
)

// Source says of which rows a contribution, or a piece of the anchor, was prepared. It stays.
type Source struct {
	// Path is absolute; of a PostgreSQL database its address, without user and password.
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	// SHA256 is that of the file; where a query or another file says more, that of both; of
	// the rows of a PostgreSQL database that of the rows as they were read.
	SHA256 wire.Hash `json:"sha256"`
	// Read is how the rows are read, where the file does not say it by itself.
	Read *reading `json:"read,omitempty"`
}

// reading is what of a table.Options says how rows are read.
type reading struct {
	Delimiter    string   `json:"delimiter,omitempty"`
	DecimalComma bool     `json:"decimal_comma,omitempty"`
	Query        string   `json:"query,omitempty"`
	Columns      []string `json:"columns,omitempty"`
	Labels       string   `json:"labels,omitempty"` // absolute
}

// sourceFile holds the source of the prepared contribution.
const sourceFile = "source.json"

// describeSource reads the rows' file once, or asks the database once for the rows of a
// contract.
func describeSource(path string, c *contract.Contract, opt table.Options) (Source, error) {
	r := reading{DecimalComma: opt.DecimalComma, Query: opt.Query, Columns: opt.Names}
	if opt.Delimiter != 0 {
		r.Delimiter = string(opt.Delimiter)
	}
	if opt.Labels != "" {
		var err error
		if r.Labels, err = filepath.Abs(opt.Labels); err != nil {
			return Source{}, err
		}
	}
	s := Source{Path: table.PublicName(path)}
	if !reflect.DeepEqual(r, reading{}) {
		s.Read = &r
	}
	if table.IsDatabase(path) {
		opt.Digest = true
		sum, err := table.Scan(path, c, opt, func(*table.Row) error { return nil })
		if err != nil {
			return Source{}, err
		}
		s.SHA256, s.Bytes = sum.Digest, 0
		return s, nil
	}
	var err error
	if s.Path, err = filepath.Abs(path); err != nil {
		return Source{}, err
	}
	if err := s.sum(); err != nil {
		if table.PublicName(path) != path { // the address of another kind of database, maybe with a password
			if src, err := table.OpenSource(path, opt); err != nil {
				return Source{}, err
			} else {
				src.Close()
			}
		}
		return Source{}, err
	}
	return s, nil
}

// sum reads the files.
func (s *Source) sum() (err error) {
	if s.SHA256, s.Bytes, err = sumOf(s.Path); err != nil || s.Read == nil || s.Read.Query == "" && s.Read.Labels == "" {
		return err
	}
	more := s.SHA256.String() + "\x00" + s.Read.Query
	if s.Read.Labels != "" {
		labels, n, err := sumOf(s.Read.Labels)
		if err != nil {
			return err
		}
		more += "\x00" + labels.String()
		s.Bytes += n
	}
	s.SHA256 = wire.HashOf([]byte(more))
	return nil
}

func sumOf(path string) (wire.Hash, int64, error) {
	f, err := table.OpenFile(path)
	if err != nil {
		return wire.Hash{}, 0, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return wire.Hash(sum.Sum(nil)), n, err
}

// options are how the rows are read.
func (s Source) options() table.Options {
	if s.Read == nil {
		return table.Options{}
	}
	opt := table.Options{DecimalComma: s.Read.DecimalComma, Query: s.Read.Query, Names: s.Read.Columns,
		Labels: s.Read.Labels}
	opt.Delimiter, _ = utf8.DecodeRuneInString(s.Read.Delimiter)
	if s.Read.Delimiter == "" {
		opt.Delimiter = 0
	}
	return opt
}

// database says whether the rows are those of a server.
func (s Source) database() bool { return table.IsDatabase(s.Path) }

// sameRows makes sure that a database gave the rows again that it gave before.
func (s Source) sameRows(digest [sha256.Size]byte) error {
	if s.database() && s.SHA256 != digest {
		return wire.WithHint(fmt.Errorf("%s gave other rows the second time, or in another order; nothing was prepared",
			s.Path),
			"let the query say the order with ORDER BY, over columns that tell rows apart, and try again when nobody writes")
	}
	return nil
}

// unchanged makes sure that the file is what it was; hint says how to prepare it again.
// One that is not there any more is fine: nobody wants another contribution of it. A
// server is not asked again: what was prepared are its rows as they were.
func (s Source) unchanged(hint string) error {
	if s.database() {
		return nil
	}
	now := s
	err := now.sum()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if now.SHA256 != s.SHA256 || now.Bytes != s.Bytes {
		return wire.WithHint(fmt.Errorf("%s was changed since it was prepared; nothing was sent", s.Path),
			hint+", or bring the file back as it was")
	}
	return nil
}

func (s Source) write(dir string) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, sourceFile), append(b, '\n'), draftPerm)
}

// loadSource is the file that what is prepared was made from.
func (v *Visit) loadSource(kind string) (Source, error) {
	var s Source
	path := v.site.Stays(kind, sourceFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, wire.WithHint(fmt.Errorf("%s is missing", path), v.prepareAgain(kind))
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// sourceUnchanged compares the file of rows with what was prepared: what is approved and
// sent speaks of the rows as they are.
func (v *Visit) sourceUnchanged(kind string) error {
	s, err := v.loadSource(kind)
	if err != nil {
		return err
	}
	return s.unchanged(v.prepareAgain(kind))
}

// pointToCheck adds to the cures of a file of which not all is told that check tells all.
func pointToCheck(err error, path string) error {
	var problems *table.Errors
	if !errors.As(err, &problems) || !problems.Stopped {
		return err
	}
	hint := "concord check " + table.PublicName(path) + " counts all that is wrong, column by column"
	if more := problems.Hint(); more != "" {
		hint = more + "; " + hint
	}
	return wire.WithHint(err, hint)
}

// readRows describes the rows of a contract and reads them into a table.
func readRows(path string, c *contract.Contract, opt table.Options) (Source, *table.Table, error) {
	from, err := describeSource(path, c, opt)
	if err != nil {
		return Source{}, nil, err
	}
	opt.Digest = from.database()
	t, err := table.Open(path, c, opt)
	if err != nil {
		return Source{}, nil, pointToCheck(err, path)
	}
	if err := from.sameRows(t.Digest()); err != nil {
		t.Erase()
		return Source{}, nil, err
	}
	return from, t, nil
}

// pooledSource is the file of rows of which this site's figures were pooled; ok is false
// before it has prepared any, and where it was given the figures.
func (v *Visit) pooledSource() (from Source, ok bool, err error) {
	b, err := v.site.ReadPool(sourceFile)
	if b == nil || err != nil {
		return from, false, err
	}
	if err := json.Unmarshal(b, &from); err != nil {
		return from, false, fmt.Errorf("%s: %w", v.site.Pool(sourceFile), err)
	}
	return from, true, nil
}

// keepSource notes from which file the figures are that are about to leave.
func (v *Visit) keepSource(name string) error {
	from, err := v.loadSource(name)
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(from, "", "  ")
	if err != nil {
		return err
	}
	return v.site.PutPool(sourceFile, append(b, '\n'))
}
