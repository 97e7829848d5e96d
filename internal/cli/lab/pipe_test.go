//go:build unix

package lab

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAlignDoesNotWaitForAPipe: nobody may ever write to it, and an open that
// waits cannot be interrupted.
func TestAlignDoesNotWaitForAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.npy")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := runLab(t.Context(), "align", "--method", "ls", "--out", filepath.Join(dir, "out"), pipe)
	if status != 1 || !strings.Contains(stderr, "pipe.npy: not a file") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

// TestSimulateDoesNotWaitForAPipe: as for align.
func TestSimulateDoesNotWaitForAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, stderr := runLab(t.Context(), "simulate", pipe, "--parties", "3", "--rows", "10", "--test", "10")
	if status != 1 || !strings.Contains(stderr, "pipe.csv: is no regular file") {
		t.Errorf("status %d, %q", status, stderr)
	}
}
