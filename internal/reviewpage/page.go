// Package reviewpage writes what a site would send, and what that gives away, as one
// HTML file for the person who approves: no script, no font, no network.
//
// Fill in a [Page] and call [Page.HTML]; [Marked] tells such a file from others. The
// page reads in light and dark and prints on A4. It computes no figure: all come from
// the manifest and the report that prepare made. Every text that is given is escaped.
//
// It shows rows only where somebody asks for [Pictures], which needs the basis: under nri
// there is none, and six rows with their projections back would tell six directions of it.
package reviewpage

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"concord/bundle"
	"concord/party"
	"concord/study"
)

// Page is what the page tells of one contribution.
type Page struct {
	// Written is when the page is made: what it says of the state was so then.
	Written time.Time
	// Contract, Roster and Site, the statement of the site itself, must be set.
	Contract *study.Contract
	Roster   *study.Roster
	Site     *study.Statement
	// Manifest is of what would leave; it must be set. Folder is where the files lie.
	Manifest *bundle.Manifest
	Folder   string
	// Report is what prepare found, Floors are those that count at the site now.
	Report party.Report
	Floors party.Floors
	// Before says what left of the same rows before, a line each, and at the end what
	// that comes to; nil if nothing did.
	Before []string
	// Pictures are rows whose features are pixels; nil for none. A page with pictures
	// holds raw rows.
	Pictures []Picture
	// Prepared is when the manifest was made.
	Prepared time.Time
	// Approval is nil until somebody has approved this manifest. It must have been
	// verified.
	Approval *bundle.Approval
	// Sealed says that sending was begun: the server may have the contribution.
	Sealed bool
	// Receipt is nil until the analyst has acknowledged this manifest.
	Receipt *study.Receipt
}

// mark begins every page, so that a page replaces pages only.
const mark = "<!-- concord review page, format "

// Marked reports whether r begins as a page of this package does.
func Marked(r io.Reader) (bool, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(len(mark))))
	return string(b) == mark, err
}

//go:embed page.tmpl.html
var source string

//go:embed style.css
var style string

var tmpl = template.Must(template.New("page").Funcs(template.FuncMap{
	"tidy":   tidy,
	"count":  formatCount[int],
	"bytes":  formatCount[int64],
	"time":   func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"stamp":  func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") },
	"groups": groups,
}).Parse(source))

// HTML writes the page as UTF-8. It fails, having written nothing, if the parts
// contradict each other: an approval or receipt of another manifest, another sender
// than the site, labels that the contract does not have.
func (p Page) HTML(w io.Writer) error {
	if err := p.check(); err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(mark + "1 -->\n")
	if err := tmpl.Execute(&b, p.view()); err != nil {
		return fmt.Errorf("reviewpage: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (p Page) check() error {
	hash := p.Manifest.Hash()
	switch {
	case p.Manifest.Sender != p.Site.Fingerprint():
		return fmt.Errorf("reviewpage: the manifest is of sender %s, this site is %s", p.Manifest.Sender.Short(), p.Site.Fingerprint().Short())
	case p.Approval != nil && p.Approval.Manifest != hash:
		return fmt.Errorf("reviewpage: the approval is for manifest %s, this one is %s", p.Approval.Manifest.Short(), hash.Short())
	case p.Receipt != nil && p.Receipt.Manifest != hash:
		return fmt.Errorf("reviewpage: the receipt is for manifest %s, this one is %s", p.Receipt.Manifest.Short(), hash.Short())
	case len(p.Report.Classes) > len(p.Contract.Label.Levels):
		return fmt.Errorf("reviewpage: the report counts %d classes, the contract has %d", len(p.Report.Classes), len(p.Contract.Label.Levels))
	}
	return nil
}

// tidy is a text without line feeds, and with a mark in place of what is not text:
// control characters and those that turn the direction of what follows.
func tidy(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r >= 0x7f && r < 0xa0,
			r == 0x061c, r == 0x200e, r == 0x200f, // marks of direction
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, // overrides and isolates
			r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe: // no characters
			return '\uFFFD'
		}
		return r
	}, s)
}

// groups divides the digits of a hash by fours, as people compare them.
func groups(h study.Hash) []string {
	digits := h.String()
	var out []string
	for i := 0; i < len(digits); i += 4 {
		out = append(out, digits[i:i+4])
	}
	return out
}

// formatCount says "1 row" or "1,234 rows"; without a noun, the number alone.
func formatCount[N int | int64](n N, noun string) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	switch {
	case noun == "":
		return digits
	case n == 1:
		return "1 " + noun
	}
	return digits + " " + noun + "s"
}
