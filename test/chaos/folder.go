package chaos

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"concord/test/powercut"
)

// folder is a machine's folder: on an ordinary disk, or the content of one that loses
// power, which is read past the kernel.
type folder struct {
	dir  string
	disk *powercut.Disk
}

// copyTo copies the folder to another place.
func (f folder) copyTo(dir string) error {
	if f.disk != nil {
		return f.disk.CopyTo(dir)
	}
	return os.CopyFS(dir, os.DirFS(f.dir))
}

// readFile reads a file; the path has slashes.
func (f folder) readFile(path string) ([]byte, error) {
	if f.disk != nil {
		return f.disk.ReadFile(path)
	}
	return os.ReadFile(filepath.Join(f.dir, filepath.FromSlash(path)))
}

// files calls do for every file.
func (f folder) files(do func(path string, data []byte) error) error {
	if f.disk != nil {
		return f.disk.Walk(func(path string, mode fs.FileMode, data []byte) error {
			if mode.IsDir() {
				return nil
			}
			return do(path, data)
		})
	}
	return filepath.WalkDir(f.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return do(filepath.ToSlash(strings.TrimPrefix(path, f.dir+string(filepath.Separator))), data)
	})
}
