package identity

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"concord/secret"
)

// How an approver's keys are written.
const (
	approverPublic  = "concord-approver-1-"
	approverPrivate = "concord-approver-secret-1-"
)

// NewApprover makes the key of a person who approves what leaves a site and runs none
// of its programs. It returns the private key's text, for a file of theirs, and the
// public one's, for the site that joins ([ParseApprover]).
func NewApprover() (private secret.Bytes, public string) {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed) // cannot fail: the program ends if there is no entropy
	key := ed25519.NewKeyFromSeed(seed)
	text := []byte(approverPrivate)
	text = hex.AppendEncode(text, seed)
	clear(seed)
	return secret.NewBytes(append(text, '\n')), ApproverText(key.Public().(ed25519.PublicKey))
}

// ApproverText is a public approver's key as people pass it on.
func ApproverText(key ed25519.PublicKey) string { return approverPublic + hex.EncodeToString(key) }

// ParseApprover reads a public approver's key.
func ParseApprover(text string) (ed25519.PublicKey, error) {
	if strings.HasPrefix(text, approverPrivate) {
		return nil, errors.New("identity: this is the approver's private key; the site takes the public one")
	}
	digits, ok := strings.CutPrefix(strings.TrimSpace(text), approverPublic)
	key, err := hex.DecodeString(digits)
	if !ok || err != nil || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("identity: an approver's key is %s and 64 digits", approverPublic)
	}
	if smallOrder(key) {
		return nil, errors.New("identity: the approver's key is a point of small order, for which anybody can sign")
	}
	return key, nil
}

// DecodeApprover reads the text of an approver's private key.
func DecodeApprover(text secret.Bytes) (ed25519.PrivateKey, error) {
	digits, ok := strings.CutPrefix(strings.TrimSpace(string(text.Reveal())), approverPrivate)
	seed, err := hex.DecodeString(digits)
	if !ok || err != nil || len(seed) != ed25519.SeedSize {
		return nil, errors.New("identity: the file holds no approver's private key")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}
