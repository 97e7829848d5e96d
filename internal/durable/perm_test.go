//go:build unix

package durable_test

import (
	"os"
	"path/filepath"
	"testing"

	"concord/internal/durable"
)

// TestPermissions: a file has the permissions that were asked for, whatever one in its place
// had.
func TestPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, want := range []os.FileMode{0o644, 0o600, 0o640} {
		if err := durable.WriteFile(path, []byte("x"), want); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("the file has the permissions %o, want %o", got, want)
		}
	}
}
