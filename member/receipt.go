package member

import (
	"fmt"
	"time"

	"concord/identity"
	"concord/wire"
)

// MaxReceiptBytes bounds an encoded receipt.
const MaxReceiptBytes = 4 << 10

// Receipt is the analyst's signed word that a bundle is stored durably.
type Receipt struct {
	Format int       `json:"format"`
	Study  wire.Hash `json:"study"`
	Epoch  wire.Hash `json:"epoch"`
	Sender wire.Hash `json:"sender"`
	// Manifest names the bundle, Ciphertext the file that carried it.
	Manifest   wire.Hash `json:"manifest"`
	Ciphertext wire.Hash `json:"ciphertext"`
	// Received is the analyst's clock, in UTC and whole seconds.
	Received time.Time `json:"received"`
	// Heads are the analyst's audit head, which counts this bundle, and the
	// sender's that came with it.
	Heads     *Heads `json:"heads,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

// Sign signs the receipt as the analyst.
func (r *Receipt) Sign(id *identity.Identity) {
	r.Signature = id.Sign(wire.SignReceipt, r.signedPart())
}

// Encode returns the canonical encoding.
func (r *Receipt) Encode() []byte {
	b, err := wire.Canonical(r)
	if err != nil { // hashes, bytes and a time in UTC always encode
		panic("member: " + err.Error())
	}
	return b
}

func (r Receipt) signedPart() []byte {
	r.Signature = nil
	return r.Encode()
}

// DecodeReceipt reads a receipt and checks the analyst's signature.
func DecodeReceipt(b []byte, analyst *identity.Statement) (*Receipt, error) {
	if len(b) > MaxReceiptBytes {
		return nil, fmt.Errorf("member: a receipt has %d bytes, at most %d are read", len(b), MaxReceiptBytes)
	}
	r := new(Receipt)
	if err := wire.DecodeFormat(b, "member: receipt", r, &r.Format); err != nil {
		return nil, err
	}
	if err := r.Heads.Check(); err != nil {
		return nil, err
	}
	return r, wire.Verify(analyst.SigningKey, wire.SignReceipt, r.signedPart(), r.Signature)
}
