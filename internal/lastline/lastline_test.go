package lastline_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"concord/internal/lastline"
)

// TestFile: behind bytes that were there the file has its line and a payload of the size
// and the hash that were told, which opens to what was written, whatever its length is to
// a chunk.
func TestFile(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000} {
		for _, to := range [][]age.Recipient{nil, {id.Recipient()}} {
			t.Run(fmt.Sprintf("%d bytes, %d recipients", n, len(to)), func(t *testing.T) {
				content := bytes.Repeat([]byte("x"), n)
				w, err := os.Create(filepath.Join(t.TempDir(), "file"))
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				if _, err := w.WriteString("before"); err != nil {
					t.Fatal(err)
				}
				f, err := lastline.Begin(w, int64(n), to...)
				if err != nil {
					t.Fatal(err)
				}
				sum, err := f.Payload(5, func(w io.Writer) error {
					_, err := w.Write(content)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := f.Line([]byte("line\n")); err != nil {
					t.Fatal(err)
				}
				if _, err := w.WriteString("after"); err != nil {
					t.Fatal(err)
				}
				all, err := os.ReadFile(w.Name())
				if err != nil {
					t.Fatal(err)
				}
				payload, ok := bytes.CutPrefix(all, []byte("beforeline\n"))
				payload, also := bytes.CutSuffix(payload, []byte("after"))
				if !ok || !also || int64(len(payload)) != f.Size || sha256.Sum256(payload) != sum {
					t.Fatalf("%d bytes behind the line, %d and their hash were told", len(payload), f.Size)
				}
				if to == nil {
					if !bytes.Equal(payload, content) {
						t.Error("the payload is not the content")
					}
					return
				}
				r, err := age.Decrypt(bytes.NewReader(payload), id)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%d bytes are sealed, %v", len(got), err)
				}
			})
		}
	}
}

// failing is a file that takes no byte.
type failing struct{ error }

func (f failing) Write([]byte) (int, error)      { return 0, f.error }
func (f failing) Seek(int64, int) (int64, error) { return 0, nil }

// TestErrors: errors of the content and of the file are given on.
func TestErrors(t *testing.T) {
	full, gone := errors.New("full"), errors.New("gone")
	f, err := lastline.Begin(failing{full}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Payload(1, func(io.Writer) error { return nil }); !errors.Is(err, full) {
		t.Errorf("%v, want that it is full", err)
	}
	if err := f.Line([]byte("\n")); !errors.Is(err, full) {
		t.Errorf("%v, want that it is full", err)
	}
	w, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if f, err = lastline.Begin(w, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Payload(1, func(io.Writer) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("%v, want that the content is gone", err)
	}
}
