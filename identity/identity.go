package identity

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"filippo.io/age"

	"concord/secret"
	"concord/wire"
)

// Role says what a participant may hold (ARCHITECTURE.md, Borders).
type Role string

// The roles of a study. Auditors are in no roster: the contract names them.
const (
	RoleParty   Role = "party"
	RoleAnalyst Role = "analyst"
	RoleAuditor Role = "auditor"
)

// MaxStatementBytes bounds an encoded identity statement; a hybrid recipient
// alone takes 1,959.
const MaxStatementBytes = 16 << 10

// Statement is a participant's public identity: its name and every public key
// it uses, signed by its own signing key. The SHA-256 of its encoding is its
// fingerprint.
type Statement struct {
	Format int    `json:"format"`
	Role   Role   `json:"role"`
	Name   string `json:"name"`
	// SigningKey is Ed25519, 32 bytes.
	SigningKey []byte `json:"signing_key"`
	// Recipient is a hybrid (post-quantum) age recipient.
	Recipient string `json:"recipient"`
	// MaskKey is X25519, 32 bytes; pairs of parties derive masks from it.
	MaskKey []byte `json:"mask_key"`
	// TLSKey is the SHA-256 of the ECDSA P-256 key with which the participant
	// authenticates a connection (its SubjectPublicKeyInfo in DER).
	TLSKey wire.Hash `json:"tls_key"`
	// ApproverKey is the Ed25519 key of a separate approver, if there is one.
	ApproverKey []byte `json:"approver_key,omitempty"`
	// View is what a party has of the features, where the contract has views: see
	// [Contract.CheckView].
	View      string `json:"view,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

// Encode returns the canonical encoding.
func (s *Statement) Encode() []byte {
	b, err := wire.Canonical(s)
	if err != nil { // a struct of strings and bytes always encodes
		panic("identity: " + err.Error())
	}
	return b
}

// Fingerprint is the SHA-256 of the encoding.
func (s *Statement) Fingerprint() wire.Hash { return wire.HashOf(s.Encode()) }

// AgeRecipient returns the key to which bundles for this participant are
// sealed.
func (s *Statement) AgeRecipient() (age.Recipient, error) {
	r, err := age.ParseHybridRecipient(s.Recipient)
	if err != nil {
		return nil, fmt.Errorf("identity: the recipient of %q: %w", s.Name, err)
	}
	return r, nil
}

// Approver is the key that approves what leaves: the approver's own, or the
// signing key.
func (s *Statement) Approver() ed25519.PublicKey {
	if len(s.ApproverKey) > 0 {
		return s.ApproverKey
	}
	return s.SigningKey
}

// signedPart is what the statement's signature covers.
func (s Statement) signedPart() []byte {
	s.Signature = nil
	return s.Encode()
}

// DecodeStatement reads a statement and checks its keys and its signature. It
// says nothing about who holds the keys: people compare a roster's phrase for
// that.
func DecodeStatement(b []byte) (*Statement, error) {
	if len(b) > MaxStatementBytes {
		return nil, fmt.Errorf("identity: an identity statement has %d bytes, at most %d are read", len(b), MaxStatementBytes)
	}
	s := new(Statement)
	if err := wire.DecodeFormat(b, "identity: identity statement", s, &s.Format); err != nil {
		return nil, err
	}
	if s.Role != RoleParty && s.Role != RoleAnalyst && s.Role != RoleAuditor {
		return nil, fmt.Errorf("identity: identity statement: role is %q, must be party, analyst or auditor", s.Role)
	}
	if err := CheckName(s.Name); err != nil {
		return nil, err
	}
	if s.View != "" {
		if err := visible("the view of an identity statement", s.View); err != nil {
			return nil, err
		}
		if s.Role != RoleParty {
			return nil, fmt.Errorf("identity: identity statement of %q: an %s has no view", s.Name, s.Role)
		}
	}
	for _, key := range []struct {
		what string
		b    []byte
		none bool
	}{{"signing key", s.SigningKey, false}, {"mask key", s.MaskKey, false}, {"approver key", s.ApproverKey, true}} {
		if len(key.b) != 32 && !(key.none && len(key.b) == 0) {
			return nil, fmt.Errorf("identity: identity statement: the %s has %d bytes, must have 32", key.what, len(key.b))
		}
	}
	if err := s.tryKeys(); err != nil {
		return nil, fmt.Errorf("identity: identity statement of %q: %w", s.Name, err)
	}
	if err := wire.Verify(s.SigningKey, wire.SignIdentity, s.signedPart(), s.Signature); err != nil {
		return nil, err
	}
	return s, nil
}

// tryKeys uses every public key once: keys that are well formed and useless
// would stop a study after everybody has confirmed it.
func (s *Statement) tryKeys() error {
	mask, err := ecdh.X25519().NewPublicKey(s.MaskKey)
	if err != nil {
		return fmt.Errorf("mask key: %w", err)
	}
	if _, err := trialKey.ECDH(mask); err != nil {
		return fmt.Errorf("mask key: %w", err)
	}
	recipient, err := age.ParseHybridRecipient(s.Recipient)
	if err != nil {
		return fmt.Errorf("recipient: %w", err)
	}
	if _, err := recipient.Wrap(make([]byte, 16)); err != nil {
		return fmt.Errorf("recipient: %w", err)
	}
	for _, key := range [][]byte{s.SigningKey, s.ApproverKey} {
		if len(key) > 0 && smallOrder(key) {
			return errors.New("signing key: a point of small order, for which anybody can sign")
		}
	}
	return nil
}

// trialKey is a private key that keeps nothing secret.
var trialKey = func() *ecdh.PrivateKey {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic("identity: " + err.Error()) // the operating system's entropy does not fail
	}
	return key
}()

// smallOrder reports whether an Ed25519 public key encodes one of the points of
// order 1, 2, 4 or 8: y in {0, 1, −1, ±√…} in any encoding, the sign of x aside.
func smallOrder(key []byte) bool {
	for _, y := range smallOrderY {
		b, err := hex.DecodeString(y)
		if err != nil {
			panic("identity: " + err.Error()) // constants
		}
		masked := bytes.Clone(key)
		masked[31] &= 0x7f
		if bytes.Equal(masked, b) {
			return true
		}
	}
	return false
}

// smallOrderY are those y, little-endian, with the encodings that exceed the
// field's prime 2²⁵⁵ − 19 ([cremers2019], table 3).
var smallOrderY = []string{
	"0100000000000000000000000000000000000000000000000000000000000000", // order 1
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // order 2
	"0000000000000000000000000000000000000000000000000000000000000000", // order 4
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // order 8
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", // order 8
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // 0 + p
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // 1 + p
}

// CheckName admits names that people can read aloud and tell apart: 1 to 200
// visible characters, no line breaks, no invisible ones.
func CheckName(name string) error { return visible("the participant's name", name) }

// visible is [CheckText] for what stands in a statement.
func visible(what, s string) error {
	if err := wire.CheckText(what, s); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	return nil
}

// Identity is a participant's secret side: its statement and the private keys
// behind it. It prints only its name and fingerprint; the keys hide behind a
// function, of which fmt can print nothing (see package secret).
type Identity struct {
	Statement *Statement
	keys      func() *privateKeys
}

type privateKeys struct {
	signing []byte // Ed25519 seed
	age     *age.HybridIdentity
	mask    []byte // X25519 scalar
	tls     *ecdsa.PrivateKey
}

// String names the identity without its keys.
func (id *Identity) String() string {
	return fmt.Sprintf("%s %q (%s)", id.Statement.Role, id.Statement.Name, id.Statement.Fingerprint().Short())
}

// Format prints like String whatever the verb.
func (id *Identity) Format(f fmt.State, _ rune) { fmt.Fprint(f, id.String()) }

// MarshalJSON refuses: see [Identity.EncodeSecret].
func (id *Identity) MarshalJSON() ([]byte, error) { return nil, secret.ErrEncode }

// New makes all keys from the operating system's entropy. approver is the
// public key of another person who approves, or nil.
func New(role Role, name string, approver ed25519.PublicKey) (*Identity, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed)
	recipient, err := age.GenerateHybridIdentity()
	if err != nil {
		return nil, fmt.Errorf("identity: age key: %w", err)
	}
	mask, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("identity: mask key: %w", err)
	}
	tlsKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("identity: TLS key: %w", err)
	}
	return newIdentity(role, name, &privateKeys{signing: seed, age: recipient, mask: mask.Bytes(), tls: tlsKey}, approver, "")
}

// WithView returns the same keys with a statement that names what the party has of the
// features of a contract with views.
func (id *Identity) WithView(view string) (*Identity, error) {
	s := id.Statement
	if view != "" {
		if err := visible("the view", view); err != nil {
			return nil, err
		}
	}
	return newIdentity(s.Role, s.Name, id.keys(), s.ApproverKey, view)
}

// newIdentity signs the statement that follows from the keys.
func newIdentity(role Role, name string, keys *privateKeys, approver []byte, view string) (*Identity, error) {
	mask, err := ecdh.X25519().NewPrivateKey(keys.mask)
	if err != nil {
		return nil, fmt.Errorf("identity: mask key: %w", err)
	}
	tlsKey, err := TLSKeyHash(&keys.tls.PublicKey)
	if err != nil {
		return nil, err
	}
	id := &Identity{keys: func() *privateKeys { return keys }}
	s := &Statement{
		Format:      1,
		Role:        role,
		Name:        name,
		SigningKey:  id.SigningKey().Public().(ed25519.PublicKey),
		Recipient:   keys.age.Recipient().String(),
		MaskKey:     mask.PublicKey().Bytes(),
		TLSKey:      tlsKey,
		ApproverKey: approver,
		View:        view,
	}
	s.Signature = id.Sign(wire.SignIdentity, s.signedPart())
	id.Statement = s
	return id, nil
}

// SigningKey returns the Ed25519 private key.
func (id *Identity) SigningKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(id.keys().signing)
}

// Sign signs b for one purpose with the identity's signing key.
func (id *Identity) Sign(purpose string, b []byte) []byte {
	return wire.Sign(id.SigningKey(), purpose, b)
}

// PairSecret is the X25519 secret that this participant's mask key and another's have in
// common, 32 bytes; with its own statement one that only itself knows. Keys are derived
// from it, it is never used by itself.
func (id *Identity) PairSecret(other *Statement) (secret.Bytes, error) {
	own, err := ecdh.X25519().NewPrivateKey(id.keys().mask)
	if err != nil {
		return secret.Bytes{}, fmt.Errorf("identity: mask key: %w", err)
	}
	theirs, err := ecdh.X25519().NewPublicKey(other.MaskKey)
	if err != nil {
		return secret.Bytes{}, fmt.Errorf("identity: the mask key of %q: %w", other.Name, err)
	}
	b, err := own.ECDH(theirs) // refuses points of small order
	if err != nil {
		return secret.Bytes{}, fmt.Errorf("identity: the mask key of %q: %w", other.Name, err)
	}
	return secret.NewBytes(b), nil
}

// AgeIdentity opens what was sealed to the statement's recipient.
func (id *Identity) AgeIdentity() age.Identity { return id.keys().age }

// TLSKey is the private key behind the statement's TLSKey.
func (id *Identity) TLSKey() *ecdsa.PrivateKey { return id.keys().tls }

// TLSKeyHash is the SHA-256 of a public key's SubjectPublicKeyInfo, by which a
// statement pins it.
func TLSKeyHash(pub any) (wire.Hash, error) {
	der, err := x509.MarshalPKIXPublicKey(pub)
	if err != nil {
		return wire.Hash{}, fmt.Errorf("identity: TLS key: %w", err)
	}
	return sha256.Sum256(der), nil
}

// identityFile is how the secret side lies on disk, readable by its owner only.
type identityFile struct {
	Format    int             `json:"format"`
	Statement json.RawMessage `json:"statement"`
	Signing   []byte          `json:"signing_seed"`
	Age       string          `json:"age_identity"`
	Mask      []byte          `json:"mask_key"`
	TLS       []byte          `json:"tls_key"`
}

// EncodeSecret returns the private keys for storage in a file that only its
// owner can read. Nothing else may be done with the result.
func (id *Identity) EncodeSecret() (secret.Bytes, error) {
	keys := id.keys()
	der, err := x509.MarshalPKCS8PrivateKey(keys.tls)
	if err != nil {
		return secret.Bytes{}, fmt.Errorf("identity: TLS key: %w", err)
	}
	b, err := json.Marshal(identityFile{
		Format:    1,
		Statement: id.Statement.Encode(),
		Signing:   keys.signing,
		Age:       keys.age.String(),
		Mask:      keys.mask,
		TLS:       der,
	})
	return secret.NewBytes(b), err
}

// Decode reads what EncodeSecret returned and checks that the keys
// belong to the statement. Errors never quote the file.
func Decode(b secret.Bytes) (*Identity, error) {
	broken := func(what string) error {
		return fmt.Errorf("identity: the identity file is damaged: %s; restore it from a backup or enrol anew", what)
	}
	var f identityFile
	if err := json.Unmarshal(b.Reveal(), &f); err != nil {
		return nil, broken("it is not complete JSON")
	}
	if f.Format != 1 {
		return nil, &wire.FormatError{What: "identity: the identity file", Theirs: f.Format, Newest: 1}
	}
	stated, err := DecodeStatement(f.Statement)
	if err != nil {
		return nil, err
	}
	if len(f.Signing) != ed25519.SeedSize || len(f.Mask) != 32 {
		return nil, broken("a key has the wrong length")
	}
	keys := &privateKeys{signing: f.Signing, mask: f.Mask}
	if keys.age, err = age.ParseHybridIdentity(f.Age); err != nil {
		return nil, broken("the age identity does not parse")
	}
	key, err := x509.ParsePKCS8PrivateKey(f.TLS)
	if err != nil {
		return nil, broken("the TLS key does not parse")
	}
	var ok bool
	if keys.tls, ok = key.(*ecdsa.PrivateKey); !ok {
		return nil, broken("the TLS key is not ECDSA")
	}
	id, err := newIdentity(stated.Role, stated.Name, keys, stated.ApproverKey, stated.View)
	if err != nil {
		return nil, broken("a key does not belong to its kind")
	}
	if id.Statement.Fingerprint() != stated.Fingerprint() {
		return nil, broken("the keys do not belong to the statement")
	}
	return id, nil
}
