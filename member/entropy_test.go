package member_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"strings"
	"testing"

	"concord/identity"
	"concord/member"
	"concord/wire"
)

// drawn records what is read of the operating system's entropy while f runs.
func drawn(f func()) []byte {
	var read bytes.Buffer
	before := rand.Reader
	defer func() { rand.Reader = before }()
	rand.Reader = io.TeeReader(before, &read)
	f()
	return read.Bytes()
}

// TestEntropyOfKeys: a signing key is made of 32 bytes of entropy and an invite's secret of
// 16. Keys that were made of fewer would look the same and could be guessed.
func TestEntropyOfKeys(t *testing.T) {
	var id *identity.Identity
	read := drawn(func() { id = newIdentity(t, identity.RoleParty, "North") })
	if len(read) < ed25519.SeedSize {
		t.Fatalf("an identity reads %d bytes of entropy", len(read))
	}
	if key := ed25519.NewKeyFromSeed(read[:ed25519.SeedSize]).Public().(ed25519.PublicKey); !bytes.Equal(id.Statement.SigningKey, key) {
		t.Error("the signing key is not made of the first 32 bytes of entropy that are read")
	}
	other := newIdentity(t, identity.RoleParty, "North").Statement
	if what := member.SharedKey(id.Statement, &identity.Statement{
		Name: "Other", SigningKey: other.SigningKey, MaskKey: other.MaskKey, TLSKey: other.TLSKey, Recipient: other.Recipient,
	}); what != "" {
		t.Errorf("two identities have the same %s", what)
	}

	var private, public string
	read = drawn(func() {
		secret, text := identity.NewApprover()
		private, public = string(secret.Reveal()), text
	})
	if len(read) != ed25519.SeedSize || public != identity.ApproverText(ed25519.NewKeyFromSeed(read).Public().(ed25519.PublicKey)) || strings.Contains(public, private) {
		t.Errorf("an approver's key is not made of the %d bytes of entropy that are read", len(read))
	}

	var invite member.Invite
	read = drawn(func() { invite = member.NewInvite("localhost:1", wire.Hash{1}, wire.Hash{2}) })
	if len(read) != 16 || !bytes.Equal(invite.Secret.Reveal(), read) {
		t.Errorf("an invite's secret is not the %d bytes of entropy that are read, or they are not 16", len(read))
	}
}
