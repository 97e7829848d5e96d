package sitepage_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"io"
	"strings"
	"testing"
	"time"

	"concord/internal/sitepage"
)

func TestTidy(t *testing.T) {
	for in, want := range map[string]string{
		" a\n\tb ": "a b", "nul\x00": "nul\uFFFD", "bad\xff": "bad\uFFFD", "cl\u202einic": "cl\uFFFDinic",
		"\u2066\u200f\u061c": "\uFFFD\uFFFD\uFFFD", "\ufdd0\uffff": "\uFFFD\uFFFD", "<b> & é": "<b> & é", "": "",
	} {
		if got := sitepage.Tidy(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range []struct {
		n          int
		noun, want string
	}{
		{0, "row", "0 rows"}, {1, "row", "1 row"}, {2, "party", "2 parties"}, {1, "party", "1 party"}, {999, "", "999"},
		{1000, "", "1,000"}, {1234567, "row", "1,234,567 rows"}, {-123, "", "-123"}, {-1234, "", "-1,234"},
	} {
		if got := sitepage.Count(c.n, c.noun); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.n, c.noun, got, c.want)
		}
		if got := sitepage.Count(int64(c.n), c.noun); got != c.want {
			t.Errorf("%d %s: %q, want %q", c.n, c.noun, got, c.want)
		}
	}
}

func TestFuncs(t *testing.T) {
	page := template.Must(template.New("page").Funcs(sitepage.Funcs()).Parse(`{{stamp .At}} {{time .At}} {{count .N "row"}} {{count .Long "byte"}} {{tidy .Text}}`))
	data := struct {
		At   time.Time
		N    int
		Long int64
		Text string
	}{time.Date(2026, 3, 4, 6, 6, 7, 8, time.FixedZone("", 3600)), 1, 2048, "a\nb"}
	var b bytes.Buffer
	if err := sitepage.Write(&b, "", page, data); err != nil {
		t.Fatal(err)
	}
	if want := "2026-03-04T05:06:07Z 4 March 2026, 05:06 UTC 1 row 2,048 bytes a b"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// TestWrite: a page begins with its mark, by which it is told from pages of another kind,
// and one that fails is not written.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	page := template.Must(template.New("page").Funcs(sitepage.Funcs()).Parse(`<p>{{count . "row"}}</p>`))
	if err := sitepage.Write(&b, "check", page, 2); err != nil {
		t.Fatal(err)
	}
	if want := "<!-- concord check page, format 1 -->\n<p>2 rows</p>"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	for mark, want := range map[sitepage.Mark]bool{"check": true, "review": false} {
		if got, err := mark.On(bytes.NewReader(b.Bytes())); got != want || err != nil {
			t.Errorf("%s: %v, %v", mark, got, err)
		}
	}
	if got, err := sitepage.Mark("check").On(strings.NewReader("<!--")); got || err != nil {
		t.Errorf("a short file: %v, %v", got, err)
	}
	b.Reset()
	if err := sitepage.Write(&b, "check", page, 2.5); err == nil || b.Len() > 0 {
		t.Errorf("%v, and %d bytes written", err, b.Len())
	}
	r, w := io.Pipe()
	r.CloseWithError(io.ErrClosedPipe)
	if err := sitepage.Write(w, "check", page, 2); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that fails gives %v", err)
	}
}

func TestPolicy(t *testing.T) {
	sum := sha256.Sum256([]byte("p {}"))
	hash := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if got, want := sitepage.Policy("p {}"), "default-src 'none'; "+hash+"; base-uri 'none'; form-action 'none'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := sitepage.Policy("p {}", "img-src data:"), "default-src 'none'; "+hash+"; img-src data:; base-uri 'none'; form-action 'none'"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if !strings.Contains(sitepage.Style(), "@media print") || strings.Contains(sitepage.Style(), "</") {
		t.Error("the style sheet is not one that stands in a page")
	}
}
