//go:build unix

package durable_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"concord/internal/durable"
)

// TestFull: where the disk takes only the beginning of a file, what was there stays, and
// nothing else is left. A limit on the size of files stands for a full disk, which needs a
// disk of its own: both end a write after a part of it.
func TestFull(t *testing.T) {
	if dir := os.Getenv("CONCORD_TEST_FULL"); dir != "" {
		limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
		large := bytes.Repeat([]byte("x"), 1<<20)
		path := filepath.Join(dir, "a")
		for name, write := range map[string]func() error{
			"WriteFile": func() error { return durable.WriteFile(path, large, 0o600) },
			"Copy":      func() error { return durable.Copy(path, 0o600, bytes.NewReader(large)) },
			"PutDir": func() error {
				return durable.PutDir(dir, 0o700, func(d string) error { return durable.WriteFile(filepath.Join(d, "b"), large, 0o600) })
			},
		} {
			if err := write(); !errors.Is(err, syscall.EFBIG) {
				t.Errorf("%s: error %v, want that of the limit", name, err)
			}
		}
		return
	}
	parent := t.TempDir()
	dir := filepath.Join(parent, "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFull$")
	cmd.Env = append(os.Environ(), "CONCORD_TEST_FULL="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	only(t, parent, "d")
	only(t, dir, "a")
	if b, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(b) != "old" {
		t.Errorf("the file holds %q, %v; want what was there", b, err)
	}
}
