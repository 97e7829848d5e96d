// Package durable writes files so that they are there, whole, after a power
// cut, or not there at all.
//
// A file is written beside its place, flushed to the disk, renamed into its
// place, and the folder is flushed: only then does a call return. Folders are
// put in place the same way, by [PutDir].
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// tempMark stands in the name of everything that is not yet in its place: Sweep removes
// what a crash left of it.
const tempMark = ".partial-"

// ours is what os.CreateTemp and os.MkdirTemp make of our names.
var ours = regexp.MustCompile(regexp.QuoteMeta(tempMark) + `[0-9]+(-old)?$`)

// ErrLocked is returned by Lock when another process holds the lock.
var ErrLocked = errors.New("another process is at work there")

// WriteFile puts b at path with the given permissions.
func WriteFile(path string, b []byte, perm fs.FileMode) error {
	return Write(path, perm, func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// Write puts at path what fill writes. If fill fails, or anything after it,
// nothing is at path that was not there before.
func Write(path string, perm fs.FileMode, fill func(*os.File) error) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+tempMark)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(perm); err != nil {
		return err
	}
	if err := fill(f); err != nil {
		return err
	}
	if err := flush(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(dir)
}

// Copy puts at path what r holds.
func Copy(path string, perm fs.FileMode, r io.Reader) error {
	return Write(path, perm, func(f *os.File) error {
		_, err := io.Copy(f, r)
		return err
	})
}

// PutDir replaces the folder at path by one that fill fills, in one step for
// whoever looks at path. Files made in it by this package's functions, and
// those made otherwise, are flushed before it takes its place.
func PutDir(path string, perm fs.FileMode, fill func(dir string) error) (err error) {
	parent := filepath.Dir(path)
	tmp, err := os.MkdirTemp(parent, filepath.Base(path)+tempMark)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(tmp)
		}
	}()
	if err := os.Chmod(tmp, perm); err != nil {
		return err
	}
	if err := fill(tmp); err != nil {
		return err
	}
	if err := syncTree(tmp); err != nil {
		return err
	}
	// A folder cannot be renamed over another that has files in it: move the
	// old one aside first. A crash between the two leaves none at path and the
	// old one to be swept, never a mixture.
	old := tmp + "-old"
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Rename(old, path))
	}
	if err := SyncDir(parent); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// MkdirAll makes a folder and those above it that are not there, and flushes the
// folders that got a new name in them.
func MkdirAll(dir string, perm fs.FileMode) error {
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		// It may be there since a call that was cut short of its flush. Who may not
		// read the folder above did not make this one.
		if err := SyncDir(filepath.Dir(dir)); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return SyncDir(parent)
}

// KeepOutOfGit tells git to leave a folder that holds secrets alone. A .gitignore
// that is there stays as it is.
func KeepOutOfGit(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, ".gitignore")); err == nil {
		return nil
	}
	return WriteFile(filepath.Join(dir, ".gitignore"), []byte("# This folder holds secret keys.\n*\n"), 0o644)
}

// SyncDir flushes the folder's entries, where the system can do that.
func SyncDir(dir string) error { return flushDir(dir) }

// flush waits until a file or folder is on the disk. Tests watch it and let it fail.
var flush = (*os.File).Sync

func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return SyncDir(path) // a file is flushed by the same calls
	})
}

// Remove removes files for good: that they are gone is flushed too. One that is not
// there is no error.
func Remove(paths ...string) error {
	var dirs []string
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if dir := filepath.Dir(path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// MakeLock makes the file that Lock locks, and flushes it.
func MakeLock(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(flush(f), f.Close()); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Unfinished reports whether a file's name is one that an interrupted call leaves.
func Unfinished(name string) bool { return ours.MatchString(name) }

// Sweep removes from dir what an interrupted call left there.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if ours.MatchString(e.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
