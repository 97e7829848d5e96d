package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Hash is a SHA-256. It names a contract (of its stored bytes), an identity
// statement (its fingerprint), an epoch and every member of a bundle. In text
// and JSON it is 64 lower-case hexadecimal digits.
type Hash [sha256.Size]byte

// HashOf returns the SHA-256 of b.
func HashOf(b []byte) Hash { return sha256.Sum256(b) }

// ParseHash reads 64 lower-case hexadecimal digits and nothing else.
func ParseHash(s string) (Hash, error) {
	var h Hash
	return h, h.UnmarshalText([]byte(s))
}

// String returns the 64 digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first 12 digits, for people who compare lines of a log.
// It identifies nothing against an attacker.
func (h Hash) Short() string { return hex.EncodeToString(h[:6]) }

// IsZero reports whether h was never set.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText writes the 64 digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads 64 lower-case hexadecimal digits and nothing else, so
// that a hash has one spelling.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != 2*len(h) {
		return fmt.Errorf("a hash has %d hexadecimal digits, got %d characters", 2*len(h), len(text))
	}
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return fmt.Errorf("a hash is written in lower-case hexadecimal digits, got %q", c)
		}
	}
	_, err := hex.Decode(h[:], text)
	return err
}
