package visit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"concord/internal/cli"
	"concord/wire"
)

// mayWritePage keeps a page from replacing anything but a page, and out of the site's
// folder, where every file has a meaning.
func (v *Visit) mayWritePage(path, of string, marked func(io.Reader) (bool, error)) error {
	if path == "" || path == "-" {
		return cli.Usagef("--html names a file; the page is not printed")
	}
	inside, err := within(filepath.Dir(path), v.site.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return wire.WithHint(fmt.Errorf("the folder of %s does not exist", path),
			"make it first, or name another file after --html")
	}
	if err != nil {
		return err
	}
	if inside {
		return cli.Usagef("--html is in this site's own folder, %s; write somewhere else", v.site.Dir)
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	other := wire.WithHint(fmt.Errorf("%s already exists and is not a page of concord %s; it is not replaced", path,
		of), "name another file")
	if !info.Mode().IsRegular() {
		return other
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	ours, err := marked(f)
	if err == nil && !ours {
		return other
	}
	return err
}

// within reports whether a folder is top or lies in it, by whatever names and links.
func within(dir, top string) (bool, error) {
	want, err := os.Stat(top)
	if err != nil {
		return false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false, err
	}
	for {
		at, err := os.Stat(dir)
		if err != nil {
			return false, err
		}
		if os.SameFile(at, want) {
			return true, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false, nil
		}
		dir = up
	}
}
