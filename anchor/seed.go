// Package anchor makes the anchor data A (a × m): pseudo-random rows that
// every party of a study generates alike from one secret seed, and that the
// analyst must not be able to generate.
//
// Start with [DeriveSeed], which turns what the parties sent each other into a
// [Seed], then [New], or [Generate] where the seed alone determines the anchor. [Seed.ID] is the public name of the seed: every
// contribution carries it, and the analyst compares the names before aligning.
//
// Anchors made of rows are [Mix], of public rows, and [FromPieces], of what
// [LowRankPiece] or [SMOTEPiece] make of the parties' own: those show near-raw
// rows to the other parties. [Sample] is for the laboratory.
//
// The package does not carry shares or pieces between parties and does not store
// the seed. It belongs to the party's side: no program of the analyst may link it.
//
// Kinds, formulas and the condition Rank(A) = m are in docs/methods.md section 3
// ([nosaka2025], section II and theorem III.3); the orthonormal kind is our own
// (section 9.1).
//
// # What it protects, against whom
//
// The anchor keeps a party's basis F_i from the analyst as long as the analyst has
// neither seed nor anchor. The seed follows from 32 random bytes of every party
// under HKDF, so it is unknown as long as one share is. Then images A F_i of a normal
// or orthonormal anchor show F_iᵀF_i and nothing else of F_i: rotations do not change
// the law of A. A uniform anchor shows directions near single features besides,
// by independent components; mixed public rows show F_iᵀ(PᵀP/p)F_i; anchors of pieces
// are rows like the data (docs/methods.md section 7.1).
//
// It protects nothing against the analyst together with any one party: whoever has A
// and A F_i has F_i = A⁺(A F_i) exactly (section 7.2). Pieces of the low-rank and
// smote kinds protect little against the other parties, who see them. Not covered: who
// keeps a copy of the seed, and memory. docs/threat-model.md has the whole.
package anchor

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"

	"concord/secret"
)

// Sizes in bytes.
const (
	SeedSize    = 32 // a seed
	KeySize     = 32 // an Ed25519 public key
	EntropySize = 32 // one party's share of the entropy
)

// Labels of the key derivation. A changed label is another anchor: a new
// derivation takes a new version number and leaves the old one in place.
const (
	labelSeed        = "concord/anchor/seed/v1"
	labelID          = "concord/anchor/id/v1"
	labelUniform     = "concord/anchor/uniform/v1"
	labelNormal      = "concord/anchor/normal/v1"
	labelOrthonormal = "concord/anchor/orthonormal/v1"
	labelPublic      = "concord/anchor/public/v1"
	labelCommonBasis = "concord/basis/common/v1"
	labelLift        = "concord/lift/v1"
	labelSketch      = "concord/pooled/sketch/v1"
	labelPieces      = "concord/anchor/pieces/v1"
	labelPiecesID    = "concord/anchor/pieces-id/v1/" // and the SHA-256 of all pieces
	labelGaussian    = "concord/anchor/gaussian/v1"
	labelPooledID    = "concord/anchor/pooled-id/v1/" // and the SHA-256 of id, figures and directions
	labelSumsID      = "concord/anchor/sums-id/v1/"   // and the SHA-256 of the sums
)

// Share is what one party puts into the seed.
type Share struct {
	// Key is the party's Ed25519 public key, 32 bytes: public.
	Key []byte
	// Entropy is 32 bytes from the party's operating system, which reached the
	// other parties sealed. One honest share keeps the seed secret from
	// everybody who does not see that share.
	Entropy secret.Bytes
}

// Seed is the secret that all parties of one epoch share. It prints only its
// size. The zero value is no seed, and is refused by [Generate].
type Seed struct {
	// A function, since fmt prints the unexported fields of a struct around a
	// Seed without asking Format, and follows slices and pointers there.
	bytes func() secret.Bytes
}

// DeriveSeed makes the seed of an epoch from the shares of all parties:
//
//	seed = HKDF-SHA256(secret, salt = epoch, info = "concord/anchor/seed/v1")
//	secret = ‖ over shares sorted by key: u32(32) ‖ key ‖ u32(32) ‖ entropy
//
// where u32 is the length of the item that follows, 4 bytes, big endian. The
// order of shares does not matter. At least two shares are needed, each with a
// key of 32 bytes that no other share has and 32 bytes of entropy that are not
// all zero.
func DeriveSeed(epoch [32]byte, shares []Share) (Seed, error) {
	if len(shares) < 2 {
		return Seed{}, fmt.Errorf("anchor: %d shares: at least 2 parties are needed", len(shares))
	}
	sorted := slices.Clone(shares)
	slices.SortFunc(sorted, func(a, b Share) int { return bytes.Compare(a.Key, b.Key) })
	input := make([]byte, 0, len(shares)*(4+KeySize+4+EntropySize))
	for i, s := range sorted {
		if len(s.Key) != KeySize {
			return Seed{}, fmt.Errorf("anchor: key %x of a share has %d bytes, want %d", s.Key[:min(len(s.Key), 8)], len(s.Key), KeySize)
		}
		if i > 0 && bytes.Equal(s.Key, sorted[i-1].Key) {
			return Seed{}, fmt.Errorf("anchor: two shares have the key %x…: one share for each party", s.Key[:8])
		}
		if s.Entropy.Len() != EntropySize {
			return Seed{}, fmt.Errorf("anchor: entropy of the share of key %x… has %d bytes, want %d", s.Key[:8], s.Entropy.Len(), EntropySize)
		}
		if bytes.Equal(s.Entropy.Reveal(), make([]byte, EntropySize)) {
			return Seed{}, fmt.Errorf("anchor: entropy of the share of key %x… is all zero: it was erased or never drawn", s.Key[:8])
		}
		input = appendItem(input, s.Key)
		input = appendItem(input, s.Entropy.Reveal())
	}
	defer clear(input)
	key, err := hkdf.Key(sha256.New, input, epoch[:], labelSeed, SeedSize)
	if err != nil {
		return Seed{}, fmt.Errorf("anchor: seed: %v", err)
	}
	return newSeed(key), nil
}

// SeedFromBytes restores a seed that [Seed.Bytes] gave. It takes ownership of
// b. The error says that b does not have 32 bytes, or that they were erased.
func SeedFromBytes(b secret.Bytes) (Seed, error) {
	if b.Len() != SeedSize {
		return Seed{}, fmt.Errorf("anchor: seed has %d bytes, want %d", b.Len(), SeedSize)
	}
	if bytes.Equal(b.Reveal(), make([]byte, SeedSize)) {
		return Seed{}, errors.New("anchor: seed is all zero: it was erased")
	}
	return newSeed(b.Reveal()), nil
}

func newSeed(b []byte) Seed {
	s := secret.NewBytes(b)
	return Seed{func() secret.Bytes { return s }}
}

// Bytes returns the seed for storage at the party; it shares its storage with
// the seed.
func (s Seed) Bytes() secret.Bytes {
	if s.bytes == nil {
		return secret.Bytes{}
	}
	return s.bytes()
}

// Erase overwrites the seed with zeros, in every copy of s. Copies made by the
// garbage collector or the operating system stay.
func (s Seed) Erase() { s.Bytes().Erase() }

// ID is the public name of the seed,
//
//	HKDF-Expand-SHA256(seed, "concord/anchor/id/v1"), 32 bytes.
//
// Equal names mean equal seeds; a name tells nothing else about its seed. It
// panics on the zero value and on an erased seed.
func (s Seed) ID() [32]byte {
	if err := s.check(); err != nil {
		panic(err.Error())
	}
	return s.expand(labelID)
}

func (s Seed) check() error {
	_, err := SeedFromBytes(s.Bytes())
	return err
}

// expand derives the 32 bytes that belong to a label.
func (s Seed) expand(label string) (out [32]byte) {
	b, err := hkdf.Expand(sha256.New, s.Bytes().Reveal(), label, len(out))
	if err != nil {
		panic("anchor: " + err.Error()) // only for lengths that HKDF cannot give
	}
	copy(out[:], b)
	clear(b)
	return out
}

// stream is the generator of a label, a ChaCha8 of math/rand/v2, whose output
// is fixed by the C2SP chacha8rand specification.
func (s Seed) stream(label string) *rand.ChaCha8 { return rand.NewChaCha8(s.expand(label)) }

// CommonBasis is what the directions of a common random basis are drawn from: the same
// for all parties, and nothing that the analyst knows. It panics on the zero value and on
// an erased seed.
func (s Seed) CommonBasis() *rand.ChaCha8 {
	if err := s.check(); err != nil {
		panic(err.Error())
	}
	return s.stream(labelCommonBasis)
}

// Lift is what random Fourier features are drawn from: the same for all parties. The error
// says that the seed is empty or erased.
func (s Seed) Lift() (*rand.ChaCha8, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.stream(labelLift), nil
}

// Sketch is what the test matrix of a sketch of pooled second moments is drawn from: the
// same for all parties. It panics on the zero value and on an erased seed.
func (s Seed) Sketch() *rand.ChaCha8 {
	if err := s.check(); err != nil {
		panic(err.Error())
	}
	return s.stream(labelSketch)
}

// String says only how long the seed is.
func (s Seed) String() string { return s.Bytes().String() }

// Format prints like String whatever the verb.
func (s Seed) Format(f fmt.State, verb rune) { s.Bytes().Format(f, verb) }

// LogValue prints like String in structured logs.
func (s Seed) LogValue() slog.Value { return s.Bytes().LogValue() }

// MarshalText refuses with secret.ErrEncode. encoding/json uses it too.
func (s Seed) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with secret.ErrEncode. encoding/gob uses it too.
func (s Seed) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }

// appendItem appends the length of b, 4 bytes, big endian, and b.
func appendItem(to, b []byte) []byte {
	to = binary.BigEndian.AppendUint32(to, uint32(len(b)))
	return append(to, b...)
}
