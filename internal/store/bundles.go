package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"concord/audit"
	"concord/bundle"
	"concord/internal/durable"
	"concord/member"
	"concord/wire"
)

// Bundle describes a stored bundle. It is named by what may exist once: the
// sender's bundle of one kind and round in an epoch, for results also by the
// recipient (Slot), and so for what a member seals to a party that comes after setup;
// for messages of masked sums by their number.
type Bundle struct {
	Study, Epoch, Sender wire.Hash
	Kind                 string
	Round                int
	// Slot is the recipient of a result or an admission, NumberSlot for a message of
	// masked sums, zero for other kinds.
	Slot       wire.Hash
	Recipients []wire.Hash
	Manifest   wire.Hash
	// File names the file: the SHA-256 of the envelope line, which holds that of the
	// payload, so that different files have different names. (Earlier programs took
	// the SHA-256 of the whole file.)
	File    wire.Hash
	Size    int64
	Receipt []byte

	// What follows is for PutBundle and PutRound only. Acknowledge, if it is set,
	// makes the receipt from the audit head that counts the bundle. Line is the
	// envelope's and Heads are those on it. Event is what the audit log shall say
	// beyond what the bundle is.
	Acknowledge func(member.Head) []byte
	Line        []byte
	Heads       *member.Heads
	Event       audit.Event
}

func (b Bundle) slot() []byte {
	if b.Slot.IsZero() {
		return []byte{}
	}
	return b.Slot[:]
}

// NumberSlot is the Slot of a sender's n-th message of masked sums in a round.
func NumberSlot(n int) (slot wire.Hash) {
	binary.BigEndian.PutUint64(slot[len(slot)-8:], uint64(n))
	return slot
}

// Number is that of a message of masked sums, 0 for bundles of other kinds.
func (b *Bundle) Number() int {
	if b.Kind != bundle.KindPool {
		return 0
	}
	return int(binary.BigEndian.Uint64(b.Slot[len(b.Slot)-8:]))
}

// Incoming is a file in the store's folder that is not yet a bundle. Discard
// it unless PutBundle took it.
func (s *Store) Incoming() (*os.File, error) {
	return os.CreateTemp(s.blobs, "incoming.partial-")
}

// PutBundle flushes an incoming file, puts it in its place and commits its
// row. It returns the receipt that counts: the stored one if the same bundle
// came before. ErrConflict means that a different one did.
func (s *Store) PutBundle(ctx context.Context, b Bundle, file *os.File) (receipt []byte, err error) {
	if known, err := s.Receipt(ctx, b); known != nil || err != nil {
		return known, err
	}
	defer s.place(b.File)(&err)
	if err := s.putFile(b, file); err != nil {
		return nil, err
	}
	var ended []UploadID
	err = s.change(ctx, func(tx *sql.Tx) (err error) {
		if receipt, err = s.insert(tx, b); err != nil {
			return err
		}
		ended, err = endUpload(tx, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, id := range ended {
		s.removeUpload(id)
	}
	return receipt, nil
}

// place marks a bundle's file as being put in its place. Whoever is the last to do
// that removes it again if nothing came of it.
func (s *Store) place(file wire.Hash) (done func(err *error)) {
	s.placingMu.Lock()
	defer s.placingMu.Unlock()
	s.placing[file]++
	return func(err *error) {
		s.placingMu.Lock()
		defer s.placingMu.Unlock()
		if s.placing[file]--; s.placing[file] > 0 {
			return
		}
		delete(s.placing, file)
		if *err != nil {
			*err = errors.Join(*err, s.removeUnnamed(file))
		}
	}
}

// putFile makes an incoming file durable in its place. Without a row that names
// it, it is swept. An upload's file keeps its other name as well: until the row is
// there, what has come of it must not be lost.
func (s *Store) putFile(b Bundle, file *os.File) error {
	if err := file.Sync(); err != nil {
		return err
	}
	if err := s.move(file.Name(), s.path(b.File)); err != nil {
		return err
	}
	return durable.SyncDir(s.blobs)
}

func (s *Store) move(from, to string) error {
	if filepath.Dir(from) == s.uploads {
		if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
			return nil // a file of that name has this content
		}
		// A file system without links: after a crash the party begins anew.
	}
	return os.Rename(from, to)
}

// insert adds a bundle's rows and its entry in the audit log, and returns its
// receipt. If the same one came at the same time, that one's receipt is returned; a
// different one is ErrConflict.
func (s *Store) insert(tx *sql.Tx, b Bundle) (receipt []byte, err error) {
	if err := stays(tx, b.Study, b.Sender); err != nil {
		return nil, err
	}
	res, err := tx.Exec(`INSERT INTO bundles (study, epoch, sender, kind, round, slot, manifest, file, size, receipt)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot(), b.Manifest[:], b.File[:], b.Size, append([]byte{}, b.Receipt...))
	if err != nil {
		return nil, err
	}
	if added, err := res.RowsAffected(); err != nil {
		return nil, err
	} else if added == 0 {
		return scanReceipt(tx.QueryRow(receiptQuery, b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot()), b.Manifest)
	}
	// One statement for all recipients: a setup bundle has hundreds.
	recipients, err := json.Marshal(b.Recipients)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(`INSERT INTO recipients (study, epoch, sender, kind, round, slot, recipient)
		SELECT ?, ?, ?, ?, ?, ?, unhex(value) FROM json_each(?)`,
		b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot(), string(recipients))
	if err != nil {
		return nil, err
	}
	return s.noteBundle(tx, b)
}

// stays refuses what a party sent that has left meanwhile, after setup or before.
func stays(tx *sql.Tx, hash, sender wire.Hash) error {
	if state, err := memberState(tx, hash, sender); err == nil && (state == memberOut || state == memberAway) {
		return conflict("this party has left the study; nothing of it is kept")
	}
	return nil
}

// noteBundle enters a new bundle in the audit log and stores its receipt, which has
// the head that counts it.
func (s *Store) noteBundle(tx *sql.Tx, b Bundle) (receipt []byte, err error) {
	event := b.Event
	event.Epoch, event.Manifest, event.File = b.Epoch, b.Manifest, b.File
	event.Kind, event.Party = audit.Received, b.Sender
	released := b.Kind == bundle.KindResult
	if released {
		event.Kind, event.Party = audit.Released, b.Slot
	}
	if b.Heads != nil && b.Heads.Own != nil && !released {
		event.Heard = *b.Heads.Own
		if err := testify(tx, b.Study, Testimony{Party: b.Sender, Envelope: b.Line}); err != nil {
			return nil, err
		}
	}
	head, err := s.note(tx, b.Study, event)
	if err != nil || b.Acknowledge == nil {
		return b.Receipt, err
	}
	receipt = b.Acknowledge(head)
	_, err = tx.Exec("UPDATE bundles SET receipt = ? WHERE study = ? AND epoch = ? AND sender = ? AND kind = ? AND round = ? AND slot = ?",
		receipt, b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot())
	return receipt, err
}

const receiptQuery = `SELECT manifest, receipt FROM bundles
	WHERE study = ? AND epoch = ? AND sender = ? AND kind = ? AND round = ? AND slot = ?`

// Receipt returns the receipt of the same bundle, nil if there is none, and
// ErrConflict if a different one is stored in its place.
func (s *Store) Receipt(ctx context.Context, b Bundle) ([]byte, error) {
	receipt, err := scanReceipt(s.db.QueryRowContext(ctx, receiptQuery, b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot()), b.Manifest)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return receipt, err
}

func scanReceipt(row *sql.Row, manifest wire.Hash) ([]byte, error) {
	var stored, receipt []byte
	if err := row.Scan(&stored, &receipt); err != nil {
		return nil, err
	}
	if !bytes.Equal(stored, manifest[:]) {
		return nil, ErrConflict
	}
	return receipt, nil
}

// Bundles returns the bundles of an epoch that a recipient may fetch, without
// their receipts.
func (s *Store) Bundles(ctx context.Context, hash, epoch, recipient wire.Hash) ([]Bundle, error) {
	return query(ctx, s.db, `SELECT b.sender, b.kind, b.round, b.manifest, b.file, b.size
		FROM recipients r JOIN bundles b USING (study, epoch, sender, kind, round, slot)
		WHERE b.study = ? AND b.epoch = ? AND r.recipient = ? ORDER BY b.kind, b.sender`,
		scanBundle(hash, epoch), hash[:], epoch[:], recipient[:])
}

// Sent returns the bundles of one kind in an epoch, by sender.
func (s *Store) Sent(ctx context.Context, hash, epoch wire.Hash, kind string) ([]Bundle, error) {
	return query(ctx, s.db, `SELECT sender, kind, round, manifest, file, size FROM bundles
		WHERE study = ? AND epoch = ? AND kind = ? ORDER BY sender`,
		scanBundle(hash, epoch), hash[:], epoch[:], kind)
}

func scanBundle(hash, epoch wire.Hash) func(*sql.Rows) (Bundle, error) {
	return func(row *sql.Rows) (Bundle, error) {
		b := Bundle{Study: hash, Epoch: epoch}
		var sender, manifest, file []byte
		err := row.Scan(&sender, &b.Kind, &b.Round, &manifest, &file, &b.Size)
		copy(b.Sender[:], sender)
		copy(b.Manifest[:], manifest)
		copy(b.File[:], file)
		return b, err
	}
}

// All returns all bundles of a study, by kind, round and sender, in whatever epoch.
func (s *Store) All(ctx context.Context, hash wire.Hash) ([]Bundle, error) {
	return query(ctx, s.db, `SELECT epoch, slot, sender, kind, round, manifest, file, size FROM bundles
		WHERE study = ? ORDER BY kind, round, sender, slot`, scanAny(hash), hash[:])
}

// Waiting returns the bundles of a study, of whatever epoch, that one of a recipient's
// fingerprints may fetch, without their receipts.
func (s *Store) Waiting(ctx context.Context, hash wire.Hash, recipient wire.Hash) ([]Bundle, error) {
	return query(ctx, s.db, `SELECT b.epoch, b.slot, b.sender, b.kind, b.round, b.manifest, b.file, b.size
		FROM recipients r JOIN bundles b USING (study, epoch, sender, kind, round, slot)
		WHERE r.study = ? AND r.recipient = ? ORDER BY b.kind, b.round, b.sender, b.slot`, scanAny(hash), hash[:], recipient[:])
}

// WaitingFor returns those of one manifest among the bundles that Waiting returns.
func (s *Store) WaitingFor(ctx context.Context, hash, recipient, manifest wire.Hash) ([]Bundle, error) {
	return query(ctx, s.db, `SELECT b.epoch, b.slot, b.sender, b.kind, b.round, b.manifest, b.file, b.size
		FROM bundles b JOIN recipients r USING (study, epoch, sender, kind, round, slot)
		WHERE b.study = ? AND b.manifest = ? AND r.recipient = ?`, scanAny(hash), hash[:], manifest[:], recipient[:])
}

func scanAny(hash wire.Hash) func(*sql.Rows) (Bundle, error) {
	return func(row *sql.Rows) (Bundle, error) {
		b := Bundle{Study: hash}
		var epoch, slot, sender, manifest, file []byte
		err := row.Scan(&epoch, &slot, &sender, &b.Kind, &b.Round, &manifest, &file, &b.Size)
		for _, c := range []struct {
			dst *wire.Hash
			src []byte
		}{{&b.Epoch, epoch}, {&b.Slot, slot}, {&b.Sender, sender}, {&b.Manifest, manifest}, {&b.File, file}} {
			copy(c.dst[:], c.src)
		}
		return b, err
	}
}

// OpenBundle opens the file of a stored bundle.
func (s *Store) OpenBundle(b Bundle) (*os.File, error) { return os.Open(s.path(b.File)) }

func (s *Store) path(file wire.Hash) string { return filepath.Join(s.blobs, file.String()) }
