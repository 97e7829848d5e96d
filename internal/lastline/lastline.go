// Package lastline writes a file of one line and a payload, which may be sealed. The line
// tells the payload's length and hash, and so it is written last, into a place that is
// kept free for it.
//
// [Begin], then [File.Payload], then [File.Line]. After an error what was written is
// worthless and must be removed (internal/durable.Write does).
package lastline

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"filippo.io/age"
)

// File is a file that is being written.
type File struct {
	// Size is that of the payload.
	Size  int64
	start int64
	w     io.WriteSeeker
	body  io.WriteCloser
	p     *payload
}

// Begin begins a file with a payload of that many bytes before it is sealed to the
// recipients; without any it stays as it is. Nothing is written yet.
func Begin(w io.WriteSeeker, plain int64, recipients ...age.Recipient) (*File, error) {
	start, err := w.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	p := &payload{sum: sha256.New()}
	f := &File{Size: plain, start: start, w: w, body: p, p: p}
	if len(recipients) == 0 {
		return f, nil
	}
	// Encrypt writes age's header and nonce at once; their length gives the payload's.
	if f.body, err = age.Encrypt(p, recipients...); err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	f.Size = int64(p.held.Len()) + sealedBytes(plain)
	return f, nil
}

// Payload keeps a place free for a line of that many bytes, writes the payload behind it,
// whose content write gives, and returns the payload's SHA-256.
func (f *File) Payload(line int, write func(io.Writer) error) (sum [sha256.Size]byte, err error) {
	if _, err := f.w.Write(bytes.Repeat([]byte{' '}, line)); err != nil {
		return sum, err
	}
	if err := f.p.release(f.w); err != nil {
		return sum, err
	}
	if err := write(f.body); err != nil {
		return sum, err
	}
	if err := f.body.Close(); err != nil {
		return sum, err
	}
	if f.p.n != f.Size {
		panic(fmt.Sprintf("lastline: the payload has %d bytes, %d were computed", f.p.n, f.Size))
	}
	return [sha256.Size]byte(f.p.sum.Sum(nil)), nil
}

// Line writes the line, of as many bytes as Payload kept free, and goes to the file's end.
func (f *File) Line(line []byte) error {
	if _, err := f.w.Seek(f.start, io.SeekStart); err != nil {
		return err
	}
	if _, err := f.w.Write(line); err != nil {
		return err
	}
	_, err := f.w.Seek(f.Size, io.SeekCurrent)
	return err
}

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

// Write holds back or writes on.
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
