package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"concord/internal/store"
	"concord/wire"
)

// TestDatabaseFull: what finds no room in the database fails as a whole, with the system's
// error, and leaves nothing of it, in the tables or among the files. What was there stays
// readable, and the same call succeeds when there is room again.
func TestDatabaseFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := put(t, s, hash, 7, "one"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetMostPages(0); err != nil {
		t.Fatal(err)
	}
	// The last page has room for something; invites fill it.
	added := 0
	for ; ; added++ {
		if err = s.AddInvite(t.Context(), hash, wire.HashOf(fmt.Append(nil, added)), "label"); err != nil || added == 10_000 {
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("invite %d: %v, want that the disk is full", added, err)
	}
	large := bytes.Repeat([]byte("contract "), 10_000)
	if _, err := s.AddStudy(t.Context(), large); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a study with a contract of %d bytes: %v, want that the disk is full", len(large), err)
	}
	if _, err := s.Study(t.Context(), wire.HashOf(large)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a study that found no room: %v, want that it is not there", err)
	}
	// Each has a row, recipients and an entry of the audit log.
	stored, refused := 1, 0
	for i := range 40 {
		f, err := s.Incoming()
		if err != nil {
			t.Fatal(err)
		}
		content := fmt.Append(nil, "bundle ", i)
		if _, err := f.Write(content); err != nil {
			t.Fatal(err)
		}
		receipt, err := s.PutBundle(t.Context(), store.Bundle{
			Study: hash, Epoch: wire.Hash{1}, Sender: wire.Hash{2, byte(i + 1)}, Kind: "contribution",
			Recipients: []wire.Hash{{3}}, Manifest: wire.HashOf(content), File: wire.HashOf(content), Size: int64(len(content)), Receipt: []byte("receipt"),
		}, f)
		switch {
		case err == nil:
			stored++
		case errors.Is(err, syscall.ENOSPC) && receipt == nil:
			refused++
		default:
			t.Fatalf("bundle %d: %q, %v", i, receipt, err)
		}
		f.Close()
		os.Remove(f.Name())
	}
	files, err := os.ReadDir(filepath.Join(dir, "bundles"))
	if err != nil || len(files) != stored || refused == 0 {
		t.Errorf("%d files are kept (%v) of %d bundles that are stored; %d found no room", len(files), err, stored, refused)
	}
	bundles, err := s.Bundles(t.Context(), hash, wire.Hash{1}, wire.Hash{3})
	if err != nil || len(bundles) != stored {
		t.Errorf("the recipient may fetch %d bundles (%v), want %d", len(bundles), err, stored)
	}
	if _, err := s.SetMostPages(1 << 20); err != nil {
		t.Fatal(err)
	}
	if err := s.AddInvite(t.Context(), hash, wire.HashOf(fmt.Append(nil, added)), "label"); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if again, err := s.AddStudy(t.Context(), large); err != nil || again != wire.HashOf(large) {
		t.Errorf("with room again: %v", err)
	}
	var log bytes.Buffer
	if err := s.WriteAudit(t.Context(), hash, &log); err != nil {
		t.Fatal(err)
	}
	// One line for the study, each bundle and each invite: none for what failed.
	if n, want := bytes.Count(log.Bytes(), []byte("\n")), 1+stored+added+1; n != want {
		t.Errorf("the audit log has %d entries, want %d", n, want)
	}
}
