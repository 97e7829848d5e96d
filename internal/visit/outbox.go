package visit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"filippo.io/age"

	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/client"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// sealDraft puts the sealed bundle into the outbox. From then on only that
// file is sent, byte for byte, however often.
func (v *Visit) sealDraft(kind string) error {
	m, sources, err := v.loadDraft(kind)
	if err != nil {
		return err
	}
	id, err := v.idIn(m.Epoch)
	if m.Study != v.Study || err != nil {
		return wire.WithHint(fmt.Errorf("the prepared %s belongs to another contract or roster", Named(kind)),
			v.prepareAgain(kind))
	}
	approval, err := v.loadApproval(kind, m)
	if err != nil {
		return err
	}
	var recipients []*identity.Statement
	for _, r := range m.Recipients {
		s, err := v.Chain.At(m.Epoch).Member(r)
		if err != nil {
			return err
		}
		recipients = append(recipients, s)
	}
	keys, err := recipientKeys(recipients)
	if err != nil {
		return err
	}
	own, err := v.note(audit.Event{Kind: audit.Sealed, Epoch: m.Epoch, Manifest: m.Hash(),
		Note: fmt.Sprintf("the %s, to %s", Named(kind), names(recipients))})
	if err != nil {
		return err
	}
	seen, err := v.heard(v.analyst.Fingerprint())
	if err != nil {
		return err
	}
	return durable.Write(v.site.Outbox(kind), draftPerm, func(f *os.File) error {
		_, err := bundle.Seal(f, bundle.Sealing{
			Manifest: m, Sources: sources, Approval: approval, Approver: approverOf(id.Statement, m),
			Heads: member.NewHeads(own, seen),
		}, id.SigningKey(), keys...)
		return err
	})
}

// sendOutbox uploads the sealed bundle of one kind and keeps the receipt.
func (v *Visit) sendOutbox(ctx context.Context, c post.Post, kind string) (int64, error) {
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
		if errors.As(err, &r) && (r.Status == http.StatusUnprocessableEntity ||
			r.Status == http.StatusRequestEntityTooLarge) {
			// The server says that it has not kept it. Whether that is true this
			// site cannot know: a person decides whether to prepare another.
			hint := "when the cause is fixed, concord prepare --again makes another contribution of the same rows, and " +
				"says what that gives away; the server may have kept this one"
			if site.KindOf(kind) != bundle.KindContribution {
				hint = "nothing else can be sent in its place: tell the analyst; the study can be started again"
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
func (v *Visit) receiptFor(kind string, receipt *member.Receipt) (bool, error) {
	env, err := readEnvelope(v.site.Outbox(kind))
	if err != nil {
		return false, err
	}
	return receipt.Manifest == env.Manifest && receipt.Ciphertext == env.Ciphertext && receipt.Sender == env.Sender &&
		receipt.Study == v.Study && receipt.Epoch == env.Epoch, nil
}

// notOurs says that a file in the outbox is not what this site sealed.
func notOurs(path string, err error) error {
	return wire.WithHint(fmt.Errorf("%s: %w; nothing was sent", path, err),
		"remove that file: concord send seals what was approved anew, concord sync this site's share")
}

// receipt is the analyst's for the bundle of one kind.
func (v *Visit) receipt(kind string) (*member.Receipt, error) {
	raw, err := v.site.Receipt(kind)
	if err != nil {
		return nil, err
	}
	return member.DecodeReceipt(raw, v.analyst)
}

// sealedHere makes sure that the file in the outbox is, to its last byte, a bundle that
// this site sealed: of the draft that lies here, for this study.
func (v *Visit) sealedHere(kind, path string) error {
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
	if env.Study != v.Study || env.Kind != site.KindOf(kind) {
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
