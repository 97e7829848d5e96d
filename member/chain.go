package member

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"

	"concord/contract"
	"concord/identity"
	"concord/wire"
)

// Chain leads from the roster that people confirmed, in whose epoch setup ran, to the
// present one, by signed amendments. A bundle counts if its epoch is one of the
// chain's. Make one with NewChain; it is not safe for concurrent change.
//
// A party stays the same through its re-keys: any fingerprint that it has had names it
// (a line). The first is its origin.
type Chain struct {
	contract *contract.Contract
	study    wire.Hash
	rosters  []*Roster
	epochs   []wire.Hash
	steps    []Step
	origins  map[wire.Hash]wire.Hash // of every fingerprint there has been
}

// Step is one amendment of a chain and what it led to.
type Step struct {
	Amendment *Amendment
	// Confirmations are those that an add needs.
	Confirmations []*Confirmation
	// Roster and Epoch are those after it.
	Roster *Roster
	Epoch  wire.Hash
}

// NewChain begins a chain with a confirmed roster.
func NewChain(c *contract.Contract, study wire.Hash, root *Roster) *Chain {
	ch := &Chain{contract: c, study: study, rosters: []*Roster{root}, epochs: []wire.Hash{root.Epoch(study)}, origins: map[wire.Hash]wire.Hash{}}
	for i := range root.Members {
		ch.origins[root.Fingerprint(i)] = root.Fingerprint(i)
	}
	return ch
}

// Root is the roster that people confirmed, Setup its epoch.
func (ch *Chain) Root() *Roster { return ch.rosters[0] }

// Setup is the epoch in which the parties agreed the anchor.
func (ch *Chain) Setup() wire.Hash { return ch.epochs[0] }

// Head is the present roster.
func (ch *Chain) Head() *Roster { return ch.rosters[len(ch.rosters)-1] }

// Epoch is the present epoch.
func (ch *Chain) Epoch() wire.Hash { return ch.epochs[len(ch.epochs)-1] }

// Epochs are all epochs of the chain, the first being Setup.
func (ch *Chain) Epochs() []wire.Hash { return slices.Clone(ch.epochs) }

// Steps are the amendments, in order.
func (ch *Chain) Steps() []Step { return ch.steps }

// At returns the roster of an epoch, nil if the chain has no such epoch.
func (ch *Chain) At(epoch wire.Hash) *Roster {
	if i := slices.Index(ch.epochs, epoch); i >= 0 {
		return ch.rosters[i]
	}
	return nil
}

// CheckEpoch refuses an epoch outside of the chain, and names both.
func (ch *Chain) CheckEpoch(epoch wire.Hash) error {
	if ch.At(epoch) != nil {
		return nil
	}
	return fmt.Errorf("it belongs to epoch %s, which is none that led to the present one, %s (roster %d)", epoch.Short(), ch.Epoch().Short(), ch.Head().Number)
}

// Origin is the first fingerprint of the participant that has, or had, this one; zero
// if there was none.
func (ch *Chain) Origin(fingerprint wire.Hash) wire.Hash { return ch.origins[fingerprint] }

// Same reports whether two fingerprints are of one participant.
func (ch *Chain) Same(a, b wire.Hash) bool {
	o := ch.origins[a]
	return !o.IsZero() && o == ch.origins[b]
}

// In returns the entry of a participant, named by any of its fingerprints, in a
// roster of the chain; nil if it has none there.
func (ch *Chain) In(r *Roster, fingerprint wire.Hash) *identity.Statement {
	origin := ch.origins[fingerprint]
	if origin.IsZero() || r == nil {
		return nil
	}
	for i, m := range r.Members {
		if ch.origins[r.Fingerprint(i)] == origin {
			return m
		}
	}
	return nil
}

// Present is a participant's present entry, nil if it has left.
func (ch *Chain) Present(fingerprint wire.Hash) *identity.Statement {
	return ch.In(ch.Head(), fingerprint)
}

// Last is a participant's last entry, whether it has left or not; nil if there is none.
func (ch *Chain) Last(fingerprint wire.Hash) *identity.Statement {
	for i := len(ch.rosters) - 1; i >= 0; i-- {
		if s := ch.In(ch.rosters[i], fingerprint); s != nil {
			return s
		}
	}
	return nil
}

// Everybody are all entries that there have been, the present ones first.
func (ch *Chain) Everybody() []*identity.Statement {
	seen := map[wire.Hash]bool{}
	var out []*identity.Statement
	for i := len(ch.rosters) - 1; i >= 0; i-- {
		for j, m := range ch.rosters[i].Members {
			if f := ch.rosters[i].Fingerprint(j); !seen[f] {
				seen[f] = true
				out = append(out, m)
			}
		}
	}
	return out
}

// Known returns the entry with exactly this fingerprint, whether or not it is still in
// use; nil if there was none.
func (ch *Chain) Known(fingerprint wire.Hash) *identity.Statement {
	for _, r := range ch.rosters {
		if m, err := r.Member(fingerprint); err == nil {
			return m
		}
	}
	return nil
}

// Late reports whether a participant came by an amendment, after setup.
func (ch *Chain) Late(fingerprint wire.Hash) bool {
	return !ch.origins[fingerprint].IsZero() && ch.In(ch.Root(), fingerprint) == nil
}

// Propose makes the amendment that changes the present roster: party is the entry that
// is replaced or leaves, statement the new one. Nobody has signed it.
func (ch *Chain) Propose(kind string, party wire.Hash, statement *identity.Statement, reason string) (*Amendment, error) {
	a := &Amendment{Format: 1, Study: ch.study, From: ch.Epoch(), Number: ch.Head().Number + 1, Kind: kind, Party: party, Reason: reason}
	if statement != nil {
		a.Statement = statement.Encode()
		if kind == AmendAdd {
			a.Party = statement.Fingerprint()
		}
	}
	r, _, err := ch.amended(a)
	if err != nil {
		return nil, err
	}
	a.To = r.Epoch(ch.study)
	return a, nil
}

// amended is the roster after an amendment, and its new statement; who has signed is
// not looked at.
func (ch *Chain) amended(a *Amendment) (*Roster, *identity.Statement, error) {
	wrong := func(format string, args ...any) (*Roster, *identity.Statement, error) {
		return nil, nil, fmt.Errorf("member: amendment %q: %w", a.Kind, fmt.Errorf(format, args...))
	}
	head := ch.Head()
	switch {
	case a.Study != ch.study:
		return wrong("it is for contract %s, this study has %s", a.Study.Short(), ch.study.Short())
	case a.From != ch.Epoch():
		return wrong("it starts from epoch %s, the present one is %s (roster %d)", a.From.Short(), ch.Epoch().Short(), head.Number)
	case a.Number != head.Number+1:
		return wrong("it makes roster %d, the next is %d", a.Number, head.Number+1)
	}
	var statement *identity.Statement
	if len(a.Statement) > 0 {
		var err error
		if statement, err = identity.DecodeStatement(a.Statement); err != nil {
			return wrong("%w", err)
		}
		if statement.Role != identity.RoleParty {
			return wrong("the new entry is an %s's, must be a party's", statement.Role)
		}
		if err := ch.contract.CheckView(statement); err != nil {
			return wrong("%w", err)
		}
		if f := statement.Fingerprint(); !ch.origins[f].IsZero() {
			return wrong("the keys of the new entry have been in a roster of this study")
		}
	}
	members := slices.Clone(head.Members)
	at := -1
	for i := range members {
		if head.Fingerprint(i) == a.Party {
			at = i
		}
	}
	switch a.Kind {
	case AmendAdd:
		if statement == nil || a.Party != statement.Fingerprint() {
			return wrong("it has no statement of who comes")
		}
		members = append(members, statement)
	case AmendRekey, AmendRemove, AmendWithdraw:
		if at < 0 || members[at].Role != identity.RoleParty {
			return wrong("%s is no party of roster %d", a.Party.Short(), head.Number)
		}
		if (a.Kind == AmendRekey) != (statement != nil) {
			return wrong("a rekey has a new statement, what leaves has none")
		}
		if statement == nil {
			members = slices.Delete(members, at, at+1)
			break
		}
		if old := members[at]; statement.Name != old.Name || !bytes.Equal(statement.ApproverKey, old.ApproverKey) || statement.View != old.View {
			return wrong("it changes the name, the approver or the view of %q; new keys keep them", old.Name)
		}
		members[at] = statement
	default:
		return wrong("this program knows %s", strings.Join([]string{AmendRekey, AmendAdd, AmendRemove, AmendWithdraw}, ", "))
	}
	r, err := newRoster(a.Number, members, 0, contract.MaxParties)
	if err != nil {
		return wrong("%w", err)
	}
	return r, statement, nil
}

// Check verifies an amendment as the next of the chain: what it changes, where it leads
// and all signatures. analyst says that the analyst's must be there too, as it must
// before anybody follows. Confirmations are not looked at.
func (ch *Chain) Check(a *Amendment, analyst bool) (*Roster, error) {
	r, statement, err := ch.amended(a)
	if err != nil {
		return nil, err
	}
	if to := r.Epoch(ch.study); a.To != to {
		return nil, fmt.Errorf("member: amendment %q says that it leads to epoch %s; it leads to %s", a.Kind, a.To.Short(), to.Short())
	}
	by := ch.Head().Analyst()
	signers := map[wire.Hash]ed25519.PublicKey{by.Fingerprint(): by.SigningKey}
	var must []wire.Hash
	if analyst {
		must = append(must, by.Fingerprint())
	}
	switch a.Kind {
	case AmendRekey:
		old, err := ch.Head().Member(a.Party)
		if err != nil {
			return nil, err
		}
		signers[a.Party], signers[statement.Fingerprint()] = old.SigningKey, statement.SigningKey
		must = append(must, a.Party, statement.Fingerprint())
	case AmendWithdraw:
		own, err := ch.Head().Member(a.Party)
		if err != nil {
			return nil, err
		}
		signers[a.Party] = own.SigningKey
	}
	return r, a.checkSignatures(signers, must...)
}

// Missing says who has still to confirm an add that Check has accepted: the newcomer, and
// as many of the named members as the contract says. It checks the confirmations.
func (ch *Chain) Missing(a *Amendment, after *Roster, confirmations []*Confirmation) ([]string, error) {
	if a.Kind != AmendAdd {
		return nil, nil
	}
	yes := map[wire.Hash]bool{}
	var anchor *wire.Hash
	for _, c := range confirmations {
		if err := c.Check(after, ch.study); err != nil {
			return nil, err
		}
		yes[c.Party] = true
		if c.Anchor == nil || c.Party == a.Party { // the newcomer has no anchor yet
			continue
		}
		if anchor != nil && *anchor != *c.Anchor {
			return nil, fmt.Errorf("member: the members who confirmed roster %d name different anchors, %s and %s", after.Number, anchor.Short(), c.Anchor.Short())
		}
		anchor = c.Anchor
	}
	newcomer, err := after.Member(a.Party)
	if err != nil {
		return nil, err
	}
	var missing []string
	if !yes[a.Party] {
		missing = append(missing, newcomer.Name)
	}
	named, need := confirmers(ch.contract, ch.Head())
	if need == 0 {
		return append(missing, "nobody who could admit: none of the members that the contract names takes part any more"), nil
	}
	var not []string
	for _, m := range named {
		if yes[m.Fingerprint()] {
			need--
		} else {
			not = append(not, m.Name)
		}
	}
	switch {
	case need <= 0 && anchor == nil:
		missing = append(missing, "a member who has the anchor")
	case need <= 0:
	case need == len(not):
		missing = append(missing, not...)
	default:
		missing = append(missing, fmt.Sprintf("%d of %s", need, strings.Join(not, ", ")))
	}
	return missing, nil
}

// Extend follows an amendment: it verifies everything about it and makes its roster the
// present one. On an error the chain is as before.
func (ch *Chain) Extend(a *Amendment, confirmations []*Confirmation) error {
	r, err := ch.Check(a, true)
	if err != nil {
		return err
	}
	missing, err := ch.Missing(a, r, confirmations)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("member: the amendment %q is not confirmed by %s", a.Kind, strings.Join(missing, ", "))
	}
	if len(a.Statement) > 0 {
		f := wire.HashOf(a.Statement)
		ch.origins[f] = f
		if a.Kind == AmendRekey {
			ch.origins[f] = ch.origins[a.Party]
		}
	}
	ch.rosters, ch.epochs = append(ch.rosters, r), append(ch.epochs, a.To)
	ch.steps = append(ch.steps, Step{a, confirmations, r, a.To})
	return nil
}

// Anchor is the anchor's id that the members confirmed when a participant came late;
// nil for others.
func (ch *Chain) Anchor(fingerprint wire.Hash) *wire.Hash {
	for _, s := range ch.steps {
		if s.Amendment.Kind != AmendAdd || ch.origins[fingerprint] != s.Amendment.Party {
			continue
		}
		for _, c := range s.Confirmations {
			if c.Anchor != nil && c.Party != s.Amendment.Party {
				return c.Anchor
			}
		}
	}
	return nil
}
