package concord

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
	"concord/member"
	"concord/wire"
)

// addition is a party that is to come after setup, and what the members have said.
type addition struct {
	told      *member.Amendment
	roster    *member.Roster // with it
	statement *identity.Statement
	said      []*member.Confirmation
	missing   []string
	raw       api.Amended
}

// pendingAdd is the add after the chain that members have still to confirm, after its
// signatures were checked; nil if there is none.
func (v *visit) pendingAdd(chain *member.Chain, answer api.Roster) (*addition, error) {
	if answer.Pending == nil {
		return nil, nil
	}
	wrong := func(err error) (*addition, error) {
		return nil, wire.WithHint(fmt.Errorf("the proposed roster %d: %w", chain.Head().Number+1, err), "do not go on: tell the other parties and the analyst")
	}
	told, err := member.DecodeAmendment(answer.Pending.Amendment)
	if err != nil {
		return wrong(err)
	}
	if told.Kind != member.AmendAdd {
		return wrong(fmt.Errorf("it is a %q, which nobody confirms", told.Kind))
	}
	a := &addition{told: told, raw: *answer.Pending}
	if a.roster, err = chain.Check(told, true); err != nil {
		return wrong(err)
	}
	if a.statement, err = a.roster.Member(told.Party); err != nil {
		return wrong(err)
	}
	if a.said, err = site.Confirmations(answer.Pending.Confirmations); err != nil {
		return wrong(err)
	}
	if a.missing, err = chain.Missing(told, a.roster, a.said); err != nil {
		return wrong(err)
	}
	return a, nil
}

// confirmedBy reports whether a member has confirmed the addition.
func (a *addition) confirmedBy(fingerprint wire.Hash) bool {
	return slices.ContainsFunc(a.said, func(c *member.Confirmation) bool { return c.Party == fingerprint })
}

// printAdd shows a roster with a party that is to come.
func (p *program) printAdd(v *visit, a *addition) {
	p.printf("roster %d, with %q, fingerprint %s, who comes after setup:\n", a.roster.Number, a.statement.Name, a.told.Party.Short())
	p.printRoster(v, a.roster)
	p.warnOfPieces(v, a)
	p.printf("phrase: %s\n", strings.Join(member.Phrase(a.told.To), " "))
	if len(a.missing) > 0 {
		p.printf("still to confirm: %s\n", strings.Join(a.missing, "; "))
	}
	if v.mustConfirm(a) {
		p.printf("next: compare the phrase with the other members and the newcomer by telephone, then concord roster confirm\n")
	}
}

// warnOfPieces says what of this site a newcomer gets with the anchor.
func (p *program) warnOfPieces(v *visit, a *addition) {
	if v.contract.Anchor.Pieces() && a.told.Party != v.own() {
		p.printf("! %q then gets the piece of the anchor that every site gave: near-raw rows of this site's people too\n", a.statement.Name)
	}
}

// mustConfirm reports whether this site's yes to an addition is wanted and not given.
func (v *visit) mustConfirm(a *addition) bool {
	return !a.confirmedBy(v.own()) && (v.own() == a.told.Party || v.roster != nil && member.MayAdmit(v.contract, v.roster, v.own()))
}

// tellPending tells that a party is to come, if this site's yes is wanted.
func (p *program) tellPending(v *visit, answer api.Roster) error {
	a, err := v.pendingAdd(v.chain, answer)
	if err != nil || a == nil {
		return err
	}
	p.printf("the analyst proposes roster %d, with %q; still to confirm: %s\n", a.roster.Number, a.statement.Name, strings.Join(a.missing, "; "))
	if v.mustConfirm(a) {
		p.printf("next: concord roster, compare the phrase, then concord roster confirm\n")
	}
	return nil
}

// confirmAdd is a member's yes to a party that comes after setup.
func (p *program) confirmAdd(ctx context.Context, v *visit, c post.Post, a *addition, typed string) error {
	if !member.MayAdmit(v.contract, v.roster, v.own()) {
		return wire.WithHint(fmt.Errorf("the contract does not name this site among those who confirm %q", a.statement.Name), "nothing is asked of you: concord sync follows when the others have confirmed")
	}
	p.printRoster(v, a.roster)
	p.warnOfPieces(v, a)
	if err := p.comparePhrase(a.told.To, typed); err != nil {
		return err
	}
	anchor, err := v.anchorID()
	if err != nil {
		return err
	}
	for _, other := range a.said {
		if other.Anchor != nil && anchor != nil && *other.Anchor != *anchor {
			return wire.WithHint(fmt.Errorf("another member confirms the anchor %s, this site has %s; nothing was confirmed", other.Anchor.Short(), anchor.Short()), "do not go on: tell the other parties and the analyst")
		}
	}
	yes := member.ConfirmAnchor(v.id, v.study, a.told.To, anchor)
	if err := v.noteOnce(audit.Event{Kind: audit.Confirmed, Epoch: a.told.To, Party: a.told.Party, Note: fmt.Sprintf("that %q comes after setup", a.statement.Name)}); err != nil {
		return err
	}
	if err := v.site.PutPending(yes); err != nil {
		return err
	}
	if err := c.Confirm(ctx, yes); err != nil {
		return err
	}
	p.printf("confirmed: %q takes part, with the anchor that this site has\n", a.statement.Name)
	if v.files {
		p.printGiveNext()
		return nil
	}
	p.printf("next: when all have confirmed, one member runs concord admit %q\n", a.statement.Name)
	return nil
}

// anchorID names the anchor that this site has; nil if it has closed the study.
func (v *visit) anchorID() (*wire.Hash, error) {
	if !v.site.HasSeed() {
		return nil, nil
	}
	g, err := v.agreed()
	if err != nil {
		return nil, err
	}
	id := g.ID(v.contract)
	return &id, nil
}

// namedIn reports whether this site is the one that is to come after setup, or has come,
// and has no roster yet.
func (v *visit) namedIn(answer api.Roster) bool {
	if v.roster != nil {
		return false
	}
	told := slices.Clone(answer.Amendments)
	if answer.Pending != nil {
		told = append(told, *answer.Pending)
	}
	return slices.ContainsFunc(told, func(t api.Amended) bool {
		a, err := member.DecodeAmendment(t.Amendment)
		return err == nil && a.Kind == member.AmendAdd && a.Party == v.own()
	})
}

// ownAdd follows the whole chain up to this site's own coming, which it returns, and the
// chain before it: every confirmation and signature in it is checked.
func (v *visit) ownAdd(answer api.Roster) (*addition, *member.Chain, error) {
	do := "do not go on: tell the other parties and the analyst"
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
		return nil, nil, wire.WithHint(fmt.Errorf("the server's roster %d was not confirmed by %s", root.Number, strings.Join(missing, ", ")), do)
	}
	chain := member.NewChain(v.contract, v.study, root)
	for i, told := range answer.Amendments {
		a, err := member.DecodeAmendment(told.Amendment)
		if err == nil && a.Kind == member.AmendAdd && a.Party == v.own() {
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
	if err == nil && (add == nil || add.told.Party != v.own()) {
		err = errors.New("the server's amendments do not lead to this site")
	}
	return add, chain, err
}

// confirmOwn is a newcomer's yes to the roster in which it comes, and to the contract.
func (p *program) confirmOwn(ctx context.Context, v *visit, c post.Post, answer api.Roster, typed string) error {
	add, _, err := v.ownAdd(answer)
	if err != nil {
		return err
	}
	p.printRoster(v, add.roster)
	if err := p.comparePhrase(add.told.To, typed); err != nil {
		return err
	}
	yes := member.Confirm(v.id, v.study, add.told.To)
	if err := v.noteOnce(audit.Event{Kind: audit.Confirmed, Epoch: add.told.To, Note: "the roster in which this site comes, and the contract"}); err != nil {
		return err
	}
	if err := v.site.PutCandidate(site.Candidate{Amendment: add.told.Encode(), Confirmation: yes.Encode()}); err != nil {
		return err
	}
	if err := c.Confirm(ctx, yes); err != nil {
		return err
	}
	p.printf("confirmed: every name, and the contract\n")
	if v.files {
		p.printGiveNext()
		return nil
	}
	p.printf("next: concord sync, when the members have confirmed this site\n")
	return nil
}

// become makes a member of a newcomer when the members have confirmed it. It reports
// false for a site that is none.
func (p *program) become(ctx context.Context, v *visit, c post.Post) (bool, error) {
	candidate, err := v.site.Candidate()
	if v.roster != nil || candidate == nil || err != nil {
		return false, err
	}
	mine, err := member.DecodeAmendment(candidate.Amendment)
	if err != nil {
		return false, err
	}
	yes, err := member.DecodeConfirmation(candidate.Confirmation)
	if err != nil {
		return false, err
	}
	answer, err := c.Roster(ctx)
	if err != nil {
		return false, err
	}
	if !v.namedIn(answer) {
		return false, wire.WithHint(errors.New("the analyst does not propose this site any more: another change of the roster came first"), "ask the analyst to run concordd admit again")
	}
	add, chain, err := v.ownAdd(answer)
	if err != nil {
		return false, err
	}
	if add.told.To != mine.To {
		return false, wire.WithHint(fmt.Errorf("the analyst proposes this site anew: roster %d, epoch %s, in place of epoch %s that people here confirmed", add.roster.Number, add.told.To.Short(), mine.To.Short()),
			"concord roster, compare the phrase, then concord roster confirm")
	}
	if err := c.Confirm(ctx, yes); err != nil {
		return false, err
	}
	if len(add.missing) > 0 {
		return false, &wire.Waiting{For: strings.Join(add.missing, ", ") + " to confirm that this site takes part"}
	}
	// The members' words are all there, whether or not the server counts them yet.
	if err := site.Follow(chain, add.raw); err != nil {
		return false, err
	}
	if err := v.site.PutNewcomer(chain.Root(), chain.Steps(), yes); err != nil {
		return false, err
	}
	if err := v.loadChain(); err != nil {
		return false, err
	}
	p.printf("this site takes part as of roster %d\n", v.roster.Number)
	return true, v.site.DropCandidate()
}
