package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"concord/internal/durable"
)

func TestWriteIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := durable.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := durable.Write(path, 0o600, func(f *os.File) error {
		f.WriteString("half")
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("Write = %v, want the error of fill", err)
	}
	b, err := os.ReadFile(path)
	if err != nil || string(b) != "one" {
		t.Errorf("after a failed write the file holds %q, %v; want what was there", b, err)
	}
	only(t, dir, "a")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("permissions %v, %v; want 0600", info.Mode().Perm(), err)
	}
}

func TestPutDirReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "d")
	put := func(name string, fail error) error {
		return durable.PutDir(path, 0o700, func(d string) error {
			if err := os.WriteFile(filepath.Join(d, name), nil, 0o600); err != nil {
				return err
			}
			return fail
		})
	}
	broken := errors.New("broken")
	if err := put("first", nil); err != nil {
		t.Fatal(err)
	}
	if err := put("second", broken); !errors.Is(err, broken) {
		t.Fatalf("PutDir = %v, want the error of fill", err)
	}
	only(t, path, "first")
	if err := put("third", nil); err != nil {
		t.Fatal(err)
	}
	only(t, path, "third")
	only(t, dir, "d")
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"lost.partial-123", "lost.partial-123-old"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const foreign = "thesis.partial-draft.txt"
	if err := os.WriteFile(filepath.Join(dir, foreign), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := durable.Sweep(dir); err != nil {
		t.Fatal(err)
	}
	only(t, dir, foreign)
}

func TestRemove(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := durable.Remove(filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "never")); err != nil {
		t.Fatal(err)
	}
	only(t, dir, "c")
}

func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	for range 2 { // it may be there
		if err := durable.MkdirAll(deep, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(deep); err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Errorf("%s is %v, %v; want a folder for its owner only", deep, info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := durable.MkdirAll(filepath.Join(dir, "file", "below"), 0o700); err == nil {
		t.Error("a folder was made below a file")
	}
}

func only(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("%s holds %v (%v), want only %s", dir, entries, err, name)
	}
}
