package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

// Standing is how the roster of a study stands.
type Standing struct {
	// Number is that of the roster that people confirm, or of the next one while it
	// is open; Size is how many parties close it, 0 for as many as the contract says.
	Number, Size int
	// Root are its parties, nil while it is open.
	Root []*identity.Statement
	// Steps are the amendments that led from it to the present one.
	Steps []*member.Amendment
	// Pending is an add after them that members have still to confirm, or nil.
	Pending *member.Amendment
	// Ended says why the study has ended, or is empty.
	Ended string
}

// Standing returns how the roster of a study stands.
func (s *Store) Standing(ctx context.Context, hash wire.Hash) (Standing, error) {
	var st Standing
	err := s.db.QueryRowContext(ctx, "SELECT roster, size, ended FROM studies WHERE study = ?", hash[:]).Scan(&st.Number, &st.Size, &st.Ended)
	if errors.Is(err, sql.ErrNoRows) {
		return st, ErrNotFound
	}
	if err != nil {
		return st, err
	}
	type row struct {
		amendment []byte
		pending   bool
	}
	rows, err := query(ctx, s.db, "SELECT amendment, pending FROM rosters WHERE study = ? ORDER BY number", func(r *sql.Rows) (v row, err error) {
		err = r.Scan(&v.amendment, &v.pending)
		return v, err
	}, hash[:])
	if err != nil || len(rows) == 0 {
		return st, err
	}
	if st.Root, err = s.root(ctx, hash, st.Number); errors.Is(err, sql.ErrNoRows) {
		return st, nil // renewed in between: open again
	} else if err != nil {
		return st, err
	}
	for _, r := range rows[1:] {
		a, err := member.DecodeAmendment(r.amendment)
		if err != nil {
			return st, err
		}
		if r.pending {
			st.Pending = a
		} else {
			st.Steps = append(st.Steps, a)
		}
	}
	return st, nil
}

// rootKey names a closed roster, which does not change.
type rootKey struct {
	hash   wire.Hash
	number int
}

// root reads the parties of the roster that people confirm, once.
func (s *Store) root(ctx context.Context, hash wire.Hash, number int) ([]*identity.Statement, error) {
	if known, ok := s.roots.Load(rootKey{hash, number}); ok {
		return known.([]*identity.Statement), nil
	}
	var b []byte
	if err := s.db.QueryRowContext(ctx, "SELECT root FROM rosters WHERE study = ? AND number = ?", hash[:], number).Scan(&b); err != nil {
		return nil, err
	}
	var raw [][]byte
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, fmt.Errorf("store: the roster of study %s is damaged: %w", hash.Short(), err)
	}
	var root []*identity.Statement
	for _, b := range raw {
		print := wire.HashOf(b)
		statement, err := s.statement(print[:], b)
		if err != nil {
			return nil, err
		}
		root = append(root, statement)
	}
	s.roots.Store(rootKey{hash, number}, root)
	return root, nil
}

// CloseRoster makes the parties that are in the roster that people confirm, if there
// are as many as it needs and it is open.
func (s *Store) CloseRoster(ctx context.Context, hash wire.Hash, size int) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		in, err := s.members(ctx, tx, hash, memberIn)
		if err != nil || len(in) != size {
			return err
		}
		var raw [][]byte
		for _, m := range in {
			raw = append(raw, m.Encode())
		}
		b, err := json.Marshal(raw)
		if err != nil {
			return err
		}
		// not noted: every party in it was, when it came
		_, err = tx.Exec(`INSERT INTO rosters (study, number, root) SELECT study, roster, ? FROM studies
			WHERE study = ? AND NOT EXISTS (SELECT 1 FROM rosters WHERE study = ?)`, b, hash[:], hash[:])
		return err
	})
}

// Renewal is what makes a new roster before setup is complete.
type Renewal struct {
	// Number is that of the closed roster which it replaces.
	Number int
	// Leave are members that go, Come are who asks and comes.
	Leave, Come []wire.Hash
	// Size is how many parties close the new roster.
	Size int
	// Epochs are those of the roster that is replaced: shares of others do not count.
	Epochs []wire.Hash
	Note   string
}

// Renew begins a new roster in place of one in which setup is not complete. All that
// was sent under the old one is deleted: people confirm anew, and setup begins anew.
//
// Errors: ErrConflict if setup was completed, or the roster renewed, meanwhile.
func (s *Store) Renew(ctx context.Context, hash wire.Hash, r Renewal) error {
	var files []wire.Hash
	var uploads []UploadID
	err := s.change(ctx, func(tx *sql.Tx) (err error) {
		changedNow, err := changed(tx.Exec("UPDATE studies SET roster = roster + 1, size = ? WHERE study = ? AND roster = ?", r.Size, hash[:], r.Number))
		if err != nil {
			return err
		}
		if !changedNow {
			return conflict("the roster was changed meanwhile; look again")
		}
		epochs, err := json.Marshal(r.Epochs)
		if err != nil {
			return err
		}
		var sent, parties int
		err = tx.QueryRow(`SELECT (SELECT count(*) FROM bundles WHERE study = ? AND kind = ? AND epoch IN (SELECT unhex(value) FROM json_each(?))),
			(SELECT count(*) FROM members WHERE study = ? AND state = ?)`, hash[:], bundle.KindSetup, string(epochs), hash[:], memberIn).Scan(&sent, &parties)
		if err != nil {
			return err
		}
		if sent >= parties {
			return conflict("setup was completed meanwhile; look again")
		}
		for _, party := range r.Leave {
			if err := setState(tx, hash, party, memberAway); err != nil {
				return err
			}
			if _, err := s.note(tx, hash, audit.Event{Kind: audit.Removed, Party: party, Note: r.Note}); err != nil {
				return err
			}
		}
		for _, party := range r.Come {
			if err := setState(tx, hash, party, memberIn); err != nil {
				return err
			}
			if _, err := s.note(tx, hash, audit.Event{Kind: audit.Admitted, Party: party, Note: r.Note}); err != nil {
				return err
			}
		}
		if _, err := tx.Exec("DELETE FROM rosters WHERE study = ?", hash[:]); err != nil {
			return err
		}
		if uploads, err = query(ctx, tx, "DELETE FROM uploads WHERE study = ? RETURNING id", scanUploadID, hash[:]); err != nil {
			return err
		}
		files, err = s.delete(tx, hash, "1 = 1")
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range uploads {
		s.removeUpload(id)
	}
	return s.removeAll(files)
}

func setState(tx *sql.Tx, hash, party wire.Hash, state string) error {
	_, err := tx.Exec("UPDATE members SET state = ? WHERE study = ? AND fingerprint = ?", state, hash[:], party[:])
	return err
}

// Amending is an amendment and what follows from it.
type Amending struct {
	Amendment *member.Amendment
	// Pending: members have still to confirm it.
	Pending bool
	// Gone are the fingerprints that the party who leaves has had: its bundles are
	// deleted. With Setup its setup bundles are too.
	Gone  []wire.Hash
	Setup bool
	// Models: its rows went into models that were released. They are deleted, with all
	// results that nobody has fetched yet.
	Models bool
	// Receipt says, once it is known what was deleted, what the analyst signs.
	Receipt func([]member.Deleted) []byte
	// Ended says why the study ends with it, or is empty.
	Ended string
}

// Amend stores an amendment as the next of the chain, with all that follows from it,
// in one transaction; a pending add in its place is dropped, and who was to come asks
// again. The same amendment again changes nothing.
//
// Errors: ErrConflict if another amendment came first.
func (s *Store) Amend(ctx context.Context, hash wire.Hash, a Amending) error {
	var files []wire.Hash
	var uploads []UploadID
	err := s.change(ctx, func(tx *sql.Tx) (err error) {
		files, uploads = nil, nil
		am := a.Amendment
		var old []byte
		var pending bool
		err = tx.QueryRow("SELECT amendment, pending FROM rosters WHERE study = ? AND number = ?", hash[:], am.Number).Scan(&old, &pending)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		default:
			was, err := member.DecodeAmendment(old)
			if err != nil {
				return err
			}
			if was.Same(am) {
				return nil
			}
			if !pending {
				return conflict("the roster was changed meanwhile; sync and repeat")
			}
			if err := setState(tx, hash, was.Party, memberAsks); err != nil {
				return err
			}
			if _, err := tx.Exec("DELETE FROM rosters WHERE study = ? AND number = ?", hash[:], am.Number); err != nil {
				return err
			}
		}
		var before int
		if err := tx.QueryRow("SELECT coalesce(max(number), 0) FROM rosters WHERE study = ? AND pending = 0", hash[:]).Scan(&before); err != nil {
			return err
		}
		if before != am.Number-1 {
			return conflict("the roster was changed meanwhile; sync and repeat")
		}
		_, err = tx.Exec("INSERT INTO rosters (study, number, epoch, amendment, pending) VALUES (?, ?, ?, ?, ?)", hash[:], am.Number, am.To[:], am.Encode(), a.Pending)
		if err != nil {
			return err
		}
		event := audit.Event{Epoch: am.To, Party: am.Party, Note: am.Reason}
		switch am.Kind {
		case member.AmendRekey:
			event.Kind = audit.Rekeyed
			next := wire.HashOf(am.Statement)
			event.Note = "new keys, fingerprint " + next.Short()
			if err := setState(tx, hash, am.Party, memberOld); err != nil {
				return err
			}
			// Nobody can go on with what the old keys began to upload.
			if uploads, err = query(ctx, tx, "DELETE FROM uploads WHERE study = ? AND sender = ? RETURNING id", scanUploadID, hash[:], am.Party[:]); err != nil {
				return err
			}
			_, err = tx.Exec("INSERT INTO members (study, fingerprint, statement, state) VALUES (?, ?, ?, ?)", hash[:], next[:], am.Statement, memberIn)
		case member.AmendAdd:
			event.Kind, event.Note = audit.Admitted, "by the analyst; the members confirm"
			state := memberIn
			if a.Pending {
				state = memberProposed
			}
			err = setState(tx, hash, am.Party, state)
		case member.AmendWithdraw:
			event.Kind = audit.Withdrawn
			err = setState(tx, hash, am.Party, memberOut)
		default:
			event.Kind = audit.Removed
			err = setState(tx, hash, am.Party, memberOut)
		}
		if err != nil {
			return err
		}
		if _, err := s.note(tx, hash, event); err != nil {
			return err
		}
		if a.Ended != "" {
			if _, err := tx.Exec("UPDATE studies SET ended = ? WHERE study = ?", a.Ended, hash[:]); err != nil {
				return err
			}
		}
		if a.Receipt == nil {
			return nil
		}
		files, uploads, err = s.leave(tx, hash, a)
		return err
	})
	if err != nil {
		return err
	}
	for _, id := range uploads {
		s.removeUpload(id)
	}
	return errors.Join(s.removeAll(files), s.sweepModels())
}

// leave deletes what a party that leaves has sent, and every result that its rows went
// into, and keeps a tombstone of each and the analyst's receipt.
func (s *Store) leave(tx *sql.Tx, hash wire.Hash, a Amending) (files []wire.Hash, uploads []UploadID, err error) {
	var deleted []member.Deleted
	for i, party := range a.Gone {
		// Messages of masked sums stay: some of the others may have them already, and all
		// need the same.
		where, args := "sender = ? AND kind NOT IN ('setup', 'pool')", []any{party[:]}
		if a.Setup {
			where = "sender = ? AND kind <> 'pool'"
		}
		where, args = "("+where+") OR kind = 'result' AND slot = ?", append(args, party[:])
		if a.Models && i == 0 { // every result is of a model that its rows went into
			where = "(" + where + ") OR kind = 'result'"
		}
		list, err := query(context.Background(), tx, `SELECT epoch, sender, kind, round, slot, manifest, file, size FROM bundles
			WHERE study = ? AND (`+where+`)`, func(row *sql.Rows) (b Bundle, err error) {
			var epoch, sender, slot, manifest, file []byte
			err = row.Scan(&epoch, &sender, &b.Kind, &b.Round, &slot, &manifest, &file, &b.Size)
			for _, c := range []struct {
				dst *wire.Hash
				src []byte
			}{{&b.Epoch, epoch}, {&b.Sender, sender}, {&b.Slot, slot}, {&b.Manifest, manifest}, {&b.File, file}} {
				copy(c.dst[:], c.src)
			}
			return b, err
		}, append([]any{hash[:]}, args...)...)
		if err != nil {
			return nil, nil, err
		}
		for _, b := range list {
			_, err := tx.Exec(`INSERT INTO tombstones (study, epoch, sender, kind, round, slot, manifest, file, size, deleted, amendment)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, hash[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round, b.slot(), b.Manifest[:], b.File[:], b.Size,
				time.Now().UTC().Format(time.RFC3339), a.Amendment.To[:])
			if err != nil {
				return nil, nil, err
			}
			event := audit.Event{Kind: audit.Removed, Epoch: b.Epoch, Manifest: b.Manifest, File: b.File, Party: b.Sender, Note: "a " + b.Kind + " was deleted: its party, or one whose rows it was made of, has left"}
			if _, err := s.note(tx, hash, event); err != nil {
				return nil, nil, err
			}
			deleted = append(deleted, member.Deleted{Kind: b.Kind, Round: b.Round, Sender: b.Sender, Recipient: b.Slot, Manifest: b.Manifest, Bytes: b.Size})
		}
		removed, err := s.delete(tx, hash, where, args...)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, removed...)
		if err := setState(tx, hash, party, memberOut); err != nil {
			return nil, nil, err
		}
		ended, err := query(context.Background(), tx, "DELETE FROM uploads WHERE study = ? AND sender = ? RETURNING id", scanUploadID, hash[:], party[:])
		if err != nil {
			return nil, nil, err
		}
		uploads = append(uploads, ended...)
	}
	if a.Models {
		if _, err := tx.Exec("UPDATE rounds SET gone = 1 WHERE study = ?", hash[:]); err != nil {
			return nil, nil, err
		}
	}
	_, err = tx.Exec("INSERT INTO withdrawals (study, party, receipt) VALUES (?, ?, ?)", hash[:], a.Amendment.Party[:], a.Receipt(deleted))
	return files, uploads, err
}

// delete deletes bundles and returns their files, which go when that is durable; what a
// crash leaves of them is swept.
func (s *Store) delete(tx *sql.Tx, hash wire.Hash, where string, args ...any) ([]wire.Hash, error) {
	args = append([]any{hash[:]}, args...)
	files, err := query(context.Background(), tx, "SELECT file FROM bundles WHERE study = ? AND ("+where+")", func(row *sql.Rows) (h wire.Hash, err error) {
		var b []byte
		err = row.Scan(&b)
		copy(h[:], b)
		return h, err
	}, args...)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(`DELETE FROM recipients WHERE study = ?1 AND (epoch, sender, kind, round, slot) IN
		(SELECT epoch, sender, kind, round, slot FROM bundles WHERE study = ?1 AND (`+where+`))`, args...)
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec("DELETE FROM bundles WHERE study = ? AND ("+where+")", args...)
	return files, err
}

// removeAll removes files that no row names any more.
func (s *Store) removeAll(files []wire.Hash) error {
	var errs []error
	for _, f := range files {
		if err := s.removeUnnamed(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Settle makes a pending add count: its members have confirmed it.
func (s *Store) Settle(ctx context.Context, hash wire.Hash, a *member.Amendment) error {
	return s.change(ctx, func(tx *sql.Tx) error {
		now, err := changed(tx.Exec("UPDATE rosters SET pending = 0 WHERE study = ? AND number = ? AND epoch = ? AND pending = 1", hash[:], a.Number, a.To[:]))
		if err != nil || !now {
			return err
		}
		if err := setState(tx, hash, a.Party, memberIn); err != nil {
			return err
		}
		_, err = s.note(tx, hash, audit.Event{Kind: audit.Admitted, Epoch: a.To, Party: a.Party, Note: "confirmed by the members"})
		return err
	})
}

// WithdrawalReceipt returns the analyst's receipt for a party that has left, nil if
// there is none.
func (s *Store) WithdrawalReceipt(ctx context.Context, hash, party wire.Hash) ([]byte, error) {
	var b []byte
	err := s.db.QueryRowContext(ctx, "SELECT receipt FROM withdrawals WHERE study = ? AND party = ?", hash[:], party[:]).Scan(&b)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return b, err
}

// Left returns the statements of the parties that have left after setup.
func (s *Store) Left(ctx context.Context, hash wire.Hash) ([]*identity.Statement, error) {
	return s.members(ctx, s.db, hash, memberOut)
}
