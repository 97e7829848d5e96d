package parcel

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"

	"filippo.io/age"

	"concord/study"
)

// Source is an item before it is in a parcel.
type Source struct {
	Kind  string
	Bytes int64
	// open gives the content, of exactly Bytes bytes.
	open func() (io.ReadCloser, error)
}

// FromBytes is an item of b, which must not be changed afterwards.
func FromBytes(kind string, b []byte) Source {
	return Source{kind, int64(len(b)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// FromReader is an item of size bytes that open gives.
func FromReader(kind string, size int64, open func() (io.ReadCloser, error)) Source {
	return Source{kind, size, open}
}

// FromFile is an item of the file at path as it is when the parcel is written.
func FromFile(kind, path string) (Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Source{}, err
	}
	return Source{kind, info.Size(), func() (io.ReadCloser, error) { return os.Open(path) }}, nil
}

// Write writes a parcel to w from its present position on, signed with the sender's key
// and sealed to the recipient's; to is nil for a join, which is not sealed. Of h it takes
// Parcel, Study, From, To and Number. After an error what w holds is worthless and must
// be removed (internal/durable.Write does).
//
// Cost: one pass over the items in constant memory.
func Write(w io.WriteSeeker, h Head, items []Source, key ed25519.PrivateKey, to *age.HybridRecipient) (*Head, error) {
	if (to == nil) != (h.Parcel == Join) {
		panic("parcel: a join is not sealed, and everything else is")
	}
	idx := index{Format: Format, Study: h.Study, From: h.From, To: h.To, Number: h.Number, Items: []Item{}}
	for _, s := range items {
		idx.Items = append(idx.Items, Item{s.Kind, s.Bytes})
	}
	line := append(encode(&idx), '\n')
	if err := idx.check(); err != nil {
		return nil, err
	}
	plain := int64(len(line)) + idx.bytes()

	h.Format, h.Size, h.Signature = Format, plain, make([]byte, ed25519.SignatureSize)
	start, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	p := &payload{sum: sha256.New()}
	body := io.WriteCloser(p)
	if to != nil {
		// Encrypt writes age's header and nonce at once; their length gives the
		// payload's, which the line needs.
		if body, err = age.Encrypt(p, to); err != nil {
			return nil, fmt.Errorf("parcel: sealing: %w", err)
		}
		h.Size = int64(p.held.Len()) + sealedBytes(plain)
	}
	if _, err := w.Write(bytes.Repeat([]byte{' '}, len(h.Line()))); err != nil {
		return nil, err
	}
	if err := p.release(w); err != nil {
		return nil, err
	}
	if err := writeItems(body, line, items); err != nil {
		return nil, err
	}
	if err := body.Close(); err != nil {
		return nil, err
	}
	if p.n != h.Size {
		panic(fmt.Sprintf("parcel: the payload has %d bytes, %d were computed", p.n, h.Size))
	}
	h.Payload = study.Hash(p.sum.Sum(nil))
	h.Signature = study.Sign(key, study.SignParcel, h.signedPart())
	if _, err := w.Seek(start, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := w.Write(h.Line()); err != nil {
		return nil, err
	}
	_, err = w.Seek(h.Size, io.SeekCurrent)
	return &h, err
}

func writeItems(w io.Writer, line []byte, items []Source) error {
	if _, err := w.Write(line); err != nil {
		return err
	}
	buf := make([]byte, copyBytes)
	for _, s := range items {
		if err := writeItem(w, s, buf); err != nil {
			return fmt.Errorf("parcel: the %s: %w", s.Kind, err)
		}
	}
	return nil
}

func writeItem(w io.Writer, s Source, buf []byte) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	// One byte more is asked for, to see a file that has grown.
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(r, s.Bytes+1), buf)
	if err == nil && n != s.Bytes {
		err = fmt.Errorf("it has changed while it was written: %d bytes, before %d", n, s.Bytes)
	}
	return err
}

// copyBytes is the size of copy buffers; age takes new memory for a chunk of 64 KiB at
// every read, however long.
const copyBytes = 1 << 20

// sealedBytes is the size of an age payload after its header and nonce: chunks of
// 64 KiB, each with a tag of 16 bytes, one at least.
func sealedBytes(plain int64) int64 {
	const chunk, tag = 64 << 10, 16
	return plain + tag*max(1, (plain+chunk-1)/chunk)
}

// payload counts and hashes what is written. It holds the first bytes back until the
// line's length is known.
type payload struct {
	w    io.Writer
	held bytes.Buffer
	sum  hash.Hash
	n    int64
}

func (p *payload) Write(b []byte) (int, error) {
	if p.w == nil {
		return p.held.Write(b)
	}
	n, err := p.w.Write(b)
	p.sum.Write(b[:n])
	p.n += int64(n)
	return n, err
}

func (p *payload) release(w io.Writer) error {
	p.w = w
	_, err := p.Write(p.held.Bytes())
	return err
}

// Close does nothing: what is under it stays the caller's.
func (p *payload) Close() error { return nil }
