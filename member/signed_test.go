package member_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"regexp"
	"testing"
	"time"

	"concord/contract"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

// TestSignaturesCoverAll: every signed record is signed over all that it says, with the
// purpose before it. That is computed here from the encoding alone, as another program
// would: the signature is taken out of the text, and what remains was signed.
func TestSignaturesCoverAll(t *testing.T) {
	id := newIdentity(t, identity.RoleParty, "North")
	analyst := newIdentity(t, identity.RoleAnalyst, "Office")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	receipt := &member.Receipt{Format: 1, Study: wire.Hash{1}, Epoch: wire.Hash{2}, Sender: wire.Hash{3}, Manifest: wire.Hash{4}, Ciphertext: wire.Hash{5}, Received: at}
	receipt.Sign(analyst)
	withdrawal := &member.Withdrawal{Format: 1, Study: wire.Hash{1}, Epoch: wire.Hash{2}, Party: wire.Hash{3}, Kind: member.AmendWithdraw, Deleted: []member.Deleted{}, Time: at}
	withdrawal.Sign(analyst)
	amendment := &member.Amendment{Format: 1, Study: wire.Hash{1}, From: wire.Hash{2}, To: wire.Hash{3}, Number: 2, Kind: member.AmendRemove, Party: wire.Hash{4}}
	amendment.Sign(analyst)
	one := regexp.MustCompile(`,"signature":"([^"]*)"`)
	list := regexp.MustCompile(`,"signatures":\[\{"by":"[0-9a-f]*","signature":"([^"]*)"\}\]`)
	for _, r := range []struct {
		purpose string
		by      *identity.Identity
		encoded []byte
		part    *regexp.Regexp
	}{
		{"identity", id, id.Statement.Encode(), one},
		{"confirmation", id, member.Confirm(id, wire.Hash{1}, wire.Hash{2}).Encode(), one},
		{"receipt", analyst, receipt.Encode(), one},
		{"withdrawal", analyst, withdrawal.Encode(), one},
		{"amendment", analyst, amendment.Encode(), list},
	} {
		found := r.part.FindAllSubmatch(r.encoded, -1)
		if len(found) != 1 {
			t.Errorf("%s: %d signatures in %s", r.purpose, len(found), r.encoded)
			continue
		}
		signature, err := base64.StdEncoding.DecodeString(string(found[0][1]))
		if err != nil {
			t.Fatal(err)
		}
		rest := r.part.ReplaceAll(r.encoded, nil)
		if !ed25519.Verify(r.by.Statement.SigningKey, append([]byte("concord/"+r.purpose+"/v1\x00"), rest...), signature) {
			t.Errorf("%s: the signature is not over %q and all that the record says", r.purpose, "concord/"+r.purpose+"/v1\\0")
		}
	}
}

// TestPurposes: what was signed for one purpose counts for no other.
func TestPurposes(t *testing.T) {
	id := newIdentity(t, identity.RoleParty, "North")
	text := []byte("the same bytes")
	signature := id.Sign(wire.SignReceipt, text)
	if err := wire.Verify(id.Statement.SigningKey, wire.SignReceipt, text, signature); err != nil {
		t.Error(err)
	}
	wantProblem(t, "for another purpose", wire.Verify(id.Statement.SigningKey, wire.SignWithdrawal, text, signature), "the withdrawal signature does not verify")
	wantProblem(t, "of another text", wire.Verify(id.Statement.SigningKey, wire.SignReceipt, text[1:], signature), "the receipt signature does not verify")
}

// TestEpochCoversStatements: the epoch, and so the phrase that people compare, is another
// for every other member, also for one of the same name.
func TestEpochCoversStatements(t *testing.T) {
	c, err := contract.ParseYAML([]byte(smallYAML))
	if err != nil {
		t.Fatal(err)
	}
	agreed := wire.Hash{1}
	members := []*identity.Statement{newIdentity(t, identity.RoleAnalyst, "Analyst").Statement}
	for _, name := range []string{"North", "East", "West"} {
		members = append(members, newIdentity(t, identity.RoleParty, name).Statement)
	}
	seen := map[wire.Hash]bool{}
	for i := range 5 {
		other := append([]*identity.Statement{}, members...)
		if i < len(other) { // the same name and length, other keys
			other[i] = newIdentity(t, other[i].Role, other[i].Name).Statement
		}
		r, err := member.NewRoster(c, 1, other)
		if err != nil {
			t.Fatal(err)
		}
		if epoch := r.Epoch(agreed); seen[epoch] {
			t.Errorf("member %d has other keys, and the epoch is the same", i+1)
		} else {
			seen[epoch] = true
		}
	}
	second := newIdentity(t, identity.RoleAnalyst, "Second").Statement
	_, err = member.NewRoster(c, 1, append([]*identity.Statement{second}, members...))
	wantProblem(t, "two analysts", err, "has 2 analysts and 3 parties")
}
