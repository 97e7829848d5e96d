package study

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"strings"

	"concord/secret"
)

// Invite is what the analyst gives to one party, over any channel: where the
// server is, which key it has, which contract it offers, and a secret that works
// once. It is one line of safe characters:
//
//	concord-invite/1/<host:port>/<contract hash>/<analyst's fingerprint>/<secret>
//
// with the hashes and the secret in unpadded base64url.
type Invite struct {
	Address  string
	Contract Hash
	Analyst  Hash
	Secret   secret.Bytes // 16 bytes
}

const inviteSecretSize = 16

// NewInvite draws a secret from the operating system's entropy.
func NewInvite(address string, contract, analyst Hash) Invite {
	b := make([]byte, inviteSecretSize)
	rand.Read(b)
	return Invite{Address: address, Contract: contract, Analyst: analyst, Secret: secret.NewBytes(b)}
}

// Line returns the invite as one line. It holds the secret: whoever reads it
// can join in the invited party's place until the roster is confirmed.
func (v Invite) Line() string {
	enc := base64.RawURLEncoding.EncodeToString
	return strings.Join([]string{"concord-invite", "1", v.Address, enc(v.Contract[:]), enc(v.Analyst[:]), enc(v.Secret.Reveal())}, "/")
}

// ParseInvite reads what Line wrote. Errors do not quote the line.
func ParseInvite(line string) (Invite, error) {
	parts := strings.Split(strings.TrimSpace(line), "/")
	if len(parts) < 2 || parts[0] != "concord-invite" {
		return Invite{}, fmt.Errorf("study: an invite begins with concord-invite/1/; copy the whole line that concordd invite printed")
	}
	if parts[1] != "1" {
		return Invite{}, fmt.Errorf("study: the invite has version %q, this program reads version 1", parts[1])
	}
	if len(parts) != 6 {
		return Invite{}, fmt.Errorf("study: the invite has %d parts, must have 6: was a piece of the line cut off?", len(parts))
	}
	v := Invite{Address: parts[2]}
	if host, port, err := net.SplitHostPort(v.Address); err != nil || host == "" || port == "" {
		return Invite{}, fmt.Errorf("study: the invite's address must be host:port")
	}
	for i, dst := range []*Hash{&v.Contract, &v.Analyst} {
		b, err := base64.RawURLEncoding.Strict().DecodeString(parts[3+i])
		if err != nil || len(b) != len(dst) {
			return Invite{}, fmt.Errorf("study: part %d of the invite is damaged: was a piece of the line cut off?", 4+i)
		}
		copy(dst[:], b)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(parts[5])
	if err != nil || len(b) != inviteSecretSize {
		return Invite{}, fmt.Errorf("study: the last part of the invite is damaged: was a piece of the line cut off?")
	}
	v.Secret = secret.NewBytes(b)
	return v, nil
}
