package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"concord/audit"
	"concord/identity"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

// kinds verifies a study's log and returns what it says happened.
func kinds(t *testing.T, s *store.Store, hash wire.Hash) []audit.Kind {
	t.Helper()
	var b bytes.Buffer
	if err := s.WriteAudit(t.Context(), hash, &b); err != nil {
		t.Fatal(err)
	}
	var got []audit.Kind
	id := store.TestAnalyst.Statement
	chain, err := audit.Verify(&b, id.Fingerprint(), hash, audit.KeysOf(id), func(e *audit.Entry) error {
		got = append(got, e.Kind)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.AuditHead(t.Context(), hash)
	if err != nil || head != chain.Head() {
		t.Errorf("the head is %v, the log ends with %v: %v", head, chain.Head(), err)
	}
	return got
}

// TestAuditOfChanges: each change has one entry, committed with it; what changes
// nothing or fails has none.
func TestAuditOfChanges(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	ctx := t.Context()
	hash, err := s.AddStudy(ctx, []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	party := statement(t, identity.RoleParty, "North")
	other := statement(t, identity.RoleParty, "North")
	confirmation := &member.Confirmation{Format: 1, Epoch: wire.Hash{1}, Party: party.Fingerprint()}
	var want []audit.Kind
	expect := func(what string, err error, more ...audit.Kind) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		want = append(want, more...)
		if got := kinds(t, s, hash); !slices.Equal(got, want) {
			t.Fatalf("after %s the log says %v, want %v", what, got, want)
		}
	}
	expect("AddStudy", nil, audit.Created)
	_, err = s.AddStudy(ctx, []byte("contract"))
	expect("AddStudy again", err)
	expect("AddInvite", s.AddInvite(ctx, hash, wire.Hash{1}, "North"), audit.Invited)
	join := func(st *identity.Statement) error {
		_, err := s.Join(ctx, hash, wire.Hash{1}, st, store.TestAnalyst.Statement, 2)
		return err
	}
	expect("Join", join(party), audit.Joined)
	expect("Join again", join(party))
	if err := join(other); !errors.Is(err, store.ErrInvite) {
		t.Errorf("a used invite: %v", err)
	}
	expect("a refused Join", nil)
	expect("AddConfirmation", s.AddConfirmation(ctx, hash, confirmation), audit.Confirmed)
	expect("AddConfirmation again", s.AddConfirmation(ctx, hash, confirmation))
	_, err = put(t, s, hash, 7, "one")
	expect("PutBundle", err, audit.Received)
	_, err = put(t, s, hash, 7, "one")
	expect("PutBundle again", err)
	if _, err := put(t, s, hash, 8, "two"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("another bundle: %v", err)
	}
	expect("a refused PutBundle", nil)
	expect("SetProblem", s.SetProblem(ctx, hash, "why"), audit.Failed)
	expect("SetProblem again", s.SetProblem(ctx, hash, "why"))
	expect("ClearProblems", s.ClearProblems(ctx))
	w := &member.Witness{Format: 1, Study: hash, By: party.Fingerprint(), Heads: *member.NewHeads(member.Head{Number: 3, Hash: wire.Hash{4}}, member.Head{})}
	expect("PutWitness", s.PutWitness(ctx, hash, w), audit.Witnessed)
	expect("PutWitness again", s.PutWitness(ctx, hash, w))
	heard, err := s.Heard(ctx, hash, party.Fingerprint())
	if err != nil || heard.Number != 3 {
		t.Errorf("heard %v, %v", heard, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	expect("a restart", nil)
	if err := s.AddInvite(ctx, hash, wire.Hash{2}, ""); err == nil || !strings.Contains(err.Error(), "nothing can be changed") {
		t.Errorf("a change without keys: %v", err)
	}
	expect("a change without keys", nil)
}

// TestAuditDroppedStudy: the log of a study outlives it, and goes on.
func TestAuditDroppedStudy(t *testing.T) {
	s := open(t, t.TempDir())
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DropStudy(t.Context(), hash); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddStudy(t.Context(), []byte("contract")); err != nil {
		t.Fatal(err)
	}
	if got, want := kinds(t, s, hash), []audit.Kind{audit.Created, audit.Dropped, audit.Created}; !slices.Equal(got, want) {
		t.Errorf("the log says %v, want %v", got, want)
	}
}

// TestAuditReceipt: a receipt is made with the head that counts its bundle, and is
// what is stored.
func TestAuditReceipt(t *testing.T) {
	s := open(t, t.TempDir())
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Incoming()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	theirs := member.Head{Number: 5, Hash: wire.Hash{5}}
	b := store.Bundle{
		Study: hash, Epoch: wire.Hash{1}, Sender: wire.Hash{2}, Kind: "setup", Recipients: []wire.Hash{{3}}, Manifest: wire.Hash{4}, File: wire.Hash{5},
		Acknowledge: func(head member.Head) []byte { return []byte(head.String()) }, Line: []byte("line"), Heads: member.NewHeads(theirs, member.Head{}),
	}
	receipt, err := s.PutBundle(t.Context(), b, f)
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.AuditHead(t.Context(), hash)
	if err != nil || string(receipt) != head.String() || head.Number != 2 {
		t.Errorf("the receipt says %s, the head is %v: %v", receipt, head, err)
	}
	if stored, err := s.Receipt(t.Context(), b); err != nil || string(stored) != head.String() {
		t.Errorf("stored is %s, %v", stored, err)
	}
	if heard, err := s.Heard(t.Context(), hash, wire.Hash{2}); err != nil || heard != theirs {
		t.Errorf("heard %v, %v", heard, err)
	}
	said, err := s.Testimonies(t.Context(), hash)
	if err != nil || len(said) != 1 || string(said[0].Envelope) != "line" {
		t.Errorf("testimonies %v, %v", said, err)
	}
}

// TestAuditAtOnce: entries of changes that come at once make one chain.
func TestAuditAtOnce(t *testing.T) {
	s := open(t, t.TempDir())
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	const n = 700 // more than a page
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := s.AddInvite(t.Context(), hash, wire.HashOf(fmt.Append(nil, i)), "x"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := kinds(t, s, hash); len(got) != n+1 {
		t.Errorf("%d entries, want %d", len(got), n+1)
	}
}

// TestAuditOfOldStudy: a study that a program without audit log began gets one.
func TestAuditOfOldStudy(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	hash, err := s.AddStudy(t.Context(), []byte("contract"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "concord.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("DELETE FROM audit"); err != nil {
		t.Fatal(err)
	}
	if err := s.AddInvite(t.Context(), hash, wire.Hash{1}, ""); err != nil {
		t.Fatal(err)
	}
	if got, want := kinds(t, s, hash), []audit.Kind{audit.Begun, audit.Invited}; !slices.Equal(got, want) {
		t.Errorf("the log says %v, want %v", got, want)
	}
}

// TestEveryChangeIsNoted reads this package: each function that changes something
// enters it in the audit log, or says in a comment with "not noted" why not.
func TestEveryChangeIsNoted(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, src, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			body := string(src[set.Position(f.Body.Pos()).Offset:set.Position(f.Body.End()).Offset])
			if !strings.Contains(body, "s.change(") {
				continue
			}
			seen++
			if !strings.Contains(body, "s.note(") && !strings.Contains(body, "s.insert(") && !strings.Contains(body, "not noted") {
				t.Errorf("%s: %s changes the store and enters nothing in the audit log: call s.note in the transaction, or say why not in a comment with \"not noted\"", file, f.Name.Name)
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d functions that change something were found", seen)
	}
}
