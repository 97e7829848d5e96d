package bundle

import (
	"bytes"
	"crypto/ed25519"
	"time"

	"concord/wire"
)

// PolicyPerson is the policy of an approval that a person gave.
const PolicyPerson = "person"

const maxApprovalBytes = 4 << 10

// Approval is a signed yes to a manifest.
type Approval struct {
	Format   int       `json:"format"`
	Manifest wire.Hash `json:"manifest"`
	// Approver is the Ed25519 key that signs.
	Approver []byte `json:"approver"`
	// Policy is PolicyPerson, or the name of the written policy under which a
	// program approved: small letters, digits and -.
	Policy string `json:"policy"`
	// Time is in UTC and whole seconds.
	Time      time.Time `json:"time"`
	Signature []byte    `json:"signature,omitempty"`
}

// Approve signs a yes to an encoded manifest ([Manifest.Encode]) at the time
// now. Call it only after the approver has seen what the manifest describes.
func Approve(manifest []byte, approver ed25519.PrivateKey, policy string, now time.Time) (*Approval, error) {
	if _, err := DecodeManifest(manifest); err != nil {
		return nil, err
	}
	a := &Approval{
		Format:   Format,
		Manifest: wire.HashOf(manifest),
		Approver: approver.Public().(ed25519.PublicKey),
		Policy:   policy,
		Time:     now.UTC().Truncate(time.Second),
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	a.Signature = wire.Sign(approver, wire.SignApproval, a.signedPart())
	return a, nil
}

// Encode returns the approval's one encoding, the bytes of approval.json.
func (a *Approval) Encode() []byte { return encode(a) }

func (a Approval) signedPart() []byte {
	a.Signature = nil
	return a.Encode()
}

// DecodeApproval reads what Encode wrote. Verify says whether it counts.
func DecodeApproval(b []byte) (*Approval, error) {
	a := new(Approval)
	if err := decode(b, "approval", maxApprovalBytes, a); err != nil {
		return nil, err
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Approval) check() error {
	if a.Format != Format {
		return badVersion("approval", a.Format)
	}
	if n := len(a.Approver); n != ed25519.PublicKeySize {
		return refuse(ErrDamaged, "approval: the approver's key has %d bytes, must have %d", n, ed25519.PublicKeySize)
	}
	if a.Policy == "" || len(a.Policy) > maxNameBytes {
		return refuse(ErrDamaged, "approval: policy has %d characters, must have 1 to %d", len(a.Policy), maxNameBytes)
	}
	for _, c := range []byte(a.Policy) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return refuse(ErrDamaged, "approval: policy %q: names are made of small letters, digits and -", a.Policy)
		}
	}
	if _, offset := a.Time.Zone(); offset != 0 || a.Time.Nanosecond() != 0 {
		return refuse(ErrDamaged, "approval: the time must be in UTC and whole seconds")
	}
	if y := a.Time.Year(); y < 2000 || y > 9999 {
		return refuse(ErrDamaged, "approval: the year is %d, must be 2000 to 9999", y)
	}
	return nil
}

// Verify checks that the holder of the approver's key said yes to this
// manifest. Errors are of kind ErrApproval.
func (a *Approval) Verify(manifest wire.Hash, approver ed25519.PublicKey) error {
	if a.Manifest != manifest {
		return refuse(ErrApproval, "the approval is for manifest %s, this one is %s", a.Manifest.Short(), manifest.Short())
	}
	if !bytes.Equal(a.Approver, approver) {
		return refuse(ErrApproval, "the approval is by another key than the approver's")
	}
	if err := wire.Verify(approver, wire.SignApproval, a.signedPart(), a.Signature); err != nil {
		return refuse(ErrApproval, "%v", err)
	}
	return nil
}
