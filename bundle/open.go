package bundle

import (
	"bufio"
	"crypto/ed25519"
	"errors"
	"io"
	"strings"

	"filippo.io/age"
	"gonum.org/v1/gonum/mat"

	"concord/internal/npy"
	"concord/study"
)

// DefaultBytes is the limit on all members together when Expect.MaxBytes is 0.
const DefaultBytes = 64 << 30

// Expect says which bundle the caller is waiting for. Everything is required
// but Approver and MaxBytes.
type Expect struct {
	Study, Epoch study.Hash
	Kind         string
	// Sender is the fingerprint of the sender's statement and SenderKey the
	// signing key in it.
	Sender    study.Hash
	SenderKey ed25519.PublicKey
	// Approver is the key that approves for the sender; nil means SenderKey.
	Approver ed25519.PublicKey
	// Recipient is the fingerprint of who opens.
	Recipient study.Hash
	// MaxBytes bounds all members together; 0 means DefaultBytes.
	MaxBytes int64
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
// Cost: two passes over the file in constant memory.
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
	if err := e.CheckCiphertext(payload); err != nil {
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
	r, err := readInner(plain, n, most)
	if err != nil {
		return nil, err
	}
	r.Envelope = e
	if err := sameHeaders(e, r.Manifest); err != nil {
		return nil, err
	}
	return r, r.Verify(want.SenderKey, want.Approver)
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
	return readInner(device{f}, size, most)
}

// Verify checks the sender's signature on the manifest and the approver's yes;
// a nil approver means the sender's own key. Open has done it.
func (r *Reader) Verify(sender, approver ed25519.PublicKey) error {
	if r.Approval == nil {
		return refuse(ErrApproval, "a draft without signature and approval")
	}
	if err := study.Verify(sender, study.SignManifest, r.Manifest.Encode(), r.signature); err != nil {
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

// Member returns a member's content. Should the file have changed since it was
// opened, the last read fails with ErrDamaged instead of io.EOF.
func (r *Reader) Member(name string) (io.Reader, error) {
	c, err := r.content(name)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (r *Reader) content(name string) (*content, error) {
	m, ok := r.Manifest.Member(name)
	if !ok {
		return nil, refuse(ErrDamaged, "there is no member %q", name)
	}
	section := io.NewSectionReader(r.src, r.offsets[name], m.Bytes)
	in := bufio.NewReaderSize(section, int(min(m.Bytes, copyBytes)))
	return &content{r: in, want: m, gauge: newGauge(m.Bytes)}, nil
}

type content struct {
	r     io.Reader
	want  Member
	gauge *gauge
	err   error // why reading stopped, unless at the end
}

func (c *content) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.gauge.Write(p[:n]) // as many bytes at most as the section has
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = readError(err)
		return n, c.err
	}
	if err != nil {
		if got, wrong := c.gauge.member(c.want.Name); wrong != nil || !got.equal(c.want) {
			c.err = refuse(ErrDamaged, "member %q has changed since the bundle was opened", c.want.Name)
			return n, c.err
		}
	}
	return n, err
}

// explain is for errors of a codec that reads c.
func (c *content) explain(err error) error {
	if err == nil || c.err != nil {
		return c.err
	}
	return refuse(ErrDamaged, "member %q: %v", c.want.Name, err)
}

// Bytes returns a whole member of at most most bytes.
func (r *Reader) Bytes(name string, most int64) ([]byte, error) {
	c, err := r.content(name)
	if err != nil {
		return nil, err
	}
	if c.want.Bytes > most {
		return nil, refuse(ErrDamaged, "member %q has %d bytes, at most %d are read", name, c.want.Bytes, most)
	}
	return io.ReadAll(c)
}

// Ints returns the integers of member name.npy. lim.Input is ignored.
func (r *Reader) Ints(name string, lim npy.Limits) ([]int64, error) {
	c, err := r.content(name + ".npy")
	if err != nil {
		return nil, err
	}
	lim.Input = c.want.Bytes
	v, err := npy.ReadInts(c, lim)
	if err != nil {
		return nil, c.explain(err)
	}
	return v, nil
}

// Matrix returns the matrix of member name.npy, or of its row blocks
// name.0000.npy and so on. lim.Input is ignored.
//
// Cost: the matrix in memory, and one block if there are several.
func (r *Reader) Matrix(name string, lim npy.Limits) (*mat.Dense, error) {
	blocks, err := r.blocks(name)
	if err != nil {
		return nil, err
	}
	if len(blocks) > 0 {
		return r.joined(name, blocks, lim)
	}
	return r.matrix(name+".npy", lim)
}

func (r *Reader) matrix(member string, lim npy.Limits) (*mat.Dense, error) {
	c, err := r.content(member)
	if err != nil {
		return nil, err
	}
	lim.Input = c.want.Bytes
	m, err := npy.ReadMatrix(c, lim)
	if err != nil {
		return nil, c.explain(err)
	}
	return m, nil
}

// blocks returns the row blocks of a matrix in order.
func (r *Reader) blocks(name string) ([]Member, error) {
	var blocks []Member
	for _, m := range r.Manifest.Members {
		digits, ok := strings.CutPrefix(m.Name, name+".")
		if digits, ok2 := strings.CutSuffix(digits, ".npy"); !ok || !ok2 || len(digits) != 4 || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		if want := blockName(name, len(blocks)) + ".npy"; m.Name != want {
			return nil, refuse(ErrDamaged, "row block %q stands where %q must", m.Name, want)
		}
		blocks = append(blocks, m)
	}
	if _, whole := r.Manifest.Member(name + ".npy"); whole && len(blocks) > 0 {
		return nil, refuse(ErrDamaged, "%q is there both whole and in row blocks", name+".npy")
	}
	return blocks, nil
}

// joined reads row blocks one below the other.
func (r *Reader) joined(name string, blocks []Member, lim npy.Limits) (*mat.Dense, error) {
	rows, cols := 0, 0
	for i, m := range blocks {
		if len(m.Shape) != 2 || m.Dtype != blocks[0].Dtype || m.Shape[1] != blocks[0].Shape[1] || m.Shape[0] == 0 || m.Shape[1] == 0 {
			return nil, refuse(ErrDamaged, "row block %d of %q is %s %v, the first is %s %v", i, name, m.Dtype, m.Shape, blocks[0].Dtype, blocks[0].Shape)
		}
		rows, cols = rows+m.Shape[0], m.Shape[1]
	}
	if err := lim.Check(rows, cols); err != nil {
		return nil, refuse(ErrDamaged, "row blocks of %q: %v", name, err)
	}
	all := mat.NewDense(rows, cols, nil)
	at := 0
	for _, m := range blocks {
		block, err := r.matrix(m.Name, lim)
		if err != nil {
			return nil, err
		}
		all.Slice(at, at+m.Shape[0], 0, cols).(*mat.Dense).Copy(block)
		at += m.Shape[0]
	}
	return all, nil
}
