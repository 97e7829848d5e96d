package npy

import (
	"archive/zip"
	"fmt"
	"io"
	"slices"
	"strings"
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

// Read hands an array's file to decode, such as [ReadMatrix] with limits. Their Input must
// be 0: an archive's own word for the size of an array is not taken.
func (a *Archive) Read(name string, decode func(io.Reader) error) error {
	r, err := a.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := decode(r); err != nil {
		return fmt.Errorf("array %q: %w", name, err)
	}
	return nil
}
