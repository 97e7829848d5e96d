package wire_test

import (
	"testing"

	"concord/wire"
)

// TestPrintable keeps what people read and nothing that a terminal obeys.
func TestPrintable(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"plain", "North hospital, 12 m²", "North hospital, 12 m²"},
		{"other scripts", "Universitätsklinikum 東京", "Universitätsklinikum 東京"},
		{"escape", "\x1b[2Jgone", "\uFFFD[2Jgone"},
		{"line break", "a\nb\r\tc", "a\uFFFDb\uFFFD\uFFFDc"},
		{"right to left", "a\u202eb", "a\uFFFDb"},
		{"other spaces", "a\u00a0b\u2003c", "a\uFFFDb\uFFFDc"},
		{"not UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"zero width", "a\u200bb", "a\uFFFDb"},
		{"empty", "", ""},
	} {
		if got := wire.Printable(tc.text); got != tc.want {
			t.Errorf("%s: %q becomes %q, want %q", tc.name, tc.text, got, tc.want)
		}
	}
}
