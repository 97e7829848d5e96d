package parcel

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"

	"filippo.io/age"

	"concord/internal/lastline"
	"concord/wire"
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
	var recipients []age.Recipient
	if to != nil {
		recipients = append(recipients, to)
	}
	f, err := lastline.Begin(w, int64(len(line))+idx.bytes(), recipients...)
	if err != nil {
		return nil, fmt.Errorf("parcel: %w", err)
	}
	h.Format, h.Size, h.Signature = Format, f.Size, make([]byte, ed25519.SignatureSize)
	h.Payload, err = f.Payload(len(h.Line()), func(w io.Writer) error { return writeItems(w, line, items) })
	if err != nil {
		return nil, err
	}
	h.Signature = wire.Sign(key, wire.SignParcel, h.signedPart())
	if err := f.Line(h.Line()); err != nil {
		return nil, err
	}
	return &h, nil
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
