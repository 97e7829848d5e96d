package powercut

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CopyTo writes the disk, as programs see it, into a folder of the real file system.
func (d *Disk) CopyTo(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return d.Walk(func(path string, mode fs.FileMode, data []byte) error {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if mode.IsDir() {
			return os.Mkdir(path, 0o700)
		}
		return os.WriteFile(path, data, mode.Perm())
	})
}

// ReadFile reads a file as programs see it, without the mount; path is as in Walk.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.root
	for name := range strings.SplitSeq(path, "/") {
		if n = n.entries[name]; n == nil { // a file has no entries
			return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
		}
	}
	return append([]byte(nil), n.data...), nil
}
