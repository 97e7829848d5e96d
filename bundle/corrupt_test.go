package bundle_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"concord/bundle"
	"concord/npy"
)

// known reports whether an error has one of the kinds that callers test for.
func known(err error) bool {
	for _, kind := range []error{bundle.ErrVersion, bundle.ErrDamaged, bundle.ErrMismatch, bundle.ErrSignature, bundle.ErrApproval} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func TestEveryTruncation(t *testing.T) {
	b := sealed(t, draft(bob()), bob())
	for n := range b {
		if _, err := open(b[:n], expect(bundle.KindContribution, bob()), bob()); !known(err) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(b), err)
		}
	}
}

func TestEveryByteAltered(t *testing.T) {
	b := sealed(t, draft(bob()), bob())
	for i := range b {
		bit := byte(1) << (i % 8)
		b[i] ^= bit
		if _, err := open(b, expect(bundle.KindContribution, bob()), bob()); !known(err) {
			t.Fatalf("byte %d of %d with bit %#x flipped: %v", i, len(b), bit, err)
		}
		b[i] ^= bit
	}
}

// TestEveryByteAlteredInside supposes that the seal is broken: what is inside
// must stand by itself.
func TestEveryByteAlteredInside(t *testing.T) {
	b := newCraft(t).inner()
	check := func(what string, i int, b []byte) {
		r, err := openUnsealed(b)
		if err == nil {
			err = r.Verify(alice().public(), nil)
		}
		if !known(err) {
			t.Fatalf("byte %d of the zip %s: %v", i, what, err)
		}
	}
	for i := range b {
		for _, bit := range []byte{1 << (i % 8), 0x20} { // 0x20 changes the case of letters
			b[i] ^= bit
			check("altered", i, b)
			b[i] ^= bit
		}
		check("and the rest cut off", i, b[:i])
		check("removed", i, append(bytes.Clone(b[:i]), b[i+1:]...))
		check("doubled", i, append(bytes.Clone(b[:i+1]), b[i:]...))
	}
}

// TestRelay does what the analyst's server does with a bundle that it cannot
// open.
func TestRelay(t *testing.T) {
	b := sealed(t, draft(bob()), bob())
	in := bytes.NewReader(b)
	e, line, err := bundle.ReadEnvelope(in)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(line, b[:len(line)]) || !bytes.Equal(e.Line(), line) || in.Len() != int(e.Size) {
		t.Errorf("the line is %q, %d bytes are left of %d", line, in.Len(), e.Size)
	}
	if err := e.Verify(alice().public()); err != nil {
		t.Error(err)
	}
	refused(t, "another key", e.Verify(mallory().public()), bundle.ErrSignature, "the envelope signature does not verify")
	refused(t, "no key", e.Verify(nil), bundle.ErrSignature, "a signing key has 32 bytes, got 0")
	if err := e.CheckCiphertext(in); err != nil {
		t.Error(err)
	}
	// A reader without ReadByte is not read ahead.
	plain := struct{ io.Reader }{bytes.NewReader(b)}
	if e, _, err = bundle.ReadEnvelope(plain); err != nil {
		t.Fatal(err)
	}
	if err := e.CheckCiphertext(plain); err != nil {
		t.Error(err)
	}
	_, _, err = bundle.ReadEnvelope(bytes.NewReader([]byte("PK\x03\x04")))
	refused(t, "a zip", err, bundle.ErrDamaged, "not a bundle: it does not begin with {")
	_, err = open(b, expect(bundle.KindContribution, bob()), carol())
	refused(t, "another identity", err, bundle.ErrMismatch, "not sealed to this recipient's key")
}

// broken is a file of which some part cannot be read.
type broken struct {
	*bytes.Reader
	from, to int64
}

var errDisk = errors.New("disk on fire")

func (b *broken) ReadAt(p []byte, off int64) (int, error) {
	if off < b.to && off+int64(len(p)) > b.from {
		return 0, errDisk
	}
	return b.Reader.ReadAt(p, off)
}

// TestDeviceErrors: a file that cannot be read is not a damaged bundle.
func TestDeviceErrors(t *testing.T) {
	b := sealed(t, draft(bob()), bob())
	f := &broken{Reader: bytes.NewReader(b)}
	for at := range b {
		f.from, f.to = int64(at), int64(at)+1
		_, err := bundle.Open(f, int64(len(b)), expect(bundle.KindContribution, bob()), bob().age)
		if !errors.Is(err, errDisk) || known(err) {
			t.Fatalf("failing at byte %d: %v", at, err)
		}
	}
	// After opening: the payload is one chunk of age, which is kept in memory, so
	// this takes the zip.
	zip := newCraft(t).inner()
	f = &broken{Reader: bytes.NewReader(zip)}
	r, err := bundle.OpenUnsealed(f, int64(len(zip)), 0)
	if err != nil {
		t.Fatal(err)
	}
	f.to = int64(len(zip))
	if _, err := r.Matrix("X", npy.Limits{}); !errors.Is(err, errDisk) || known(err) {
		t.Errorf("reading X: %v", err)
	}
	if _, err := r.Bytes("report.txt", 100); !errors.Is(err, errDisk) || known(err) {
		t.Errorf("reading report.txt: %v", err)
	}
}

// heap remembers the largest heap it saw above what was there.
type heap struct{ base, most uint64 }

func newHeap() *heap {
	runtime.GC()
	h := new(heap)
	h.look()
	h.base = h.most
	return h
}

func (h *heap) look() {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	h.most = max(h.most, s.HeapAlloc)
}

// watchedFile looks at the heap whenever a few hundred KiB went through.
type watchedFile struct {
	*os.File
	h *heap
	n int
}

func (w *watchedFile) Write(p []byte) (int, error) {
	if w.n += len(p); w.n > 1<<20 {
		w.n = 0
		w.h.look()
	}
	return w.File.Write(p)
}

func (w *watchedFile) ReadAt(p []byte, off int64) (int, error) {
	if w.n += len(p); w.n > 1<<20 {
		w.n = 0
		w.h.look()
	}
	return w.File.ReadAt(p, off)
}

// TestMemory seals and opens 64 MiB.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	const rows, cols = 1 << 20, 8
	var zeros bytes.Buffer
	if err := npy.WriteInts(&zeros, make([]int64, 1<<16)); err != nil {
		t.Fatal(err)
	}
	part := zeros.Bytes()[128:] // 512 KiB of zeros
	d := draft(bob())
	var header bytes.Buffer
	header.WriteString("\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1048576, 8), }")
	for header.Len() < 127 {
		header.WriteByte(' ')
	}
	header.WriteByte('\n')
	d.Members[0].Write = func(w io.Writer) error {
		if _, err := w.Write(header.Bytes()); err != nil {
			return err
		}
		for range rows * cols * 8 / len(part) {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "bundle"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// Buffers of 1 MiB, age's chunks of 64 KiB, and garbage up to the 4 MiB at
	// which the collector starts: a quarter of the member is well above all.
	const most = 16 << 20
	h := newHeap()
	e, err := bundle.Seal(&watchedFile{File: f, h: h}, sealing(t, d), alice().key, bob().recipient())
	if err != nil {
		t.Fatal(err)
	}
	if got := h.most - h.base; got > most {
		t.Errorf("sealing %d bytes took %d bytes of heap", e.Size, got)
	}
	h = newHeap()
	w := &watchedFile{File: f, h: h}
	size := int64(len(e.Line())) + e.Size
	r, err := bundle.Open(w, size, expect(bundle.KindContribution, bob()), bob().age)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.WriteTo(io.Discard); err != nil {
		t.Fatal(err)
	}
	if got := h.most - h.base; got > most {
		t.Errorf("opening %d bytes took %d bytes of heap", e.Size, got)
	}
	x, err := r.Matrix("X", npy.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	h.look()
	if got := h.most - h.base; got > most+rows*cols*8 {
		t.Errorf("reading a matrix of %d bytes took %d bytes of heap", rows*cols*8, got)
	}
	if n, l := x.Dims(); n != rows || l != cols {
		t.Errorf("X is %d × %d", n, l)
	}
	want := expect(bundle.KindContribution, bob())
	want.MaxBytes = 64 << 20
	_, err = bundle.Open(w, size, want, bob().age)
	refused(t, "limit", err, bundle.ErrDamaged, "the members have 67109") // 64 MiB and some headers
}
