package bundle

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"io"

	"concord/member"
	"concord/wire"
)

// MaxLineBytes bounds the envelope line, its line feed included.
const MaxLineBytes = 64 << 10

// Envelope is the line before the payload: what anybody may see of a bundle.
type Envelope struct {
	Header
	// Manifest is the hash of the manifest inside.
	Manifest wire.Hash `json:"manifest"`
	// Ciphertext is the SHA-256 of the payload and Size its bytes.
	Ciphertext wire.Hash `json:"ciphertext"`
	Size       int64     `json:"size"`
	// Heads are the sender's audit head when it sealed, and the newest of the
	// analyst's (in results: of the recipient's) that it held. They stand out here
	// so that who relays a bundle holds them too.
	Heads     *member.Heads `json:"heads,omitempty"`
	Signature []byte        `json:"signature,omitempty"`
}

// Line returns the envelope's one encoding, with the line feed.
func (e *Envelope) Line() []byte { return append(encode(e), '\n') }

// signedPart is the line without the signature.
func (e Envelope) signedPart() []byte {
	e.Signature = nil
	return encode(&e)
}

// ReadEnvelope reads exactly the line, so that r stands at the payload, and
// returns it with its line feed; its length is the payload's offset. From a
// reader that is no io.ByteReader it reads one byte at a time.
//
// Nothing is authentic before [Envelope.Verify]. Errors: ErrDamaged,
// ErrVersion, or the reader's.
func ReadEnvelope(r io.Reader) (*Envelope, []byte, error) {
	br, ok := r.(io.ByteReader)
	if !ok {
		br = byteReader{r}
	}
	var line []byte
	for {
		c, err := br.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil, nil, refuse(ErrDamaged, "the file ends in the envelope line after %d bytes", len(line))
		} else if err != nil {
			return nil, nil, err
		}
		if line = append(line, c); c == '\n' {
			break
		}
		if len(line) == MaxLineBytes {
			return nil, nil, refuse(ErrDamaged, "no envelope line in the first %d bytes", MaxLineBytes)
		}
		if len(line) == 1 && c != '{' {
			return nil, nil, refuse(ErrDamaged, "not a bundle: it does not begin with {")
		}
	}
	e := new(Envelope)
	if err := decode(line[:len(line)-1], "envelope", MaxLineBytes, e); err != nil {
		return nil, nil, err
	}
	if err := e.check(); err != nil {
		return nil, nil, err
	}
	return e, line, nil
}

type byteReader struct{ r io.Reader }

// ReadByte reads one byte and no more.
func (b byteReader) ReadByte() (byte, error) {
	var c [1]byte
	_, err := io.ReadFull(b.r, c[:])
	return c[0], err
}

func (e *Envelope) check() error {
	if err := e.Header.check("envelope"); err != nil {
		return err
	}
	if e.Size <= 0 {
		return refuse(ErrDamaged, "envelope: size is %d, must be positive", e.Size)
	}
	if err := e.Heads.Check(); err != nil {
		return refuse(ErrDamaged, "envelope: %v", err)
	}
	if e.Manifest.IsZero() || e.Ciphertext.IsZero() {
		return refuse(ErrDamaged, "envelope: manifest or ciphertext is not set")
	}
	if n := len(e.Signature); n != ed25519.SignatureSize {
		return refuse(ErrDamaged, "envelope: the signature has %d bytes, must have %d", n, ed25519.SignatureSize)
	}
	return nil
}

// Verify checks the sender's signature over the line. The caller takes the key
// from the roster's statement of Sender.
func (e *Envelope) Verify(sender ed25519.PublicKey) error {
	if err := wire.Verify(sender, wire.SignEnvelope, e.signedPart(), e.Signature); err != nil {
		return refuse(ErrSignature, "sender %s: %v", e.Sender.Short(), err)
	}
	return nil
}

// CheckCiphertext reads the payload to its end and compares its size and hash
// with the envelope. It reads at most one byte more than the envelope says.
func (e *Envelope) CheckCiphertext(payload io.Reader) error {
	sum := sha256.New()
	n, err := copyUpTo(sum, io.LimitReader(payload, e.Size+1), e.Size+1)
	if err != nil {
		return err
	}
	return e.compareCiphertext(n, wire.Hash(sum.Sum(nil)))
}

// compareCiphertext compares a payload of n bytes, or of more, with the envelope.
func (e *Envelope) compareCiphertext(n int64, sum wire.Hash) error {
	switch {
	case n > e.Size:
		return refuse(ErrDamaged, "the payload has more than the %d bytes that the envelope says", e.Size)
	case n < e.Size:
		return refuse(ErrDamaged, "the payload has %d bytes, the envelope says %d", n, e.Size)
	case sum != e.Ciphertext:
		return refuse(ErrDamaged, "the payload's SHA-256 is not the one that the envelope says")
	}
	return nil
}
