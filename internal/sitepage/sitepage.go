// Package sitepage is what the program's HTML pages have in common: how texts and numbers
// are shown, the policy that names a page's style, the mark that a page begins with, and
// the style of the pages for the people of a site, in light, dark and on A4.
//
// A page is a template with [Funcs] and is written by [Write], whole or not at all.
package sitepage

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

//go:embed style.css
var style string

// Style is the style sheet of a site's pages.
func Style() string { return style }

// Policy is a content security policy under which a page has this style, by its hash, and
// nothing else but what further directives allow.
func Policy(style string, more ...string) string {
	sum := sha256.Sum256([]byte(style))
	p := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'", base64.StdEncoding.EncodeToString(sum[:]))
	for _, directive := range append(more, "base-uri 'none'", "form-action 'none'") {
		p += "; " + directive
	}
	return p
}

// Mark begins every page of one kind, "check" or "review", so that a page replaces pages
// of its kind only.
type Mark string

func (m Mark) head() string { return "<!-- concord " + string(m) + " page, format " }

// On reports whether r begins as a page with this mark does.
func (m Mark) On(r io.Reader) (bool, error) {
	head := m.head()
	b, err := io.ReadAll(io.LimitReader(r, int64(len(head))))
	return string(b) == head, err
}

// Write writes a page of these data with its mark, if it has one, as UTF-8; nothing, if
// the template fails.
func Write(w io.Writer, m Mark, t *template.Template, data any) error {
	var b bytes.Buffer
	if m != "" {
		b.WriteString(m.head() + "1 -->\n")
	}
	if err := t.Execute(&b, data); err != nil {
		return fmt.Errorf("sitepage: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
