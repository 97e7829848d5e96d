package bundle

import (
	"bufio"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"

	"concord/wire"
)

// DefaultBytes is the limit on all members together when Expect.MaxBytes is 0.
const DefaultBytes = 64 << 30

// Expect says which bundle the caller is waiting for. Everything is required
// but Approver and MaxBytes.
type Expect struct {
	Study, Epoch wire.Hash
	Kind         string
	// Sender is the fingerprint of the sender's statement and SenderKey the
	// signing key in it.
	Sender    wire.Hash
	SenderKey ed25519.PublicKey
	// Approver is the key that approves for the sender; nil means SenderKey.
	Approver ed25519.PublicKey
	// Recipient is the fingerprint of who opens.
	Recipient wire.Hash
	// MaxBytes bounds all members together; 0 means DefaultBytes.
	MaxBytes int64
	// Ciphertext is the payload's SHA-256 if the caller has computed it while the
	// payload came in; zero: Open reads the payload once more for it.
	Ciphertext wire.Hash
	// Inspect, if set, gets each member's content while it is checked, in the
	// manifest's order, as it is inside where it is sealed. It reads as much as it
	// likes. It sees what nobody has authenticated yet; what it returns counts only
	// if nothing else is wrong with the bundle.
	Inspect func(m Member, content io.Reader) error
}

func (w *Expect) check() {
	if w.Study.IsZero() || w.Epoch.IsZero() || w.Kind == "" || w.Sender.IsZero() || len(w.SenderKey) != ed25519.PublicKeySize || w.Recipient.IsZero() {
		panic("bundle: Open with an incomplete Expect")
	}
}

// Reader is a bundle of which everything has been checked. Its methods may be
// used at the same time.
type Reader struct {
	// Envelope is nil for an unsealed zip.
	Envelope *Envelope
	Manifest *Manifest
	// Approval is nil for a draft.
	Approval  *Approval
	signature []byte
	src       io.ReaderAt
	size      int64
	offsets   map[string]int64
	// identities open sealed members.
	identities []age.Identity
}

// Open reads a bundle of size bytes from f and checks all of it: the line and
// its signature, that it is the expected one, the payload's hash, and inside
// the zip's form, the manifest's signature, the approval, every member's hash
// and shape, and that outside and inside agree. Whether Round, Number and
// Anchor are right is for the caller to say. f must stay open while the Reader
// is in use.
//
// Errors: ErrVersion, ErrDamaged, ErrMismatch, ErrSignature, ErrApproval, or
// those of f.
//
// Cost: two passes over the file in constant memory, three over sealed members; one
// less with want.Ciphertext.
func Open(f io.ReaderAt, size int64, want Expect, identities ...age.Identity) (*Reader, error) {
	want.check()
	f = device{f}
	e, line, err := ReadEnvelope(bufio.NewReader(io.NewSectionReader(f, 0, size)))
	if err != nil {
		return nil, err
	}
	if err := want.match(e); err != nil {
		return nil, err
	}
	payload := io.NewSectionReader(f, int64(len(line)), size-int64(len(line)))
	if want.Ciphertext.IsZero() {
		err = e.CheckCiphertext(payload)
	} else {
		err = e.compareCiphertext(payload.Size(), want.Ciphertext)
	}
	if err != nil {
		return nil, err
	}
	plain, n, err := age.DecryptReaderAt(payload, payload.Size(), identities...)
	var noMatch *age.NoIdentityMatchError
	if errors.As(err, &noMatch) {
		return nil, refuse(ErrMismatch, "the payload is not sealed to this recipient's key")
	} else if err != nil {
		return nil, readError(err)
	}
	most := want.MaxBytes
	if most == 0 {
		most = DefaultBytes
	}
	look := &inspector{visit: want.Inspect}
	r, err := readInner(plain, n, most, look)
	if err != nil {
		return nil, err
	}
	r.Envelope = e
	if err := sameHeaders(e, r.Manifest); err != nil {
		return nil, err
	}
	if err := r.Verify(want.SenderKey, want.Approver); err != nil {
		return nil, err
	}
	r.identities = identities
	if err := r.checkInside(look); err != nil {
		return nil, err
	}
	if look.found != nil {
		return nil, look.found
	}
	return r, nil
}

// inspector hands members to Expect.Inspect and keeps what it found first.
type inspector struct {
	visit func(m Member, content io.Reader) error
	found error
}

func (i *inspector) look(m Member, content io.Reader) {
	if i == nil || i.visit == nil || i.found != nil {
		return
	}
	if err := i.visit(m, content); err != nil {
		i.found = fmt.Errorf("bundle: member %q: %w", m.Name, err)
	}
}

// match compares the envelope with what is expected, and its signature.
func (w *Expect) match(e *Envelope) error {
	if e.Sender != w.Sender {
		return refuse(ErrMismatch, "it is from %s, expected from %s", e.Sender.Short(), w.Sender.Short())
	}
	if err := e.Verify(w.SenderKey); err != nil {
		return err
	}
	switch {
	case e.Study != w.Study:
		return refuse(ErrMismatch, "it is for contract %s, this study has %s", e.Study.Short(), w.Study.Short())
	case e.Epoch != w.Epoch:
		return refuse(ErrMismatch, "it is for epoch %s, this is %s", e.Epoch.Short(), w.Epoch.Short())
	case e.Kind != w.Kind:
		return refuse(ErrMismatch, "it is of kind %s, expected %s", e.Kind, w.Kind)
	case !contains(e.Recipients, w.Recipient):
		return refuse(ErrMismatch, "%s is not among its %d recipients", w.Recipient.Short(), len(e.Recipients))
	}
	return nil
}

// OpenUnsealed reads a zip in the clear: what WriteUnsealed or [Reader.WriteTo]
// wrote, of size bytes with at most most bytes of members (0 means
// DefaultBytes). Form, hashes and shapes are checked; who made it is not, see
// [Reader.Verify].
func OpenUnsealed(f io.ReaderAt, size, most int64) (*Reader, error) {
	if most == 0 {
		most = DefaultBytes
	}
	return readInner(device{f}, size, most, nil)
}

// Verify checks the sender's signature on the manifest and the approver's yes;
// a nil approver means the sender's own key. Open has done it.
func (r *Reader) Verify(sender, approver ed25519.PublicKey) error {
	if r.Approval == nil {
		return refuse(ErrApproval, "a draft without signature and approval")
	}
	if err := wire.Verify(sender, wire.SignManifest, r.Manifest.Encode(), r.signature); err != nil {
		return refuse(ErrSignature, "sender %s: %v", r.Manifest.Sender.Short(), err)
	}
	if approver == nil {
		approver = sender
	}
	return r.Approval.Verify(r.Manifest.Hash(), approver)
}

// WriteTo writes the zip in the clear, with signature and approval.
func (r *Reader) WriteTo(w io.Writer) (int64, error) {
	return copyUpTo(w, io.NewSectionReader(r.src, 0, r.size), r.size)
}
