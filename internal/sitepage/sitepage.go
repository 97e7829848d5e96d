// Package sitepage is what the program's HTML pages have in common: the frame with its
// policy and style, the mark that a page begins with, and how texts and numbers are shown.
// A page reads in light, dark and on A4.
//
// A [Page] is made of a template that defines "title" and "body" with [Funcs], and is
// written whole or not at all.
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

var (
	//go:embed style.css
	style string
	//go:embed frame.tmpl.html
	frame string
)

// Page is a kind of page. Its fields are set before it is first written, and stay.
type Page struct {
	// Mark, "check" or "review", begins every page of this kind, so that a page replaces
	// pages of its kind only; "" is none.
	Mark string
	// Style is what its style sheet has beyond the common one.
	Style string
	// Images says that the page shows images, which are data in the page itself.
	Images bool

	tmpl *template.Template
}

// New makes a page of a template that defines "title" and "body". It panics if the template
// has a mistake, as [template.Must] does.
func New(p Page, source string, funcs template.FuncMap) *Page {
	p.tmpl = template.Must(template.Must(template.New("frame").Funcs(Funcs()).Funcs(funcs).Parse(frame)).Parse(source))
	return &p
}

// policy is a content security policy under which a page has this style, by its hash,
// images in itself if it has any, and nothing else.
func (p *Page) policy(style string) string {
	sum := sha256.Sum256([]byte(style))
	images := ""
	if p.Images {
		images = " img-src data:;"
	}
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s';%s base-uri 'none'; form-action 'none'",
		base64.StdEncoding.EncodeToString(sum[:]), images)
}

func (p *Page) head() string { return "<!-- concord " + p.Mark + " page, format " }

// Marked reports whether r begins as a page of this kind.
func (p *Page) Marked(r io.Reader) (bool, error) {
	head := p.head()
	b, err := io.ReadAll(io.LimitReader(r, int64(len(head))))
	return string(b) == head, err
}

// Write writes a page of these data as UTF-8; nothing, if the template fails.
func (p *Page) Write(w io.Writer, data any) error {
	var b bytes.Buffer
	if p.Mark != "" {
		b.WriteString(p.head() + "1 -->\n")
	}
	all := style + p.Style
	err := p.tmpl.Execute(&b, struct {
		Policy string
		Style  template.CSS
		Data   any
	}{p.policy(all), template.CSS(all), data})
	if err != nil {
		return fmt.Errorf("sitepage: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}
