package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"concord/audit"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

// States of who holds an invite.
const (
	memberIn   = "in"   // takes part
	memberAsks = "asks" // awaits the analyst's word
	memberAway = "away" // the analyst said no
	// After setup:
	memberProposed = "proposed" // the analyst said yes, members have still to confirm
	memberOld      = "old"      // keys that a party has replaced
	memberOut      = "out"      // has left
)

// AddInvite stores the hash of an invite's secret. Whoever uses the invite first
// takes part at once.
func (s *Store) AddInvite(ctx context.Context, hash wire.Hash, secret wire.Hash, label string) error {
	return s.addInvite(ctx, hash, secret, label, false)
}

// AddAskingInvite is AddInvite for an invite whose holder asks, and takes part when
// the analyst has said yes ([Store.Admit]).
func (s *Store) AddAskingInvite(ctx context.Context, hash wire.Hash, secret wire.Hash, label string) error {
	return s.addInvite(ctx, hash, secret, label, true)
}

func (s *Store) addInvite(ctx context.Context, hash wire.Hash, secret wire.Hash, label string, asks bool) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.Exec("INSERT INTO invites (study, secret, label, asks) VALUES (?, ?, ?, ?)", hash[:], secret[:], label, asks); err != nil {
			return err
		}
		_, err := s.note(tx, hash, audit.Event{Kind: audit.Invited, Note: fmt.Sprintf("for %q", label)})
		return err
	})
}

// InviteKeys returns the SHA-256 of the secrets of a study's invites.
func (s *Store) InviteKeys(ctx context.Context, hash wire.Hash) ([]wire.Hash, error) {
	return query(ctx, s.db, "SELECT secret FROM invites WHERE study = ? ORDER BY rowid", func(row *sql.Rows) (key wire.Hash, err error) {
		var b []byte
		err = row.Scan(&b)
		copy(key[:], b)
		return key, err
	}, hash[:])
}

// Invite is an invite without its secret.
type Invite struct {
	Label  string
	UsedBy string // the name of who joined with it, or ""
	// Statement is that of who used it, nil before.
	Statement *identity.Statement
	// Asks: who uses the invite waits for the analyst's word. Waiting: and still
	// does. Refused: the analyst said no.
	Asks, Waiting, Refused bool
}

// Invites returns a study's invites in the order in which they were made.
func (s *Store) Invites(ctx context.Context, hash wire.Hash) ([]Invite, error) {
	return query(ctx, s.db, `SELECT i.label, i.asks, m.statement, coalesce(m.state, '') FROM invites i
		LEFT JOIN members m ON m.study = i.study AND m.fingerprint = i.used
		WHERE i.study = ? ORDER BY i.rowid`, func(row *sql.Rows) (v Invite, err error) {
		var raw []byte
		var state string
		if err := row.Scan(&v.Label, &v.Asks, &raw, &state); err != nil || raw == nil {
			return v, err
		}
		v.Waiting, v.Refused = state == memberAsks, state == memberAway
		v.Statement, err = identity.DecodeStatement(raw)
		if err == nil {
			v.UsedBy = v.Statement.Name
		}
		return v, err
	}, hash[:])
}

// Join takes a party into the open roster on the strength of an invite, which
// is thereby used; with an invite that asks it only notes who asks, and reports
// false. The same party may repeat the call, with the same effect. capacity is how
// many parties the roster has room for.
//
// Errors: ErrInvite, ErrClosed, and ErrConflict for a name or a key that the
// analyst or another party has: with it the roster could not be closed.
func (s *Store) Join(ctx context.Context, hash wire.Hash, secret wire.Hash, statement, analyst *identity.Statement, capacity int) (admitted bool, err error) {
	fingerprint := statement.Fingerprint()
	err = s.change(ctx, func(tx *sql.Tx) error {
		var used []byte
		var asks bool
		err := tx.QueryRow("SELECT used, asks FROM invites WHERE study = ? AND secret = ?", hash[:], secret[:]).Scan(&used, &asks)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrInvite
		}
		if err != nil {
			return err
		}
		if used != nil {
			if !bytes.Equal(used, fingerprint[:]) {
				return ErrInvite
			}
			// The answer was lost, not the request.
			state, err := memberState(tx, hash, fingerprint)
			if state == memberAway {
				return ErrTurnedAway
			}
			admitted = state == memberIn
			return err
		}
		if state, err := memberState(tx, hash, fingerprint); err == nil && (state == memberOut || state == memberOld) {
			return conflict("these keys took part in the study before; join with new ones, in another folder")
		}
		others, err := s.members(ctx, tx, hash, memberIn, memberAsks, memberProposed)
		if err != nil {
			return err
		}
		if err := fits(statement, append(others, analyst)); err != nil {
			return err
		}
		state := memberAsks
		if !asks {
			if err := s.room(ctx, tx, hash, capacity); err != nil {
				return err
			}
			state, admitted = memberIn, true
		}
		// Who was turned away may come again with another invite.
		_, err = tx.Exec(`INSERT INTO members (study, fingerprint, statement, state) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET state = excluded.state`, hash[:], fingerprint[:], statement.Encode(), state)
		if err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE invites SET used = ? WHERE study = ? AND secret = ?", fingerprint[:], hash[:], secret[:])
		if err != nil {
			return err
		}
		event := audit.Event{Kind: audit.Joined, Party: fingerprint, Note: fmt.Sprintf("%q, with an invite", statement.Name)}
		if state == memberAsks {
			event.Kind, event.Note = audit.Asked, fmt.Sprintf("%q, with an invite that asks", statement.Name)
		}
		_, err = s.note(tx, hash, event)
		return err
	})
	return admitted, err
}

// fits refuses a statement that shares with another what nobody may share.
func fits(statement *identity.Statement, others []*identity.Statement) error {
	fingerprint := statement.Fingerprint()
	for _, other := range others {
		if other.Fingerprint() == fingerprint {
			return conflict("this party joined with another invite")
		}
		if what := member.SharedKey(other, statement); what != "" {
			return conflict("another participant has the same " + what)
		}
	}
	return nil
}

// room refuses one more party than a roster has room for.
func (s *Store) room(ctx context.Context, tx *sql.Tx, hash wire.Hash, capacity int) error {
	in, err := s.members(ctx, tx, hash, memberIn)
	if err == nil && len(in) >= capacity {
		return ErrClosed
	}
	return err
}

func memberState(tx *sql.Tx, hash, fingerprint wire.Hash) (state string, err error) {
	err = tx.QueryRow("SELECT state FROM members WHERE study = ? AND fingerprint = ?", hash[:], fingerprint[:]).Scan(&state)
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return state, err
}

// Admit lets a party in that asks. Doing so again changes nothing.
//
// Errors: ErrNotFound, ErrClosed, and ErrConflict for one that was turned away.
func (s *Store) Admit(ctx context.Context, hash, fingerprint wire.Hash, capacity int) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		state, err := memberState(tx, hash, fingerprint)
		switch {
		case err != nil:
			return err
		case state == memberIn:
			return nil
		case state != memberAsks:
			return conflict("this party does not ask any more; give it a new invite")
		}
		if err := s.room(ctx, tx, hash, capacity); err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE members SET state = ? WHERE study = ? AND fingerprint = ?", memberIn, hash[:], fingerprint[:])
		if err != nil {
			return err
		}
		_, err = s.note(tx, hash, audit.Event{Kind: audit.Admitted, Party: fingerprint, Note: "by the analyst"})
		return err
	})
}

// TurnAway says no to a party that asks; its invite stays used. Doing so again
// changes nothing.
//
// Errors: ErrNotFound, and ErrConflict for one that was admitted.
func (s *Store) TurnAway(ctx context.Context, hash, fingerprint wire.Hash) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		state, err := memberState(tx, hash, fingerprint)
		switch {
		case err != nil:
			return err
		case state == memberAway:
			return nil
		case state != memberAsks:
			return conflict("this party was admitted")
		}
		_, err = tx.Exec("UPDATE members SET state = ? WHERE study = ? AND fingerprint = ?", memberAway, hash[:], fingerprint[:])
		if err != nil {
			return err
		}
		_, err = s.note(tx, hash, audit.Event{Kind: audit.Refused, Party: fingerprint, Note: "turned away by the analyst"})
		return err
	})
}

// Members returns the statements of the parties that have joined and were let in.
func (s *Store) Members(ctx context.Context, hash wire.Hash) ([]*identity.Statement, error) {
	return s.members(ctx, s.db, hash, memberIn)
}

// Asking returns the statements of the parties that await the analyst's word.
func (s *Store) Asking(ctx context.Context, hash wire.Hash) ([]*identity.Statement, error) {
	return s.members(ctx, s.db, hash, memberAsks)
}

// TurnedAway returns the statements of the parties to which the analyst said no.
func (s *Store) TurnedAway(ctx context.Context, hash wire.Hash) ([]*identity.Statement, error) {
	return s.members(ctx, s.db, hash, memberAway)
}

func (s *Store) members(ctx context.Context, db querier, hash wire.Hash, states ...string) ([]*identity.Statement, error) {
	var all []*identity.Statement
	for _, state := range states {
		some, err := query(ctx, db, "SELECT fingerprint, statement FROM members WHERE study = ? AND state = ? ORDER BY fingerprint", func(row *sql.Rows) (*identity.Statement, error) {
			var fingerprint, b sql.RawBytes
			if err := row.Scan(&fingerprint, &b); err != nil {
				return nil, err
			}
			return s.statement(fingerprint, b)
		}, hash[:], state)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// statement decodes a stored statement once. Callers share the result and do not
// change it.
func (s *Store) statement(fingerprint, b []byte) (*identity.Statement, error) {
	if len(fingerprint) != len(wire.Hash{}) {
		return nil, fmt.Errorf("store: a fingerprint has %d bytes", len(fingerprint))
	}
	key := wire.Hash(fingerprint)
	if known, ok := s.statements.Load(key); ok {
		return known.(*identity.Statement), nil
	}
	statement, err := identity.DecodeStatement(b)
	if err == nil {
		s.statements.Store(key, statement)
	}
	return statement, err
}
