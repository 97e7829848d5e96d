package visit

import (
	"concord/bundle"
)

// Approve says yes to exactly what review shows, by the person whom yes asks. The manifest
// is nil where it has left.
func (v *Visit) Approve(keyFile string, yes func(*bundle.Manifest) error) (*bundle.Manifest, error) {
	if v.site.Sent(bundle.KindContribution) {
		return nil, nil
	}
	m, _, err := v.loadDraft(bundle.KindContribution)
	if err != nil {
		return nil, err
	}
	return m, v.sayYes(bundle.KindContribution, m, keyFile, func() error { return yes(m) })
}

// ByPolicy is an approval without a person.
type ByPolicy struct {
	// Name is the policy's, Log the file where it is noted.
	Name, Log string
}

// ApproveByPolicy says yes to what review shows by a policy's file, without a person. The
// manifest is nil where it has left.
func (v *Visit) ApproveByPolicy(path, keyFile string) (*bundle.Manifest, ByPolicy, error) {
	by := ByPolicy{Log: v.site.Path("approvals.log")}
	if v.site.Sent(bundle.KindContribution) {
		return nil, by, nil
	}
	m, _, err := v.loadDraft(bundle.KindContribution)
	if err != nil {
		return nil, by, err
	}
	if err := v.stillHolds(bundle.KindContribution, m); err != nil {
		return nil, by, err
	}
	key, err := v.approverKey(keyFile)
	if err != nil {
		return nil, by, err
	}
	if by.Name, err = v.policyAllows(path, m); err != nil {
		return nil, by, err
	}
	return m, by, v.approveDraft(bundle.KindContribution, m, key, by.Name)
}
