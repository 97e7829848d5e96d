package store

import (
	"context"
	"database/sql"
	"fmt"

	"concord/audit"
	"concord/wire"
)

// Receipts returns the receipts for all bundles of a sender in a study.
func (s *Store) Receipts(ctx context.Context, hash, sender wire.Hash) ([][]byte, error) {
	return query(ctx, s.db, `SELECT receipt FROM bundles WHERE study = ? AND sender = ? AND length(receipt) > 0
		ORDER BY epoch, kind, round`, func(row *sql.Rows) (receipt []byte, err error) {
		err = row.Scan(&receipt)
		return receipt, err
	}, hash[:], sender[:])
}

// NumberParcel returns the number of the next parcel for a site: at least least, and
// more than every number before in the study, so that the site can tell which of two is
// newer, whatever keys it had.
func (s *Store) NumberParcel(ctx context.Context, hash, site wire.Hash, least int64) (number int64, err error) {
	err = s.change(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRow("SELECT coalesce(max(number), 0) + 1 FROM parcels WHERE study = ?", hash[:]).Scan(&number)
		if err != nil {
			return err
		}
		number = max(number, least)
		_, err = tx.Exec("INSERT INTO parcels (study, site, number) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET number = excluded.number", hash[:], site[:], number)
		if err != nil {
			return err
		}
		_, err = s.note(tx, hash, audit.Event{Kind: audit.Given, Party: site, Note: fmt.Sprintf("parcel %d", number)})
		return err
	})
	return number, err
}
