package concord

import (
	"testing"
)

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
