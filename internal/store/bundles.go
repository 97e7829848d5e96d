package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"concord/internal/durable"
	"concord/study"
)

// Bundle describes a stored bundle. It is named by what may exist once: the
// sender's bundle of one kind and round in an epoch, for results also by the
// recipient (Slot).
type Bundle struct {
	Study, Epoch, Sender study.Hash
	Kind                 string
	Round                int
	// Slot is the recipient of a result, zero for other kinds.
	Slot       study.Hash
	Recipients []study.Hash
	Manifest   study.Hash
	Payload    study.Hash
	Size       int64
	Receipt    []byte
}

func (b Bundle) slot() []byte {
	if b.Slot.IsZero() {
		return []byte{}
	}
	return b.Slot[:]
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
	if known, err := s.receipt(ctx, b); known != nil || err != nil {
		return known, err
	}
	if err := file.Sync(); err != nil {
		return nil, err
	}
	if err := os.Rename(file.Name(), s.path(b.Payload)); err != nil {
		return nil, err
	}
	if err := durable.SyncDir(s.blobs); err != nil {
		return nil, err
	}
	receipt = b.Receipt
	err = s.change(ctx, func(tx *sql.Tx) error {
		res, err := tx.Exec(`INSERT INTO bundles (study, epoch, sender, kind, round, slot, manifest, payload, size, receipt)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot(), b.Manifest[:], b.Payload[:], b.Size, b.Receipt)
		if err != nil {
			return err
		}
		if added, err := res.RowsAffected(); err != nil {
			return err
		} else if added == 0 { // the same request came twice at once
			receipt, err = scanReceipt(tx.QueryRow(receiptQuery, b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot()), b.Manifest)
			return err
		}
		for _, r := range b.Recipients {
			if _, err := tx.Exec("INSERT INTO recipients (study, manifest, recipient) VALUES (?, ?, ?)", b.Study[:], b.Manifest[:], r[:]); err != nil {
				return err
			}
		}
		return nil
	})
	return receipt, err
}

const receiptQuery = `SELECT manifest, receipt FROM bundles
	WHERE study = ? AND epoch = ? AND sender = ? AND kind = ? AND round = ? AND slot = ?`

// receipt returns the receipt of the same bundle, nil if there is none, and
// ErrConflict if a different one is stored in its place.
func (s *Store) receipt(ctx context.Context, b Bundle) ([]byte, error) {
	receipt, err := scanReceipt(s.db.QueryRowContext(ctx, receiptQuery, b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot()), b.Manifest)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return receipt, err
}

func scanReceipt(row *sql.Row, manifest study.Hash) ([]byte, error) {
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
func (s *Store) Bundles(ctx context.Context, hash, epoch, recipient study.Hash) ([]Bundle, error) {
	return query(ctx, s.db, `SELECT b.sender, b.kind, b.round, b.manifest, b.payload, b.size
		FROM bundles b JOIN recipients r ON r.study = b.study AND r.manifest = b.manifest
		WHERE b.study = ? AND b.epoch = ? AND r.recipient = ? ORDER BY b.kind, b.sender`,
		scanBundle(hash, epoch), hash[:], epoch[:], recipient[:])
}

// Sent returns the bundles of one kind in an epoch, by sender.
func (s *Store) Sent(ctx context.Context, hash, epoch study.Hash, kind string) ([]Bundle, error) {
	return query(ctx, s.db, `SELECT sender, kind, round, manifest, payload, size FROM bundles
		WHERE study = ? AND epoch = ? AND kind = ? ORDER BY sender`,
		scanBundle(hash, epoch), hash[:], epoch[:], kind)
}

func scanBundle(hash, epoch study.Hash) func(*sql.Rows) (Bundle, error) {
	return func(row *sql.Rows) (Bundle, error) {
		b := Bundle{Study: hash, Epoch: epoch}
		var sender, manifest, payload []byte
		err := row.Scan(&sender, &b.Kind, &b.Round, &manifest, &payload, &b.Size)
		copy(b.Sender[:], sender)
		copy(b.Manifest[:], manifest)
		copy(b.Payload[:], payload)
		return b, err
	}
}

// OpenBundle opens the file of a stored bundle.
func (s *Store) OpenBundle(b Bundle) (*os.File, error) { return os.Open(s.path(b.Payload)) }

func (s *Store) path(payload study.Hash) string { return filepath.Join(s.blobs, payload.String()) }
