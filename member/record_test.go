package member_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"concord/identity"
	"concord/member"
	"concord/wire"
)

func receipt(id *identity.Identity) *member.Receipt {
	r := &member.Receipt{
		Format: 1, Study: wire.Hash{1}, Epoch: wire.Hash{2}, Sender: wire.Hash{3}, Manifest: wire.Hash{4},
		Ciphertext: wire.Hash{5}, Received: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	r.Sign(id)
	return r
}

func TestReceipt(t *testing.T) {
	analyst := newIdentity(t, identity.RoleAnalyst, "Analyst")
	r := receipt(analyst)
	got, err := member.DecodeReceipt(r.Encode(), analyst.Statement)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, got); diff != "" {
		t.Error(diff)
	}
	other := newIdentity(t, identity.RoleAnalyst, "Analyst")
	_, err = member.DecodeReceipt(r.Encode(), other.Statement)
	wantProblem(t, "another analyst", err, "receipt signature does not verify")
	forged := *r
	forged.Manifest = wire.Hash{9}
	_, err = member.DecodeReceipt(forged.Encode(), analyst.Statement)
	wantProblem(t, "another bundle", err, "receipt signature does not verify")
	_, err = member.DecodeReceipt(append(r.Encode(), ' '), analyst.Statement)
	wantProblem(t, "trailing space", err, "canonical")
}

func FuzzDecodeReceipt(f *testing.F) {
	analyst := newIdentity(f, identity.RoleAnalyst, "Analyst")
	f.Add(receipt(analyst).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := member.DecodeReceipt(b, analyst.Statement)
		if err == nil && string(r.Encode()) != string(b) {
			t.Fatal("accepted another spelling")
		}
	})
}

func TestWitness(t *testing.T) {
	analyst := newIdentity(t, identity.RoleAnalyst, "Analyst")
	own, seen := member.Head{Number: 7, Hash: wire.Hash{1}}, member.Head{Number: 3, Hash: wire.Hash{2}}
	w := &member.Witness{
		Format: 1, Study: wire.Hash{1}, By: analyst.Statement.Fingerprint(), To: wire.Hash{3}, Heads: *member.NewHeads(own, seen),
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	w.Sign(analyst)
	got, err := member.DecodeWitness(w.Encode(), analyst.Statement)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w, got); diff != "" {
		t.Error(diff)
	}
	_, err = member.DecodeWitness(w.Encode(), newIdentity(t, identity.RoleAnalyst, "Analyst").Statement)
	wantProblem(t, "another analyst", err, "expected")
	forged := *w
	forged.Heads.Own = &member.Head{Number: 6, Hash: wire.Hash{1}}
	_, err = member.DecodeWitness(forged.Encode(), analyst.Statement)
	wantProblem(t, "another head", err, "witness signature does not verify")
	forged.Heads = member.Heads{}
	_, err = member.DecodeWitness(forged.Encode(), analyst.Statement)
	wantProblem(t, "no head", err, "given and empty")
}

// TestReceiptHeads: heads are signed with the receipt, one without them stays
// what it was, and heads that no log has are refused.
func TestReceiptHeads(t *testing.T) {
	analyst := newIdentity(t, identity.RoleAnalyst, "Analyst")
	if b := string(receipt(analyst).Encode()); strings.Contains(b, "heads") {
		t.Errorf("a receipt without heads says %s", b)
	}
	r := receipt(analyst)
	r.Heads = member.NewHeads(member.Head{Number: 7, Hash: wire.Hash{1}}, member.Head{})
	r.Sign(analyst)
	got, err := member.DecodeReceipt(r.Encode(), analyst.Statement)
	if err != nil || got.Heads.Own.Number != 7 || got.Heads.Seen != nil {
		t.Fatalf("%+v, %v", got, err)
	}
	r.Heads.Own.Number = 8
	_, err = member.DecodeReceipt(r.Encode(), analyst.Statement)
	wantProblem(t, "another head", err, "receipt signature does not verify")
	r.Heads.Own.Number = 0
	r.Sign(analyst)
	_, err = member.DecodeReceipt(r.Encode(), analyst.Statement)
	wantProblem(t, "number 0", err, "audit head has number 0")
}
