package parcel

import (
	"fmt"
	"io"
	"os"
)

// OpenFile opens a file that is to be a parcel, and says how long it is.
func OpenFile(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", path)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// IsFile reports whether a file, which must be there, begins as a parcel does: only such
// a one may be replaced by another.
func IsFile(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	begin := make([]byte, 64)
	n, err := io.ReadFull(f, begin)
	return (err == nil || err == io.EOF || err == io.ErrUnexpectedEOF) && IsParcel(begin[:n]), nil
}
