package sitepage_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html"
	"io"
	"regexp"
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

// body is a page of this body, with the common frame.
func body(p sitepage.Page, source string) *sitepage.Page {
	return sitepage.New(p, `{{define "title"}}a title{{end}}{{define "body"}}`+source+`{{end}}`, nil)
}

func TestFuncs(t *testing.T) {
	data := struct {
		At   time.Time
		N    int
		Long int64
		Text string
	}{time.Date(2026, 3, 4, 6, 6, 7, 8, time.FixedZone("", 3600)), 1, 2048, "a\nb"}
	var b bytes.Buffer
	if err := body(sitepage.Page{}, `{{stamp .At}} {{time .At}} {{count .N "row"}} {{count .Long "byte"}} {{tidy .Text}}`).Write(&b, data); err != nil {
		t.Fatal(err)
	}
	if want := "<main>2026-03-04T05:06:07Z 4 March 2026, 05:06 UTC 1 row 2,048 bytes a b\n</main>"; !strings.Contains(b.String(), want) {
		t.Errorf("%q lacks %q", b.String(), want)
	}
}

// TestWrite: a page begins with its mark, by which it is told from pages of another kind,
// and one that fails is not written.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	page := body(sitepage.Page{Mark: "check"}, `<p>{{count . "row"}}</p>`)
	if err := page.Write(&b, 2); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "<!-- concord check page, format 1 -->\n<!DOCTYPE html>\n") || !strings.Contains(b.String(), "<p>2 rows</p>") ||
		!strings.Contains(b.String(), "<title>a title</title>") {
		t.Errorf("%q", b.String())
	}
	for mark, want := range map[string]bool{"check": true, "review": false} {
		if got, err := body(sitepage.Page{Mark: mark}, "").Marked(bytes.NewReader(b.Bytes())); got != want || err != nil {
			t.Errorf("%s: %v, %v", mark, got, err)
		}
	}
	if got, err := page.Marked(strings.NewReader("<!--")); got || err != nil {
		t.Errorf("a short file: %v, %v", got, err)
	}
	b.Reset()
	if err := page.Write(&b, 2.5); err == nil || b.Len() > 0 {
		t.Errorf("%v, and %d bytes written", err, b.Len())
	}
	r, w := io.Pipe()
	r.CloseWithError(io.ErrClosedPipe)
	if err := page.Write(w, 2); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that fails gives %v", err)
	}
}

// TestPolicy: the policy names the page's own style sheet by its hash, and lets nothing in
// but images in the page where there are any.
func TestPolicy(t *testing.T) {
	for _, images := range []bool{false, true} {
		var b bytes.Buffer
		if err := body(sitepage.Page{Style: "p.own {}\n", Images: images}, "").Write(&b, nil); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(b.String(), "<style>")
		style, _, _ := strings.Cut(rest, "</style>")
		if !strings.Contains(style, "@media print") || !strings.Contains(style, "prefers-color-scheme: dark") || !strings.HasSuffix(style, "p.own {}\n") {
			t.Error("the style sheet is not the common one and the page's own")
		}
		sum := sha256.Sum256([]byte(style))
		want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; "
		if images {
			want += "img-src data:; "
		}
		want += "base-uri 'none'; form-action 'none'"
		policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(b.String())
		if policy == nil || html.UnescapeString(policy[1]) != want {
			t.Errorf("%q, want %q", policy, want)
		}
	}
}
