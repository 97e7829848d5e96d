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
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"time"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/chart"
	"concord/internal/sitepage"
	"concord/member"
	"concord/party"
	"concord/wire"
)

// Page is what the page tells of one contribution.
type Page struct {
	// Written is when the page is made: what it says of the state was so then.
	Written time.Time
	// Contract, Roster and Site, the statement of the site itself, must be set.
	Contract *contract.Contract
	Roster   *member.Roster
	Site     *identity.Statement
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
	Receipt *member.Receipt
}

//go:embed page.tmpl.html
var source string

var page = sitepage.New(sitepage.Page{Mark: "review", Images: true}, source, template.FuncMap{"groups": groups, "bar": chart.Bar})

// Marked reports whether r begins as a page of this package does.
func Marked(r io.Reader) (bool, error) { return page.Marked(r) }

// HTML writes the page as UTF-8. It fails, having written nothing, if the parts
// contradict each other: an approval or receipt of another manifest, another sender
// than the site, labels that the contract does not have.
func (p Page) HTML(w io.Writer) error {
	if err := p.check(); err != nil {
		return err
	}
	v, err := p.view()
	if err != nil {
		return err
	}
	return page.Write(w, v)
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

// groups divides the digits of a hash by fours, as people compare them.
func groups(h wire.Hash) []string {
	digits := h.String()
	var out []string
	for i := 0; i < len(digits); i += 4 {
		out = append(out, digits[i:i+4])
	}
	return out
}
