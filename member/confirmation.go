package member

import (
	"fmt"

	"concord/identity"
	"concord/wire"
)

// MaxConfirmationBytes bounds an encoded confirmation.
const MaxConfirmationBytes = 4 << 10

// Confirmation is a party's signed yes: people there have compared the roster's
// phrase, recognised every name, and agree to the contract. Setup starts when
// every party has confirmed the same epoch.
type Confirmation struct {
	Format   int       `json:"format"`
	Contract wire.Hash `json:"contract"`
	Epoch    wire.Hash `json:"epoch"`
	// Party is the fingerprint of who confirms.
	Party wire.Hash `json:"party"`
	// Anchor is the id of the anchor that this member holds, where it confirms a party
	// that comes after setup.
	Anchor    *wire.Hash `json:"anchor,omitempty"`
	Signature []byte     `json:"signature,omitempty"`
}

// Confirm signs a confirmation.
func Confirm(id *identity.Identity, contract, epoch wire.Hash) *Confirmation {
	return ConfirmAnchor(id, contract, epoch, nil)
}

// ConfirmAnchor signs a member's confirmation of a party that comes after setup, with
// the id of the anchor that the member holds; nil if it holds none any more.
func ConfirmAnchor(id *identity.Identity, contract, epoch wire.Hash, anchor *wire.Hash) *Confirmation {
	c := &Confirmation{Format: 1, Contract: contract, Epoch: epoch, Party: id.Statement.Fingerprint(), Anchor: anchor}
	c.Signature = id.Sign(wire.SignConfirmation, c.signedPart())
	return c
}

// Encode returns the canonical encoding.
func (c *Confirmation) Encode() []byte {
	b, err := wire.Canonical(c)
	if err != nil { // a struct of hashes and bytes always encodes
		panic("member: " + err.Error())
	}
	return b
}

func (c Confirmation) signedPart() []byte {
	c.Signature = nil
	return c.Encode()
}

// DecodeConfirmation reads a confirmation. Check says whether it counts.
func DecodeConfirmation(b []byte) (*Confirmation, error) {
	if len(b) > MaxConfirmationBytes {
		return nil, fmt.Errorf("member: a confirmation has %d bytes, at most %d are read", len(b), MaxConfirmationBytes)
	}
	c := new(Confirmation)
	if err := wire.DecodeFormat(b, "member: confirmation", c, &c.Format); err != nil {
		return nil, err
	}
	return c, nil
}

// Check verifies that a member of the roster confirmed this contract and this
// epoch.
func (c *Confirmation) Check(r *Roster, contract wire.Hash) error {
	s, err := r.Member(c.Party)
	if err != nil {
		return err
	}
	if c.Contract != contract {
		return fmt.Errorf("member: %q confirmed contract %s, this study has %s", s.Name, c.Contract.Short(), contract.Short())
	}
	if epoch := r.Epoch(contract); c.Epoch != epoch {
		return fmt.Errorf("member: %q confirmed epoch %s, this roster has %s", s.Name, c.Epoch.Short(), epoch.Short())
	}
	return wire.Verify(s.SigningKey, wire.SignConfirmation, c.signedPart(), c.Signature)
}
