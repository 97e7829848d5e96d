package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"concord/wire"
)

func openTemp(t *testing.T) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(dir, testAnalyst)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

func countStudies(t *testing.T, s *Store) int {
	t.Helper()
	studies, err := s.Studies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(studies)
}

// TestChangesShareATransaction: of many changes at once, those that fail, panic or
// are given up leave no trace, and the others are stored; each caller gets its own
// answer.
func TestChangesShareATransaction(t *testing.T) {
	s, _ := openTemp(t)
	own := errors.New("own")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	const n = 4 * maxGroup
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			ctx := t.Context()
			if i%4 == 3 {
				ctx = gone
			}
			errs[i] = s.change(ctx, func(tx *sql.Tx) error {
				hash := wire.HashOf(fmt.Append(nil, i))
				if _, err := tx.Exec("INSERT INTO studies (study, contract) VALUES (?, ?)", hash[:], []byte{1}); err != nil {
					return err
				}
				switch i % 4 {
				case 1:
					return own
				case 2:
					panic("test")
				}
				return nil
			})
		})
	}
	wg.Wait()
	for i, err := range errs {
		ok := false
		switch i % 4 {
		case 0:
			ok = err == nil
		case 1:
			ok = err == own
		case 2:
			ok = err != nil && err.Error() == "store: a change panicked: test"
		case 3:
			ok = errors.Is(err, context.Canceled)
		}
		if !ok {
			t.Errorf("change %d: %v", i, err)
		}
	}
	if got := countStudies(t, s); got != n/4 {
		t.Errorf("%d studies are stored, want the %d of changes that succeeded", got, n/4)
	}
}

// TestGroupThatCannotCommit: when a transaction as a whole is lost, each of its
// changes is tried alone.
func TestGroupThatCannotCommit(t *testing.T) {
	s, _ := openTemp(t)
	add := func(i int) func(*sql.Tx) error {
		hash := wire.HashOf(fmt.Append(nil, i))
		return func(tx *sql.Tx) error {
			_, err := tx.Exec("INSERT INTO studies (study, contract) VALUES (?, ?)", hash[:], []byte{1})
			return err
		}
	}
	breaks := func(tx *sql.Tx) error {
		_, err := tx.Exec("ROLLBACK") // as SQLite itself does when the disk is full
		return err
	}
	group := []*change{{ctx: t.Context(), f: add(1)}, {ctx: t.Context(), f: breaks}, {ctx: t.Context(), f: add(2)}}
	s.writer.commit(group)
	if group[0].err != nil || group[2].err != nil {
		t.Errorf("the changes beside the one that breaks: %v, %v", group[0].err, group[2].err)
	}
	if group[1].err == nil {
		t.Error("the change that broke the transaction succeeded")
	}
	if got := countStudies(t, s); got != 2 {
		t.Errorf("%d studies are stored, want 2", got)
	}
}

// TestVersion: it changes with every commit, of this Store or of another program's,
// and with nothing else.
func TestVersion(t *testing.T) {
	s, dir := openTemp(t)
	other, err := Open(dir, testAnalyst)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	version := func() int64 {
		t.Helper()
		v, err := s.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	before := version()
	countStudies(t, s)
	if got := version(); got != before {
		t.Errorf("the version went from %d to %d by reading", before, got)
	}
	for i, by := range []*Store{s, other} {
		before := version()
		if _, err := by.AddStudy(t.Context(), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
		if got := version(); got == before {
			t.Errorf("the version stayed %d after commit %d", got, i+1)
		}
	}
}

// TestReadersCannotWrite: what changes something goes through change.
func TestReadersCannotWrite(t *testing.T) {
	s, _ := openTemp(t)
	if _, err := s.db.Exec("DELETE FROM studies"); err == nil {
		t.Error("a reading connection can write")
	}
}

// TestVersionGivenUp: a call that is given up, and a connection that is lost, do not
// stop the count; what is read afterwards is not taken for what was before.
func TestVersionGivenUp(t *testing.T) {
	s, _ := openTemp(t)
	before, err := s.Version(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Version(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if again, err := s.Version(t.Context()); err != nil || again != before {
		t.Errorf("after that: %d, %v; want %d", again, err, before)
	}
	s.versioned.Close()
	after, err := s.Version(t.Context())
	if err != nil || after == before {
		t.Errorf("after the connection was lost: %d, %v; want another number than %d", after, err, before)
	}
	if again, err := s.Version(t.Context()); err != nil || again != after {
		t.Errorf("and then: %d, %v; want %d", again, err, after)
	}
}

// TestSettings: a commit is on the disk when it is acknowledged (synchronous 2 is FULL), readers
// do not wait for it, and rows stay with what they belong to.
func TestSettings(t *testing.T) {
	s, _ := openTemp(t)
	for name, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1"} {
		if got, err := s.Pragma(name); err != nil || got != want {
			t.Errorf("%s is %q (%v), want %s", name, got, err, want)
		}
	}
}
