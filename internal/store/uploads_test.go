package store_test

import (
	"crypto/sha256"
	"encoding"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"concord/internal/store"
	"concord/wire"
)

func uploadOf(t *testing.T, hash wire.Hash, kind, line string) store.Upload {
	t.Helper()
	state, err := sha256.New().(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return store.Upload{Study: hash, Epoch: wire.Hash{1}, Sender: wire.Hash{2}, Kind: kind, Line: []byte(line), Size: 100, Hash: state}
}

func uploadsIn(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "uploads"))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestUploads: one for each party and kind; the same line is the same upload; what
// was recorded is there after a restart and a sweep, and nothing else is.
func TestUploads(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir)
	hash, err := s.AddStudy(ctx, []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.BeginUpload(ctx, uploadOf(t, hash, "contribution", "line\n"))
	if err != nil || u.Arrived != 5 {
		t.Fatalf("BeginUpload = %+v, %v", u, err)
	}
	f, err := s.OpenUpload(u)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("acknowledged"); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordUpload(ctx, &u, f, 17, []byte("state")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("and more"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	other, err := s.BeginUpload(ctx, uploadOf(t, hash, "setup", "other\n"))
	if err != nil || other.ID == u.ID {
		t.Fatalf("an upload of another kind: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "uploads", "0123456789abcdef0123456789abcdef"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "uploads", other.ID.String())); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	if n := uploadsIn(t, dir); n != 1 {
		t.Errorf("after a sweep there are %d files, want one", n)
	}
	if _, err := s.Upload(ctx, hash, wire.Hash{2}, other.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an upload without its file: %v", err)
	}
	if _, err := s.Upload(ctx, hash, wire.Hash{3}, u.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another party's upload: %v", err)
	}
	again, err := s.BeginUpload(ctx, uploadOf(t, hash, "contribution", "line\n"))
	if err != nil || again.ID != u.ID || again.Arrived != 17 || string(again.Hash) != "state" {
		t.Fatalf("the same line again = %+v, %v", again, err)
	}
	if f, err = s.OpenUpload(again); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Name())
	if f.Close(); err != nil || string(b) != "line\nacknowledged" {
		t.Errorf("the file holds %q, %v; want what was acknowledged", b, err)
	}
	replaced, err := s.BeginUpload(ctx, uploadOf(t, hash, "contribution", "another line\n"))
	if err != nil || replaced.ID == u.ID || replaced.Arrived != 13 || uploadsIn(t, dir) != 1 {
		t.Errorf("another line = %+v, %v", replaced, err)
	}
	if err := s.RecordUpload(ctx, &again, f, 20, nil); err == nil {
		t.Error("an upload that was replaced goes on")
	}
	if err := s.DropUpload(ctx, replaced); err != nil || uploadsIn(t, dir) != 0 {
		t.Errorf("DropUpload = %v", err)
	}
}

// TestUploadExpires: after a week without progress, in a sweep or while serving.
func TestUploadExpires(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir)
	hash, err := s.AddStudy(ctx, []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.BeginUpload(ctx, uploadOf(t, hash, "contribution", "line\n"))
	if err != nil {
		t.Fatal(err)
	}
	for after, want := range map[time.Duration]int{time.Hour: 0, store.UploadLife - time.Minute: 0} {
		if n, err := s.ExpireUploads(ctx, time.Now().Add(after)); err != nil || n != want {
			t.Errorf("after %v: %d expire, %v", after, n, err)
		}
	}
	if n, err := s.ExpireUploads(ctx, time.Now().Add(store.UploadLife+time.Minute)); err != nil || n != 1 || uploadsIn(t, dir) != 0 {
		t.Errorf("after a week: %d expire, %v", n, err)
	}
	if _, err := s.Upload(ctx, hash, u.Sender, u.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an expired upload: %v", err)
	}
}

// TestUploadBecomesBundle: the row of the bundle and the end of the upload are one
// change, and until then the upload's file is where it was.
func TestUploadBecomesBundle(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s := open(t, dir)
	hash, err := s.AddStudy(ctx, []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	b := store.Bundle{
		Study: hash, Epoch: wire.Hash{1}, Sender: wire.Hash{2}, Kind: "contribution", Recipients: []wire.Hash{{3}},
		Manifest: wire.Hash{4}, File: wire.Hash{5}, Size: 5, Receipt: []byte("receipt"),
	}
	for _, late := range []bool{false, true} {
		u, err := s.BeginUpload(ctx, uploadOf(t, hash, "contribution", "line\n"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.OpenUpload(u)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if late { // the bundle is stored already, however it came
			if _, err := s.PutBundle(ctx, b, f); err != nil {
				t.Fatal(err)
			}
			continue
		}
		bad := b
		bad.Study = wire.Hash{9} // names no study: the row is refused after the file is there
		if _, err := s.PutBundle(ctx, bad, f); err == nil {
			t.Fatal("a bundle of no study was stored")
		}
		if left, err := s.Upload(ctx, hash, u.Sender, u.ID); err != nil || left.Arrived != 5 {
			t.Errorf("after a bundle could not be stored its upload is %+v, %v", left, err)
		}
		if _, err := s.PutBundle(ctx, b, f); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Upload(ctx, hash, u.Sender, u.ID); !errors.Is(err, store.ErrNotFound) || uploadsIn(t, dir) != 0 {
			t.Errorf("after its bundle is stored the upload is there: %v", err)
		}
	}
	stored, err := s.OpenBundle(b)
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
}

// TestUploadNames: whoever names an upload may go on with it, so that every byte of its name
// is drawn. Of 16 all have the same byte at one of 16 places with probability 16·256⁻¹⁵.
func TestUploadNames(t *testing.T) {
	s := open(t, t.TempDir())
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	var first store.UploadID
	varies := make([]bool, len(first))
	for i := range 16 {
		u := uploadOf(t, hash, "contribution", "line\n")
		u.Sender = wire.Hash{9, byte(i)}
		if u, err = s.BeginUpload(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = u.ID
		}
		for k := range u.ID {
			varies[k] = varies[k] || u.ID[k] != first[k]
		}
	}
	for k, yes := range varies {
		if !yes {
			t.Errorf("byte %d of all names is %d", k, first[k])
		}
	}
}
