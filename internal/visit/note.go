package visit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// note enters in this site's audit log what is about to leave or to be told, and
// returns the log's head once it is durable. What goes wrong there stops the step.
func (v *Visit) note(e audit.Event) (member.Head, error) {
	if e.Epoch.IsZero() {
		e.Epoch = v.epoch
	}
	return v.site.Note(v.ID, v.Study, e)
}

// noteOnce is note for steps that may be repeated: nothing is entered if the log
// has the same kind of the same bundle and participant.
func (v *Visit) noteOnce(e audit.Event) error {
	known := false
	err := v.site.Noted(func(old *audit.Entry) bool {
		known = old.Kind == e.Kind && old.Manifest == e.Manifest && old.Party == e.Party && old.File == e.File &&
			(e.Epoch.IsZero() || old.Epoch == e.Epoch)
		return !known
	})
	if err != nil || known {
		return err
	}
	_, err = v.note(e)
	return err
}

// heard is the newest audit head of another participant that this site has heard,
// zero if none.
func (v *Visit) heard(party wire.Hash) (member.Head, error) {
	var newest member.Head
	err := v.site.Noted(func(e *audit.Entry) bool {
		if e.Party == party && e.Heard.Number > newest.Number {
			newest = e.Heard
		}
		return true
	})
	return newest, err
}

// noteJoining enters, before this site has a contract, that it asks to take part.
func (v *Visit) noteJoining(invite member.Invite, whereTo string) error {
	if err := v.site.BeginAudit(invite.Contract, v.Own()); err != nil {
		return err
	}
	return v.noteOnce(audit.Event{
		Kind: audit.Joining, Party: invite.Analyst,
		Note: fmt.Sprintf("as %q; the identity statement goes to %s", v.ID.Statement.Name, whereTo),
	})
}

// noteJoined enters that the contract came which the invite names.
func (v *Visit) noteJoined(analyst wire.Hash) error {
	return v.noteOnce(audit.Event{Kind: audit.Joined, Party: analyst, Note: "the contract came; no data has left"})
}

// noteSent enters that the sealed bundle of one kind is about to leave.
func (v *Visit) noteSent(kind string) error {
	env, err := readEnvelope(v.site.Outbox(kind))
	if err != nil {
		return err
	}
	return v.noteOnce(audit.Event{Kind: audit.Sent, Epoch: env.Epoch, Manifest: env.Manifest, File: env.Ciphertext,
		Note: fmt.Sprintf("the %s, %d bytes sealed", Named(kind), env.Size)})
}

// putReceipt enters the analyst's receipt for the bundle of one kind, with the head of
// the analyst's log, and keeps it.
func (v *Visit) putReceipt(kind string, r *member.Receipt) error {
	e := audit.Event{
		Kind: audit.Receipt, Epoch: r.Epoch, Manifest: r.Manifest, Party: v.analyst.Fingerprint(),
		Note: fmt.Sprintf("for the %s, of %s", Named(kind), r.Received.Format(time.RFC3339)),
	}
	if r.Heads != nil && r.Heads.Own != nil {
		e.Heard = *r.Heads.Own
	}
	if err := v.noteOnce(e); err != nil {
		return err
	}
	return v.site.PutReceipt(kind, r.Encode())
}

// noteReceived enters a bundle that came and was checked, with the head of its
// sender's log.
func (v *Visit) noteReceived(from *identity.Statement, r *bundle.Reader) error {
	e := audit.Event{
		Kind: audit.Received, Manifest: r.Manifest.Hash(), Party: from.Fingerprint(),
		Note: fmt.Sprintf("the %s of %q; verified", receivedName(r.Manifest), from.Name),
	}
	if h := r.Envelope.Heads; h != nil && h.Own != nil {
		e.Heard = *h.Own
	}
	return v.noteOnce(e)
}

// receivedName says what a bundle of another participant is.
func receivedName(m *bundle.Manifest) string {
	if m.Kind == bundle.KindPool {
		return Named(site.PoolName(m.Round, m.Number))
	}
	return m.Kind
}

// noteWitness keeps the analyst's signed word on both audit logs, if it is newer than
// what is here. It comes beside other answers and may be missing.
func (v *Visit) noteWitness(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	w, err := member.DecodeWitness(raw, v.analyst)
	if err != nil {
		return fmt.Errorf("the analyst's word on the audit logs: %w", err)
	}
	if w.Study != v.Study || w.To != v.Own() || w.Heads.Own == nil {
		return errors.New("the analyst's word on the audit logs is for another study or party")
	}
	if known, err := v.witness(); err != nil || known != nil && known.Heads.Own.Number >= w.Heads.Own.Number {
		return err
	}
	err = v.noteOnce(audit.Event{Kind: audit.Witnessed, Party: v.analyst.Fingerprint(), Heard: *w.Heads.Own,
		File: wire.HashOf(raw)})
	if err != nil {
		return err
	}
	return v.site.PutWitness(raw)
}

// witness is the analyst's newest word on both audit logs, nil if there is none.
func (v *Visit) witness() (*member.Witness, error) {
	raw, err := v.site.Witness()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w, err := member.DecodeWitness(raw, v.analyst)
	if err == nil && w.Heads.Own == nil {
		err = errors.New("member: a witness without a head of its own")
	}
	return w, err
}

// ownWitness is this site's signed word on both audit logs, nil before it has one.
func (v *Visit) ownWitness() (*member.Witness, error) {
	var own member.Head
	err := v.site.Noted(func(e *audit.Entry) bool {
		own = e.Head()
		return true
	})
	if err != nil || own.IsZero() {
		return nil, err
	}
	seen, err := v.heard(v.analyst.Fingerprint())
	if err != nil {
		return nil, err
	}
	w := &member.Witness{
		Format: 1, Study: v.Study, By: v.Own(), To: v.analyst.Fingerprint(), Heads: *member.NewHeads(own, seen),
		Time: time.Now().UTC().Truncate(time.Second),
	}
	w.Sign(v.ID)
	return w, nil
}

// exchanger is a post that reaches the analyst at once.
type exchanger interface {
	ExchangeHeads(ctx context.Context, w *member.Witness) ([]byte, error)
}

// exchangeHeads gives the analyst this site's word on both audit logs and keeps the
// analyst's: each then vouches for the other's log up to now. By files it goes with
// the next parcel.
func (v *Visit) exchangeHeads(ctx context.Context, c post.Post) error {
	w, err := v.ownWitness()
	if err != nil || w == nil {
		return err
	}
	online, ok := c.(exchanger)
	if !ok {
		return nil
	}
	raw, err := online.ExchangeHeads(ctx, w)
	if err != nil {
		return err
	}
	return v.noteWitness(raw)
}
