package visit

import (
	"context"
	"errors"
	"fmt"

	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/member"
	"concord/wire"
)

// loadChain loads what people here confirmed and what this site has followed since.
func (v *Visit) loadChain() error {
	chain, confirmation, err := v.site.Chain()
	if err != nil {
		return err
	}
	if v.past, err = v.site.Past(); err != nil || chain == nil {
		return err
	}
	next, err := v.site.Next()
	if err != nil {
		return err
	}
	if next != nil && chain.Present(next.Statement.Fingerprint()) != nil && next.Statement.Fingerprint() != v.Own() {
		// A re-key that the analyst has signed, and that was interrupted here.
		v.past, v.ID = append(v.past, v.ID), next
	}
	v.Chain, v.roster, v.epoch = chain, chain.Head(), chain.Epoch()
	// What people here confirmed is what this site's own key signed.
	if !chain.Same(confirmation.Party, v.Own()) {
		return fmt.Errorf("the roster in %s was not confirmed by this site", v.site.Dir)
	}
	if v.analyst.Fingerprint() != v.roster.Analyst().Fingerprint() {
		return fmt.Errorf("%s names another analyst than the roster that people here confirmed", v.site.Path("analyst.json"))
	}
	return nil
}

// statementIn is this site's entry in an epoch of the chain, nil if it has none.
func (v *Visit) statementIn(epoch wire.Hash) *identity.Statement {
	if v.Chain == nil {
		return nil
	}
	return v.Chain.In(v.Chain.At(epoch), v.Own())
}

// idIn are this site's keys in an epoch of the chain: those that it had then.
func (v *Visit) idIn(epoch wire.Hash) (*identity.Identity, error) {
	s := v.statementIn(epoch)
	if s == nil {
		if err := v.Chain.CheckEpoch(epoch); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("this site had no place in epoch %s", epoch.Short())
	}
	for _, id := range append([]*identity.Identity{v.ID}, v.past...) {
		if id.Statement.Fingerprint() == s.Fingerprint() {
			return id, nil
		}
	}
	return nil, fmt.Errorf("the keys that this site had in epoch %s, %s, are not in %s any more", epoch.Short(),
		s.Fingerprint().Short(), v.site.Path("identities"))
}

// othersIn are the parties of a roster of the chain but this site.
func (v *Visit) othersIn(r *member.Roster) []*identity.Statement {
	var out []*identity.Statement
	for _, s := range r.Parties() {
		if !v.Chain.Same(s.Fingerprint(), v.Own()) {
			out = append(out, s)
		}
	}
	return out
}

// late reports whether this site came after setup, and so has no share in the anchor.
func (v *Visit) late() bool { return v.Chain != nil && v.Chain.Late(v.Own()) }

// setupSent reports whether this site has nothing to send for the anchor any more.
func (v *Visit) setupSent() bool { return v.late() || v.site.Sent(bundle.KindSetup) }

// finishRekey takes the keys that the chain names for this site, where a crash came
// between. The old ones sign the end of their part of the audit log.
func (v *Visit) finishRekey() error {
	next, err := v.site.Next()
	if next == nil || err != nil || v.Chain == nil {
		return err
	}
	fingerprint := next.Statement.Fingerprint()
	if present := v.Chain.Present(fingerprint); present == nil || present.Fingerprint() != fingerprint {
		return nil // not signed yet: concord rekey goes on with it
	}
	old, err := v.site.Identity()
	if err != nil {
		return err
	}
	if old.Statement.Fingerprint() != fingerprint {
		known := false
		if err := v.site.Noted(func(e *audit.Entry) bool {
			known = e.Kind == audit.Rekeying && e.Party == fingerprint
			return !known
		}); err != nil {
			return err
		}
		if !known {
			e := audit.Event{Kind: audit.Rekeying, Epoch: v.epoch, Party: fingerprint,
				Note: "this site signs with new keys from here on"}
			if _, err := v.site.Note(old, v.Study, e); err != nil {
				return err
			}
		}
	}
	return v.site.TakeNext()
}

// behind is what a site that exchanges files says of a parcel that tells less than it
// knows: it may have connected since the parcel was written, which is no cause for alarm.
func behind() error {
	return &wire.Waiting{For: "a newer parcel from the analyst (concord take FILE): what the last one tells is older " +
		"than what this site knows"}
}

// contributed reports whether this site has sealed a contribution.
func (v *Visit) contributed() bool {
	return v.site.Sent(bundle.KindContribution) || v.site.Has("outbox", bundle.KindContribution+".bundle")
}

// rosterOf decodes the roster that people confirm and checks what a program can: the
// signatures, the analyst of the invite. Whether the names are right only people can
// tell.
func (v *Visit) rosterOf(answer api.Roster) (*member.Roster, error) {
	var members []*identity.Statement
	for _, b := range answer.Statements {
		m, err := identity.DecodeStatement(b)
		if err != nil {
			return nil, fmt.Errorf("the server's roster: %w", err)
		}
		members = append(members, m)
	}
	roster, err := member.NewRoster(v.Contract, answer.Number, members)
	if err != nil {
		return nil, fmt.Errorf("the server's roster: %w", err)
	}
	if roster.Analyst().Fingerprint() != v.analyst.Fingerprint() {
		return nil, wire.WithHint(errors.New("the server's roster names another analyst than the invite"),
			stopAndTell)
	}
	return roster, v.checkAnalyst(roster, answer)
}

// expect is the bundle of one kind that is expected from a participant, in the epoch
// that its envelope claims, and the keys of this site that open it.
func (v *Visit) expect(kind string, from wire.Hash, env *bundle.Envelope) (bundle.Expect, *identity.Identity, error) {
	var none bundle.Expect
	if err := v.Chain.CheckEpoch(env.Epoch); err != nil {
		return none, nil, fmt.Errorf("the bundle: %w", err)
	}
	sender := v.Chain.In(v.Chain.At(env.Epoch), from)
	if sender == nil {
		return none, nil, fmt.Errorf("its sender had no place in epoch %s", env.Epoch.Short())
	}
	id, err := v.idIn(env.Epoch)
	if err != nil {
		return none, nil, err
	}
	return bundle.Expect{
		Study:     v.Study,
		Epoch:     env.Epoch,
		Kind:      kind,
		Sender:    sender.Fingerprint(),
		SenderKey: sender.SigningKey,
		Approver:  sender.Approver(),
		Recipient: id.Statement.Fingerprint(),
	}, id, nil
}

// mine reports whether a fingerprint is one that this site has or had.
func (v *Visit) mine(fingerprint wire.Hash) bool {
	return fingerprint == v.Own() || v.Chain != nil && v.Chain.Same(fingerprint, v.Own())
}

// noteClosed enters in the audit log that this site forgets the anchor.
func (v *Visit) noteClosed() error {
	return v.noteOnce(audit.Event{Kind: audit.Removed, Epoch: v.Chain.Setup(),
		Note: "the anchor's seed and shares: the study is closed here"})
}

// follow asks the server for the roster and follows the amendments that came since:
// each is verified, stored and told to people. A server that serves another roster than
// the one that people here confirmed, or less of the chain than this site has followed, is
// refused.
func (v *Visit) follow(ctx context.Context, c post.Post) (api.Roster, error) {
	answer, err := c.Roster(ctx)
	if err != nil {
		return answer, err
	}
	return answer, v.followAnswer(answer)
}

func (v *Visit) followAnswer(answer api.Roster) error {
	known := v.Chain.Root().Number
	switch {
	case answer.Number > known && v.contributed():
		return wire.WithHint(fmt.Errorf("the analyst has made a new roster, number %d; this site has contributed under "+
			"roster %d and takes part in no other", answer.Number, known),
			"do not go on: ask the analyst and the other parties")
	case answer.Number > known:
		return wire.WithHint(fmt.Errorf("the analyst has made a new roster, number %d, before setup was complete; what "+
			"was agreed under roster %d does not count any more", answer.Number, known),
			"concord roster shows it when it is closed: compare its phrase with the other parties, then concord roster confirm")
	case (answer.Number < known || !answer.Closed) && v.Files:
		return behind()
	case answer.Number < known || !answer.Closed:
		return wire.WithHint(fmt.Errorf("the server serves roster %d, people here confirmed roster %d: it was set back, "+
			"or somebody has set it back", answer.Number, known),
			stopAndTell)
	}
	root, err := v.rosterOf(answer)
	if err != nil {
		return err
	}
	if epoch := root.Epoch(v.Study); epoch != v.Chain.Setup() {
		return wire.WithHint(fmt.Errorf("the server serves a roster %d with epoch %s; people here confirmed one with "+
			"epoch %s", known, epoch.Short(), v.Chain.Setup().Short()),
			"do not go on: it shows different rosters to different parties; tell them, and the analyst")
	}
	for i, step := range v.Chain.Steps() {
		if i >= len(answer.Amendments) && v.Files {
			return behind()
		}
		if i >= len(answer.Amendments) {
			return wire.WithHint(fmt.Errorf("the server serves roster %d; this site has followed to roster %d, epoch %s: it "+
				"was set back, or somebody has set it back",
				known+len(answer.Amendments), v.roster.Number, v.epoch.Short()),
				stopAndTell)
		}
		a, err := member.DecodeAmendment(answer.Amendments[i].Amendment)
		if err != nil {
			return fmt.Errorf("the server's roster %d: %w", step.Roster.Number, err)
		}
		if a.To != step.Epoch {
			return wire.WithHint(fmt.Errorf("the server serves a roster %d with epoch %s; this site has followed one with "+
				"epoch %s", step.Roster.Number, a.To.Short(), step.Epoch.Short()),
				"do not go on: it shows different rosters to different parties; tell them, and the analyst")
		}
	}
	for _, told := range answer.Amendments[len(v.Chain.Steps()):] {
		before := v.roster
		if err := v.amend(told); err != nil {
			var refused *refusedStep
			if errors.As(err, &refused) {
				return wire.WithHint(fmt.Errorf("the server's roster %d: %w", before.Number+1, refused.error),
					stopAndTell)
			}
			return err
		}
		steps := v.Chain.Steps()
		v.tell(event.RosterFollowed{Step: steps[len(steps)-1], Party: v.partyOf(before, steps[len(steps)-1])})
	}
	return v.finishRekey()
}

// refusedStep is an amendment that does not follow from the chain.
type refusedStep struct{ error }

// amend follows one amendment, durably.
func (v *Visit) amend(told api.Amended) error {
	if err := site.Follow(v.Chain, told); err != nil {
		return &refusedStep{err}
	}
	if err := v.site.PutAmended(v.Chain.Head().Number, told); err != nil {
		return err
	}
	v.roster, v.epoch = v.Chain.Head(), v.Chain.Epoch()
	return nil
}

// partyOf is whom an amendment is about, nil if no roster beside it has it.
func (v *Visit) partyOf(before *member.Roster, step member.Step) *identity.Statement {
	if s := v.Chain.In(before, step.Amendment.Party); s != nil {
		return s
	}
	return v.Chain.In(step.Roster, step.Amendment.Party)
}
