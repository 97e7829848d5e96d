package visit

import (
	"bytes"
	"strings"
	"testing"
)

// TestParseFlag: a note names a feature of the contract and has room for nothing else.
func TestParseFlag(t *testing.T) {
	features := []string{"age", "glucose"}
	f, err := parseFlag([]byte(`{"format":1,"feature":"glucose","says":"unit"}`), features)
	if err != nil || !strings.Contains(f.Sentence(), "the coding of glucose with") {
		t.Fatalf("%v, %q", err, f.Sentence())
	}
	for name, b := range map[string]string{
		"another feature":   `{"format":1,"feature":"weight","says":"unit"}`,
		"a figure":          `{"format":1,"feature":"glucose","says":"unit","mean":121.3}`,
		"a figure in words": `{"format":1,"feature":"glucose","says":"my mean is 121.3"}`,
		"a newer format":    `{"format":2,"feature":"glucose","says":"unit"}`,
		"another spelling":  `{"feature":"glucose","format":1,"says":"unit"}`,
		"nothing":           ``,
	} {
		if f, err := parseFlag([]byte(b), features); err == nil {
			t.Errorf("%s was taken: %+v", name, f)
		}
	}
}

// TestBlindedFlag: what the analyst holds of a note, its size and a SHA-256 that follows from
// it, says nothing of the feature: all have one size, and the same note twice another SHA-256.
func TestBlindedFlag(t *testing.T) {
	long := strings.Repeat("\"<", 100) // 200 characters, as many as a name has
	for _, feature := range []string{"a", "serum creatinine", strings.Repeat("\U0001F9EA", 200), long} {
		f := Flag{Format: 1, Feature: feature, Says: flagUnit}
		a, err := f.blinded()
		if err != nil || len(a) != flagBytes {
			t.Fatalf("%q: %d bytes, want %d; %v", feature, len(a), flagBytes, err)
		}
		b, err := f.blinded()
		if err != nil || bytes.Equal(a, b) {
			t.Errorf("%q: the note is the same twice, or %v", feature, err)
		}
		for _, note := range [][]byte{a, b} {
			if got, err := parseFlag(note, []string{feature}); err != nil || got != f {
				t.Errorf("%q is read as %+v, %v", feature, got, err)
			}
		}
	}
}
