package site_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"concord/audit"
	"concord/identity"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// note adds entries of kinds to a folder's log.
func note(t *testing.T, s *site.Site, id *identity.Identity, kinds ...audit.Kind) member.Head {
	t.Helper()
	var head member.Head
	for _, kind := range kinds {
		var err error
		if head, err = s.Note(id, wire.Hash{1}, audit.Event{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	return head
}

func verified(t *testing.T, path string, id *identity.Identity) []audit.Kind {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []audit.Kind
	chain, err := audit.Verify(bytes.NewReader(b), id.Statement.Fingerprint(), wire.Hash{1}, audit.KeysOf(id.Statement), func(e *audit.Entry) error {
		got = append(got, e.Kind)
		return nil
	})
	if err != nil || chain.Torn > 0 {
		t.Fatalf("%v, %d torn bytes", err, chain.Torn)
	}
	return got
}

func TestNote(t *testing.T) {
	id, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Dir: t.TempDir()}
	head := note(t, s, id, audit.Joining, audit.Joined, audit.Confirmed)
	path := filepath.Join(s.Dir, site.AuditFile)
	if got := verified(t, path, id); !slices.Equal(got, []audit.Kind{audit.Joining, audit.Joined, audit.Confirmed}) || head.Number != 3 {
		t.Errorf("the log says %v, head %v", got, head)
	}
	if _, err := s.Note(id, wire.Hash{2}, audit.Event{Kind: audit.Joined}); err == nil {
		t.Error("an event of another study was entered")
	}
}

// TestNoteAfterCrash: wherever a crash cuts the last entry, whole ones stay, what
// was not acknowledged goes, and the log says so.
func TestNoteAfterCrash(t *testing.T) {
	id, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Dir: t.TempDir()}
	path := filepath.Join(s.Dir, site.AuditFile)
	note(t, s, id, audit.Joining, audit.Joined)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	note(t, s, id, audit.Confirmed)
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cuts := []int{len(after) - 1, len(after)}
	for cut := len(before); cut < len(after); cut += 37 {
		cuts = append(cuts, cut)
	}
	for _, cut := range cuts {
		if err := os.WriteFile(path, after[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		note(t, s, id, audit.Prepared)
		want := []audit.Kind{audit.Joining, audit.Joined}
		switch cut {
		case len(before):
		case len(after):
			want = append(want, audit.Confirmed)
		default:
			want = append(want, audit.Repaired)
		}
		if got := verified(t, path, id); !slices.Equal(got, append(want, audit.Prepared)) {
			t.Fatalf("cut at byte %d the log says %v, want %v and prepared", cut, got, want)
		}
	}
}

// TestNoteDamaged: nothing is added behind a damaged line.
func TestNoteDamaged(t *testing.T) {
	id, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Dir: t.TempDir()}
	path := filepath.Join(s.Dir, site.AuditFile)
	note(t, s, id, audit.Joining)
	for _, damage := range [][]byte{[]byte("x\n"), []byte("\n"), bytes.Repeat([]byte{0}, 3*audit.MaxEntryBytes)} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(slices.Clone(b), damage...), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Note(id, wire.Hash{1}, audit.Event{Kind: audit.Joined}); err == nil {
			t.Errorf("an entry was added after %.10q", damage)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoteOldStudy: a site that joined before there were logs gets one that says so;
// the log of a study that was never joined makes room for another.
func TestNoteOldStudy(t *testing.T) {
	id, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site.Site{Dir: t.TempDir()}
	path := filepath.Join(s.Dir, site.AuditFile)
	if _, err := s.Note(id, wire.Hash{2}, audit.Event{Kind: audit.Joining}); err != nil {
		t.Fatal(err)
	}
	own := id.Statement.Fingerprint()
	if err := s.BeginAudit(wire.Hash{1}, own); err != nil {
		t.Fatal(err)
	}
	note(t, s, id, audit.Joining)
	if err := s.BeginAudit(wire.Hash{1}, own); err != nil { // again, of the same
		t.Fatal(err)
	}
	if got := verified(t, path, id); !slices.Equal(got, []audit.Kind{audit.Joining}) {
		t.Errorf("the log says %v", got)
	}
	// The same keys with a statement that names a view: no server took the one before.
	ward, err := id.WithView("ward")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.BeginAudit(wire.Hash{1}, ward.Statement.Fingerprint()); err != nil {
		t.Fatal(err)
	}
	note(t, s, ward, audit.Joining)
	if got := verified(t, path, ward); !slices.Equal(got, []audit.Kind{audit.Joining}) {
		t.Errorf("the log says %v", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "contract.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	note(t, s, id, audit.Prepared)
	if got := verified(t, path, id); !slices.Equal(got, []audit.Kind{audit.Begun, audit.Prepared}) {
		t.Errorf("the log says %v", got)
	}
}
