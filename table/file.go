package table

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// OpenFile opens a regular file for reading. A pipe or a device is refused before it is
// opened, which may wait for ever, and could not be read a second time. The error is
// an *Errors, or that of the file.
func OpenFile(path string) (*os.File, error) {
	f, _, problem, err := openRegular(path)
	if problem != nil {
		p := problems{file: PublicName(path)}
		p.add(*problem)
		err = p.err(false)
	}
	return f, err
}

func openRegular(path string) (*os.File, fs.FileInfo, *CellError, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("table: %w", err)
	}
	if problem := regular(info); problem != nil {
		return nil, nil, problem, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("table: %w", err)
	}
	// Another may have taken its place.
	info, err = f.Stat()
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("table: %w", err), f.Close())
	}
	if problem := regular(info); problem != nil {
		return nil, nil, problem, f.Close()
	}
	return f, info, nil, nil
}

// regular says why a file is none.
func regular(info fs.FileInfo) *CellError {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return &CellError{Problem: "is a folder", Hint: "name the file in it", Ends: true}
	}
	return &CellError{Problem: "is no regular file", Hint: "write what it gives into a file first: files are read more than once", Ends: true}
}
