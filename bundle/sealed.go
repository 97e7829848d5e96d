package bundle

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"concord/wire"
)

// sealedSuffix is the end of the names of sealed members.
const sealedSuffix = ".age"

// Inside is what a sealed member holds, as its sender describes it: what a person
// approves when nobody at the site can read the member any more.
type Inside struct {
	Bytes int64 `json:"bytes"`
	// SHA256 is that of the blind and the content. Of the content alone it would be an
	// answer to guesses: which of the few orders of a rare label is the one that left.
	SHA256 wire.Hash `json:"sha256"`
	Dtype  string    `json:"dtype,omitempty"`
	Shape  []int     `json:"shape,omitempty"`
}

// blindBytes is how many random bytes stand before the content of a sealed member.
const blindBytes = 32

// SealMember writes a blind and the source to w as an age file to the recipients'
// hybrid keys, one for each, and describes what is inside. What it writes becomes the
// content of the member name.age ([FromSealedFile]). The content itself is never kept:
// under non-readily identifiable studies what leaves lies at no site in the clear.
//
//	SHA256 = SHA-256(blind ‖ content)
//
// The blind is 32 bytes from the operating system, known to who opens the member only.
//
// Cost: one pass in constant memory.
func SealMember(w io.Writer, s Source, recipients ...age.Recipient) (Inside, error) {
	if err := checkName(s.Name + sealedSuffix); err != nil {
		return Inside{}, err
	}
	if err := checkHybrid(recipients); err != nil {
		return Inside{}, err
	}
	enc, err := age.Encrypt(w, recipients...)
	if err != nil {
		return Inside{}, fmt.Errorf("bundle: sealing: %w", err)
	}
	blind := make([]byte, blindBytes)
	rand.Read(blind)
	defer clear(blind)
	if _, err := enc.Write(blind); err != nil {
		return Inside{}, fmt.Errorf("bundle: sealing: %w", err)
	}
	g := blinded(blind, MaxMemberBytes-maxSealing)
	if err := s.Write(io.MultiWriter(g, enc)); err != nil {
		return Inside{}, fmt.Errorf("bundle: member %q: %w", s.Name, err)
	}
	if err := enc.Close(); err != nil {
		return Inside{}, fmt.Errorf("bundle: sealing: %w", err)
	}
	m, err := g.member(s.Name)
	return Inside{m.Bytes, m.SHA256, m.Dtype, m.Shape}, err
}

// blinded is a gauge whose hash begins with a blind.
func blinded(blind []byte, most int64) *gauge {
	g := newGauge(most)
	g.sum.Write(blind)
	return g
}

// maxSealing bounds what sealing adds to a member: 16 bytes for each 64 KiB, the blind,
// and age's header.
const maxSealing = 1 << 20

// FromSealedFile is a source of the file at path, which [SealMember] wrote for the
// member name.
func FromSealedFile(name, path string, inside Inside) Source {
	s := FromFile(name+sealedSuffix, path)
	s.inside = &inside
	return s
}

// inside is the member as it is read: itself, or what a sealed one holds.
func (m Member) inside() Member {
	if m.Sealed == nil {
		return m
	}
	return Member{
		Name: strings.TrimSuffix(m.Name, sealedSuffix), Bytes: m.Sealed.Bytes, SHA256: m.Sealed.SHA256, Dtype: m.Sealed.Dtype, Shape: m.Sealed.Shape,
	}
}

// checkSealed checks what a manifest says of a sealed member.
func (m Member) checkSealed() error {
	if strings.HasSuffix(m.Name, sealedSuffix) != (m.Sealed != nil) {
		return refuse(ErrDamaged, "manifest: member %q: %s members say what is inside, others do not", m.Name, sealedSuffix)
	}
	if m.Sealed == nil {
		return nil
	}
	if m.Sealed.SHA256.IsZero() || m.Sealed.Bytes >= m.Bytes {
		return refuse(ErrDamaged, "manifest: member %q: %d bytes inside of %d", m.Name, m.Sealed.Bytes, m.Bytes)
	}
	inside := m.inside()
	if strings.HasSuffix(inside.Name, sealedSuffix) {
		return refuse(ErrDamaged, "manifest: member %q is sealed twice", m.Name)
	}
	return inside.check()
}

// unsealed reads what a sealed member holds, and gives the gauge that measures it.
func (r *Reader) unsealed(m Member, in io.Reader) (io.Reader, *gauge, error) {
	if len(r.identities) == 0 {
		return nil, nil, refuse(ErrMismatch, "member %q is sealed to the recipient", m.Name)
	}
	plain, err := age.Decrypt(in, r.identities...)
	var noMatch *age.NoIdentityMatchError
	if errors.As(err, &noMatch) {
		return nil, nil, refuse(ErrMismatch, "member %q is not sealed to this recipient's key", m.Name)
	} else if err != nil {
		return nil, nil, refuse(ErrDamaged, "member %q: %v", m.Name, err)
	}
	blind := make([]byte, blindBytes)
	switch _, err := io.ReadFull(plain, blind); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, nil, refuse(ErrDamaged, "member %q ends within its blind of %d bytes", m.Name, blindBytes)
	case err != nil:
		return nil, nil, readError(err)
	}
	return plain, blinded(blind, m.Sealed.Bytes), nil
}

// checkInside reads every sealed member to its end.
func (r *Reader) checkInside(look *inspector) error {
	for _, m := range r.Manifest.Members {
		if m.Sealed == nil {
			continue
		}
		c, err := r.content(m.inside().Name)
		if err != nil {
			return err
		}
		look.look(m.inside(), c)
		if _, err := copyUpTo(io.Discard, c, m.Sealed.Bytes); err != nil {
			return err
		}
	}
	return nil
}
