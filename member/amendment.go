package member

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"

	"concord/identity"
	"concord/wire"
)

// MaxAmendmentBytes bounds an encoded amendment.
const MaxAmendmentBytes = 32 << 10

// Kinds of amendments.
const (
	AmendRekey    = "rekey"    // a party has new keys
	AmendAdd      = "add"      // a party joins after setup
	AmendRemove   = "remove"   // the analyst removes a party
	AmendWithdraw = "withdraw" // a party withdraws, by its own signature or on paper
)

// Amendment changes one entry of a roster, signed by those whom the change
// concerns. It names the epoch that it starts from, so that amendments have one order:
// see [Chain].
type Amendment struct {
	Format int       `json:"format"`
	Study  wire.Hash `json:"study"`
	// From is the epoch that is amended, To the one that it becomes.
	From wire.Hash `json:"from"`
	To   wire.Hash `json:"to"`
	// Number is that of the roster it becomes.
	Number int    `json:"number"`
	Kind   string `json:"kind"`
	// Party is the fingerprint of the entry that is replaced or leaves; for an add,
	// of the one that comes.
	Party wire.Hash `json:"party"`
	// Statement is the new entry of a rekey or an add.
	Statement []byte `json:"statement,omitempty"`
	// Reason is told to people.
	Reason string `json:"reason,omitempty"`
	// Signatures are in the order of By.
	Signatures []AmendmentSignature `json:"signatures,omitempty"`
}

// AmendmentSignature is one signature under an amendment.
type AmendmentSignature struct {
	// By is the fingerprint of who signs.
	By        wire.Hash `json:"by"`
	Signature []byte    `json:"signature"`
}

// Encode returns the canonical encoding.
func (a *Amendment) Encode() []byte {
	b, err := wire.Canonical(a)
	if err != nil { // a struct of hashes, strings and bytes always encodes
		panic("member: " + err.Error())
	}
	return b
}

func (a Amendment) signedPart() []byte {
	a.Signatures = nil
	return a.Encode()
}

// Sign adds the signature of id, once.
func (a *Amendment) Sign(id *identity.Identity) {
	by := id.Statement.Fingerprint()
	if a.SignedBy(by) {
		return
	}
	a.Signatures = append(slices.Clone(a.Signatures), AmendmentSignature{By: by, Signature: id.Sign(wire.SignAmendment, a.signedPart())})
	slices.SortFunc(a.Signatures, func(x, y AmendmentSignature) int { return bytes.Compare(x.By[:], y.By[:]) })
}

// SignedBy reports whether there is a signature of a fingerprint. A [Chain] checks it.
func (a *Amendment) SignedBy(by wire.Hash) bool {
	return slices.ContainsFunc(a.Signatures, func(s AmendmentSignature) bool { return s.By == by })
}

// Same reports whether two amendments say the same, whoever has signed them.
func (a *Amendment) Same(b *Amendment) bool { return bytes.Equal(a.signedPart(), b.signedPart()) }

// DecodeAmendment reads an amendment. [Chain.Extend] says whether it counts.
func DecodeAmendment(b []byte) (*Amendment, error) {
	if len(b) > MaxAmendmentBytes {
		return nil, fmt.Errorf("member: an amendment has %d bytes, at most %d are read", len(b), MaxAmendmentBytes)
	}
	a := new(Amendment)
	if err := wire.DecodeFormat(b, "member: amendment", a, &a.Format); err != nil {
		return nil, err
	}
	if a.Reason != "" {
		if err := wire.CheckText("the amendment's reason", a.Reason); err != nil {
			return nil, fmt.Errorf("member: %w", err)
		}
	}
	return a, nil
}

// checkSignatures verifies every signature: by one of the signers, in order, none
// twice, and one of each that must is there.
func (a *Amendment) checkSignatures(signers map[wire.Hash]ed25519.PublicKey, must ...wire.Hash) error {
	part := a.signedPart()
	for i, s := range a.Signatures {
		if i > 0 && bytes.Compare(a.Signatures[i-1].By[:], s.By[:]) >= 0 {
			return errors.New("member: amendment: a signature is repeated or not in order")
		}
		key, ok := signers[s.By]
		if !ok {
			return fmt.Errorf("member: amendment: %s has no say in it", s.By.Short())
		}
		if err := wire.Verify(key, wire.SignAmendment, part, s.Signature); err != nil {
			return fmt.Errorf("member: amendment, signature of %s: %w", s.By.Short(), err)
		}
	}
	for _, by := range must {
		if !a.SignedBy(by) {
			return fmt.Errorf("member: the amendment %q is not signed by %s", a.Kind, by.Short())
		}
	}
	return nil
}
