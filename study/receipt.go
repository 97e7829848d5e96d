package study

import (
	"fmt"
	"time"
)

// MaxReceiptBytes bounds an encoded receipt.
const MaxReceiptBytes = 4 << 10

// Receipt is the analyst's signed word that a bundle is stored durably.
type Receipt struct {
	Format int  `json:"format"`
	Study  Hash `json:"study"`
	Epoch  Hash `json:"epoch"`
	Sender Hash `json:"sender"`
	// Manifest names the bundle, Ciphertext the file that carried it.
	Manifest   Hash `json:"manifest"`
	Ciphertext Hash `json:"ciphertext"`
	// Received is the analyst's clock, in UTC and whole seconds.
	Received time.Time `json:"received"`
	// Heads are the analyst's audit head, which counts this bundle, and the
	// sender's that came with it.
	Heads     *Heads `json:"heads,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

// Sign signs the receipt as the analyst.
func (r *Receipt) Sign(id *Identity) { r.Signature = id.Sign(SignReceipt, r.signedPart()) }

// Encode returns the canonical encoding.
func (r *Receipt) Encode() []byte {
	b, err := Canonical(r)
	if err != nil { // hashes, bytes and a time in UTC always encode
		panic("study: " + err.Error())
	}
	return b
}

func (r Receipt) signedPart() []byte {
	r.Signature = nil
	return r.Encode()
}

// DecodeReceipt reads a receipt and checks the analyst's signature.
func DecodeReceipt(b []byte, analyst *Statement) (*Receipt, error) {
	if len(b) > MaxReceiptBytes {
		return nil, fmt.Errorf("study: a receipt has %d bytes, at most %d are read", len(b), MaxReceiptBytes)
	}
	r := new(Receipt)
	if err := decodeFormat(b, "study: receipt", r, &r.Format); err != nil {
		return nil, err
	}
	if err := r.Heads.Check(); err != nil {
		return nil, err
	}
	return r, Verify(analyst.SigningKey, SignReceipt, r.signedPart(), r.Signature)
}
