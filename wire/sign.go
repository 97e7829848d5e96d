package wire

import (
	"crypto/ed25519"
	"fmt"
)

// What a signature is for. It is signed together with the bytes, so that a
// signature made for one purpose can never serve another.
const (
	SignIdentity     = "identity"     // an identity statement, by itself
	SignConfirmation = "confirmation" // a party's yes to contract and roster
	SignAmendment    = "amendment"    // a change of the roster
	SignWithdrawal   = "withdrawal"   // the analyst's word on what of a party was deleted
	SignManifest     = "manifest"     // the inner manifest of a bundle
	SignApproval     = "approval"     // a person's yes to a manifest
	SignEnvelope     = "envelope"     // the outer line of a bundle
	SignReceipt      = "receipt"      // the analyst's word that a bundle is stored
	SignParcel       = "parcel"       // the outer line of a parcel
	SignRequest      = "request"      // a party's request, where TLS does not say who asks
	SignAnswer       = "answer"       // the analyst's answer to one request
	SignAudit        = "audit"        // an entry of an audit log
	SignWitness      = "witness"      // a participant's word on another's audit log
	SignPool         = "pool"         // a message of the masked sums
	SignExport       = "export"       // the index of what an analyst seals to an auditor
)

// Sign signs b for one purpose:
//
//	Ed25519(key, "concord/<purpose>/v1\0" ‖ b)
func Sign(key ed25519.PrivateKey, purpose string, b []byte) []byte {
	return ed25519.Sign(key, signedBytes(purpose, b))
}

// Verify checks what Sign made. The error says only for what purpose the
// signature failed.
func Verify(key ed25519.PublicKey, purpose string, b, sig []byte) error {
	if len(key) != ed25519.PublicKeySize {
		return fmt.Errorf("a signing key has %d bytes, got %d", ed25519.PublicKeySize, len(key))
	}
	if !ed25519.Verify(key, signedBytes(purpose, b), sig) {
		return fmt.Errorf("the %s signature does not verify", purpose)
	}
	return nil
}

func signedBytes(purpose string, b []byte) []byte {
	prefix := "concord/" + purpose + "/v1\x00"
	return append(append(make([]byte, 0, len(prefix)+len(b)), prefix...), b...)
}
