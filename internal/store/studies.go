package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"concord/audit"
	"concord/member"
	"concord/wire"
)

// Study is a stored study.
type Study struct {
	Hash     wire.Hash
	Contract []byte
	// Problem is why the analyst could not train, or empty.
	Problem string
}

// AddStudy stores a contract under its hash. Storing it again changes nothing.
func (s *Store) AddStudy(ctx context.Context, contract []byte) (wire.Hash, error) {
	hash := wire.HashOf(contract)
	return hash, s.change(ctx, func(tx *sql.Tx) error {
		added, err := changed(tx.Exec("INSERT INTO studies (study, contract) VALUES (?, ?) ON CONFLICT DO NOTHING", hash[:], contract))
		if err != nil || !added {
			return err
		}
		_, err = s.note(tx, hash, audit.Event{Kind: audit.Created, Note: fmt.Sprintf("a contract of %d bytes", len(contract))})
		return err
	})
}

// Study returns a study, or ErrNotFound.
func (s *Store) Study(ctx context.Context, hash wire.Hash) (Study, error) {
	st := Study{Hash: hash}
	err := s.db.QueryRowContext(ctx, "SELECT contract, problem FROM studies WHERE study = ?", hash[:]).Scan(&st.Contract, &st.Problem)
	if errors.Is(err, sql.ErrNoRows) {
		return st, ErrNotFound
	}
	return st, err
}

// Studies returns all studies in the order in which they were added.
func (s *Store) Studies(ctx context.Context) ([]Study, error) {
	return query(ctx, s.db, "SELECT study, contract, problem FROM studies ORDER BY rowid", func(row *sql.Rows) (st Study, err error) {
		var hash []byte
		err = row.Scan(&hash, &st.Contract, &st.Problem)
		copy(st.Hash[:], hash)
		return st, err
	})
}

// SetProblem records why training failed; an empty problem clears it.
func (s *Store) SetProblem(ctx context.Context, hash wire.Hash, problem string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		news, err := changed(tx.Exec("UPDATE studies SET problem = ? WHERE study = ? AND problem <> ?", problem, hash[:], problem))
		if err != nil || !news || problem == "" {
			return err
		}
		_, err = s.note(tx, hash, audit.Event{Kind: audit.Failed, Note: problem})
		return err
	})
}

// ClearProblems forgets all problems, so that training is tried again.
func (s *Store) ClearProblems(ctx context.Context) error {
	return s.change(ctx, func(tx *sql.Tx) error { // not noted: what failed is, and what is released
		_, err := tx.Exec("UPDATE studies SET problem = ''")
		return err
	})
}

// DropStudy forgets a study that no party has joined, with its invites.
func (s *Store) DropStudy(ctx context.Context, hash wire.Hash) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM members WHERE study = ? AND state <> 'away'", hash[:]).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return conflict(fmt.Sprintf("%d parties have joined the study; it is not dropped", n))
		}
		for _, table := range []string{"invites", "members", "parcels"} {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE study = ?", hash[:]); err != nil {
				return err
			}
		}
		if dropped, err := changed(tx.Exec("DELETE FROM studies WHERE study = ?", hash[:])); err != nil || !dropped {
			return err
		}
		_, err := s.note(tx, hash, audit.Event{Kind: audit.Dropped, Note: "no party had joined; the invites are void"})
		return err
	})
}

// AddConfirmation stores a party's confirmation of an epoch. A repeated one
// changes nothing.
func (s *Store) AddConfirmation(ctx context.Context, hash wire.Hash, c *member.Confirmation) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		added, err := changed(tx.Exec("INSERT INTO confirmations (study, epoch, party, confirmation) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			hash[:], c.Epoch[:], c.Party[:], c.Encode()))
		if err != nil || !added {
			return err
		}
		_, err = s.note(tx, hash, audit.Event{Kind: audit.Confirmed, Epoch: c.Epoch, Party: c.Party, Note: "the roster and the contract"})
		return err
	})
}

// Confirmations returns the confirmations of an epoch.
func (s *Store) Confirmations(ctx context.Context, hash, epoch wire.Hash) ([]*member.Confirmation, error) {
	return query(ctx, s.db, "SELECT confirmation FROM confirmations WHERE study = ? AND epoch = ? ORDER BY party", func(row *sql.Rows) (*member.Confirmation, error) {
		var b []byte
		if err := row.Scan(&b); err != nil {
			return nil, err
		}
		return member.DecodeConfirmation(b)
	}, hash[:], epoch[:])
}

// changed reports whether a statement changed a row.
func changed(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func query[T any](ctx context.Context, db querier, text string, scan func(*sql.Rows) (T, error), args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}
