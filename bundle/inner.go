package bundle

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"concord/internal/ahead"
	"concord/wire"
)

// readInner checks a zip from its first byte to its last: it must be the one
// zip that follows from its manifest. Nothing is looked up in the directory at
// the end, which two programs may read differently; the directory is only
// compared with what it must be. Members may have most bytes in all.
//
// Cost: one pass in constant memory.
func readInner(src io.ReaderAt, size, most int64, look *inspector) (*Reader, error) {
	s := &scan{src: src, size: size, look: look}
	b, err := s.small(manifestName, maxManifestBytes)
	if err != nil {
		return nil, err
	}
	m, err := DecodeManifest(b)
	if err != nil {
		return nil, err
	}
	r := &Reader{Manifest: m, src: src, size: size, offsets: make(map[string]int64, len(m.Members))}
	signed, err := s.hasNext(signatureName)
	if err != nil {
		return nil, err
	}
	if signed {
		if err := s.signatures(r); err != nil {
			return nil, err
		}
	}
	if n := m.Bytes(); n > most {
		return nil, refuse(ErrDamaged, "the members have %d bytes, at most %d are read", n, most)
	}
	for _, member := range m.Members {
		if err := s.member(member); err != nil {
			return nil, err
		}
		r.offsets[member.Name] = s.at - member.Bytes
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	return r, nil
}

// scan walks through a zip.
type scan struct {
	src      io.ReaderAt
	size, at int64
	entries  []entry
	look     *inspector
}

// bytes returns n bytes at the present position and moves behind them.
func (s *scan) bytes(what string, n int) ([]byte, error) {
	if int64(n) > s.size-s.at {
		return nil, refuse(ErrDamaged, "zip: it ends within %s, %d bytes are missing", what, int64(n)-(s.size-s.at))
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(s.src, s.at, int64(n)), b); err != nil {
		return nil, readError(err)
	}
	s.at += int64(n)
	return b, nil
}

// hasNext reports whether a local header for that name stands at the present
// position.
func (s *scan) hasNext(name string) (bool, error) {
	n := int64(localBytes + len(name))
	if n > s.size-s.at {
		return false, nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(s.src, s.at, n), b); err != nil {
		return false, readError(err)
	}
	return int(binary.LittleEndian.Uint16(b[26:])) == len(name) && string(b[localBytes:]) == name, nil
}

// small reads a member whose size is not known before.
func (s *scan) small(name string, most uint32) ([]byte, error) {
	header, err := s.bytes(name, localBytes+len(name))
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(header[22:])
	if string(header[localBytes:]) != name || n > most {
		n = 0 // the header is refused below
	}
	b, err := s.bytes(name, int(n))
	if err != nil {
		return nil, err
	}
	g := newGauge(int64(most))
	if _, err := g.Write(b); err != nil {
		return nil, err
	}
	return b, s.header(header, entry{name: name, size: g.n, crc: g.crc})
}

// member reads a member and compares it with the manifest.
func (s *scan) member(want Member) error {
	header, err := s.bytes(want.Name, localBytes+len(want.Name))
	if err != nil {
		return err
	}
	if err := wrongMember(header, want.Name); err != nil {
		return err
	}
	if want.Bytes > s.size-s.at {
		return refuse(ErrDamaged, "zip: it ends within member %q, %d bytes are missing", want.Name, want.Bytes-(s.size-s.at))
	}
	g := newGauge(want.Bytes)
	section := ahead.Read(io.NewSectionReader(s.src, s.at, want.Bytes), int(min(want.Bytes, copyBytes)))
	defer section.Stop()
	content := io.TeeReader(section, g)
	if want.Sealed == nil {
		s.look.look(want, content)
	}
	if _, err := copyUpTo(io.Discard, content, want.Bytes); err != nil {
		return readError(err)
	}
	s.at += g.n
	got, err := g.member(want.Name)
	switch {
	case err != nil:
		return err
	case got.SHA256 != want.SHA256 || got.Bytes != want.Bytes:
		return refuse(ErrDamaged, "member %q: its SHA-256 is not the one in the manifest", want.Name)
	case !got.equal(want):
		return refuse(ErrDamaged, "member %q is %s %v, the manifest says %s %v", want.Name, got.Dtype, got.Shape, want.Dtype, want.Shape)
	}
	return s.header(header, entry{name: want.Name, size: g.n, crc: g.crc})
}

// signatures reads the two members that approved bundles have.
func (s *scan) signatures(r *Reader) error {
	text, err := s.small(signatureName, 88)
	if err != nil {
		return err
	}
	r.signature, err = base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(r.signature) != 64 || base64.StdEncoding.EncodeToString(r.signature) != string(text) {
		return refuse(ErrDamaged, "%s: not 64 bytes in base64", signatureName)
	}
	b, err := s.small(approvalName, maxApprovalBytes)
	if err != nil {
		return err
	}
	r.Approval, err = DecodeApproval(b)
	return err
}

// header compares a local header with the one that must be there.
func (s *scan) header(got []byte, e entry) error {
	e.offset = s.at - e.size - int64(len(got))
	s.entries = append(s.entries, e)
	want := e.local()
	if bytes.Equal(got, want) {
		return nil
	}
	if err := wrongMember(got, e.name); err != nil {
		return err
	}
	at, part := differAt(got, want), ""
	for _, f := range localFields {
		if at >= f.from {
			part = f.name
		}
	}
	return refuse(ErrDamaged, "zip: header of %q: wrong %s", e.name, part)
}

// wrongMember says what stands where a member's header must be.
func wrongMember(header []byte, name string) error {
	switch {
	case bytes.HasPrefix(header, []byte("PK\x01\x02")):
		return refuse(ErrDamaged, "zip: member %q is missing, the directory begins in its place", name)
	case !bytes.HasPrefix(header, []byte("PK\x03\x04")):
		return refuse(ErrDamaged, "zip: other bytes stand where member %q must begin", name)
	case string(header[localBytes:]) != name:
		return refuse(ErrDamaged, "zip: another member stands where %q must", name)
	}
	return nil
}

// localFields are the parts of a local header that may differ.
var localFields = []struct {
	from int
	name string
}{
	{4, "version"}, {6, "flags (a data descriptor or encryption)"}, {8, "compression method"}, {10, "time"}, {12, "date"},
	{14, "checksum"}, {18, "stored size"}, {22, "size"}, {26, "length of name"}, {28, "length of extra fields"},
}

// differAt is the index of the first difference.
func differAt(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// end compares all that follows the members with what must be there.
func (s *scan) end() error {
	want := directory(s.entries, s.at)
	left := s.size - s.at
	got, err := s.bytes("the directory", int(min(left, int64(len(want)))))
	if err != nil {
		return err
	}
	at := differAt(got, want)
	switch {
	case bytes.HasPrefix(got, []byte("PK\x03\x04")):
		return refuse(ErrDamaged, "zip: there is a member that the manifest does not list")
	case at == len(want) && left > int64(at):
		return refuse(ErrDamaged, "zip: %d bytes follow its end", left-int64(at))
	case at == len(want):
		return nil
	case at == len(got):
		return refuse(ErrDamaged, "zip: it ends within the directory, %d bytes are missing", len(want)-at)
	case at >= len(want)-2:
		return refuse(ErrDamaged, "zip: it has a comment")
	default:
		return refuse(ErrDamaged, "zip: byte %d of the directory is not what follows from the members", at+1)
	}
}

// device marks the errors of a file, so that they are told from damage.
type device struct{ io.ReaderAt }

type deviceError struct{ error }

// ReadAt marks the errors of the file itself.
func (d device) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.ReaderAt.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		err = deviceError{err}
	}
	return n, err
}

// Unwrap is the file's error.
func (e deviceError) Unwrap() error { return e.error }

// readError is for errors while reading: the file's own, or what age refuses.
func readError(err error) error {
	var d deviceError
	if errors.As(err, &d) {
		return fmt.Errorf("bundle: reading: %w", d.error)
	}
	return refuse(ErrDamaged, "reading the payload: %v", err)
}

// sameHeaders compares outside and inside.
func sameHeaders(e *Envelope, m *Manifest) error {
	if e.Manifest != m.Hash() {
		return refuse(ErrDamaged, "the envelope names manifest %s, inside is %s", e.Manifest.Short(), m.Hash().Short())
	}
	if what := e.disagreement(&m.Header); what != "" {
		return refuse(ErrDamaged, "outside and inside disagree about %s", what)
	}
	return nil
}

// contains reports whether a sorted list of recipients has h.
func contains(recipients []wire.Hash, h wire.Hash) bool {
	_, ok := slices.BinarySearchFunc(recipients, h, compare)
	return ok
}
