package partycli

import (
	"strings"
	"testing"
)

// TestParseFlag: a note names a feature of the contract and has room for nothing else.
func TestParseFlag(t *testing.T) {
	features := []string{"age", "glucose"}
	f, err := parseFlag([]byte(`{"format":1,"feature":"glucose","says":"unit"}`), features)
	if err != nil || !strings.Contains(f.sentence(), "the coding of glucose with") {
		t.Fatalf("%v, %q", err, f.sentence())
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

// TestQuoted: what people copy into a shell is one word.
func TestQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"glucose": "glucose", "größe_2": "größe_2", "serum creatinine": "'serum creatinine'", "o'clock": `'o'\''clock'`, "a;b": "'a;b'", "": "''",
	} {
		if got := quoted(name); got != want {
			t.Errorf("%q is typed as %s, want %s", name, got, want)
		}
	}
}
