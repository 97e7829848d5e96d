package npy

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// maxMembers bounds the arrays of an archive.
const maxMembers = 10_000

// Archive reads .npz files: zip archives of arrays, as numpy.savez and
// numpy.savez_compressed write them. Start with [OpenArchive].
type Archive struct {
	members map[string]*zip.File
}

// OpenArchive reads the directory of an archive of that many bytes.
//
// Errors: no zip archive, two arrays of one name, and an unreasonable number of
// them. Members that are no arrays do not count.
func OpenArchive(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("npy: not an archive of arrays: %w", err)
	}
	if len(z.File) > maxMembers {
		return nil, fmt.Errorf("npy: %d members in the archive, at most %d are read", len(z.File), maxMembers)
	}
	a := &Archive{members: map[string]*zip.File{}}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if a.members[name] != nil {
			return nil, fmt.Errorf("npy: the archive has two arrays %q", name)
		}
		a.members[name] = f
	}
	return a, nil
}

// Names are the arrays' names, sorted.
func (a *Archive) Names() []string {
	names := make([]string, 0, len(a.members))
	for name := range a.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Matrix is [ReadMatrix] of an array. Memory grows with the data that are
// there, whatever lim.Input says: an archive's own word for their size is not
// taken.
func (a *Archive) Matrix(name string, lim Limits) (x *mat.Dense, err error) {
	err = a.read(name, func(r io.Reader) error {
		x, err = ReadMatrix(r, noInput(lim))
		return err
	})
	return x, err
}

// Ints is [ReadInts] of an array.
func (a *Archive) Ints(name string, lim Limits) (v []int64, err error) {
	err = a.read(name, func(r io.Reader) error {
		v, err = ReadInts(r, noInput(lim))
		return err
	})
	return v, err
}

// Bytes is [ReadBytes] of an array.
func (a *Archive) Bytes(name string, lim Limits) (data []byte, rows, cols int, err error) {
	err = a.read(name, func(r io.Reader) error {
		data, rows, cols, err = ReadBytes(r, lim)
		return err
	})
	return data, rows, cols, err
}

func noInput(lim Limits) Limits {
	lim.Input = 0
	return lim
}

// Open opens an array's file, for [ReadLayout] and what follows the header.
func (a *Archive) Open(name string) (io.ReadCloser, error) {
	f := a.members[name]
	if f == nil {
		return nil, fmt.Errorf("npy: the archive has no array %q", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("npy: array %q: %w", name, err)
	}
	return r, nil
}

func (a *Archive) read(name string, decode func(io.Reader) error) error {
	f := a.members[name]
	if f == nil {
		return fmt.Errorf("npy: the archive has no array %q", name)
	}
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("npy: array %q: %w", name, err)
	}
	defer r.Close()
	if err := decode(r); err != nil {
		return fmt.Errorf("array %q: %w", name, err)
	}
	return nil
}

// ReadBytes reads a whole file of bytes (dtype u1 or b1) in C order, row after
// row; a one-dimensional array is a column. lim.Bytes counts one byte for every
// element here; lim.Input is not looked at, memory grows with the data that are
// there.
func ReadBytes(r io.Reader, lim Limits) (data []byte, rows, cols int, err error) {
	h, err := ReadHeader(r)
	if err != nil {
		return nil, 0, 0, err
	}
	if h.Dtype != "|u1" && h.Dtype != "|b1" {
		return nil, 0, 0, fmt.Errorf("npy: dtype %q, unsigned bytes (|u1) are wanted", h.Dtype)
	}
	if n := len(h.Shape); n != 1 && n != 2 {
		return nil, 0, 0, fmt.Errorf("npy: shape %s has %d dimensions, must have 1 or 2", h.shape(), n)
	}
	if rows, cols = dims(h); h.Fortran && rows > 1 && cols > 1 {
		return nil, 0, 0, fmt.Errorf("npy: shape %s in Fortran order, bytes are read in C order only", h.shape())
	}
	most := lim.Bytes
	if most == 0 {
		most = DefaultBytes
	}
	switch {
	case lim.Rows > 0 && rows > lim.Rows:
		return nil, 0, 0, fmt.Errorf("npy: shape %s: %d rows, at most %d are read", h.shape(), rows, lim.Rows)
	case lim.Cols > 0 && cols > lim.Cols:
		return nil, 0, 0, fmt.Errorf("npy: shape %s: %d columns, at most %d are read", h.shape(), cols, lim.Cols)
	case h.Elements() > most:
		return nil, 0, 0, fmt.Errorf("npy: shape %s: at most %d bytes are read", h.shape(), most)
	}
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(r, h.Elements()+1))
	switch {
	case err != nil:
		return nil, 0, 0, err
	case n < h.Elements():
		return nil, 0, 0, wrongSize(h, n)
	case n > h.Elements():
		return nil, 0, 0, fmt.Errorf("npy: shape %s needs %d bytes of data, more are there", h.shape(), h.DataBytes())
	}
	return buf.Bytes(), rows, cols, nil
}
