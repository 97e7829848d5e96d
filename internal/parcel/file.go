package parcel

import (
	"fmt"
	"io"
	"os"
)

// OpenFile opens a file that is to be a parcel, and says how long it is. A pipe is refused
// before it is opened, which may wait for ever.
func OpenFile(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// IsFile reports whether a file, which must be there, begins as a parcel does: only such
// a one may be replaced by another.
func IsFile(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	begin := make([]byte, 64)
	n, err := io.ReadFull(f, begin)
	return (err == nil || err == io.EOF || err == io.ErrUnexpectedEOF) && IsParcel(begin[:n]), nil
}
