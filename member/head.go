package member

import (
	"errors"
	"fmt"
	"time"

	"concord/identity"
	"concord/wire"
)

// Head is the last entry of an audit log: its number, from 1, and the SHA-256 of
// its line. Every entry holds the hash of the one before, so whoever holds a head
// can tell whether that entry or any before it is another now (package audit).
type Head struct {
	Number int64     `json:"number"`
	Hash   wire.Hash `json:"hash"`
}

// IsZero reports whether h is the head of no entry.
func (h Head) IsZero() bool { return h == Head{} }

// String returns the number and the first digits of the hash.
func (h Head) String() string { return fmt.Sprintf("%d (%s)", h.Number, h.Hash.Short()) }

// Heads are what two participants tell each other of their audit logs, in what
// they sign for each other.
type Heads struct {
	// Own is the signer's when it signed.
	Own *Head `json:"own,omitempty"`
	// Seen is the newest of the other side's that the signer holds.
	Seen *Head `json:"seen,omitempty"`
}

// Check refuses heads that no log has. No heads at all are right.
func (h *Heads) Check() error {
	if h == nil {
		return nil
	}
	if h.Own == nil && h.Seen == nil {
		return errors.New("member: heads are given and empty")
	}
	for _, head := range []*Head{h.Own, h.Seen} {
		if head != nil && (head.Number < 1 || head.Hash.IsZero()) {
			return fmt.Errorf("member: an audit head has number %d, must have at least 1 and a hash", head.Number)
		}
	}
	return nil
}

// NewHeads returns heads without those that are zero, nil if both are.
func NewHeads(own, seen Head) *Heads {
	h := new(Heads)
	if !own.IsZero() {
		h.Own = &own
	}
	if !seen.IsZero() {
		h.Seen = &seen
	}
	if *h == (Heads{}) {
		return nil
	}
	return h
}

// MaxWitnessBytes bounds an encoded witness.
const MaxWitnessBytes = 4 << 10

// Witness is one participant's signed word to another on both their audit logs,
// by itself: what receipts and bundles say besides.
type Witness struct {
	Format int       `json:"format"`
	Study  wire.Hash `json:"study"`
	// By signs, and To is whose log Heads.Seen is of; fingerprints.
	By    wire.Hash `json:"by"`
	To    wire.Hash `json:"to"`
	Heads Heads     `json:"heads"`
	// Time is the signer's clock, in UTC and whole seconds.
	Time      time.Time `json:"time"`
	Signature []byte    `json:"signature,omitempty"`
}

// Sign signs the witness.
func (w *Witness) Sign(id *identity.Identity) {
	w.Signature = id.Sign(wire.SignWitness, w.signedPart())
}

// Encode returns the canonical encoding.
func (w *Witness) Encode() []byte {
	b, err := wire.Canonical(w)
	if err != nil { // hashes, numbers, bytes and a time in UTC always encode
		panic("member: " + err.Error())
	}
	return b
}

func (w Witness) signedPart() []byte {
	w.Signature = nil
	return w.Encode()
}

// DecodeWitness reads a witness and checks that its signer is by.
func DecodeWitness(b []byte, by *identity.Statement) (*Witness, error) {
	if len(b) > MaxWitnessBytes {
		return nil, fmt.Errorf("member: a witness has %d bytes, at most %d are read", len(b), MaxWitnessBytes)
	}
	w := new(Witness)
	if err := wire.DecodeFormat(b, "member: witness", w, &w.Format); err != nil {
		return nil, err
	}
	if w.By != by.Fingerprint() {
		return nil, fmt.Errorf("member: the witness is %s, expected %s", w.By.Short(), by.Fingerprint().Short())
	}
	if err := w.Heads.Check(); err != nil {
		return nil, err
	}
	return w, wire.Verify(by.SigningKey, wire.SignWitness, w.signedPart(), w.Signature)
}
