package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"concord/identity"
	"concord/internal/store"
	"concord/release"
	"concord/wire"
)

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.TestAnalyst)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func statement(t *testing.T, role identity.Role, name string) *identity.Statement {
	t.Helper()
	id, err := identity.New(role, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id.Statement
}

// TestJoinAtOnce: of many parties that join at the same moment as many get in
// as there is room for, and every one of them stays in after a restart.
func TestJoinAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ctx := t.Context()
	const parties, capacity = 12, 5
	analyst := statement(t, identity.RoleAnalyst, "Analyst")
	hash, err := s.AddStudy(ctx, []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	statements := make([]*identity.Statement, parties)
	for i := range statements {
		statements[i] = statement(t, identity.RoleParty, fmt.Sprintf("Party %d", i))
		if err := s.AddInvite(ctx, hash, wire.Hash{byte(i)}, ""); err != nil {
			t.Fatal(err)
		}
	}
	var in, full atomic.Int32
	var wg sync.WaitGroup
	for i, st := range statements {
		wg.Go(func() {
			switch _, err := s.Join(ctx, hash, wire.Hash{byte(i)}, st, analyst, capacity); {
			case err == nil:
				in.Add(1)
			case errors.Is(err, store.ErrClosed):
				full.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if in.Load() != capacity || full.Load() != parties-capacity {
		t.Errorf("%d joined and %d found it full, want %d and %d", in.Load(), full.Load(), capacity, parties-capacity)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	members, err := open(t, dir).Members(ctx, hash)
	if err != nil || len(members) != capacity {
		t.Errorf("after a restart there are %d members (%v), want %d", len(members), err, capacity)
	}
}

// put stores a bundle of n bytes of one kind and returns what PutBundle does.
func put(t *testing.T, s *store.Store, hash wire.Hash, manifest byte, content string) ([]byte, error) {
	t.Helper()
	f, err := s.Incoming()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer os.Remove(f.Name())
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	return s.PutBundle(context.Background(), store.Bundle{
		Study: hash, Epoch: wire.Hash{1}, Sender: wire.Hash{2}, Kind: "contribution",
		Recipients: []wire.Hash{{3}}, Manifest: wire.Hash{manifest}, File: wire.HashOf([]byte(content)),
		Size: int64(len(content)), Receipt: []byte("receipt for " + content),
	}, f)
}

// TestPutBundle: the same again gives the same receipt, another is refused, and
// what was acknowledged is there after a restart and a sweep.
func TestPutBundle(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := put(t, s, hash, 7, "one")
	if err != nil || string(first) != "receipt for one" {
		t.Fatalf("PutBundle = %q, %v", first, err)
	}
	if again, err := put(t, s, hash, 7, "sealed anew"); err != nil || string(again) != "receipt for one" {
		t.Errorf("the same manifest again = %q, %v; want the first receipt", again, err)
	}
	if _, err := put(t, s, hash, 8, "two"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("another manifest = %v, want ErrConflict", err)
	}
	// A crash in the middle of an upload, and one between rename and commit.
	for _, name := range []string{"incoming.partial-1", wire.HashOf([]byte("orphan")).String()} {
		if err := os.WriteFile(filepath.Join(dir, "bundles", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	if err := s.Sweep(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "bundles"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("after a sweep there are %d files (%v), want one", len(entries), err)
	}
	bundles, err := s.Bundles(t.Context(), hash, wire.Hash{1}, wire.Hash{3})
	if err != nil || len(bundles) != 1 || bundles[0].Size != 3 {
		t.Fatalf("the recipient may fetch %v, %v", bundles, err)
	}
	if others, err := s.Bundles(t.Context(), hash, wire.Hash{1}, wire.Hash{4}); err != nil || len(others) != 0 {
		t.Errorf("somebody else may fetch %v, %v", others, err)
	}
	f, err := s.OpenBundle(bundles[0])
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

// TestPutAtOnce: of different bundles for one place that come at once exactly
// one is stored, and everybody who gets a receipt gets that one's.
func TestPutAtOnce(t *testing.T) {
	s := open(t, t.TempDir())
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	var stored atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, err := put(t, s, hash, byte(i), fmt.Sprint("bundle ", i))
			if err == nil {
				stored.Add(1)
			} else if !errors.Is(err, store.ErrConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if stored.Load() != 1 {
		t.Errorf("%d different bundles were acknowledged for one place", stored.Load())
	}
}

// TestPutRoundAllOrNone: when one of several bundles conflicts with a stored
// one, none of the others is stored either.
func TestPutRoundAllOrNone(t *testing.T) {
	s := open(t, t.TempDir())
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	results := func(second byte) ([]store.Bundle, []*os.File) {
		var bundles []store.Bundle
		var files []*os.File
		for i, manifest := range []byte{byte(10 + second), second} {
			f, err := s.Incoming()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			bundles = append(bundles, store.Bundle{
				Study: hash, Epoch: wire.Hash{1}, Sender: wire.Hash{2}, Kind: "result", Slot: wire.Hash{byte(i + 3*int(second))},
				Recipients: []wire.Hash{{9}}, Manifest: wire.Hash{manifest}, File: wire.Hash{manifest, 1}, Receipt: []byte{},
			})
			files = append(files, f)
		}
		return bundles, files
	}
	first, files := results(1)
	if err := s.PutRound(t.Context(), hash, 0, &release.Round{Format: 1, Study: hash}, first, files); err != nil {
		t.Fatal(err)
	}
	other, files := results(2)
	other[1].Slot = first[1].Slot // a different bundle for a taken place
	if err := s.PutRound(t.Context(), hash, 0, &release.Round{Format: 1, Study: hash, Round: 1}, other, files); !errors.Is(err, store.ErrConflict) {
		t.Errorf("PutRound = %v, want ErrConflict", err)
	}
	stored, err := s.Bundles(t.Context(), hash, wire.Hash{1}, wire.Hash{9})
	if err != nil || len(stored) != 2 {
		t.Errorf("%d bundles are stored (%v), want the two of the first call", len(stored), err)
	}
}

func TestNewerDatabase(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "concord.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if _, err := store.Open(dir, store.TestAnalyst); err == nil || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("Open of a newer database = %v, want an error that names its version", err)
	}
}

func TestNotFound(t *testing.T) {
	s := open(t, t.TempDir())
	if _, err := s.Study(t.Context(), wire.Hash{1}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Study = %v, want ErrNotFound", err)
	}
	_, err := s.Join(t.Context(), wire.Hash{1}, wire.Hash{}, statement(t, identity.RoleParty, "A"), statement(t, identity.RoleAnalyst, "B"), 2)
	if !errors.Is(err, store.ErrInvite) {
		t.Errorf("Join = %v, want ErrInvite", err)
	}
}

// TestAsking: who comes with an asking invite is no member before the analyst says so,
// whatever is repeated, and none that was turned away comes back without another invite.
func TestAsking(t *testing.T) {
	s := open(t, t.TempDir())
	ctx := t.Context()
	hash, err := s.AddStudy(ctx, []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	analyst, north, east := statement(t, identity.RoleAnalyst, "Analyst"), statement(t, identity.RoleParty, "North"), statement(t, identity.RoleParty, "East")
	for i := range 3 {
		if err := s.AddAskingInvite(ctx, hash, wire.Hash{byte(i)}, ""); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if admitted, err := s.Join(ctx, hash, wire.Hash{0}, north, analyst, 1); admitted || err != nil {
			t.Fatalf("Join = %v, %v; want one that asks", admitted, err)
		}
	}
	if _, err := s.Join(ctx, hash, wire.Hash{1}, statement(t, identity.RoleParty, "north"), analyst, 1); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second North asks: %v, want ErrConflict", err)
	}
	if in, err := s.Members(ctx, hash); err != nil || len(in) != 0 {
		t.Errorf("%d members (%v) before the analyst said yes", len(in), err)
	}
	for range 2 {
		if err := s.Admit(ctx, hash, north.Fingerprint(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if admitted, err := s.Join(ctx, hash, wire.Hash{0}, north, analyst, 1); !admitted || err != nil {
		t.Errorf("Join after admission = %v, %v", admitted, err)
	}
	if err := s.TurnAway(ctx, hash, north.Fingerprint()); !errors.Is(err, store.ErrConflict) {
		t.Errorf("TurnAway of a member = %v, want ErrConflict", err)
	}
	if _, err := s.Join(ctx, hash, wire.Hash{1}, east, analyst, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Admit(ctx, hash, east.Fingerprint(), 1); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Admit to a full roster = %v, want ErrClosed", err)
	}
	for range 2 {
		if err := s.TurnAway(ctx, hash, east.Fingerprint()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Join(ctx, hash, wire.Hash{1}, east, analyst, 2); !errors.Is(err, store.ErrTurnedAway) {
		t.Errorf("Join after being turned away = %v, want ErrTurnedAway", err)
	}
	if err := s.Admit(ctx, hash, east.Fingerprint(), 2); !errors.Is(err, store.ErrConflict) {
		t.Errorf("Admit after being turned away = %v, want ErrConflict", err)
	}
	if admitted, err := s.Join(ctx, hash, wire.Hash{2}, east, analyst, 2); admitted || err != nil {
		t.Errorf("Join with a new invite = %v, %v; want one that asks", admitted, err)
	}
	if err := s.Admit(ctx, hash, wire.Hash{7}, 9); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Admit of nobody = %v, want ErrNotFound", err)
	}
}
