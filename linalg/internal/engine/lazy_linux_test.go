package engine_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLoads holds that importing loads no library, computing without UseBest and
// UseBest without computing neither, and that the smallest operation after it does.
func TestLoads(t *testing.T) {
	never := start(t, "never", "all")
	if !slices.Equal(never.Before, never.After) {
		t.Errorf("computing without UseBest loads: %q before, %q after", never.Before, never.After)
	}
	for _, o := range []string{"product/2", "Cholesky/2", "QR of gonum/2", "EigSym/2", "SumSquares/2"} {
		first := start(t, "first", o)
		if !slices.Equal(first.Before, never.Before) {
			t.Errorf("UseBest loads: %q, without it %q", first.Before, never.Before)
		}
		path := first.Backend.Path
		if path == "" {
			if !slices.Equal(first.After, never.Before) {
				t.Errorf("%s loads %q, and computes with %v", o, first.After, first.Backend)
			}
			continue
		}
		name, _, _ := strings.Cut(filepath.Base(path), ".so")
		if !slices.ContainsFunc(first.After, func(l string) bool { return strings.Contains(l, name) }) {
			t.Errorf("%s does not load %s: %q", o, path, first.After)
		}
	}
}
