package member_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

// chained is a study of an analyst and three parties whose chain is at its root.
type chained struct {
	t        *testing.T
	contract *contract.Contract
	hash     wire.Hash
	analyst  *identity.Identity
	parties  []*identity.Identity
	root     *member.Roster
}

func newChained(t *testing.T, more string) *chained {
	t.Helper()
	c, err := contract.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b]\nlabel: {name: y}\n" + more))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w := &chained{t: t, contract: c, hash: wire.HashOf(raw), analyst: newID(t, identity.RoleAnalyst, "Office", nil)}
	members := []*identity.Statement{w.analyst.Statement}
	for _, name := range []string{"North", "East", "West"} {
		id := newID(t, identity.RoleParty, name, nil)
		w.parties, members = append(w.parties, id), append(members, id.Statement)
	}
	if w.root, err = member.NewRoster(c, 1, members); err != nil {
		t.Fatal(err)
	}
	return w
}

func newID(t *testing.T, role identity.Role, name string, approver []byte) *identity.Identity {
	t.Helper()
	id, err := identity.New(role, name, approver)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (w *chained) chain() *member.Chain { return member.NewChain(w.contract, w.hash, w.root) }

// propose makes an amendment and lets who sign it.
func (w *chained) propose(ch *member.Chain, kind string, party wire.Hash, statement *identity.Statement, who ...*identity.Identity) *member.Amendment {
	w.t.Helper()
	a, err := ch.Propose(kind, party, statement, "")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, id := range who {
		a.Sign(id)
	}
	return a
}

func wantErr(t *testing.T, what string, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%s: error %v, want one with %q", what, err, text)
	}
}

// TestChain follows every kind of amendment, through its encoding, and asks who is who
// afterwards.
func TestChain(t *testing.T) {
	w := newChained(t, "")
	ch := w.chain()
	north, east, west := w.parties[0], w.parties[1], w.parties[2]
	fresh := newID(t, identity.RoleParty, "North", nil)
	south := newID(t, identity.RoleParty, "South", nil)
	follow := func(a *member.Amendment, confirmations ...*member.Confirmation) {
		t.Helper()
		again, err := member.DecodeAmendment(a.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if err := ch.Extend(again, confirmations); err != nil {
			t.Fatal(err)
		}
	}
	follow(w.propose(ch, member.AmendRekey, north.Statement.Fingerprint(), fresh.Statement, north, fresh, w.analyst))
	add := w.propose(ch, member.AmendAdd, wire.Hash{}, south.Statement, w.analyst)
	anchor := wire.Hash{7}
	yes := []*member.Confirmation{member.Confirm(south, w.hash, add.To)}
	for _, id := range []*identity.Identity{fresh, east, west} {
		wantErr(t, "add without "+id.Statement.Name, ch.Extend(add, yes), "is not confirmed by")
		yes = append(yes, member.ConfirmAnchor(id, w.hash, add.To, &anchor))
	}
	follow(add, yes...)
	follow(w.propose(ch, member.AmendWithdraw, west.Statement.Fingerprint(), nil, west, w.analyst))
	follow(w.propose(ch, member.AmendRemove, east.Statement.Fingerprint(), nil, w.analyst))

	if n := ch.Head().Number; n != 5 || len(ch.Steps()) != 4 || ch.Setup() != w.root.Epoch(w.hash) {
		t.Errorf("the chain has %d steps and ends with roster %d", len(ch.Steps()), n)
	}
	old, now := north.Statement.Fingerprint(), fresh.Statement.Fingerprint()
	if !ch.Same(old, now) || ch.Present(old) == nil || ch.Present(old).Fingerprint() != now || ch.In(ch.Root(), now).Fingerprint() != old {
		t.Error("a re-keyed party is not the same before and after")
	}
	if ch.Same(old, east.Statement.Fingerprint()) || ch.Same(wire.Hash{1}, wire.Hash{1}) {
		t.Error("two parties, or nobody and nobody, are the same")
	}
	if ch.Present(west.Statement.Fingerprint()) != nil || ch.Last(west.Statement.Fingerprint()) == nil {
		t.Error("a party that left is there, or was never there")
	}
	if !ch.Late(south.Statement.Fingerprint()) || ch.Late(now) || ch.Late(wire.Hash{1}) {
		t.Error("who came late is wrong")
	}
	if got := ch.Anchor(south.Statement.Fingerprint()); got == nil || *got != anchor {
		t.Errorf("the newcomer's anchor is %v", got)
	}
	for _, s := range ch.Steps() {
		if ch.At(s.Epoch) != s.Roster || ch.CheckEpoch(s.Epoch) != nil {
			t.Error("an epoch of the chain is not found")
		}
	}
	foreign := wire.Hash{9}
	wantErr(t, "a foreign epoch", ch.CheckEpoch(foreign), foreign.Short())
	wantErr(t, "a foreign epoch", ch.CheckEpoch(foreign), ch.Epoch().Short())
}

// TestChainRefuses: whatever an analyst, a party or a stranger makes up is refused, and
// the chain stays as it was.
func TestChainRefuses(t *testing.T) {
	w := newChained(t, "")
	north, east := w.parties[0], w.parties[1]
	n := north.Statement.Fingerprint()
	fresh := newID(t, identity.RoleParty, "North", nil)
	stranger := newID(t, identity.RoleParty, "Eve", nil)
	base := w.chain()
	rekey := func(who ...*identity.Identity) *member.Amendment {
		return w.propose(base, member.AmendRekey, n, fresh.Statement, who...)
	}
	changed := func(change func(*member.Amendment)) *member.Amendment {
		a := w.propose(base, member.AmendRekey, n, fresh.Statement)
		change(a)
		for _, id := range []*identity.Identity{north, fresh, w.analyst} {
			a.Sign(id)
		}
		return a
	}
	altered := rekey(north, fresh, w.analyst)
	altered.Reason = "better keys"
	twice := rekey(north, fresh, w.analyst)
	twice.Signatures = append(twice.Signatures, twice.Signatures[2])
	for _, tc := range []struct {
		name string
		a    *member.Amendment
		want string
	}{
		{"rekey by the analyst alone", rekey(w.analyst), "not signed by " + n.Short()},
		{"rekey without the new key", rekey(north, w.analyst), "not signed by " + fresh.Statement.Fingerprint().Short()},
		{"rekey without the analyst", rekey(north, fresh), "not signed by " + w.analyst.Statement.Fingerprint().Short()},
		{"rekey with a stranger's signature", rekey(north, fresh, w.analyst, stranger), "has no say"},
		{"rekey altered after signing", altered, "does not verify"},
		{"a signature twice", twice, "repeated or not in order"},
		{"another study", changed(func(a *member.Amendment) { a.Study = wire.Hash{1} }), "contract"},
		{"another start", changed(func(a *member.Amendment) { a.From = wire.Hash{1} }), "starts from epoch"},
		{"another end", changed(func(a *member.Amendment) { a.To = wire.Hash{1} }), "leads to epoch"},
		{"a skipped number", changed(func(a *member.Amendment) { a.Number++ }), "the next is 2"},
		{"another kind", changed(func(a *member.Amendment) { a.Kind = "merge" }), "this program knows"},
		{"another's entry", changed(func(a *member.Amendment) { a.Party = east.Statement.Fingerprint() }), "name, the approver or the view"},
		{"nobody's entry", changed(func(a *member.Amendment) { a.Party = wire.Hash{1} }), "no party of roster 1"},
		{"the analyst's entry", changed(func(a *member.Amendment) { a.Party = w.analyst.Statement.Fingerprint() }), "no party of roster 1"},
		{"another name", changed(func(a *member.Amendment) { a.Statement = stranger.Statement.Encode() }), "name, the approver or the view"},
		{"another approver", changed(func(a *member.Amendment) {
			a.Statement = newID(t, identity.RoleParty, "North", stranger.Statement.SigningKey).Statement.Encode()
		}), "name, the approver or the view"},
		{"another view", changed(func(a *member.Amendment) {
			seeing, err := newID(t, identity.RoleParty, "North", nil).WithView("ward")
			if err != nil {
				t.Fatal(err)
			}
			a.Statement = seeing.Statement.Encode()
		}), "the contract has no views"},
		{"an analyst's statement", changed(func(a *member.Amendment) {
			a.Statement = newID(t, identity.RoleAnalyst, "North", nil).Statement.Encode()
		}), "must be a party's"},
		{"earlier keys", changed(func(a *member.Amendment) { a.Statement = north.Statement.Encode() }), "have been in a roster"},
		{"a broken statement", changed(func(a *member.Amendment) { a.Statement = []byte("{}") }), "identity statement"},
		{"remove with a statement", changed(func(a *member.Amendment) { a.Kind = member.AmendRemove }), "what leaves has none"},
		{"remove by a party", w.propose(base, member.AmendRemove, n, nil, east, w.analyst), "has no say"},
		{"withdrawal of another", w.propose(base, member.AmendWithdraw, n, nil, east, w.analyst), "has no say"},
		{"withdrawal without the analyst", w.propose(base, member.AmendWithdraw, n, nil, north), "not signed by"},
	} {
		ch := w.chain()
		wantErr(t, tc.name, ch.Extend(tc.a, nil), tc.want)
		if ch.Epoch() != ch.Setup() || len(ch.Steps()) != 0 || !ch.Origin(fresh.Statement.Fingerprint()).IsZero() {
			t.Errorf("%s: the refused amendment changed the chain", tc.name)
		}
	}
	if _, err := base.Propose(member.AmendAdd, wire.Hash{}, newID(t, identity.RoleParty, "NORTH", nil).Statement, ""); err == nil {
		t.Error("a newcomer whose name sounds like a member's was proposed")
	}
	// A fork: two amendments from one epoch; who follows one refuses the other.
	ch := w.chain()
	if err := ch.Extend(rekey(north, fresh, w.analyst), nil); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "the fork", ch.Extend(w.propose(base, member.AmendRemove, n, nil, w.analyst), nil), "starts from epoch")
}

// TestAdmission: who must confirm a newcomer is as the contract says.
func TestAdmission(t *testing.T) {
	for _, tc := range []struct {
		yaml    string
		confirm []int // parties who confirm, besides the newcomer
		missing string
	}{
		{"", []int{0, 1, 2}, ""},
		{"", []int{0, 1}, "West"},
		{"admission: {members: all, retrain: false}\n", []int{1, 2}, "North"},
		{"admission: {members: [west, North]}\n", []int{0, 2}, ""},
		{"admission: {members: [west, North]}\n", []int{0, 1}, "West"},
		{"admission: {members: 2}\n", []int{1, 2}, ""},
		{"admission: {members: 2}\n", []int{1}, "1 of"},
		{"admission: {members: [Elsewhere]}\n", []int{0, 1, 2}, "nobody who could admit"},
		{"admission: {members: 1, retrain: true}\n", []int{1}, ""},
	} {
		w := newChained(t, tc.yaml)
		ch := w.chain()
		south := newID(t, identity.RoleParty, "South", nil)
		a := w.propose(ch, member.AmendAdd, wire.Hash{}, south.Statement, w.analyst)
		after, err := ch.Check(a, true)
		if err != nil {
			t.Fatal(err)
		}
		yes := []*member.Confirmation{member.Confirm(south, w.hash, a.To)}
		for _, i := range tc.confirm {
			yes = append(yes, member.ConfirmAnchor(w.parties[i], w.hash, a.To, &wire.Hash{5}))
		}
		missing, err := ch.Missing(a, after, yes)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(missing, ", "); (tc.missing == "") != (got == "") || !strings.Contains(got, tc.missing) {
			t.Errorf("%q with %v: missing %q, want %q", tc.yaml, tc.confirm, got, tc.missing)
		}
		if missing, err = ch.Missing(a, after, yes[1:]); err != nil || !slices.Contains(missing, "South") {
			t.Errorf("%q: without the newcomer's own yes missing is %q, %v", tc.yaml, missing, err)
		}
	}
	w := newChained(t, "admission: {members: 2}\n")
	ch := w.chain()
	south := newID(t, identity.RoleParty, "South", nil)
	a := w.propose(ch, member.AmendAdd, wire.Hash{}, south.Statement, w.analyst)
	yes := []*member.Confirmation{member.Confirm(south, w.hash, a.To)}
	for i := range 2 {
		yes = append(yes, member.ConfirmAnchor(w.parties[i], w.hash, a.To, &wire.Hash{byte(i + 1)}))
	}
	wantErr(t, "members of different anchors", ch.Extend(a, yes), "different anchors")
	for i := range 2 {
		yes[i+1] = member.Confirm(w.parties[i], w.hash, a.To)
	}
	wantErr(t, "members without an anchor", ch.Extend(a, yes), "a member who has the anchor")
	yes[1] = member.ConfirmAnchor(w.parties[0], w.hash, ch.Epoch(), &wire.Hash{1})
	wantErr(t, "a confirmation of another epoch", ch.Extend(a, yes), "confirmed epoch")
	for _, bad := range []string{"admission: {members: 0}", "admission: {members: 4}", "admission: {members: none}", "admission: {members: [A, a]}", "admission: {who: all}"} {
		if _, err := contract.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b]\nlabel: {name: y}\n" + bad + "\n")); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// FuzzAmendment: what decodes encodes to the same bytes, and no amendment, however made,
// is followed without the signatures.
func FuzzAmendment(f *testing.F) {
	f.Add([]byte(`{"format":1}`))
	f.Add([]byte(fmt.Sprintf(`{"format":1,"study":"%064d","from":"%064d","to":"%064d","number":2,"kind":"remove","party":"%064d"}`, 1, 2, 3, 4)))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := member.DecodeAmendment(b)
		if err != nil {
			return
		}
		if string(a.Encode()) != string(b) {
			t.Errorf("%q decodes and encodes to %q", b, a.Encode())
		}
	})
}

// TestAnchorOfWhoComesLate: the members who confirm a party that comes late name the anchor
// that it is to get, all of them the same, and one of them at least.
func TestAnchorOfWhoComesLate(t *testing.T) {
	w := newChained(t, "")
	ch := w.chain()
	south := newID(t, identity.RoleParty, "South", nil)
	add := w.propose(ch, member.AmendAdd, wire.Hash{}, south.Statement, w.analyst)
	one, other := wire.Hash{7}, wire.Hash{8}
	confirm := func(anchors ...*wire.Hash) error {
		yes := []*member.Confirmation{member.Confirm(south, w.hash, add.To)}
		for i, anchor := range anchors {
			yes = append(yes, member.ConfirmAnchor(w.parties[i], w.hash, add.To, anchor))
		}
		return ch.Extend(add, yes)
	}
	wantErr(t, "two anchors", confirm(&one, &one, &other), "name different anchors, 0700")
	wantErr(t, "no anchor", confirm(nil, nil, nil), "a member who has the anchor")
	if err := confirm(nil, &one, nil); err != nil {
		t.Error(err)
	}
}
