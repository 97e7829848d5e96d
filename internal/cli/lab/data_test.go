package lab

import (
	"strings"
	"testing"
)

func TestData(t *testing.T) {
	dir := t.TempDir()
	status, stdout, stderr := runLab(t.Context(), "data", "--data", dir)
	if status != 0 {
		t.Fatal(stderr)
	}
	for _, want := range []string{"mnist", "pima", "hospital", "simulated", "stands in"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the list lacks %q: %s", want, stdout)
		}
	}
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "pima ") && !strings.Contains(line, " no ") {
			t.Errorf("an empty folder has pima: %s", line)
		}
	}
	// A set without a home is an error that says what its file must be.
	if status, _, stderr := runLab(t.Context(), "data", "fetch", "pima", "--data", dir); status != 1 || !strings.Contains(stderr, "pima") {
		t.Errorf("status %d: %s", status, stderr)
	}
	if status, _, stderr := runLab(t.Context(), "data", "fetch", "nothing", "--data", dir); status != 1 || !strings.Contains(stderr, "nothing") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
