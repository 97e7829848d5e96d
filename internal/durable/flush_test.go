package durable_test

import (
	"bytes"
	"errors"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"concord/internal/durable"
)

// calls are the functions that must flush, and what each is to flush in its order: "*" ends
// the name of a file or folder that is not in its place yet.
var calls = []struct {
	name string
	call func(dir string) error
	want []string
}{
	{"WriteFile", func(dir string) error { return durable.WriteFile(filepath.Join(dir, "a"), []byte("new"), 0o600) }, []string{"a*", "."}},
	{"Copy", func(dir string) error { return durable.Copy(filepath.Join(dir, "a"), 0o600, strings.NewReader("new")) }, []string{"a*", "."}},
	{"PutDir", func(dir string) error {
		return durable.PutDir(filepath.Join(dir, "d"), 0o700, func(d string) error { return os.Mkdir(filepath.Join(d, "e"), 0o700) })
	}, []string{"d*", "d*/e", "."}},
	{"MkdirAll", func(dir string) error { return durable.MkdirAll(filepath.Join(dir, "new", "newer"), 0o700) }, []string{"..", ".", "new"}},
	{"Remove", func(dir string) error {
		return durable.Remove(filepath.Join(dir, "a"), filepath.Join(dir, "d", "b"), filepath.Join(dir, "never"))
	}, []string{".", "d"}},
	{"MakeLock", func(dir string) error { return durable.MakeLock(filepath.Join(dir, "lock")) }, []string{"lock", "."}},
}

// before is a folder with the file a and the folder d, in which is b.
func before(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "x")
	if err := os.MkdirAll(filepath.Join(dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "d/b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var unfinished = regexp.MustCompile(`\.partial-[0-9]+`)

// TestFlushes: what must last is flushed, in its order, and an error of any flush is that of
// the call.
func TestFlushes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders are not flushed on Windows")
	}
	full := &fs.PathError{Op: "sync", Path: "x", Err: syscall.ENOSPC}
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			for fails := -1; fails < len(c.want); fails++ {
				dir := before(t)
				var got []string
				undo := durable.Watch(func(path string) error {
					rel, err := filepath.Rel(dir, path)
					if err != nil {
						t.Error(err)
					}
					got = append(got, unfinished.ReplaceAllString(rel, "*"))
					if len(got)-1 == fails {
						return full
					}
					return nil
				})
				err := c.call(dir)
				undo()
				want := c.want
				if fails >= 0 {
					want = c.want[:fails+1]
				}
				if !slices.Equal(got, want) {
					t.Errorf("flushes %q, want %q", got, want)
				}
				if full := errors.Is(err, syscall.ENOSPC); full != (fails >= 0) || !full && err != nil {
					t.Errorf("flush %d fails: error %v", fails, err)
				}
				entries, err := os.ReadDir(dir)
				if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return durable.Unfinished(e.Name()) }) && c.name != "PutDir" {
					t.Errorf("flush %d fails: there are %v, %v", fails, entries, err)
				}
				if b, err := os.ReadFile(filepath.Join(dir, "a")); fails == 0 && c.name != "Remove" && (err != nil || !bytes.Equal(b, []byte("old"))) {
					t.Errorf("the first flush fails, and the file holds %q, %v", b, err)
				}
			}
		})
	}
}

// TestFlushDir: each system has one way to flush a folder.
func TestFlushDir(t *testing.T) {
	for system, want := range map[string]string{"windows": "dir_windows.go", "linux": "dir_other.go", "darwin": "dir_other.go", "freebsd": "dir_other.go"} {
		ctx := build.Default
		ctx.GOOS, ctx.GOARCH = system, "amd64"
		p, err := ctx.ImportDir(".", 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range p.GoFiles {
			if strings.HasPrefix(name, "dir_") {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v, want %s", system, got, want)
		}
	}
	if err := durable.SyncDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
