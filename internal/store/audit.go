package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"concord/audit"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

// errReadOnly is returned by changes in a store that was opened without keys.
var errReadOnly = errors.New("store: opened without the analyst's keys: nothing can be changed, since nothing could be signed in the audit log")

// note adds an entry to a study's audit log, in the transaction of what it tells
// of: neither is there without the other. The zero study is the server's own log.
// Every change of a study calls it once, with what the entry shall say; what changes
// nothing does not. It returns the log's new head.
func (s *Store) note(tx *sql.Tx, hash wire.Hash, event audit.Event) (member.Head, error) {
	if s.id == nil {
		return member.Head{}, errReadOnly
	}
	last, err := lastEntry(context.Background(), tx, hash)
	if err != nil {
		return member.Head{}, err
	}
	if last == nil && event.Kind != audit.Created && !hash.IsZero() {
		last, err = s.append(tx, nil, hash, audit.Event{Kind: audit.Begun, Note: "the log begins here; the study was begun by a program that kept none"})
		if err != nil {
			return member.Head{}, err
		}
	}
	e, err := s.append(tx, last, hash, event)
	if err != nil {
		return member.Head{}, err
	}
	if !event.Heard.IsZero() {
		_, err = tx.Exec("INSERT INTO heads (study, party, number, hash) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			hash[:], event.Party[:], event.Heard.Number, event.Heard.Hash[:])
	}
	return e.Head(), err
}

func (s *Store) append(tx *sql.Tx, last *audit.Entry, hash wire.Hash, event audit.Event) (*audit.Entry, error) {
	e, err := audit.Next(last, s.id, hash, event, time.Now())
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec("INSERT INTO audit (study, number, line) VALUES (?, ?, ?)", hash[:], e.Number, e.Encode())
	return e, err
}

// Note adds an entry of its own to a study's audit log, for what changes nothing
// in the store. The same again, with nothing between, is not entered twice.
func (s *Store) Note(ctx context.Context, hash wire.Hash, event audit.Event) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		last, err := lastEntry(ctx, tx, hash)
		if err != nil || last != nil && last.Event == event {
			return err
		}
		_, err = s.note(tx, hash, event)
		return err
	})
}

func lastEntry(ctx context.Context, db rowQuerier, hash wire.Hash) (*audit.Entry, error) {
	var line []byte
	err := db.QueryRowContext(ctx, "SELECT line FROM audit WHERE study = ? ORDER BY number DESC LIMIT 1", hash[:]).Scan(&line)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, err := audit.Decode(line)
	if err != nil {
		return nil, fmt.Errorf("store: the last entry of the audit log of study %s is damaged (concordd audit verify says more): %w", hash.Short(), err)
	}
	return e, nil
}

// AuditHead is the head of a study's audit log, zero if it has none.
func (s *Store) AuditHead(ctx context.Context, hash wire.Hash) (member.Head, error) {
	e, err := lastEntry(ctx, s.db, hash)
	if e == nil {
		return member.Head{}, err
	}
	return e.Head(), err
}

// WriteAudit writes a study's audit log to w, a line an entry, as it is when the
// call begins or a little later. Other calls may go on meanwhile.
func (s *Store) WriteAudit(ctx context.Context, hash wire.Hash, w io.Writer) error {
	const page = 500
	type row struct {
		number int64
		line   []byte
	}
	for from := int64(-1 << 63); ; {
		rows, err := query(ctx, s.db, "SELECT number, line FROM audit WHERE study = ? AND number > ? ORDER BY number LIMIT ?", func(r *sql.Rows) (v row, err error) {
			err = r.Scan(&v.number, &v.line)
			return v, err
		}, hash[:], from, page)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if _, err := w.Write(append(r.line, '\n')); err != nil {
				return err
			}
			from = r.number
		}
		if len(rows) < page {
			return nil
		}
	}
}

// Heard is the newest audit head of a party that came with anything it signed, zero
// if none did.
func (s *Store) Heard(ctx context.Context, hash, party wire.Hash) (member.Head, error) {
	heads, err := query(ctx, s.db, "SELECT number, hash FROM heads WHERE study = ? AND party = ? ORDER BY number DESC LIMIT 1", scanHead, hash[:], party[:])
	if err != nil || len(heads) == 0 {
		return member.Head{}, err
	}
	return heads[0], nil
}

func scanHead(row *sql.Rows) (h member.Head, err error) {
	var b []byte
	err = row.Scan(&h.Number, &b)
	copy(h.Hash[:], b)
	return h, err
}

// Testimony is what a participant signed that has an audit head of the analyst in
// it: the line of a bundle's envelope, or a witness.
type Testimony struct {
	Party wire.Hash
	// Envelope or Witness is the signed text, the other is nil.
	Envelope, Witness []byte
}

const (
	saidOnEnvelope = "envelope"
	saidAsWitness  = "witness"
)

// testify keeps a testimony.
func testify(tx *sql.Tx, hash wire.Hash, t Testimony) error {
	kind, text := saidOnEnvelope, t.Envelope
	if text == nil {
		kind, text = saidAsWitness, t.Witness
	}
	_, err := tx.Exec("INSERT INTO testimonies (study, party, kind, text) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", hash[:], t.Party[:], kind, text)
	return err
}

// Testimonies returns all testimonies of a study, the oldest first.
func (s *Store) Testimonies(ctx context.Context, hash wire.Hash) ([]Testimony, error) {
	return query(ctx, s.db, "SELECT party, kind, text FROM testimonies WHERE study = ? ORDER BY rowid", func(row *sql.Rows) (t Testimony, err error) {
		var party, text []byte
		var kind string
		err = row.Scan(&party, &kind, &text)
		copy(t.Party[:], party)
		if kind == saidOnEnvelope {
			t.Envelope = text
		} else {
			t.Witness = text
		}
		return t, err
	}, hash[:])
}

// PutWitness keeps a party's signed word on both audit logs. One that says nothing
// new is not kept.
func (s *Store) PutWitness(ctx context.Context, hash wire.Hash, w *member.Witness) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		var n int
		if w.Heads.Own == nil {
			return nil
		}
		err := tx.QueryRow("SELECT count(*) FROM heads WHERE study = ? AND party = ? AND number >= ?", hash[:], w.By[:], w.Heads.Own.Number).Scan(&n)
		if err != nil || n > 0 {
			return err
		}
		if err := testify(tx, hash, Testimony{Party: w.By, Witness: w.Encode()}); err != nil {
			return err
		}
		_, err = s.note(tx, hash, audit.Event{Kind: audit.Witnessed, Party: w.By, Heard: *w.Heads.Own})
		return err
	})
}

// rowQuerier is a database or a transaction.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// InAudit says whether a study's log has the entry of a head.
func (s *Store) InAudit(ctx context.Context, hash wire.Hash, head member.Head) (bool, error) {
	lines, err := query(ctx, s.db, "SELECT line FROM audit WHERE study = ? AND number = ?", func(row *sql.Rows) (line []byte, err error) {
		err = row.Scan(&line)
		return line, err
	}, hash[:], head.Number)
	return len(lines) == 1 && wire.HashOf(lines[0]) == head.Hash, err
}

// People returns the statements of everybody who ever asked to take part in a study,
// keys that were replaced included: what they signed stays verifiable.
func (s *Store) People(ctx context.Context, hash wire.Hash) ([]*identity.Statement, error) {
	return query(ctx, s.db, "SELECT fingerprint, statement FROM members WHERE study = ? ORDER BY fingerprint", func(row *sql.Rows) (*identity.Statement, error) {
		var fingerprint, b sql.RawBytes
		if err := row.Scan(&fingerprint, &b); err != nil {
			return nil, err
		}
		return s.statement(fingerprint, b)
	}, hash[:])
}

// Tombstone is what is kept of a bundle that was deleted because a party left.
type Tombstone struct {
	Bundle
	Deleted string // when, RFC 3339
}

// Tombstones returns those of a study, the oldest first.
func (s *Store) Tombstones(ctx context.Context, hash wire.Hash) ([]Tombstone, error) {
	return query(ctx, s.db, "SELECT epoch, sender, kind, round, slot, manifest, file, size, deleted FROM tombstones WHERE study = ? ORDER BY rowid", func(row *sql.Rows) (t Tombstone, err error) {
		var epoch, sender, slot, manifest, file []byte
		err = row.Scan(&epoch, &sender, &t.Kind, &t.Round, &slot, &manifest, &file, &t.Size, &t.Deleted)
		t.Study = hash
		copy(t.Epoch[:], epoch)
		copy(t.Sender[:], sender)
		copy(t.Slot[:], slot)
		copy(t.Manifest[:], manifest)
		copy(t.File[:], file)
		return t, err
	}, hash[:])
}
