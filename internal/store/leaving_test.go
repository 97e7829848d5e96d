package store_test

import (
	"crypto/sha256"
	"encoding"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"concord/identity"
	"concord/internal/store"
	"concord/member"
	"concord/release"
	"concord/wire"
)

func (w *amending) begin(sender wire.Hash, size int64) (store.Upload, error) {
	w.t.Helper()
	state, err := sha256.New().(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		w.t.Fatal(err)
	}
	return w.store.BeginUpload(w.t.Context(), store.Upload{
		Study: w.hash, Epoch: w.chain.Setup(), Sender: sender, Kind: "contribution", Line: []byte("line\n"), Size: size, Hash: state,
	})
}

// TestNewKeysNewQuota: with new keys a party has no more room than before, and nothing
// stays of what the old ones began to upload.
func TestNewKeysNewQuota(t *testing.T) {
	w := newAmending(t)
	old := w.parties[0].Statement.Fingerprint()
	share := w.put(old, wire.Hash{}, "setup", "share of North")
	if _, err := w.begin(old, 1000); err != nil {
		t.Fatal(err)
	}
	next, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		t.Fatal(err)
	}
	b := store.Bundle{Study: w.hash, Epoch: w.chain.Setup(), Sender: next.Statement.Fingerprint(), Kind: "admission"}
	names := []wire.Hash{b.Sender, old}
	u, err := w.store.Usage(t.Context(), b, names)
	if err != nil || u.Bundles != 2 || u.Bytes != share.Size+1000 {
		t.Errorf("before: %+v, %v; want two bundles and %d bytes", u, err, share.Size+1000)
	}
	if err := w.store.Amend(t.Context(), w.hash, store.Amending{Amendment: w.propose(member.AmendRekey, 0, next.Statement)}); err != nil {
		t.Fatal(err)
	}
	if n := uploadsIn(t, w.dir); n != 0 {
		t.Errorf("%d uploads of the old keys are on the disk", n)
	}
	u, err = w.store.Usage(t.Context(), b, names)
	if err != nil || u.Bundles != 1 || u.Bytes != share.Size || u.Coming != 0 {
		t.Errorf("after: %+v, %v; want one bundle of %d bytes", u, err, share.Size)
	}
}

// TestLeftBeforeSetup: what was on its way from a party that left before setup was
// complete is not kept.
func TestLeftBeforeSetup(t *testing.T) {
	w := newAmending(t)
	gone := w.parties[2].Statement.Fingerprint()
	if err := w.store.Renew(t.Context(), w.hash, store.Renewal{Number: 1, Leave: []wire.Hash{gone}, Size: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.begin(gone, 1000); !errors.Is(err, store.ErrConflict) {
		t.Errorf("an upload: %v, want ErrConflict", err)
	}
	if n := uploadsIn(t, w.dir); n != 0 {
		t.Errorf("%d uploads are on the disk", n)
	}
	f, err := w.store.Incoming()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := store.Bundle{Study: w.hash, Epoch: w.chain.Setup(), Sender: gone, Kind: "setup", Manifest: wire.Hash{1}, File: wire.Hash{2}}
	if _, err := w.store.PutBundle(t.Context(), b, f); !errors.Is(err, store.ErrConflict) || w.onDisk(b) {
		t.Errorf("a bundle: %v, on the disk %t; want ErrConflict and no file", err, w.onDisk(b))
	}
}

// TestLeaveTakesChangeOfBasis: what a model has of a party that came after it goes with
// the party, and so does a model that was made meanwhile and not released.
func TestLeaveTakesChangeOfBasis(t *testing.T) {
	w := newAmending(t)
	west, north := w.parties[2].Statement.Fingerprint(), w.parties[0].Statement.Fingerprint()
	model := func(round int) {
		t.Helper()
		err := w.store.PutModel(w.hash, round, func(dir string) error {
			var errs []error
			for _, name := range []string{"h.onnx", store.ChangeFile(west), store.ChangeFile(north)} {
				errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
			}
			return errors.Join(errs...)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	there := func(round int, name string) bool {
		_, err := os.Stat(w.store.ModelPath(w.hash, round, name))
		return err == nil
	}
	record := &release.Round{Format: 1, Study: w.hash, Epoch: w.chain.Epoch(), Parties: []release.RoundParty{{Party: north}}, Late: []release.RoundParty{{Party: west}}}
	model(0)
	if err := w.store.PutRound(t.Context(), w.hash, 1, record, nil, nil); err != nil {
		t.Fatal(err)
	}
	model(1) // is being made
	err := w.store.Amend(t.Context(), w.hash, store.Amending{
		Amendment: w.propose(member.AmendRemove, 2, nil), Gone: []wire.Hash{west}, Receipt: func([]member.Deleted) []byte { return []byte("receipt") },
	})
	if err != nil {
		t.Fatal(err)
	}
	if !there(0, "h.onnx") || !there(0, store.ChangeFile(north)) || there(0, store.ChangeFile(west)) {
		t.Errorf("model %t, change of who stays %t, of who left %t; want the first two", there(0, "h.onnx"), there(0, store.ChangeFile(north)), there(0, store.ChangeFile(west)))
	}
	made := *record
	made.Round = 1
	if err := w.store.PutRound(t.Context(), w.hash, 1, &made, nil, nil); !errors.Is(err, store.ErrConflict) {
		t.Fatalf("a round made for the roster before: %v, want ErrConflict", err)
	}
	if there(1, "") {
		t.Error("a model that was not released is on the disk")
	}
	model(1) // a crash before it is refused
	if err := w.store.Sweep(); err != nil {
		t.Fatal(err)
	}
	if there(1, "") || !there(0, "h.onnx") {
		t.Errorf("after a sweep: unreleased model %t, released one %t; want the released one only", there(1, ""), there(0, "h.onnx"))
	}
}
