package member_test

import (
	"testing"
	"time"

	"concord/identity"
	"concord/member"
	"concord/wire"
)

func FuzzDecodeWitness(f *testing.F) {
	party := newIdentity(f, identity.RoleParty, "North")
	head := member.Head{Number: 3, Hash: wire.Hash{1}}
	w := &member.Witness{
		Format: 1, Study: wire.Hash{2}, By: party.Statement.Fingerprint(), To: wire.Hash{3},
		Heads: member.Heads{Own: &head, Seen: &head}, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	w.Sign(party)
	f.Add(w.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := member.DecodeWitness(b, party.Statement)
		if err == nil && string(w.Encode()) != string(b) {
			t.Fatal("accepted another spelling")
		}
	})
}

func FuzzDecodeWithdrawal(f *testing.F) {
	analyst := newIdentity(f, identity.RoleAnalyst, "Analyst")
	w := &member.Withdrawal{
		Format: 1, Study: wire.Hash{1}, Epoch: wire.Hash{2}, Party: wire.Hash{3}, Kind: member.AmendWithdraw,
		Deleted: []member.Deleted{{Kind: "contribution", Sender: wire.Hash{3}, Manifest: wire.Hash{4}, Bytes: 5}},
		Models:  []member.ReleasedModel{{Parties: 3}}, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	w.Sign(analyst)
	f.Add(w.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := member.DecodeWithdrawal(b, analyst.Statement)
		if err == nil && string(w.Encode()) != string(b) {
			t.Fatal("accepted another spelling")
		}
	})
}

func FuzzParseServerURL(f *testing.F) {
	f.Add("https://analyst.example/concord")
	f.Add("https://[::1]:8443")
	f.Fuzz(func(t *testing.T, s string) {
		address, prefix, err := member.ParseServerURL(s)
		if err != nil {
			return
		}
		a, p, err := member.ParseServerURL("https://" + address + prefix)
		if err != nil || a != address || p != prefix {
			t.Fatalf("%q gives %q and %q, which give %q and %q (%v)", s, address, prefix, a, p, err)
		}
	})
}
