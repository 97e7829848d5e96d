package visit

import (
	"errors"
	"fmt"

	"concord/bundle"
	"concord/member"
	"concord/party"
)

// reviewed is the manifest of what would leave, or has left.
func (v *Visit) reviewed() (*bundle.Manifest, error) {
	if !v.site.Sent(bundle.KindContribution) {
		m, _, err := v.loadDraft(bundle.KindContribution)
		if err != nil {
			return nil, err
		}
		return m, v.checkPrepared(bundle.KindContribution, m)
	}
	m, err := v.loadManifest(bundle.KindContribution)
	if err != nil {
		return nil, err
	}
	receipt, err := v.receipt(bundle.KindContribution)
	if err != nil {
		return nil, err
	}
	if receipt.Manifest != m.Hash() {
		return nil, fmt.Errorf("%s is not what left: it is %s, the analyst's receipt is for %s",
			v.site.Leaves(bundle.KindContribution, manifestFile), m.Hash().Short(), receipt.Manifest.Short())
	}
	if err := v.checkPrepared(bundle.KindContribution, m); err != nil {
		// Whoever reads the report of what has left is told; nothing can be prepared again.
		return nil, errors.New(err.Error())
	}
	return m, nil
}

// Review is what a person looks at before something leaves, or after it has left.
type Review struct {
	Manifest *bundle.Manifest
	Report   party.Report
	Folder   string
	// Spent says what left of the same rows before, a line each, and at the end what that
	// comes to.
	Spent []string
	// Left, sealed and approved say how far it is; receipt is the analyst's where it has left.
	Left, Sealed, Approved bool
	Receipt                *member.Receipt
}

// Review gathers what a person looks at before the contribution leaves.
func (v *Visit) Review() (Review, error) {
	w := Review{Folder: v.site.Leaves(bundle.KindContribution), Left: v.site.Sent(bundle.KindContribution)}
	var err error
	if err = v.needRoster(); err != nil {
		return w, err
	}
	if w.Manifest, err = v.reviewed(); err != nil {
		return w, err
	}
	if w.Report, err = v.report(bundle.KindContribution); err != nil {
		return w, err
	}
	if w.Spent, err = v.spentBefore(w.Manifest); err != nil {
		return w, err
	}
	if w.Left {
		w.Receipt, err = v.receipt(bundle.KindContribution)
		return w, err
	}
	_, unapproved := v.loadApproval(bundle.KindContribution, w.Manifest)
	w.Approved = unapproved == nil
	return w, nil
}
