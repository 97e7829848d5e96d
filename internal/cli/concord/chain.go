package concord

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
	"concord/member"
	"concord/wire"
)

// loadChain loads what people here confirmed and what this site has followed since.
func (v *visit) loadChain() error {
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
	if next != nil && chain.Present(next.Statement.Fingerprint()) != nil && next.Statement.Fingerprint() != v.own() {
		// A re-key that the analyst has signed, and that was interrupted here.
		v.past, v.id = append(v.past, v.id), next
	}
	v.chain, v.roster, v.epoch = chain, chain.Head(), chain.Epoch()
	// What people here confirmed is what this site's own key signed.
	if !chain.Same(confirmation.Party, v.own()) {
		return fmt.Errorf("the roster in %s was not confirmed by this site", v.site.Dir)
	}
	if v.analyst.Fingerprint() != v.roster.Analyst().Fingerprint() {
		return fmt.Errorf("%s names another analyst than the roster that people here confirmed", v.site.Path("analyst.json"))
	}
	return nil
}

// statementIn is this site's entry in an epoch of the chain, nil if it has none.
func (v *visit) statementIn(epoch wire.Hash) *identity.Statement {
	if v.chain == nil {
		return nil
	}
	return v.chain.In(v.chain.At(epoch), v.own())
}

// idIn are this site's keys in an epoch of the chain: those that it had then.
func (v *visit) idIn(epoch wire.Hash) (*identity.Identity, error) {
	s := v.statementIn(epoch)
	if s == nil {
		if err := v.chain.CheckEpoch(epoch); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("this site had no place in epoch %s", epoch.Short())
	}
	for _, id := range append([]*identity.Identity{v.id}, v.past...) {
		if id.Statement.Fingerprint() == s.Fingerprint() {
			return id, nil
		}
	}
	return nil, fmt.Errorf("the keys that this site had in epoch %s, %s, are not in %s any more", epoch.Short(), s.Fingerprint().Short(), v.site.Path("identities"))
}

// othersIn are the parties of a roster of the chain but this site.
func (v *visit) othersIn(r *member.Roster) []*identity.Statement {
	var out []*identity.Statement
	for _, s := range r.Parties() {
		if !v.chain.Same(s.Fingerprint(), v.own()) {
			out = append(out, s)
		}
	}
	return out
}

// late reports whether this site came after setup, and so has no share in the anchor.
func (v *visit) late() bool { return v.chain != nil && v.chain.Late(v.own()) }

// setupSent reports whether this site has nothing to send for the anchor any more.
func (v *visit) setupSent() bool { return v.late() || v.site.Sent(bundle.KindSetup) }

// finishRekey takes the keys that the chain names for this site, where a crash came
// between. The old ones sign the end of their part of the audit log.
func (v *visit) finishRekey() error {
	next, err := v.site.Next()
	if next == nil || err != nil || v.chain == nil {
		return err
	}
	fingerprint := next.Statement.Fingerprint()
	if present := v.chain.Present(fingerprint); present == nil || present.Fingerprint() != fingerprint {
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
			e := audit.Event{Kind: audit.Rekeying, Epoch: v.epoch, Party: fingerprint, Note: "this site signs with new keys from here on"}
			if _, err := v.site.Note(old, v.study, e); err != nil {
				return err
			}
		}
	}
	return v.site.TakeNext()
}

// follow asks the server for the roster and follows the amendments that came since:
// each is verified, stored and told to people. A server that serves another roster than
// the one that people here confirmed, or less of the chain than this site has followed, is
// refused.
func (p *program) follow(ctx context.Context, v *visit, c post.Post) (api.Roster, error) {
	answer, err := c.Roster(ctx)
	if err != nil {
		return answer, err
	}
	return answer, p.followAnswer(v, answer)
}

func (p *program) followAnswer(v *visit, answer api.Roster) error {
	known := v.chain.Root().Number
	switch {
	case answer.Number > known && v.contributed():
		return wire.WithHint(fmt.Errorf("the analyst has made a new roster, number %d; this site has contributed under roster %d and takes part in no other", answer.Number, known),
			"do not go on: ask the analyst and the other parties")
	case answer.Number > known:
		return wire.WithHint(fmt.Errorf("the analyst has made a new roster, number %d, before setup was complete; what was agreed under roster %d does not count any more", answer.Number, known),
			"concord roster shows it when it is closed: compare its phrase with the other parties, then concord roster confirm")
	case (answer.Number < known || !answer.Closed) && v.files:
		return behind()
	case answer.Number < known || !answer.Closed:
		return wire.WithHint(fmt.Errorf("the server serves roster %d, people here confirmed roster %d: it was set back, or somebody has set it back", answer.Number, known),
			"do not go on: tell the other parties and the analyst")
	}
	root, err := v.rosterOf(answer)
	if err != nil {
		return err
	}
	if epoch := root.Epoch(v.study); epoch != v.chain.Setup() {
		return wire.WithHint(fmt.Errorf("the server serves a roster %d with epoch %s; people here confirmed one with epoch %s", known, epoch.Short(), v.chain.Setup().Short()),
			"do not go on: it shows different rosters to different parties; tell them, and the analyst")
	}
	for i, step := range v.chain.Steps() {
		if i >= len(answer.Amendments) && v.files {
			return behind()
		}
		if i >= len(answer.Amendments) {
			return wire.WithHint(fmt.Errorf("the server serves roster %d; this site has followed to roster %d, epoch %s: it was set back, or somebody has set it back",
				known+len(answer.Amendments), v.roster.Number, v.epoch.Short()), "do not go on: tell the other parties and the analyst")
		}
		a, err := member.DecodeAmendment(answer.Amendments[i].Amendment)
		if err != nil {
			return fmt.Errorf("the server's roster %d: %w", step.Roster.Number, err)
		}
		if a.To != step.Epoch {
			return wire.WithHint(fmt.Errorf("the server serves a roster %d with epoch %s; this site has followed one with epoch %s", step.Roster.Number, a.To.Short(), step.Epoch.Short()),
				"do not go on: it shows different rosters to different parties; tell them, and the analyst")
		}
	}
	for _, told := range answer.Amendments[len(v.chain.Steps()):] {
		before := v.roster
		if err := site.Follow(v.chain, told); err != nil {
			return wire.WithHint(fmt.Errorf("the server's roster %d: %w", before.Number+1, err), "do not go on: tell the other parties and the analyst")
		}
		if err := v.site.PutAmended(v.chain.Head().Number, told); err != nil {
			return err
		}
		v.roster, v.epoch = v.chain.Head(), v.chain.Epoch()
		steps := v.chain.Steps()
		p.tellStep(v, before, steps[len(steps)-1])
	}
	return v.finishRekey()
}

// behind is what a site that exchanges files says of a parcel that tells less than it
// knows: it may have connected since the parcel was written, which is no cause for alarm.
func behind() error {
	return &wire.Waiting{For: "a newer parcel from the analyst (concord take FILE): what the last one tells is older than what this site knows"}
}

// contributed reports whether this site has sealed a contribution.
func (v *visit) contributed() bool {
	return v.site.Sent(bundle.KindContribution) || v.site.Has("outbox", bundle.KindContribution+".bundle")
}

// tellStep tells people what an amendment changed, and what it asks of them.
func (p *program) tellStep(v *visit, before *member.Roster, step member.Step) {
	a := step.Amendment
	name, number := a.Party.Short(), step.Roster.Number
	if s := v.chain.In(before, a.Party); s != nil {
		name = fmt.Sprintf("%q", s.Name)
	} else if s := v.chain.In(step.Roster, a.Party); s != nil {
		name = fmt.Sprintf("%q", s.Name)
	}
	switch a.Kind {
	case member.AmendRekey:
		p.printf("roster %d: %s has new keys, fingerprint %s instead of %s, signed by the old ones; nothing is asked of you\n",
			number, name, wire.HashOf(a.Statement).Short(), a.Party.Short())
	case member.AmendAdd:
		p.printf("roster %d: %s, fingerprint %s, takes part from now on; %d members confirmed it\n", number, name, a.Party.Short(), len(step.Confirmations)-1)
	case member.AmendWithdraw:
		how := "by its own signature"
		if !a.SignedBy(a.Party) {
			how = "on paper, by the analyst's word"
		}
		p.printf("roster %d: %s has withdrawn, %s; the analyst deletes what it sent, and trains anew where a model was made of it\n", number, name, how)
	default:
		reason := ""
		if a.Reason != "" {
			reason = ": " + a.Reason
		}
		p.printf("roster %d: the analyst has removed %s%s; it knows the anchor still\n", number, name, reason)
	}
}

// rosterOf decodes the roster that people confirm and checks what a program can: the
// signatures, the analyst of the invite. Whether the names are right only people can
// tell.
func (v *visit) rosterOf(answer api.Roster) (*member.Roster, error) {
	var members []*identity.Statement
	for _, b := range answer.Statements {
		m, err := identity.DecodeStatement(b)
		if err != nil {
			return nil, fmt.Errorf("the server's roster: %w", err)
		}
		members = append(members, m)
	}
	roster, err := member.NewRoster(v.contract, answer.Number, members)
	if err != nil {
		return nil, fmt.Errorf("the server's roster: %w", err)
	}
	if roster.Analyst().Fingerprint() != v.analyst.Fingerprint() {
		return nil, wire.WithHint(errors.New("the server's roster names another analyst than the invite"), "do not go on: tell the other parties and the analyst")
	}
	return roster, v.checkAnalyst(roster, answer)
}

// expect is the bundle of one kind that is expected from a participant, in the epoch
// that its envelope claims, and the keys of this site that open it.
func (v *visit) expect(kind string, from wire.Hash, env *bundle.Envelope) (bundle.Expect, *identity.Identity, error) {
	var none bundle.Expect
	if err := v.chain.CheckEpoch(env.Epoch); err != nil {
		return none, nil, fmt.Errorf("the bundle: %w", err)
	}
	sender := v.chain.In(v.chain.At(env.Epoch), from)
	if sender == nil {
		return none, nil, fmt.Errorf("its sender had no place in epoch %s", env.Epoch.Short())
	}
	id, err := v.idIn(env.Epoch)
	if err != nil {
		return none, nil, err
	}
	return bundle.Expect{
		Study:     v.study,
		Epoch:     env.Epoch,
		Kind:      kind,
		Sender:    sender.Fingerprint(),
		SenderKey: sender.SigningKey,
		Approver:  sender.Approver(),
		Recipient: id.Statement.Fingerprint(),
	}, id, nil
}

// mine reports whether a fingerprint is one that this site has or had.
func (v *visit) mine(fingerprint wire.Hash) bool {
	return fingerprint == v.own() || v.chain != nil && v.chain.Same(fingerprint, v.own())
}

// noteClosed enters in the audit log that this site forgets the anchor.
func (v *visit) noteClosed() error {
	return v.noteOnce(audit.Event{Kind: audit.Removed, Epoch: v.chain.Setup(), Note: "the anchor's seed and shares: the study is closed here"})
}
