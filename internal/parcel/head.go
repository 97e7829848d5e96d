package parcel

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"

	"concord/bundle"
	"concord/wire"
)

// Format is the version of everything in this package.
const Format = 1

// What a parcel is.
const (
	Join    = "join"    // a site asks to take part; the payload is not sealed
	Party   = "party"   // from a site to the analyst
	Analyst = "analyst" // from the analyst to a site
)

// maxLineBytes bounds the first line; what Format 1 writes has less than 1 KiB.
const maxLineBytes = 4 << 10

// refuse says why a parcel is refused, as a *[bundle.Refusal], and what a person can do.
func refuse(kind error, format string, args ...any) error {
	cure := "do not use the file; ask whoever gave it to you where it comes from"
	switch kind {
	case bundle.ErrDamaged:
		cure = "copy the file again, or ask whoever wrote it for another"
	case bundle.ErrVersion:
		cure = "use a newer version of this program"
	case bundle.ErrMismatch:
		cure = "look at the file's first line: it names study, sender and recipient"
	}
	return &bundle.Refusal{Kind: kind, Text: fmt.Sprintf(format, args...), Cure: cure}
}

// Head is the first line: what anybody may see of a parcel.
type Head struct {
	// Parcel is Join, Party or Analyst.
	Parcel string `json:"parcel"`
	Format int    `json:"format"`
	// Study is the hash of the contract; From and To are fingerprints.
	Study wire.Hash `json:"study"`
	From  wire.Hash `json:"from"`
	To    wire.Hash `json:"to"`
	// Number grows from one parcel of a sender to the next: seconds since 1970, and
	// more than the one before where the sender keeps count.
	Number int64 `json:"number"`
	// Payload is the SHA-256 of all that follows the line, and Size its bytes.
	Payload   wire.Hash `json:"payload"`
	Size      int64     `json:"size"`
	Signature []byte    `json:"signature,omitempty"`
}

// Line returns the one encoding, with the line feed.
func (h *Head) Line() []byte { return append(encode(h), '\n') }

// signedPart is the line without the signature.
func (h Head) signedPart() []byte {
	h.Signature = nil
	return encode(&h)
}

func encode(v any) []byte {
	b, err := wire.Canonical(v)
	if err != nil { // structs of hashes, numbers, strings and bytes always encode
		panic("parcel: " + err.Error())
	}
	return b
}

// ReadHead reads the first line and returns its length. Nothing in it is authentic
// before [Parcel.Verify].
func ReadHead(r io.Reader) (*Head, int64, error) {
	buf := make([]byte, maxLineBytes)
	n, err := io.ReadFull(r, buf)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, 0, err
	}
	line, _, found := bytes.Cut(buf[:n], []byte("\n"))
	switch {
	case n == 0:
		return nil, 0, refuse(bundle.ErrDamaged, "the file is empty")
	case !bytes.HasPrefix(line, []byte("{")):
		return nil, 0, refuse(bundle.ErrDamaged, "not a parcel: it does not begin with {")
	case !found && n < maxLineBytes:
		return nil, 0, refuse(bundle.ErrDamaged, "the file ends in its first line after %d bytes", n)
	case !found:
		return nil, 0, refuse(bundle.ErrDamaged, "not a parcel: there is no line in the first %d bytes", maxLineBytes)
	}
	h := new(Head)
	if err := decode(line, "the parcel's line", h); err != nil {
		return nil, 0, err
	}
	return h, int64(len(line)) + 1, h.check()
}

func (h *Head) check() error {
	switch h.Parcel {
	case Join, Party, Analyst:
	default:
		return refuse(bundle.ErrDamaged, "the parcel is a %.20q, must be %s, %s or %s", h.Parcel, Join, Party, Analyst)
	}
	switch {
	case h.Study.IsZero() || h.From.IsZero() || h.To.IsZero() || h.Payload.IsZero():
		return refuse(bundle.ErrDamaged, "the parcel's line leaves study, sender, recipient or payload open")
	case h.Number < 1:
		return refuse(bundle.ErrDamaged, "the parcel's number is %d, must be positive", h.Number)
	case h.Size < 1:
		return refuse(bundle.ErrDamaged, "the parcel's size is %d, must be positive", h.Size)
	case len(h.Signature) != ed25519.SignatureSize:
		return refuse(bundle.ErrDamaged, "the parcel's signature has %d bytes, must have %d", len(h.Signature), ed25519.SignatureSize)
	}
	return nil
}

// decode reads the one encoding of a value. Another kind of file is told from damage first.
func decode(b []byte, what string, v any) error {
	var probe struct {
		Parcel string `json:"parcel"`
		Kind   string `json:"kind"`
	}
	if json.Unmarshal(b, &probe) == nil && probe.Kind != "" && probe.Parcel == "" {
		return refuse(bundle.ErrDamaged, "the file is a bundle, not a parcel that may carry one")
	}
	if r := bundle.Decode(b, what, v); r != nil {
		return refuse(r.Kind, "%s", r.Text)
	}
	return nil
}
