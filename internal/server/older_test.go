package server_test

import (
	"bytes"
	"database/sql"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"concord/bundle"
	"concord/identity"
	"concord/internal/server"
	"concord/internal/store"
	"concord/member"
	"concord/secret"
	"concord/wire"
)

// TestOlderDatabase opens the database of a server at the first version of its tables, in
// the middle of a study: what it acknowledged is there, with the very receipts, and the
// study goes on to its result.
func TestOlderDatabase(t *testing.T) {
	ctx := t.Context()
	frozen := func(name string) []byte {
		t.Helper()
		return readFile(t, filepath.Join("testdata", "version1", name))
	}
	load := func(name string) *identity.Identity {
		t.Helper()
		id, err := identity.Decode(secret.NewBytes(frozen(name)))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bundles"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"09.body", "10.body", "17.body"} {
		b := frozen(name)
		if err := os.WriteFile(filepath.Join(dir, "bundles", wire.HashOf(b).String()), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "concord.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(frozen("database.sql"))); err != nil {
		t.Fatal(err)
	}
	var before [][]byte
	rows, err := db.Query("SELECT receipt FROM bundles ORDER BY kind DESC, sender")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var receipt []byte
		if err := rows.Scan(&receipt); err != nil {
			t.Fatal(err)
		}
		before = append(before, receipt)
	}
	if err := db.Close(); err != nil || len(before) != 3 {
		t.Fatalf("the old database has %d receipts (%v), want 3", len(before), err)
	}

	analyst := load("analyst.identity")
	a, b := load("party1.identity").Statement.Fingerprint(), load("party2.identity").Statement.Fingerprint()
	st, err := store.Open(dir, analyst)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Sweep(); err != nil {
		t.Fatal(err)
	}
	hash := wire.HashOf(frozen("contract.json"))
	srv := server.New(analyst, st, slog.New(slog.DiscardHandler))
	for i, sent := range []struct {
		from wire.Hash
		name string
	}{{a, "09.body"}, {b, "10.body"}, {a, "17.body"}} {
		receipt, err := srv.TakeBundle(ctx, hash, sent.from, bytes.NewReader(frozen(sent.name)))
		if err != nil || !bytes.Equal(receipt, before[i]) {
			t.Errorf("%s again: %v, want the receipt of then", sent.name, err)
		}
		if _, err := member.DecodeReceipt(receipt, analyst.Statement); err != nil {
			t.Errorf("%s: %v", sent.name, err)
		}
	}
	if _, err := srv.TakeBundle(ctx, hash, b, bytes.NewReader(frozen("19.body"))); err != nil {
		t.Fatal(err)
	}
	if err := srv.RunDue(ctx); err != nil {
		t.Fatal(err)
	}
	waiting, err := srv.Bundles(ctx, hash, a)
	if err != nil || len(waiting) != 2 || waiting[0].Kind != bundle.KindResult && waiting[1].Kind != bundle.KindResult {
		t.Errorf("the first party may fetch %v (%v), want the other's share and a result", waiting, err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if again, err := store.Open(dir, analyst); err != nil { // which migrates nothing a second time
		t.Error(err)
	} else if err := again.Close(); err != nil {
		t.Error(err)
	}
}
