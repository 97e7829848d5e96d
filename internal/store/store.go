// Package store keeps what the analyst's server was given: contracts,
// invites, statements, confirmations and bundles, and the audit log of each study:
// every change is committed with its entry or not at all ([Store.Note], package
// audit).
//
// Small things are rows of an SQLite database, bundles are files beside it.
// Every call that changes something returns after the change has reached the
// disk (synchronous = FULL; a bundle is flushed and renamed before its row is
// committed): what the server acknowledges is durable. Files without a row are
// swept when the server starts.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	_ "modernc.org/sqlite" // the database driver

	"concord/identity"
	"concord/internal/durable"
	"concord/wire"
)

// Errors that a caller acts on.
var (
	// ErrNotFound: no such study, bundle or invite.
	ErrNotFound = errors.New("not found")
	// ErrConflict: another value is already stored in that place.
	ErrConflict = errors.New("another one is already stored in its place")
	// ErrInvite: the invite's secret is unknown, or another party used it.
	ErrInvite = errors.New("the invite is unknown or was used by another party")
	// ErrTurnedAway: the analyst said no to who asks.
	ErrTurnedAway = errors.New("the analyst has turned this site away")
	// ErrClosed: the roster has as many parties as the contract says.
	ErrClosed = errors.New("the roster is closed")
)

// migrations bring the database from version i to i+1. They are never edited,
// only added to.
var migrations = []string{`
CREATE TABLE studies (
	study    BLOB PRIMARY KEY,            -- SHA-256 of contract
	contract BLOB NOT NULL,
	problem  TEXT NOT NULL DEFAULT ''     -- why training failed, for people
) STRICT;
CREATE TABLE invites (
	study  BLOB NOT NULL REFERENCES studies,
	secret BLOB NOT NULL,                 -- SHA-256 of the invite's secret
	label  TEXT NOT NULL,                 -- whom the analyst gave it to
	used   BLOB,                          -- fingerprint of who joined with it
	PRIMARY KEY (study, secret)
) STRICT;
CREATE TABLE members (
	study       BLOB NOT NULL REFERENCES studies,
	fingerprint BLOB NOT NULL,
	statement   BLOB NOT NULL,
	PRIMARY KEY (study, fingerprint)
) STRICT;
CREATE TABLE confirmations (
	study        BLOB NOT NULL REFERENCES studies,
	epoch        BLOB NOT NULL,
	party        BLOB NOT NULL,
	confirmation BLOB NOT NULL,
	PRIMARY KEY (study, epoch, party)
) STRICT;
CREATE TABLE bundles (
	study    BLOB NOT NULL REFERENCES studies,
	epoch    BLOB NOT NULL,
	sender   BLOB NOT NULL,
	kind     TEXT NOT NULL,
	round    INTEGER NOT NULL,
	slot     BLOB NOT NULL,               -- the one recipient of a result, empty otherwise
	manifest BLOB NOT NULL,
	file     BLOB NOT NULL,               -- SHA-256 of the whole file, names it
	size     INTEGER NOT NULL,            -- of the whole file
	receipt  BLOB NOT NULL,
	PRIMARY KEY (study, epoch, sender, kind, round, slot)
) STRICT;
-- Who may fetch a bundle. Its manifest is only the sender's claim and names
-- nothing here.
CREATE TABLE recipients (
	study     BLOB NOT NULL,
	epoch     BLOB NOT NULL,
	sender    BLOB NOT NULL,
	kind      TEXT NOT NULL,
	round     INTEGER NOT NULL,
	slot      BLOB NOT NULL,
	recipient BLOB NOT NULL,
	PRIMARY KEY (study, epoch, recipient, sender, kind, round, slot),
	FOREIGN KEY (study, epoch, sender, kind, round, slot) REFERENCES bundles
) STRICT;
`, `
-- Who joins with an invite that asks is no member before the analyst admits it.
ALTER TABLE invites ADD COLUMN asks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE members ADD COLUMN state TEXT NOT NULL DEFAULT 'in'; -- in, asks, away (turned away)
`, `
-- The audit logs, one a study; the zero study is the server's own. Entries stay
-- when their study is dropped.
CREATE TABLE audit (
	study  BLOB NOT NULL,
	number INTEGER NOT NULL,
	line   BLOB NOT NULL,
	PRIMARY KEY (study, number)
) STRICT;
-- Heads of the parties' own logs, as they came.
CREATE TABLE heads (
	study  BLOB NOT NULL,
	party  BLOB NOT NULL,
	number INTEGER NOT NULL,
	hash   BLOB NOT NULL,
	PRIMARY KEY (study, party, number, hash)
) STRICT;
-- What parties signed that has a head of ours in it: lines of envelopes, witnesses.
CREATE TABLE testimonies (
	study BLOB NOT NULL,
	party BLOB NOT NULL,
	kind  TEXT NOT NULL,
	text  BLOB NOT NULL,
	UNIQUE (study, party, text)
) STRICT;
`, `
-- The number of the last parcel that was written for a site.
CREATE TABLE parcels (
	study  BLOB NOT NULL REFERENCES studies,
	site   BLOB NOT NULL,
	number INTEGER NOT NULL,
	PRIMARY KEY (study, site)
) STRICT;
`, `
ALTER TABLE studies ADD COLUMN roster INTEGER NOT NULL DEFAULT 1; -- number of the roster that people confirm
ALTER TABLE studies ADD COLUMN size   INTEGER NOT NULL DEFAULT 0; -- parties that close it; 0: as the contract says
ALTER TABLE studies ADD COLUMN ended  TEXT NOT NULL DEFAULT '';   -- why the study has ended, for people
-- The closed roster that people confirm, and the amendments that lead from it to the
-- present one.
CREATE TABLE rosters (
	study     BLOB NOT NULL REFERENCES studies,
	number    INTEGER NOT NULL,
	epoch     BLOB,                       -- after the amendment
	root      BLOB,                       -- of the first: statements of the parties, a JSON list
	amendment BLOB,                       -- of the others
	pending   INTEGER NOT NULL DEFAULT 0, -- 1: members have still to confirm it
	PRIMARY KEY (study, number)
) STRICT;
-- What was deleted because a party left.
CREATE TABLE tombstones (
	study     BLOB NOT NULL,
	epoch     BLOB NOT NULL,
	sender    BLOB NOT NULL,
	kind      TEXT NOT NULL,
	round     INTEGER NOT NULL,
	slot      BLOB NOT NULL,
	manifest  BLOB NOT NULL,
	file      BLOB NOT NULL,
	size      INTEGER NOT NULL,
	deleted   TEXT NOT NULL,              -- when, RFC 3339
	amendment BLOB NOT NULL               -- the epoch that the party's leaving led to
) STRICT;
-- The analyst's receipts for parties that left.
CREATE TABLE withdrawals (
	study   BLOB NOT NULL,
	party   BLOB NOT NULL,
	receipt BLOB NOT NULL,
	PRIMARY KEY (study, party)
) STRICT;
-- What each model was made of.
CREATE TABLE rounds (
	study  BLOB NOT NULL,
	round  INTEGER NOT NULL,
	record BLOB NOT NULL,
	PRIMARY KEY (study, round)
) STRICT;
`, `
-- Bundles of which a part has come. The file lies in uploads/, named by id.
CREATE TABLE uploads (
	study   BLOB NOT NULL REFERENCES studies,
	epoch   BLOB NOT NULL,
	sender  BLOB NOT NULL,
	kind    TEXT NOT NULL,
	round   INTEGER NOT NULL,
	id      BLOB NOT NULL UNIQUE,
	line    BLOB NOT NULL,                -- the envelope line, the file's first bytes
	size    INTEGER NOT NULL,             -- of the whole file
	arrived INTEGER NOT NULL,             -- bytes of it that are on the disk
	hash    BLOB NOT NULL,                -- state of the payload's SHA-256 after them
	expires INTEGER NOT NULL,             -- Unix time
	PRIMARY KEY (study, epoch, sender, kind, round)
) STRICT;
`, `
-- With hundreds of parties a study has tens of thousands of recipients.
CREATE INDEX recipients_by_recipient ON recipients (study, recipient);
CREATE INDEX bundles_by_manifest ON bundles (study, manifest);
`, `
-- 1 for a model into which rows went of a party that has left: its files go.
ALTER TABLE rounds ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;
`}

// conflict is an ErrConflict that says what conflicts.
type conflict string

// Error says what stands in the way.
func (c conflict) Error() string { return string(c) }

// Is makes it an ErrConflict.
func (c conflict) Is(target error) bool { return target == ErrConflict }

// Store is an open store. It is safe for concurrent use.
type Store struct {
	// db reads; it cannot write. What changes something goes through change.
	db     *sql.DB
	writer writer
	blobs  string
	id     *identity.Identity // signs the audit log
	// uploads is the folder of bundles of which a part has come.
	uploads string
	// placing counts the calls that put a bundle's file in its place, by its name.
	placing   map[wire.Hash]int
	placingMu sync.Mutex
	// statements are those that members have, by fingerprint: decoding one
	// verifies a signature and tries every key.
	statements sync.Map
	roots      sync.Map // rootKey to []*identity.Statement

	versions  sync.Mutex
	versioned *sql.Conn // asked for the database's version, see Version
	renewed   int64     // how often that was replaced
}

// maxReaders bounds the connections that read at once, the one of Version
// included.
const maxReaders = 5

// Open opens or creates the store in dir. Several programs may have it open;
// only one, the server, may call Sweep. id is the analyst's, which signs the audit
// log; without it, nil, the store can only be read.
func Open(dir string, id *identity.Identity) (*Store, error) {
	s := &Store{blobs: filepath.Join(dir, "bundles"), uploads: filepath.Join(dir, "uploads"), placing: map[wire.Hash]int{}, id: id}
	for _, folder := range []string{s.blobs, s.uploads} {
		if err := durable.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	path := filepath.Join(dir, "concord.db")
	if err := forUserOnly(path); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db.SetMaxOpenConns(1) // one writer; SQLite gains nothing from more here
	s.writer.db = db
	if err := s.migrate(); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), db.Close())
	}
	// Readers do not wait for a writer: the log is written ahead.
	if s.db, err = sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), db.Close())
	}
	s.db.SetMaxOpenConns(maxReaders)
	s.db.SetMaxIdleConns(maxReaders)
	if s.versioned, err = s.db.Conn(context.Background()); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %w", err), s.Close())
	}
	return s, nil
}

// forUserOnly makes the database's file, from which its logs take their permissions,
// one that nobody else can read. It does not open one that is there: closing it would
// give up the locks that this process has on it.
func forUserOnly(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.Chmod(path, 0o600)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Close closes the database.
func (s *Store) Close() error {
	var err error
	if s.versioned != nil {
		err = s.versioned.Close()
	}
	// The writer goes last: who closes last merges the log into the database.
	return errors.Join(err, s.db.Close(), s.writer.db.Close())
}

// Version is a number that differs from an earlier one of this Store if anything
// was committed in between, by this program or by another. What was read after a
// version was taken may be kept as long as the version stays.
func (s *Store) Version(ctx context.Context) (int64, error) {
	s.versions.Lock()
	defer s.versions.Unlock()
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// A query that is given up may cost the connection, and the number counts for one
	// connection only: it is asked to the end, and a new connection begins a new count.
	ctx = context.WithoutCancel(ctx)
	var version int64
	err := s.versioned.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	if err != nil {
		conn, again := s.db.Conn(ctx)
		if again != nil {
			return 0, errors.Join(err, again)
		}
		s.versioned.Close()
		s.versioned, s.renewed = conn, s.renewed+1
		if err := conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version); err != nil {
			return 0, err
		}
	}
	return s.renewed<<32 | version&(1<<32-1), nil
}

func (s *Store) migrate() error {
	var version int
	if err := s.writer.db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("the database has version %d, this program reads versions 1 to %d: a newer concordd wrote it; upgrade this one", version, len(migrations))
	}
	for ; version < len(migrations); version++ {
		err := s.change(context.Background(), func(tx *sql.Tx) error { // not noted: the tables change, not what is in them
			if _, err := tx.Exec(migrations[version]); err != nil {
				return err
			}
			_, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", version+1))
			return err
		})
		if err != nil {
			return fmt.Errorf("migration to version %d: %w", version+1, err)
		}
	}
	return nil
}

// Sweep removes what a crash left: unfinished files, and files that no row
// names; uploads that have not expired stay. Nothing may be arriving at the same
// time.
func (s *Store) Sweep() error {
	if err := errors.Join(s.sweepModels(), s.sweepUnrecorded()); err != nil {
		return err
	}
	if err := durable.Sweep(s.blobs); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.blobs)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file, err := wire.ParseHash(e.Name())
		if err != nil {
			continue // not one of ours
		}
		if err := s.removeUnnamed(file); err != nil {
			return err
		}
	}
	return s.sweepUploads()
}

// removeUnnamed removes a file that no row names.
func (s *Store) removeUnnamed(file wire.Hash) error {
	var n int
	if err := s.db.QueryRow("SELECT count(*) FROM bundles WHERE file = ?", file[:]).Scan(&n); err != nil || n > 0 {
		return err
	}
	if err := os.Remove(s.path(file)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
