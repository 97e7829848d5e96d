package bundle

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
)

// byArchiveZip writes the same zip with the standard library, an independent
// implementation.
func byArchiveZip(t interface{ Fatal(...any) }, w io.Writer, entries []entry, body func(w io.Writer, i int) error) {
	z := zip.NewWriter(w)
	for i, e := range entries {
		h := &zip.FileHeader{
			Name: e.name, Method: zip.Store, CreatorVersion: zipVersion, ReaderVersion: zipVersion,
			CRC32: e.crc, CompressedSize64: uint64(e.size), UncompressedSize64: uint64(e.size),
		}
		//lint:ignore SA1019 CreateRaw writes ModifiedDate and never looks at Modified
		h.ModifiedDate = newYear80
		m, err := z.CreateRaw(h)
		if err == nil {
			err = body(m, i)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestZipIsArchiveZips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		contents := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 5).Draw(t, "contents")
		entries := make([]entry, len(contents))
		for i, b := range contents {
			name := fmt.Sprint(rapid.StringMatching(`[A-Za-z0-9_.-]{1,20}`).Draw(t, "name"), i)
			entries[i] = entry{name: name, size: int64(len(b)), crc: crc32.ChecksumIEEE(b)}
		}
		body := func(w io.Writer, i int) error {
			_, err := w.Write(contents[i])
			return err
		}
		var got, want bytes.Buffer
		_, size := layOut(entries)
		if err := writeZip(&got, entries, body); err != nil {
			t.Fatal(err)
		}
		byArchiveZip(t, &want, entries, body)
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("\n got %q\nwant %q", got.Bytes(), want.Bytes())
		}
		if size != int64(got.Len()) {
			t.Fatalf("%d bytes were computed, %d written", size, got.Len())
		}
	})
}

// tail counts what is written and keeps the end.
type tail struct {
	n    int64
	last []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.n += int64(len(p))
	t.last = append(t.last, p[max(0, len(p)-2000):]...)
	t.last = t.last[max(0, len(t.last)-2000):]
	return len(p), nil
}

// TestZip64 compares a zip beyond 4 GiB, whose members are not looked at.
func TestZip64(t *testing.T) {
	zeros := make([]byte, 64<<20)
	for _, n := range []int{2, 3, 4} { // the directory begins at 3.5, 5.2 and 7 GiB
		var entries []entry
		for i := range n {
			entries = append(entries, entry{name: strings.Repeat("x", i+1), size: 7 << 28, crc: uint32(i)})
		}
		body := func(w io.Writer, i int) error {
			for range entries[i].size / int64(len(zeros)) {
				if _, err := w.Write(zeros); err != nil {
					return err
				}
			}
			return nil
		}
		var got, want tail
		_, size := layOut(entries)
		if err := writeZip(&got, entries, body); err != nil {
			t.Fatal(err)
		}
		byArchiveZip(t, &want, entries, body)
		if got.n != want.n || got.n != size {
			t.Errorf("%d members: %d bytes, archive/zip makes %d, %d were computed", n, got.n, want.n, size)
		}
		if !bytes.Equal(got.last, want.last) {
			at := differAt(got.last, want.last)
			t.Errorf("%d members: the ends differ in byte %d:\n got %q\nwant %q", n, at, got.last[at:], want.last[at:])
		}
	}
}
