package concord

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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

// writePage writes what review shows as an HTML file. Like review it changes nothing
// in the site's folder.
func (p *program) writePage(v *visit, m *bundle.Manifest, r party.Report, path, pictures string) error {
	if err := v.mayWritePage(path, "review", reviewpage.Marked); err != nil {
		return err
	}
	page, err := v.page(m, r)
	if err != nil {
		return err
	}
	if pictures != "" {
		if page.Pictures, err = v.pictures(pictures); err != nil {
			return err
		}
	}
	if err := durable.Write(path, draftPerm, func(f *os.File) error { return page.HTML(f) }); err != nil {
		return err
	}
	p.printf("wrote %s: open it with a browser; it holds figures of this site's own rows, so keep it here\n", path)
	return nil
}

// pictures draws rows of the file that was prepared through this site's basis.
func (v *visit) pictures(path string) ([]reviewpage.Picture, error) {
	if v.nri() {
		return nil, cli.Usagef("under nri the basis is gone, so that nothing can be drawn through it")
	}
	if reviewpage.Side(v.contract) == 0 {
		return nil, cli.Usagef("the %d features of this study are not the pixels of a square with one range", v.contract.M())
	}
	from, err := v.loadSource(bundle.KindContribution)
	if err != nil {
		return nil, err
	}
	opt := from.options()
	now, err := describeSource(path, v.contract, opt)
	if err != nil {
		return nil, err
	}
	if now.SHA256 != from.SHA256 {
		return nil, wire.WithHint(fmt.Errorf("%s is not the file that was prepared, or was changed since", path), "give --pictures the file that concord prepare read")
	}
	t, err := table.Open(path, v.contract, opt)
	if err != nil {
		return nil, err
	}
	defer t.Erase()
	x := t.Standardised() // pictures are of contracts that pool nothing, see reviewpage.Side
	defer x.Erase()
	f, err := v.site.Basis(v.contract.Width(), v.contract.Basis.Dim)
	if err != nil {
		return nil, err
	}
	defer f.Erase()
	back, _, err := linalg.Pinv(f.Matrix().Reveal(), 0)
	if err != nil {
		return nil, err
	}
	defer back.Zero()
	return reviewpage.Pictures(v.contract, x.Reveal(), f.Matrix().Reveal(), back)
}

// page gathers what the page tells.
func (v *visit) page(m *bundle.Manifest, r party.Report) (reviewpage.Page, error) {
	const kind = bundle.KindContribution
	page := reviewpage.Page{
		Written: time.Now(), Contract: v.contract, Roster: v.roster, Site: v.id.Statement,
		Manifest: m, Folder: v.site.Leaves(kind), Report: r,
		Sealed: v.site.Has("outbox", kind+".bundle"),
	}
	// Another prepare may have replaced the draft between manifest and report.
	again, err := v.loadManifest(kind)
	if err != nil {
		return page, err
	}
	if again.Hash() != m.Hash() {
		return page, wire.WithHint(errors.New("the contribution was prepared anew meanwhile; no page was written"), "run concord review again")
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

// mayWritePage keeps a page from replacing anything but a page, and out of the site's
// folder, where every file has a meaning.
func (v *visit) mayWritePage(path, of string, marked func(io.Reader) (bool, error)) error {
	if path == "" || path == "-" {
		return cli.Usagef("--html names a file; the page is not printed")
	}
	inside, err := within(filepath.Dir(path), v.site.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return wire.WithHint(fmt.Errorf("the folder of %s does not exist", path), "make it first, or name another file after --html")
	}
	if err != nil {
		return err
	}
	if inside {
		return cli.Usagef("--html lies in this site's own folder, %s; write somewhere else", v.site.Dir)
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	other := wire.WithHint(fmt.Errorf("%s is there already and is no page of concord %s; it is not replaced", path, of), "name another file")
	if !info.Mode().IsRegular() {
		return other
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	ours, err := marked(f)
	if err == nil && !ours {
		return other
	}
	return err
}

// within reports whether a folder is top or lies in it, by whatever names and links.
func within(dir, top string) (bool, error) {
	want, err := os.Stat(top)
	if err != nil {
		return false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return false, err
	}
	for {
		at, err := os.Stat(dir)
		if err != nil {
			return false, err
		}
		if os.SameFile(at, want) {
			return true, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false, nil
		}
		dir = up
	}
}
