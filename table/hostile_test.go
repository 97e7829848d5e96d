package table_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"concord/table"
)

// hostile opens a file, reads it to its end, and holds that it is refused for the given
// reason within the given memory.
func hostile(t *testing.T, path, want string, opt table.Options, most int64) {
	t.Helper()
	used := peakHeap(t, func() {
		_, err := table.Open(path, newContract(), opt)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %.300v, want %s", err, want)
		}
	})
	if used > most {
		t.Errorf("%d MB of heap were taken, at most %d are", used>>20, most>>20)
	}
}

func inFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNoFile: what is no regular file is refused and not waited for, also as labels.
func TestNoFile(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil { // package syscall has it on Unix alone
		t.Fatalf("%v: %s", err, out)
	}
	for path, want := range map[string]string{fifo: "is no regular file", "/dev/zero": "is no regular file", t.TempDir(): "is a folder"} {
		hostile(t, path, want, table.Options{}, 8<<20)
		if f, err := table.OpenFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
		pictures := inFile(t, append([]byte{0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 1}, 7))
		hostile(t, pictures, "the file of the labels "+want, table.Options{Labels: path}, 8<<20)
	}
}

// TestBombs: a gigabyte behind a small file.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks gigabytes")
	}
	gigabyte := func(begin string) []byte { // members of gzip follow each other
		var first, block bytes.Buffer
		for to, text := range map[*bytes.Buffer]string{&first: begin, &block: strings.Repeat("7", 1<<20)} {
			w := gzip.NewWriter(to)
			if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
		}
		return append(first.Bytes(), bytes.Repeat(block.Bytes(), 1<<10)...)
	}
	t.Run("a cell", func(t *testing.T) {
		hostile(t, inFile(t, gigabyte(header+"1,20,")), "line 2: the row that begins here has 1052672 bytes or more", table.Options{}, 16<<20)
	})
	t.Run("a header", func(t *testing.T) {
		hostile(t, inFile(t, gigabyte("age,")), "line 1: the row that begins here has 1052672 bytes or more", table.Options{}, 16<<20)
	})
	t.Run("a quoted cell", func(t *testing.T) {
		hostile(t, inFile(t, gigabyte(header+"1,20,\"")), "line 2: the row that begins here has 1052672 bytes or more", table.Options{}, 16<<20)
	})

	column := func(dtype string, rows int, data []byte) []byte {
		head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }", dtype, rows)
		head += strings.Repeat(" ", 117-len(head)) + "\n"
		return append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head))), append([]byte(head), data...)...)
	}
	archive := func(dtype string, rows int, blocks int) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for _, name := range []string{"age", "bmi", "kg", "outcome"} {
			w, err := z.Create(name + ".npy")
			if err != nil {
				t.Fatal(err)
			}
			for i := range blocks {
				block := make([]byte, 1<<20)
				if i == 0 {
					block = column(dtype, rows, nil)
				}
				if _, err := w.Write(block); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return inFile(t, b.Bytes())
	}
	for name, path := range map[string]string{"arrays of zeros that end": archive("|u1", 1<<40, 8), "arrays that end": archive("<f8", 1<<40, 1)} {
		t.Run(name, func(t *testing.T) {
			used := peakHeap(t, func() {
				src, err := table.OpenSource(path, table.Options{})
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				var r table.Record
				for err == nil {
					err = src.Next(&r)
				}
				if !strings.Contains(err.Error(), "the file ends there") {
					t.Error(err)
				}
			})
			if used > 16<<20 {
				t.Errorf("%d MB of heap were taken", used>>20)
			}
		})
	}
	t.Run("elements of a gigabyte", func(t *testing.T) {
		hostile(t, archive("<U268435456", 1, 1), "at most 1048576 are read", table.Options{}, 16<<20)
	})
	for name, shape := range map[string]string{"columns": "(1, 4611686018427387904)", "rows": "(4611686018427387904, 4)", "both": "(4294967296, 4294967296)", "none": "(0, 9223372036854775807)"} {
		t.Run("a matrix of very many "+name, func(t *testing.T) {
			head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape)
			head += strings.Repeat(" ", 117-len(head)) + "\n"
			b := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(head))), head...)
			hostile(t, inFile(t, b), "", table.Options{Names: []string{"age", "bmi", "kg", "outcome"}}, 16<<20)
		})
	}
	t.Run("four billion pictures", func(t *testing.T) {
		b := []byte{0, 0, 8, 3, 255, 255, 255, 255, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4}
		src, err := table.OpenSource(inFile(t, b), table.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		var r table.Record
		if err := src.Next(&r); err != nil {
			t.Error(err)
		}
		if err := src.Next(&r); err == nil || !strings.Contains(err.Error(), "ends there") {
			t.Error(err)
		}
	})
}

// TestFooters: a Parquet footer that grows a hundredfold in memory, and columns in columns,
// over which the library recurs.
func TestFooters(t *testing.T) {
	file := func(meta []byte) string {
		b := append([]byte("PAR1"), meta...)
		return inFile(t, append(binary.LittleEndian.AppendUint32(b, uint32(len(meta))), "PAR1"...))
	}
	list := func(n int, element string) []byte {
		return append(binary.AppendUvarint([]byte{0xfc}, uint64(n)), bytes.Repeat([]byte(element), n)...)
	}
	end := []byte{0x16, 0x00, 0x19, 0x0c, 0x00} // no rows, no row groups
	chunks := append([]byte{0x15, 0x02, 0x19, 0x0c, 0x16, 0x00, 0x19, 0x1c, 0x19}, list(4<<20, "\x00")...)
	for name, test := range map[string]struct {
		meta []byte
		want string
	}{
		"columns":              {append(append([]byte{0x15, 0x02, 0x19}, list(8<<20, "\x00")...), end...), "bytes of memory"},
		"columns of a group":   {append(chunks, 0x00, 0x00), "bytes of memory"},
		"columns in columns":   {append(append([]byte{0x15, 0x02, 0x19}, list(100_000, "\x48\x01x\x15\x02\x00")...), end...), "is not whole Parquet"},
		"structs in structs":   {append([]byte{0x15, 0x02}, bytes.Repeat([]byte{0x1c}, 32<<20)...), "is not whole Parquet"},
		"lists in lists":       {append([]byte{0x15, 0x02, 0x99}, bytes.Repeat([]byte{0x19}, 32<<20)...), "is not whole Parquet"},
		"a list without end":   {[]byte{0x15, 0x02, 0x99, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}, "is not whole Parquet"},
		"a text without end":   {[]byte{0x15, 0x02, 0x98, 0xff, 0xff, 0xff, 0xff, 0x07}, "is not whole Parquet"},
		"more than may follow": {append(append([]byte{0x15, 0x02, 0x19}, list(100, "\x48\x01x\x15\xfe\xff\xff\xff\x0f\x00")...), end...), "is not whole Parquet"},
	} {
		t.Run(name, func(t *testing.T) { hostile(t, file(test.meta), test.want, table.Options{}, 128<<20) })
	}
}
