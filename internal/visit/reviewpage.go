package visit

import (
	"errors"
	"fmt"
	"os"
	"time"

	"concord/bundle"
	"concord/internal/cli"
	"concord/internal/durable"
	"concord/internal/reviewpage"
	"concord/linalg"
	"concord/party"
	"concord/table"
	"concord/wire"
)

// pictures draws rows of the file that was prepared through this site's basis.
func (v *Visit) pictures(path string) ([]reviewpage.Picture, error) {
	if v.NRI() {
		return nil, cli.Usagef("under nri the basis is gone, so that nothing can be drawn through it")
	}
	if reviewpage.Side(v.Contract) == 0 {
		return nil, cli.Usagef("the %d features of this study are not the pixels of a square with one range", v.Contract.M())
	}
	from, err := v.loadSource(bundle.KindContribution)
	if err != nil {
		return nil, err
	}
	opt := from.options()
	now, err := describeSource(path, v.Contract, opt)
	if err != nil {
		return nil, err
	}
	if now.SHA256 != from.SHA256 {
		return nil, wire.WithHint(fmt.Errorf("%s is not the file that was prepared, or was changed since", path),
			"give --pictures the file that concord prepare read")
	}
	t, err := table.Open(path, v.Contract, opt)
	if err != nil {
		return nil, err
	}
	defer t.Erase()
	x := t.Standardised() // pictures are of contracts that pool nothing, see reviewpage.Side
	defer x.Erase()
	f, err := v.site.Basis(v.Contract.Width(), v.Contract.Basis.Dim)
	if err != nil {
		return nil, err
	}
	defer f.Erase()
	back, _, err := linalg.Pinv(f.Matrix().Reveal(), 0)
	if err != nil {
		return nil, err
	}
	defer back.Zero()
	return reviewpage.Pictures(v.Contract, x.Reveal(), f.Matrix().Reveal(), back)
}

// page gathers what the page tells.
func (v *Visit) page(m *bundle.Manifest, r party.Report) (reviewpage.Page, error) {
	const kind = bundle.KindContribution
	page := reviewpage.Page{
		Written: time.Now(), Contract: v.Contract, Roster: v.roster, Site: v.ID.Statement,
		Manifest: m, Folder: v.site.Leaves(kind), Report: r,
		Sealed: v.site.Has("outbox", kind+".bundle"),
	}
	// Another prepare may have replaced the draft between manifest and report.
	again, err := v.loadManifest(kind)
	if err != nil {
		return page, err
	}
	if again.Hash() != m.Hash() {
		return page, wire.WithHint(errors.New("the contribution was prepared again meanwhile; no page was written"),
			"run concord review again")
	}
	if page.Floors, err = v.floors(); err != nil {
		return page, err
	}
	if page.Before, err = v.spentBefore(m); err != nil {
		return page, err
	}
	info, err := os.Stat(v.site.Leaves(kind, manifestFile))
	if err != nil {
		return page, err
	}
	page.Prepared = info.ModTime()
	if approval, err := v.loadApproval(kind, m); err == nil {
		page.Approval = approval
	}
	if v.site.Sent(kind) {
		if page.Receipt, err = v.receipt(kind); err != nil {
			return page, err
		}
	}
	return page, nil
}

// ReviewPage writes what review shows as an HTML file, with pictures of rows of the file
// that was prepared, if one is named. Like review it changes nothing in the site's folder.
func (v *Visit) ReviewPage(w Review, path, pictures string) error {
	if err := v.mayWritePage(path, "review", reviewpage.Marked); err != nil {
		return err
	}
	page, err := v.page(w.Manifest, w.Report)
	if err != nil {
		return err
	}
	if pictures != "" {
		if page.Pictures, err = v.pictures(pictures); err != nil {
			return err
		}
	}
	return durable.Write(path, draftPerm, func(f *os.File) error { return page.HTML(f) })
}
