package study_test

import (
	"testing"
	"time"

	"concord/secret"
	"concord/study"
)

func FuzzDecodeWitness(f *testing.F) {
	party := newIdentity(f, study.RoleParty, "North")
	head := study.Head{Number: 3, Hash: study.Hash{1}}
	w := &study.Witness{
		Format: 1, Study: study.Hash{2}, By: party.Statement.Fingerprint(), To: study.Hash{3},
		Heads: study.Heads{Own: &head, Seen: &head}, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	w.Sign(party)
	f.Add(w.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := study.DecodeWitness(b, party.Statement)
		if err == nil && string(w.Encode()) != string(b) {
			t.Fatal("accepted another spelling")
		}
	})
}

func FuzzDecodeWithdrawal(f *testing.F) {
	analyst := newIdentity(f, study.RoleAnalyst, "Analyst")
	w := &study.Withdrawal{
		Format: 1, Study: study.Hash{1}, Epoch: study.Hash{2}, Party: study.Hash{3}, Kind: study.AmendWithdraw,
		Deleted: []study.Deleted{{Kind: "contribution", Sender: study.Hash{3}, Manifest: study.Hash{4}, Bytes: 5}},
		Models:  []study.ReleasedModel{{Parties: 3}}, Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	w.Sign(analyst)
	f.Add(w.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := study.DecodeWithdrawal(b, analyst.Statement)
		if err == nil && string(w.Encode()) != string(b) {
			t.Fatal("accepted another spelling")
		}
	})
}

func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte("name: north\nfloors: {rows: 50, per_class: 5, people: 40, eps: 0.1}\nledger: /srv/ledger.jsonl\napprove: true\n"))
	f.Add([]byte("floors: {rows: -1}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := study.ParsePolicy(b)
		if err == nil && (p.Rows < 0 || p.PerClass < 0 || p.People < 0 || !(p.Eps >= 0 && p.Eps < 1)) {
			t.Fatalf("accepted floors below nothing: %+v", p)
		}
	})
}

func FuzzParseApprover(f *testing.F) {
	private, public := study.NewApprover()
	f.Add(public)
	f.Add(string(private.Reveal()))
	f.Fuzz(func(t *testing.T, text string) {
		key, err := study.ParseApprover(text)
		if err == nil {
			again, err := study.ParseApprover(study.ApproverText(key))
			if err != nil || string(again) != string(key) {
				t.Fatalf("written and read again it is another key (%v)", err)
			}
		}
		if _, err := study.DecodeApprover(secret.NewBytes([]byte(text))); err == nil && len(text) < 64 {
			t.Fatal("accepted a key without its digits")
		}
	})
}

func FuzzParseServerURL(f *testing.F) {
	f.Add("https://analyst.example/concord")
	f.Add("https://[::1]:8443")
	f.Fuzz(func(t *testing.T, s string) {
		address, prefix, err := study.ParseServerURL(s)
		if err != nil {
			return
		}
		a, p, err := study.ParseServerURL("https://" + address + prefix)
		if err != nil || a != address || p != prefix {
			t.Fatalf("%q gives %q and %q, which give %q and %q (%v)", s, address, prefix, a, p, err)
		}
	})
}
