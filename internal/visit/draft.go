package visit

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/wire"
)

// A draft is what would leave in one bundle, as files a person can open, with
// its manifest; once approved, with its approval. It is sealed from these files,
// which are compared with the manifest while they are read.
const (
	manifestFile = "manifest.json"
	approvalFile = "approval.json"
	draftPerm    = 0o600
)

// header is the part of a bundle's header that this site always fills in alike.
func (v *Visit) header(kind string, recipients []*identity.Statement) bundle.Header {
	h := bundle.Header{Format: bundle.Format, Study: v.Study, Epoch: v.epoch, Sender: v.Own(), Kind: kind, Number: 1}
	for _, r := range recipients {
		h.Recipients = append(h.Recipients, r.Fingerprint())
	}
	return h
}

// putDraft writes a draft and returns its manifest. stays writes what belongs
// to it and does not leave. With keys to seal to, every member goes to the disk
// sealed to them only, and nobody here can read it any more.
func (v *Visit) putDraft(d bundle.Draft, sealTo []age.Recipient,
	stays func(dir string, m *bundle.Manifest) error) (*bundle.Manifest, error) {
	return v.putNamed(d.Kind, d, sealTo, stays)
}

// putNamed is putDraft for a draft that has another name than its kind (site.PoolName).
func (v *Visit) putNamed(name string, d bundle.Draft, sealTo []age.Recipient,
	stays func(dir string, m *bundle.Manifest) error) (*bundle.Manifest, error) {
	var m *bundle.Manifest
	err := v.site.PutDraft(name, func(leavesDir, staysDir string) error {
		for i, src := range d.Members {
			path := filepath.Join(leavesDir, src.Name)
			if sealTo != nil {
				path += ".age"
			}
			var inside bundle.Inside
			err := durable.Write(path, draftPerm, func(f *os.File) (err error) {
				if sealTo == nil {
					return src.Write(f)
				}
				inside, err = bundle.SealMember(f, src, sealTo...)
				return err
			})
			if err != nil {
				return err
			}
			if sealTo == nil {
				d.Members[i] = bundle.FromFile(src.Name, path)
			} else {
				d.Members[i] = bundle.FromSealedFile(src.Name, path, inside)
			}
		}
		var err error
		if m, err = bundle.Describe(d); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(leavesDir, manifestFile), m.Encode(), draftPerm); err != nil {
			return err
		}
		return stays(staysDir, m)
	})
	if err != nil {
		return nil, err
	}
	_, err = v.note(audit.Event{
		Kind: audit.Prepared, Epoch: m.Epoch, Manifest: m.Hash(),
		Note: fmt.Sprintf("a %s of %d files, %d bytes; nothing has left", Named(name), len(m.Members), m.Bytes()),
	})
	return m, err
}

// loadManifest reads a draft's manifest.
func (v *Visit) loadManifest(kind string) (*bundle.Manifest, error) {
	b, err := os.ReadFile(v.site.Leaves(kind, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		hint := "run concord prepare data.csv"
		if site.KindOf(kind) == bundle.KindPool {
			hint = v.prepareAgain(kind)
		}
		return nil, wire.WithHint(fmt.Errorf("no %s is prepared", Named(kind)), hint)
	}
	if err != nil {
		return nil, err
	}
	return bundle.DecodeManifest(b)
}

// loadDraft reads a draft's manifest and compares the files with it: somebody
// may have changed them since.
func (v *Visit) loadDraft(kind string) (*bundle.Manifest, []bundle.Source, error) {
	m, err := v.loadManifest(kind)
	if err != nil {
		return nil, nil, err
	}
	sources := make([]bundle.Source, len(m.Members))
	for i, member := range m.Members {
		path := v.site.Leaves(kind, member.Name)
		if member.Sealed != nil {
			sources[i] = bundle.FromSealedFile(strings.TrimSuffix(member.Name, ".age"), path, *member.Sealed)
		} else {
			sources[i] = bundle.FromFile(member.Name, path)
		}
	}
	again, err := bundle.Describe(bundle.Draft{Header: m.Header, Anchor: m.Anchor, View: m.View, Members: sources})
	if err != nil {
		return nil, nil, err
	}
	if again.Hash() != m.Hash() {
		return nil, nil, wire.WithHint(fmt.Errorf("a file of the prepared %s was changed since it was prepared; nothing "+
			"was sent", Named(kind)),
			v.prepareAgain(kind))
	}
	return m, sources, nil
}

// approveDraft signs a yes to exactly this manifest with the approver's key, by a
// person or the named policy, and logs it.
func (v *Visit) approveDraft(kind string, m *bundle.Manifest, key ed25519.PrivateKey, policy string) error {
	return v.approveAs(kind, m, key, policy, v.ID.Statement.Approver())
}

// approveAs is approveDraft where another key than the approver's is the right one.
func (v *Visit) approveAs(kind string, m *bundle.Manifest, key ed25519.PrivateKey, policy string,
	approver ed25519.PublicKey) error {
	approval, err := bundle.Approve(m.Encode(), key, policy, time.Now())
	if err != nil {
		return err
	}
	if err := approval.Verify(m.Hash(), approver); err != nil {
		return err
	}
	by := "policy " + policy
	switch policy {
	case bundle.PolicyPerson:
		by = "a person"
	case policyFollows:
		by = "this program: it follows from what was approved"
	}
	_, err = v.note(audit.Event{Kind: audit.Approved, Epoch: m.Epoch, Manifest: m.Hash(),
		Note: fmt.Sprintf("the %s, by %s", Named(kind), by)})
	if err != nil {
		return err
	}
	line := fmt.Sprintf("%s %s %s approved by %s", approval.Time.Format(time.RFC3339), kind, m.Hash(), by)
	if err := v.site.LogApproval(line); err != nil {
		return err
	}
	return durable.WriteFile(v.site.Leaves(kind, approvalFile), approval.Encode(), draftPerm)
}

// loadApproval reads the approval of a draft and checks that it is a yes to
// this manifest by whoever approves at this site.
func (v *Visit) loadApproval(kind string, m *bundle.Manifest) (*bundle.Approval, error) {
	b, err := os.ReadFile(v.site.Leaves(kind, approvalFile))
	if errors.Is(err, fs.ErrNotExist) {
		hint := "run concord review, then concord approve"
		if site.KindOf(kind) == bundle.KindPool {
			hint = "run concord pool review, then concord pool approve"
		}
		return nil, wire.WithHint(fmt.Errorf("the %s is not approved; nothing was sent", Named(kind)), hint)
	}
	if err != nil {
		return nil, err
	}
	approval, err := bundle.DecodeApproval(b)
	if err != nil {
		return nil, err
	}
	id, err := v.idIn(m.Epoch)
	if err != nil {
		return nil, err
	}
	return approval, approval.Verify(m.Hash(), approverOf(id.Statement, m))
}

// approverOf is the key that approves a manifest at a site: the approver's, and of
// messages of masked sums that follow from an approved one the site's own.
func approverOf(s *identity.Statement, m *bundle.Manifest) ed25519.PublicKey {
	if m.Kind == bundle.KindPool && !mustApprove(m) {
		return s.SigningKey
	}
	return s.Approver()
}

// Named says what a draft, a sealed bundle or a receipt of a name is: its kind, or which
// message of the masked sums.
func Named(name string) string {
	if stage, number, ok := site.ParsePoolName(name); ok {
		if stage == api.PoolFlagRound {
			return fmt.Sprintf("note %d to the other parties", number)
		}
		return fmt.Sprintf("message %d of stage %d of the masked sums", number, stage)
	}
	return name
}

// names lists participants for people, at most eight of them.
func names(list []*identity.Statement) string {
	var b strings.Builder
	for i, s := range list {
		if i == 8 {
			fmt.Fprintf(&b, " and %d more", len(list)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", s.Name)
	}
	return b.String()
}
