package bundle

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/npy"
	"concord/wire"
)

// Source is a member before it is sealed.
type Source struct {
	// Name is the member's file name: letters A-Z and a-z, digits, _ . and -,
	// at most 64.
	Name string
	// Write writes the whole content. It is called several times and must write
	// the same bytes every time.
	Write func(w io.Writer) error
	// inside is set for sealed members.
	inside *Inside
}

// FromBytes is a source of b, which must not be changed afterwards.
func FromBytes(name string, b []byte) Source {
	return Source{Name: name, Write: func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}}
}

// FromFile is a source of the file at path.
func FromFile(name, path string) Source {
	return Source{Name: name, Write: func(w io.Writer) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = copyUpTo(w, f, copyBytes)
		return err
	}}
}

// FromInts is a source name.npy of v as int64; see [Reader.Ints].
func FromInts(name string, v []int64) Source {
	return Source{Name: name + ".npy", Write: func(w io.Writer) error { return npy.WriteInts(w, v) }}
}

// FromMatrix is a source name.npy of m as float64; see [Reader.Matrix]. Beyond
// 1 GiB it is several: blocks of rows name.0000.npy, name.0001.npy and so on.
// The matrix must not be changed afterwards.
func FromMatrix(name string, m *mat.Dense) []Source { return fromMatrix(name, m, 1<<30) }

func fromMatrix(name string, m *mat.Dense, blockBytes int) []Source {
	source := func(name string, m *mat.Dense) Source {
		return Source{Name: name + ".npy", Write: func(w io.Writer) error { return npy.WriteMatrix(w, m) }}
	}
	if m.IsEmpty() {
		return []Source{source(name, m)}
	}
	rows, cols := m.Dims()
	step := max(1, blockBytes/8/cols)
	if rows <= step {
		return []Source{source(name, m)}
	}
	var blocks []Source
	for i := 0; i < rows; i += step {
		block := m.Slice(i, min(i+step, rows), 0, cols).(*mat.Dense)
		blocks = append(blocks, source(blockName(name, len(blocks)), block))
	}
	return blocks
}

// blockName is the name of a row block without .npy.
func blockName(name string, i int) string { return fmt.Sprintf("%s.%04d", name, i) }

// Draft is what shall be sent. Format may stay 0, Recipients need no order.
type Draft struct {
	Header
	Anchor  *wire.Hash
	View    string
	Members []Source
}

// Describe reads every source once and returns the manifest: what would leave.
// The same draft gives the same manifest.
//
// Cost: one pass over all sources, in constant memory.
func Describe(d Draft) (*Manifest, error) {
	m := &Manifest{Header: d.Header, Anchor: d.Anchor, View: d.View}
	m.Format = Format
	m.Recipients = slices.SortedFunc(slices.Values(d.Recipients), compare)
	if len(d.Members) > MaxMembers {
		return nil, refuse(ErrDamaged, "manifest: %d members, must be 1 to %d", len(d.Members), MaxMembers)
	}
	for _, s := range d.Members {
		if err := checkName(s.Name); err != nil {
			return nil, err
		}
		g := newGauge(MaxMemberBytes)
		if err := s.Write(g); err != nil {
			return nil, fmt.Errorf("bundle: member %q: %w", s.Name, err)
		}
		member, err := g.member(s.Name)
		if err != nil {
			return nil, err
		}
		member.Sealed = s.inside
		m.Members = append(m.Members, member)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, nil
}

// copyBytes is the size of copy buffers. age takes new memory for a chunk of
// 64 KiB at every read, however long: long reads leave less garbage.
const copyBytes = 1 << 20

// copyUpTo copies r, which has about n bytes.
func copyUpTo(w io.Writer, r io.Reader, n int64) (int64, error) {
	buf := make([]byte, max(1, min(n, copyBytes)))
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, buf) // neither may bring its own buffer
}

// gauge measures what is written to it: all that a manifest and a zip say
// about a member.
type gauge struct {
	most int64
	n    int64
	sum  hash.Hash
	crc  uint32
	head []byte // enough for a NumPy header
	over bool   // more came than most
}

func newGauge(most int64) *gauge { return &gauge{most: most, sum: sha256.New()} }

// Write fails when more bytes come than the gauge admits.
func (g *gauge) Write(p []byte) (int, error) {
	if int64(len(p)) > g.most-g.n {
		g.over = true
		return 0, fmt.Errorf("more than %d bytes", g.most)
	}
	g.n += int64(len(p))
	g.sum.Write(p)
	g.crc = crc32.Update(g.crc, crc32.IEEETable, p)
	if room := npy.MaxHeaderBytes + 12 - len(g.head); room > 0 {
		g.head = append(g.head, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// member describes what has been written.
func (g *gauge) member(name string) (Member, error) {
	m := Member{Name: name, Bytes: g.n, SHA256: wire.Hash(g.sum.Sum(nil))}
	if !strings.HasSuffix(name, ".npy") {
		return m, nil
	}
	h, err := npy.ReadHeader(bytes.NewReader(g.head))
	if err != nil {
		return m, refuse(ErrDamaged, "member %q: %v", name, err)
	}
	if n := len(h.Shape); n != 1 && n != 2 {
		return m, refuse(ErrDamaged, "member %q has %d dimensions, must have 1 or 2", name, n)
	}
	if h.Bytes() != g.n {
		return m, refuse(ErrDamaged, "member %q: its NumPy header tells of %d bytes, it has %d", name, h.Bytes(), g.n)
	}
	m.Dtype, m.Shape = h.Dtype, h.Shape
	return m, nil
}
