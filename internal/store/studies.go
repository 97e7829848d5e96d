package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"concord/study"
)

// Study is a stored study.
type Study struct {
	Hash     study.Hash
	Contract []byte
	// Problem is why the analyst could not train, or empty.
	Problem string
}

// AddStudy stores a contract under its hash. Storing it again changes nothing.
func (s *Store) AddStudy(ctx context.Context, contract []byte) (study.Hash, error) {
	hash := study.HashOf(contract)
	return hash, s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO studies (study, contract) VALUES (?, ?) ON CONFLICT DO NOTHING", hash[:], contract)
		return err
	})
}

// Study returns a study, or ErrNotFound.
func (s *Store) Study(ctx context.Context, hash study.Hash) (Study, error) {
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
func (s *Store) SetProblem(ctx context.Context, hash study.Hash, problem string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE studies SET problem = ? WHERE study = ?", problem, hash[:])
		return err
	})
}

// ClearProblems forgets all problems, so that training is tried again.
func (s *Store) ClearProblems(ctx context.Context) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("UPDATE studies SET problem = ''")
		return err
	})
}

// AddInvite stores the hash of an invite's secret.
func (s *Store) AddInvite(ctx context.Context, hash study.Hash, secret study.Hash, label string) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO invites (study, secret, label) VALUES (?, ?, ?)", hash[:], secret[:], label)
		return err
	})
}

// Invite is an invite without its secret.
type Invite struct {
	Label  string
	UsedBy string // the name of who joined with it, or ""
}

// Invites returns a study's invites in the order in which they were made.
func (s *Store) Invites(ctx context.Context, hash study.Hash) ([]Invite, error) {
	return query(ctx, s.db, `SELECT i.label, m.statement FROM invites i
		LEFT JOIN members m ON m.study = i.study AND m.fingerprint = i.used
		WHERE i.study = ? ORDER BY i.rowid`, func(row *sql.Rows) (v Invite, err error) {
		var raw []byte
		if err := row.Scan(&v.Label, &raw); err != nil || raw == nil {
			return v, err
		}
		statement, err := study.DecodeStatement(raw)
		if err == nil {
			v.UsedBy = statement.Name
		}
		return v, err
	}, hash[:])
}

// DropStudy forgets a study that no party has joined, with its invites.
func (s *Store) DropStudy(ctx context.Context, hash study.Hash) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM members WHERE study = ?", hash[:]).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return conflict(fmt.Sprintf("%d parties have joined the study; it is not dropped", n))
		}
		if _, err := tx.Exec("DELETE FROM invites WHERE study = ?", hash[:]); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM studies WHERE study = ?", hash[:])
		return err
	})
}

// Join takes a party into the open roster on the strength of an invite, which
// is thereby used. The same party may repeat the call, with the same effect.
// capacity is how many parties the contract names.
//
// Errors: ErrInvite, ErrClosed, and ErrConflict for a name or a key that the
// analyst or another party has: with it the roster could not be closed.
func (s *Store) Join(ctx context.Context, hash study.Hash, secret study.Hash, statement, analyst *study.Statement, capacity int) error {
	fingerprint := statement.Fingerprint()
	return s.change(ctx, func(tx *sql.Tx) error {
		var used []byte
		err := tx.QueryRow("SELECT used FROM invites WHERE study = ? AND secret = ?", hash[:], secret[:]).Scan(&used)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrInvite
		}
		if err != nil {
			return err
		}
		if used != nil {
			if bytes.Equal(used, fingerprint[:]) {
				return nil // the answer was lost, not the request
			}
			return ErrInvite
		}
		others, err := s.members(ctx, tx, hash)
		if err != nil {
			return err
		}
		if len(others) >= capacity {
			return ErrClosed
		}
		for _, other := range append(others, analyst) {
			if other.Fingerprint() == fingerprint {
				return conflict("this party joined with another invite")
			}
			if what := study.SharedKey(other, statement); what != "" {
				return conflict("another participant has the same " + what)
			}
		}
		_, err = tx.Exec("INSERT INTO members (study, fingerprint, statement) VALUES (?, ?, ?)", hash[:], fingerprint[:], statement.Encode())
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE invites SET used = ? WHERE study = ? AND secret = ?", fingerprint[:], hash[:], secret[:])
		return err
	})
}

// Members returns the statements of the parties that have joined.
func (s *Store) Members(ctx context.Context, hash study.Hash) ([]*study.Statement, error) {
	return s.members(ctx, s.db, hash)
}

func (s *Store) members(ctx context.Context, db querier, hash study.Hash) ([]*study.Statement, error) {
	return query(ctx, db, "SELECT fingerprint, statement FROM members WHERE study = ? ORDER BY fingerprint", func(row *sql.Rows) (*study.Statement, error) {
		var fingerprint, b sql.RawBytes
		if err := row.Scan(&fingerprint, &b); err != nil {
			return nil, err
		}
		return s.statement(fingerprint, b)
	}, hash[:])
}

// statement decodes a stored statement once. Callers share the result and do not
// change it.
func (s *Store) statement(fingerprint, b []byte) (*study.Statement, error) {
	if len(fingerprint) != len(study.Hash{}) {
		return nil, fmt.Errorf("store: a fingerprint has %d bytes", len(fingerprint))
	}
	key := study.Hash(fingerprint)
	if known, ok := s.statements.Load(key); ok {
		return known.(*study.Statement), nil
	}
	statement, err := study.DecodeStatement(b)
	if err == nil {
		s.statements.Store(key, statement)
	}
	return statement, err
}

// AddConfirmation stores a party's confirmation of an epoch. A repeated one
// changes nothing.
func (s *Store) AddConfirmation(ctx context.Context, hash study.Hash, c *study.Confirmation) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO confirmations (study, epoch, party, confirmation) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			hash[:], c.Epoch[:], c.Party[:], c.Encode())
		return err
	})
}

// Confirmations returns the confirmations of an epoch.
func (s *Store) Confirmations(ctx context.Context, hash, epoch study.Hash) ([]*study.Confirmation, error) {
	return query(ctx, s.db, "SELECT confirmation FROM confirmations WHERE study = ? AND epoch = ? ORDER BY party", func(row *sql.Rows) (*study.Confirmation, error) {
		var b []byte
		if err := row.Scan(&b); err != nil {
			return nil, err
		}
		return study.DecodeConfirmation(b)
	}, hash[:], epoch[:])
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
