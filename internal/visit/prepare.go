package visit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"filippo.io/age"

	"concord/audit"
	"concord/basis"
	"concord/bundle"
	"concord/identity"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/party"
	"concord/release"
	"concord/table"
	"concord/wire"
)

// keepBasis writes the basis, if there is one to keep.
func keepBasis(dir string, b *basis.Basis) error {
	if b == nil {
		return nil
	}
	return site.WriteBasis(dir, b)
}

// NRI says whether the site keeps no basis.
func (v *Visit) NRI() bool { return v.Contract.Protocol == "nri" }

// reportFile holds the party.Report of the prepared contribution.
const reportFile = "report.json"

func (v *Visit) contributionDraft(made *party.Contribution) bundle.Draft {
	d := bundle.Draft{
		Header: v.header(bundle.KindContribution, []*identity.Statement{v.analyst}),
		Anchor: &made.Anchor,
		View:   v.Contract.ViewOf(),
	}
	d.Members = append(d.Members, bundle.FromMatrix(release.MemberX, made.X)...)
	d.Members = append(d.Members, bundle.FromMatrix(release.MemberA, made.A)...)
	if made.Labels != nil {
		d.Members = append(d.Members, bundle.FromInts(release.MemberY, made.Labels))
	} else {
		d.Members = append(d.Members, bundle.FromMatrix(release.MemberY, made.Values)...)
	}
	return d
}

// Preparing is how a contribution is prepared, and what people are asked before.
type Preparing struct {
	View string
	// Again says to prepare another although one was sealed; anew is asked then, with how
	// many were sealed before. Nil says no.
	Again bool
	Anew  func(before int) bool
	Other OtherFile
}

// Draft is what would leave in one bundle, prepared and described.
type Draft struct {
	Manifest *bundle.Manifest
	Report   party.Report
	Folder   string
}

// Prepare computes what would leave: the rows and the anchor through a new secret basis.
// Nothing is sent.
func (v *Visit) Prepare(path string, opt table.Options, how Preparing) (Draft, error) {
	var none Draft
	sealed := v.site.Has("outbox", bundle.KindContribution+".bundle")
	before, err := v.sealedBefore()
	if err != nil {
		return none, err
	}
	if v.site.Sent(bundle.KindContribution) || (sealed || len(before) > 0) && !how.Again {
		return none, wire.WithHint(errors.New("this site's contribution is sealed and may have reached the server; it "+
			"cannot be prepared again"),
			"run concord send to make sure it has arrived")
	}
	agreed, err := v.agreed()
	if err != nil {
		return none, err
	}
	if err := v.chooseView(path, opt, how.View); err != nil {
		return none, err
	}
	from, t, err := readRows(path, v.Contract, opt)
	if err != nil {
		return none, err
	}
	defer t.Erase()
	if err := from.unchanged(v.prepareAgain(bundle.KindContribution)); err != nil {
		return none, err
	}
	if err := v.sameFile(from, how.Other); err != nil {
		return none, err
	}
	floors, err := v.floors()
	if err != nil {
		return none, err
	}
	if (sealed || len(before) > 0) && (how.Anew == nil || !how.Anew(max(1, len(before)))) {
		return none, errors.New("nothing was prepared; what was sealed is as it was")
	}
	made, err := party.Prepare(v.Contract, t, floors, agreed, basis.NewSource())
	if err != nil {
		return none, err
	}
	defer made.Erase()
	m, err := v.keepPrepared(made, from, sealed)
	return Draft{Manifest: m, Report: made.Report, Folder: v.site.Leaves(bundle.KindContribution)}, err
}

// keepPrepared writes the draft of a contribution, in place of one that was sealed before.
func (v *Visit) keepPrepared(made *party.Contribution, from Source, sealed bool) (*bundle.Manifest, error) {
	var sealTo []age.Recipient
	if v.NRI() {
		var err error
		if sealTo, err = recipientKeys([]*identity.Statement{v.analyst}); err != nil {
			return nil, err
		}
	}
	if sealed { // first, so that no crash leaves it beside another basis
		if _, err := v.note(audit.Event{Kind: audit.Removed,
			Note: "the sealed contribution that was not acknowledged, to prepare another"}); err != nil {
			return nil, err
		}
		if err := durable.Remove(v.site.Outbox(bundle.KindContribution)); err != nil {
			return nil, err
		}
	}
	return v.putDraft(v.contributionDraft(made), sealTo, func(dir string, m *bundle.Manifest) error {
		return errors.Join(keepBasis(dir, made.Basis), v.putReport(dir, made.Report, from, m))
	})
}

// putReport writes what was found, of which rows, and this site's word on both, beside a
// draft.
func (v *Visit) putReport(dir string, report any, from Source, m *bundle.Manifest) error {
	b, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, reportFile), append(b, '\n'), draftPerm),
		from.write(dir)); err != nil {
		return err
	}
	return v.writePrepared(dir, m)
}
