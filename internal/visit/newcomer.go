package visit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"concord/audit"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/member"
	"concord/wire"
)

// Addition is a party that is to come after setup, and what the members have said.
type Addition struct {
	Told      *member.Amendment
	roster    *member.Roster // with it
	Statement *identity.Statement
	said      []*member.Confirmation
	Missing   []string
	raw       api.Amended
}

// pendingAdd is the add after the chain that members have still to confirm, after its
// signatures were checked; nil if there is none.
func (v *Visit) pendingAdd(chain *member.Chain, answer api.Roster) (*Addition, error) {
	if answer.Pending == nil {
		return nil, nil
	}
	wrong := func(err error) (*Addition, error) {
		return nil, wire.WithHint(fmt.Errorf("the proposed roster %d: %w", chain.Head().Number+1, err),
			stopAndTell)
	}
	told, err := member.DecodeAmendment(answer.Pending.Amendment)
	if err != nil {
		return wrong(err)
	}
	if told.Kind != member.AmendAdd {
		return wrong(fmt.Errorf("it is a %q, which nobody confirms", told.Kind))
	}
	a := &Addition{Told: told, raw: *answer.Pending}
	if a.roster, err = chain.Check(told, true); err != nil {
		return wrong(err)
	}
	if a.Statement, err = a.roster.Member(told.Party); err != nil {
		return wrong(err)
	}
	if a.said, err = site.Confirmations(answer.Pending.Confirmations); err != nil {
		return wrong(err)
	}
	if a.Missing, err = chain.Missing(told, a.roster, a.said); err != nil {
		return wrong(err)
	}
	return a, nil
}

// confirmedBy reports whether a member has confirmed the addition.
func (a *Addition) confirmedBy(fingerprint wire.Hash) bool {
	return slices.ContainsFunc(a.said, func(c *member.Confirmation) bool { return c.Party == fingerprint })
}

// MustConfirm reports whether this site's yes to an addition is wanted and not given.
func (v *Visit) MustConfirm(a *Addition) bool {
	return !a.confirmedBy(v.Own()) && (v.Own() == a.Told.Party || v.roster != nil && member.MayAdmit(v.Contract, v.roster,
		v.Own()))
}

// anchorID names the anchor that this site has; nil if it has closed the study.
func (v *Visit) anchorID() (*wire.Hash, error) {
	if !v.site.HasSeed() {
		return nil, nil
	}
	g, err := v.agreed()
	if err != nil {
		return nil, err
	}
	id := g.ID(v.Contract)
	return &id, nil
}

// namedIn reports whether this site is the one that is to come after setup, or has come,
// and has no roster yet.
func (v *Visit) namedIn(answer api.Roster) bool {
	if v.roster != nil {
		return false
	}
	told := slices.Clone(answer.Amendments)
	if answer.Pending != nil {
		told = append(told, *answer.Pending)
	}
	return slices.ContainsFunc(told, func(t api.Amended) bool {
		a, err := member.DecodeAmendment(t.Amendment)
		return err == nil && a.Kind == member.AmendAdd && a.Party == v.Own()
	})
}

// ownAdd follows the whole chain up to this site's own coming, which it returns, and the
// chain before it: every confirmation and signature in it is checked.
func (v *Visit) ownAdd(answer api.Roster) (*Addition, *member.Chain, error) {
	do := stopAndTell
	if !answer.Closed {
		return nil, nil, wire.WithHint(errors.New("the server amends a roster that is not closed"), do)
	}
	root, err := v.rosterOf(answer)
	if err != nil {
		return nil, nil, err
	}
	switch missing, err := v.unconfirmed(root, answer); {
	case err != nil:
		return nil, nil, err
	case len(missing) > 0:
		return nil, nil, wire.WithHint(fmt.Errorf("the server's roster %d was not confirmed by %s", root.Number,
			strings.Join(missing, ", ")), do)
	}
	chain := member.NewChain(v.Contract, v.Study, root)
	for i, told := range answer.Amendments {
		a, err := member.DecodeAmendment(told.Amendment)
		if err == nil && a.Kind == member.AmendAdd && a.Party == v.Own() {
			answer.Pending = &answer.Amendments[i]
			break
		}
		if err == nil {
			err = site.Follow(chain, told)
		}
		if err != nil {
			return nil, nil, wire.WithHint(fmt.Errorf("the server's roster %d: %w", chain.Head().Number+1, err), do)
		}
	}
	add, err := v.pendingAdd(chain, answer)
	if err == nil && (add == nil || add.Told.Party != v.Own()) {
		err = errors.New("the server's amendments do not lead to this site")
	}
	return add, chain, err
}

// tellPending tells that a party is to come.
func (v *Visit) tellPending(answer api.Roster) error {
	a, err := v.pendingAdd(v.Chain, answer)
	if err != nil || a == nil {
		return err
	}
	v.tell(event.MemberProposed{Roster: a.roster, Party: a.Statement, Missing: a.Missing, Asks: v.MustConfirm(a)})
	return nil
}

// confirmAdd is a member's yes to a party that comes after setup.
func (v *Visit) confirmAdd(ctx context.Context, c post.Post, a *Addition,
	compare func(Seen) (string, error)) (Confirmation, error) {
	var none Confirmation
	if !member.MayAdmit(v.Contract, v.roster, v.Own()) {
		return none, wire.WithHint(fmt.Errorf("the contract does not name this site among those who confirm %q",
			a.Statement.Name), "nothing is asked of you: concord sync follows when the others have confirmed")
	}
	if err := samePhrase(Seen{Roster: a.roster, epoch: a.Told.To, Add: a}, compare); err != nil {
		return none, err
	}
	anchor, err := v.anchorID()
	if err != nil {
		return none, err
	}
	for _, other := range a.said {
		if other.Anchor != nil && anchor != nil && *other.Anchor != *anchor {
			return none, wire.WithHint(fmt.Errorf("another member confirms the anchor %s, this site has %s; nothing was "+
				"confirmed", other.Anchor.Short(), anchor.Short()), stopAndTell)
		}
	}
	yes := member.ConfirmAnchor(v.ID, v.Study, a.Told.To, anchor)
	if err := v.noteOnce(audit.Event{Kind: audit.Confirmed, Epoch: a.Told.To, Party: a.Told.Party,
		Note: fmt.Sprintf("that %q comes after setup", a.Statement.Name)}); err != nil {
		return none, err
	}
	if err := v.site.PutPending(yes); err != nil {
		return none, err
	}
	return Confirmation{Newcomer: a.Statement}, c.Confirm(ctx, yes)
}

// confirmOwn is a newcomer's yes to the roster in which it comes, and to the contract.
func (v *Visit) confirmOwn(ctx context.Context, c post.Post, answer api.Roster,
	compare func(Seen) (string, error)) (Confirmation, error) {
	var none Confirmation
	add, _, err := v.ownAdd(answer)
	if err != nil {
		return none, err
	}
	if err := samePhrase(Seen{Roster: add.roster, epoch: add.Told.To}, compare); err != nil {
		return none, err
	}
	yes := member.Confirm(v.ID, v.Study, add.Told.To)
	if err := v.noteOnce(audit.Event{Kind: audit.Confirmed, Epoch: add.Told.To,
		Note: "the roster in which this site comes, and the contract"}); err != nil {
		return none, err
	}
	if err := v.site.PutCandidate(site.Candidate{Amendment: add.Told.Encode(), Confirmation: yes.Encode()}); err != nil {
		return none, err
	}
	return Confirmation{Own: true}, c.Confirm(ctx, yes)
}

// become makes a member of a site that came after setup, when the members have confirmed
// it. It does nothing at any other site.
func (v *Visit) become(ctx context.Context, c post.Post) error {
	candidate, err := v.site.Candidate()
	if v.roster != nil || candidate == nil || err != nil {
		return err
	}
	mine, err := member.DecodeAmendment(candidate.Amendment)
	if err != nil {
		return err
	}
	yes, err := member.DecodeConfirmation(candidate.Confirmation)
	if err != nil {
		return err
	}
	answer, err := c.Roster(ctx)
	if err != nil {
		return err
	}
	if !v.namedIn(answer) {
		return wire.WithHint(errors.New("the analyst does not propose this site any more: another change of the roster "+
			"came first"), "ask the analyst to run concordd admit again")
	}
	add, chain, err := v.ownAdd(answer)
	if err != nil {
		return err
	}
	if add.Told.To != mine.To {
		return wire.WithHint(fmt.Errorf("the analyst proposes this site anew: roster %d, epoch %s, in place of epoch %s "+
			"that people here confirmed", add.roster.Number, add.Told.To.Short(), mine.To.Short()),
			"concord roster, compare the phrase, then concord roster confirm")
	}
	if err := c.Confirm(ctx, yes); err != nil {
		return err
	}
	if len(add.Missing) > 0 {
		return &wire.Waiting{For: strings.Join(add.Missing, ", ") + " to confirm that this site takes part"}
	}
	// The members' words are all there, whether or not the server counts them yet.
	if err := site.Follow(chain, add.raw); err != nil {
		return err
	}
	if err := v.site.PutNewcomer(chain.Root(), chain.Steps(), yes); err != nil {
		return err
	}
	if err := v.loadChain(); err != nil {
		return err
	}
	v.tell(event.TookPart{Roster: v.roster.Number})
	return v.site.DropCandidate()
}
