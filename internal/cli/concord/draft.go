package concord

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
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
func (v *visit) header(kind string, recipients []*identity.Statement) bundle.Header {
	h := bundle.Header{Format: bundle.Format, Study: v.study, Epoch: v.epoch, Sender: v.own(), Kind: kind, Number: 1}
	for _, r := range recipients {
		h.Recipients = append(h.Recipients, r.Fingerprint())
	}
	return h
}

// putDraft writes a draft and returns its manifest. stays writes what belongs
// to it and does not leave. With keys to seal to, every member goes to the disk
// sealed to them only, and nobody here can read it any more.
func (v *visit) putDraft(d bundle.Draft, sealTo []age.Recipient, stays func(dir string, m *bundle.Manifest) error) (*bundle.Manifest, error) {
	return v.putNamed(d.Kind, d, sealTo, stays)
}

// putNamed is putDraft for a draft that has another name than its kind (site.PoolName).
func (v *visit) putNamed(name string, d bundle.Draft, sealTo []age.Recipient, stays func(dir string, m *bundle.Manifest) error) (*bundle.Manifest, error) {
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
		Kind: audit.Prepared, Epoch: m.Epoch, Manifest: m.Hash(), Note: fmt.Sprintf("a %s of %d files, %d bytes; nothing has left", named(name), len(m.Members), m.Bytes()),
	})
	return m, err
}

// loadManifest reads a draft's manifest.
func (v *visit) loadManifest(kind string) (*bundle.Manifest, error) {
	b, err := os.ReadFile(v.site.Leaves(kind, manifestFile))
	if errors.Is(err, fs.ErrNotExist) {
		hint := "run concord prepare data.csv"
		if site.KindOf(kind) == bundle.KindPool {
			hint = v.prepareAgain(kind)
		}
		return nil, wire.WithHint(fmt.Errorf("no %s is prepared", named(kind)), hint)
	}
	if err != nil {
		return nil, err
	}
	return bundle.DecodeManifest(b)
}

// loadDraft reads a draft's manifest and compares the files with it: somebody
// may have changed them since.
func (v *visit) loadDraft(kind string) (*bundle.Manifest, []bundle.Source, error) {
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
		return nil, nil, wire.WithHint(fmt.Errorf("a file of the prepared %s was changed since it was prepared; nothing was sent", named(kind)),
			v.prepareAgain(kind))
	}
	return m, sources, nil
}

// approveDraft signs a yes to exactly this manifest with the approver's key, by a
// person or the named policy, and logs it.
func (v *visit) approveDraft(kind string, m *bundle.Manifest, key ed25519.PrivateKey, policy string) error {
	return v.approveAs(kind, m, key, policy, v.id.Statement.Approver())
}

// approveAs is approveDraft where another key than the approver's is the right one.
func (v *visit) approveAs(kind string, m *bundle.Manifest, key ed25519.PrivateKey, policy string, approver ed25519.PublicKey) error {
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
	_, err = v.note(audit.Event{Kind: audit.Approved, Epoch: m.Epoch, Manifest: m.Hash(), Note: fmt.Sprintf("the %s, by %s", named(kind), by)})
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
func (v *visit) loadApproval(kind string, m *bundle.Manifest) (*bundle.Approval, error) {
	b, err := os.ReadFile(v.site.Leaves(kind, approvalFile))
	if errors.Is(err, fs.ErrNotExist) {
		hint := "run concord review, then concord approve"
		if site.KindOf(kind) == bundle.KindPool {
			hint = "run concord pool review, then concord pool approve"
		}
		return nil, wire.WithHint(fmt.Errorf("the %s is not approved; nothing was sent", named(kind)), hint)
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

// sealDraft puts the sealed bundle into the outbox. From then on only that
// file is sent, byte for byte, however often.
func (v *visit) sealDraft(kind string) error {
	m, sources, err := v.loadDraft(kind)
	if err != nil {
		return err
	}
	id, err := v.idIn(m.Epoch)
	if m.Study != v.study || err != nil {
		return wire.WithHint(fmt.Errorf("the prepared %s belongs to another contract or roster", named(kind)), v.prepareAgain(kind))
	}
	approval, err := v.loadApproval(kind, m)
	if err != nil {
		return err
	}
	var recipients []*identity.Statement
	for _, r := range m.Recipients {
		s, err := v.chain.At(m.Epoch).Member(r)
		if err != nil {
			return err
		}
		recipients = append(recipients, s)
	}
	keys, err := recipientKeys(recipients)
	if err != nil {
		return err
	}
	own, err := v.note(audit.Event{Kind: audit.Sealed, Epoch: m.Epoch, Manifest: m.Hash(), Note: fmt.Sprintf("the %s, to %s", named(kind), names(recipients))})
	if err != nil {
		return err
	}
	seen, err := v.heard(v.analyst.Fingerprint())
	if err != nil {
		return err
	}
	return durable.Write(v.site.Outbox(kind), draftPerm, func(f *os.File) error {
		_, err := bundle.Seal(f, bundle.Sealing{
			Manifest: m, Sources: sources, Approval: approval, Approver: approverOf(id.Statement, m), Heads: member.NewHeads(own, seen),
		}, id.SigningKey(), keys...)
		return err
	})
}

// named says what a draft, a sealed bundle or a receipt of a name is: its kind, or which
// message of the masked sums.
func named(name string) string {
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

func recipientKeys(recipients []*identity.Statement) ([]age.Recipient, error) {
	keys := make([]age.Recipient, len(recipients))
	for i, r := range recipients {
		var err error
		if keys[i], err = r.AgeRecipient(); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// sendOutbox uploads the sealed bundle of one kind and keeps the receipt.
func (v *visit) sendOutbox(ctx context.Context, c post.Post, kind string) (int64, error) {
	path := v.site.Outbox(kind)
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if err := v.sealedHere(kind, path); err != nil {
		return 0, notOurs(path, err)
	}
	if err := v.noteSent(kind); err != nil {
		return 0, err
	}
	raw, err := c.Send(ctx, path)
	if errors.Is(err, post.ErrLater) {
		return info.Size(), err
	}
	if err != nil {
		var r *client.Refusal
		if errors.As(err, &r) && (r.Status == http.StatusUnprocessableEntity || r.Status == http.StatusRequestEntityTooLarge) {
			// The server says that it has not kept it. Whether that is true this
			// site cannot know: a person decides whether to prepare another.
			hint := "when the cause is mended, concord prepare --again makes another contribution of the same rows, and says what that gives away; the server may have kept this one"
			if site.KindOf(kind) != bundle.KindContribution {
				hint = "nothing else can be sent in its place: tell the analyst; the study can be begun anew"
			}
			return 0, wire.WithHint(err, hint)
		}
		return 0, err
	}
	receipt, err := member.DecodeReceipt(raw, v.analyst)
	if err != nil {
		return 0, err
	}
	matches, err := v.receiptFor(kind, receipt)
	if err != nil {
		return 0, err
	}
	if !matches {
		return 0, errors.New("the server's receipt is for another bundle")
	}
	return info.Size(), v.putReceipt(kind, receipt)
}

// receiptFor reports whether a receipt is for the bundle of one kind in the outbox.
func (v *visit) receiptFor(kind string, receipt *member.Receipt) (bool, error) {
	env, err := readEnvelope(v.site.Outbox(kind))
	if err != nil {
		return false, err
	}
	return receipt.Manifest == env.Manifest && receipt.Ciphertext == env.Ciphertext && receipt.Sender == env.Sender &&
		receipt.Study == v.study && receipt.Epoch == env.Epoch, nil
}

// notOurs says that a file in the outbox is not what this site sealed.
func notOurs(path string, err error) error {
	return wire.WithHint(fmt.Errorf("%s: %w; nothing was sent", path, err), "remove that file: concord send seals what was approved anew, concord sync this site's share")
}

// receipt is the analyst's for the bundle of one kind.
func (v *visit) receipt(kind string) (*member.Receipt, error) {
	raw, err := v.site.Receipt(kind)
	if err != nil {
		return nil, err
	}
	return member.DecodeReceipt(raw, v.analyst)
}

// sealedHere makes sure that the file in the outbox is, to its last byte, a bundle that
// this site sealed: of the draft that lies here, for this study.
func (v *visit) sealedHere(kind, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	env, _, err := bundle.ReadEnvelope(f)
	if err != nil {
		return err
	}
	id, err := v.idIn(env.Epoch)
	if err != nil {
		return fmt.Errorf("it belongs to another contract or roster: %w", err)
	}
	if err := env.Verify(id.Statement.SigningKey); err != nil {
		return err
	}
	m, err := v.loadManifest(kind)
	if err != nil {
		return err
	}
	if env.Manifest != m.Hash() {
		return fmt.Errorf("it was sealed from manifest %s, here is %s", env.Manifest.Short(), m.Hash().Short())
	}
	if env.Study != v.study || env.Kind != site.KindOf(kind) {
		return errors.New("it belongs to another contract or roster")
	}
	return env.CheckCiphertext(f)
}

func readEnvelope(path string) (*bundle.Envelope, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	env, _, err := bundle.ReadEnvelope(f)
	return env, err
}
