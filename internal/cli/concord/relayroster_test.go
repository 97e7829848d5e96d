package concord_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// forged is a statement under a clinic's name with keys of the analyst's.
func forged(t *testing.T, name string) *identity.Identity {
	t.Helper()
	id, err := identity.New(identity.RoleParty, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// invent makes the analyst show a party a roster with other keys under the names of
// some clinics, confirmed by all, as far as it has their keys.
func (o *office) invent(victim string, names ...string) {
	o.t.Helper()
	fake := map[string]*identity.Identity{}
	for _, name := range names {
		fake[name] = forged(o.t, name)
	}
	o.bendRoster = func(party string, a *api.Roster) {
		if party != victim {
			return
		}
		members := []*identity.Statement{o.id.Statement}
		a.Statements = [][]byte{o.id.Statement.Encode()}
		for _, name := range clinics {
			s := o.statementOf(name)
			if fake[name] != nil {
				s = fake[name].Statement
			}
			members, a.Statements = append(members, s), append(a.Statements, s.Encode())
		}
		roster, err := member.NewRoster(o.contract, 1, members)
		if err != nil {
			o.t.Error(err)
			return
		}
		epoch := roster.Epoch(o.study)
		a.Analyst = member.Confirm(o.id, o.study, epoch).Encode()
		honest := a.Confirmations
		a.Confirmations = nil
		for _, id := range fake {
			a.Confirmations = append(a.Confirmations, member.Confirm(id, o.study, epoch).Encode())
		}
		a.Confirmations = append(a.Confirmations, honest...)
	}
}

// TestSubstitutedKeys: with another key of one party, or of all, in the roster that one
// party sees, its phrase is another one, and who types the words that the others read
// out confirms nothing.
func TestSubstitutedKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, names := range [][]string{{"East"}, {"East", "West"}} {
		o := newOffice(t)
		o.join()
		o.invent("North", names...)
		theirs := o.phrase("West")
		if mine := o.phrase("North"); mine == theirs {
			t.Errorf("with other keys of %v the phrase is the same", names)
		}
		o.must(1, "the phrase is not this roster's; nothing was confirmed", "North", "roster", "confirm", "--phrase", theirs)
		o.must(1, "nobody here has confirmed the roster yet", "North", "sync")
	}
	// Its own entry a program recognises without anybody's help.
	o := newOffice(t)
	o.join()
	o.invent("North", "North")
	o.must(1, "the server's roster does not hold this site's own identity", "North", "roster")
}

// TestEquivocation: parties that were shown different rosters, and whose people did not
// compare, are stopped by each other's confirmations, which are of other epochs.
func TestEquivocation(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := newOffice(t)
	o.join()
	o.invent("North", "East")
	o.confirm("East", "West")
	// North's people confirm what they see. The server it confirms at cannot use that: its
	// honest part refuses the confirmation, a malicious one would say yes.
	o.acceptAll = true
	o.confirm("North")
	o.must(1, "has not confirmed the roster", "North", "sync")
	o.acknowledge("North")
	// Which one comes first depends on the keys: of another epoch, or of the East that
	// North was not shown.
	out := o.must(1, "the server's confirmations: member: ", "North", "sync")
	if !strings.Contains(out, "do not go on: tell the other parties and the analyst") {
		t.Errorf("the hint is missing:\n%s", out)
	}
	o.noSeed("North")
	// The others wait for a confirmation of theirs that North never gave.
	o.must(3, "waiting for North to confirm the roster", "West", "sync")
	o.noSeed("West")
}

// acknowledge gives a clinic the receipt for its share that an honest server refused.
func (o *office) acknowledge(name string) {
	o.t.Helper()
	raw, err := os.ReadFile(filepath.Join(o.site(name), "outbox", "setup.bundle"))
	if err != nil {
		o.t.Fatal(err)
	}
	env, _, err := bundle.ReadEnvelope(bytes.NewReader(raw))
	if err != nil {
		o.t.Fatal(err)
	}
	r := member.Receipt{Format: 1, Study: env.Study, Epoch: env.Epoch, Sender: env.Sender, Manifest: env.Manifest, Ciphertext: env.Ciphertext, Received: time.Now().UTC().Truncate(time.Second)}
	r.Sign(o.id)
	if err := os.WriteFile(filepath.Join(o.site(name), "receipts", "setup.json"), r.Encode(), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// TestDroppedConfirmations: without the confirmation of every party, or of the analyst,
// no party goes on, and it says whose is missing.
func TestDroppedConfirmations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := ready(t)
	o.bendRoster = func(party string, a *api.Roster) {
		a.Confirmations = slices.DeleteFunc(a.Confirmations, func(b []byte) bool {
			c, err := member.DecodeConfirmation(b)
			return err == nil && c.Party == o.statementOf("East").Fingerprint()
		})
	}
	o.must(3, "waiting for East to confirm the roster", "North", "sync")
	o.noSeed("North")
	o.bendRoster = func(_ string, a *api.Roster) { a.Analyst = nil }
	o.must(1, "the analyst has not signed this contract and roster", "North", "sync")
	o.bendRoster = func(_ string, a *api.Roster) {
		a.Analyst = member.Confirm(o.id, o.study, wire.Hash{1}).Encode()
	}
	o.must(1, "the analyst's signature over contract and roster: ", "North", "sync")
	o.bendRoster = func(_ string, a *api.Roster) { a.Analyst = a.Confirmations[0] }
	o.must(1, "it is another's", "North", "sync")
	o.noSeed("North")
	o.bendRoster = nil
	o.send()
	o.sameSeeds()
}

// TestAmendedRoster: a server that goes back behind an amendment that a site has followed,
// shows another in its place, or makes one up is refused, and what it says names both.
func TestAmendedRoster(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := ready(t)
	before := o.shareOf("East").Epoch
	o.must(0, "as of roster 2", "East", "rekey")
	o.must(0, `roster 2: "East" has new keys`, "North", "sync")
	var amended api.Roster
	o.bendRoster = func(_ string, a *api.Roster) {
		amended = *a
		a.Amendments = nil
	}
	o.must(1, "the server serves roster 1; this site has followed to roster 2", "North", "sync")
	o.must(1, "the server serves roster 1; this site has followed to roster 2", "North", "roster")
	_, head := o.chainOf(amended)
	fork := member.NewChain(o.contract, o.study, head.Root())
	remove, err := fork.Propose(member.AmendRemove, o.statementOf("West").Fingerprint(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	remove.Sign(o.id)
	o.bendRoster = func(_ string, a *api.Roster) { a.Amendments = []api.Amended{{Amendment: remove.Encode()}} }
	o.must(1, fmt.Sprintf("the server serves a roster 2 with epoch %s; this site has followed one with epoch %s", remove.To.Short(), head.Epoch().Short()), "North", "sync")
	if before == head.Epoch() {
		t.Error("the amendment left the epoch as it was")
	}
	// Made up: new keys for West that West has not signed, and a newcomer that nobody
	// confirmed, who would get the anchor.
	fake := forged(t, "West")
	rekey, err := head.Propose(member.AmendRekey, o.statementOf("West").Fingerprint(), fake.Statement, "")
	if err != nil {
		t.Fatal(err)
	}
	rekey.Sign(o.id)
	rekey.Sign(fake)
	eve := forged(t, "Eve")
	add, err := head.Propose(member.AmendAdd, wire.Hash{}, eve.Statement, "")
	if err != nil {
		t.Fatal(err)
	}
	add.Sign(o.id)
	yes := [][]byte{member.Confirm(eve, o.study, add.To).Encode()}
	for _, tc := range []struct {
		a    api.Amended
		says string
	}{
		{api.Amended{Amendment: rekey.Encode()}, "is not signed by " + o.statementOf("West").Fingerprint().Short()},
		{api.Amended{Amendment: add.Encode(), Confirmations: yes}, `the amendment "add" is not confirmed by`},
	} {
		o.bendRoster = func(_ string, a *api.Roster) { a.Amendments = append(slices.Clone(amended.Amendments), tc.a) }
		o.must(1, tc.says, "North", "sync")
	}
	o.bendRoster = nil
	for _, name := range clinics {
		o.concord(name, "sync")
	}
	o.sameSeeds()
}

// chainOf is the chain that an answer tells.
func (o *office) chainOf(a api.Roster) (*member.Roster, *member.Chain) {
	o.t.Helper()
	var members []*identity.Statement
	for _, b := range a.Statements {
		m, err := identity.DecodeStatement(b)
		if err != nil {
			o.t.Fatal(err)
		}
		members = append(members, m)
	}
	root, err := member.NewRoster(o.contract, a.Number, members)
	if err != nil {
		o.t.Fatal(err)
	}
	chain := member.NewChain(o.contract, o.study, root)
	for _, told := range a.Amendments {
		if err := site.Follow(chain, told); err != nil {
			o.t.Fatal(err)
		}
	}
	return root, chain
}
