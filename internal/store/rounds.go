package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"concord/internal/durable"
	"concord/release"
	"concord/wire"
)

// Rounds returns what the models of a study were made of, in order.
func (s *Store) Rounds(ctx context.Context, hash wire.Hash) ([]*release.Round, error) {
	return query(ctx, s.db, "SELECT record FROM rounds WHERE study = ? ORDER BY round", func(row *sql.Rows) (*release.Round, error) {
		var b []byte
		if err := row.Scan(&b); err != nil {
			return nil, err
		}
		return release.DecodeRound(b)
	}, hash[:])
}

// NextRound is the number of the next model: none that was released before, and
// deleted since perhaps, had it.
func (s *Store) NextRound(ctx context.Context, hash wire.Hash) (next int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT coalesce(max(round) + 1, 0) FROM (
		SELECT round FROM rounds WHERE study = ?1 UNION ALL
		SELECT round FROM bundles WHERE study = ?1 AND kind = 'result' UNION ALL
		SELECT round FROM tombstones WHERE study = ?1 AND kind = 'result')`, hash[:]).Scan(&next)
	return next, err
}

// PutRound stores results and the record of the model that they are of, all of it or
// nothing; files[i] belongs to bundles[i]. ErrConflict means that the roster is not the
// one of this number any more: somebody has left, perhaps.
func (s *Store) PutRound(ctx context.Context, hash wire.Hash, roster int, record *release.Round, bundles []Bundle, files []*os.File) error {
	for i, b := range bundles {
		if err := s.putFile(b, files[i]); err != nil {
			return err
		}
	}
	err := s.change(ctx, func(tx *sql.Tx) error {
		var now int
		if err := tx.QueryRow("SELECT coalesce(max(number), 0) FROM rosters WHERE study = ? AND pending = 0", hash[:]).Scan(&now); err != nil {
			return err
		}
		if now != roster {
			return conflict("the roster was changed meanwhile")
		}
		for _, b := range bundles { // which enters each in the audit log
			if _, err := s.insert(tx, b); err != nil {
				return err
			}
		}
		_, err := tx.Exec("INSERT INTO rounds (study, round, record) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET record = excluded.record",
			hash[:], record.Round, record.Encode())
		return err
	})
	if err != nil {
		for _, b := range bundles {
			err = errors.Join(err, ignoreMissing(s.removeUnnamed(b.File)))
		}
		if errors.Is(err, ErrConflict) { // what this was made of is deleted, perhaps
			err = errors.Join(err, s.removeUnrecorded(hash, record.Round), s.sweepModels())
		}
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// PutModel stores the files of a model that the analyst keeps, before PutRound makes it
// count.
func (s *Store) PutModel(hash wire.Hash, round int, fill func(dir string) error) error {
	folder := s.modelDir(hash)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := errors.Join(durable.SyncDir(filepath.Dir(filepath.Dir(folder))), durable.SyncDir(filepath.Dir(folder))); err != nil {
		return err
	}
	return durable.PutDir(filepath.Join(folder, strconv.Itoa(round)), 0o700, fill)
}

// ChangeFile names the file of a model with the change of basis of a party, which has
// the first of its fingerprints.
func ChangeFile(party wire.Hash) string { return "G-" + party.String() + ".npy" }

// ModelPath is the path of a file of a model.
func (s *Store) ModelPath(hash wire.Hash, round int, name string) string {
	return filepath.Join(s.modelDir(hash), strconv.Itoa(round), name)
}

func (s *Store) modelDir(hash wire.Hash) string {
	return filepath.Join(filepath.Dir(s.blobs), "models", hash.String())
}

// sweepModels removes the models into which rows of a party went that has left, and the
// changes of basis of parties that have left from the others.
func (s *Store) sweepModels() error {
	type gone struct {
		hash  wire.Hash
		round int
	}
	list, err := query(context.Background(), s.db, "SELECT study, round FROM rounds WHERE gone = 1", func(row *sql.Rows) (g gone, err error) {
		var b []byte
		err = row.Scan(&b, &g.round)
		copy(g.hash[:], b)
		return g, err
	})
	if err != nil {
		return err
	}
	for _, g := range list {
		if err := os.RemoveAll(filepath.Join(s.modelDir(g.hash), strconv.Itoa(g.round))); err != nil {
			return fmt.Errorf("store: a model of a party that has left: %w", err)
		}
	}
	changes, err := query(context.Background(), s.db, "SELECT study, fingerprint FROM members WHERE state = ?", func(row *sql.Rows) (pattern string, err error) {
		var hash, party []byte
		if err = row.Scan(&hash, &party); err == nil {
			pattern = filepath.Join("models", wire.Hash(hash).String(), "*", ChangeFile(wire.Hash(party)))
		}
		return pattern, err
	}, memberOut)
	if err != nil {
		return err
	}
	dir := os.DirFS(filepath.Dir(s.blobs))
	for _, pattern := range changes {
		files, err := fs.Glob(dir, filepath.ToSlash(pattern))
		if err != nil {
			return err
		}
		for _, name := range files {
			if err := os.Remove(filepath.Join(filepath.Dir(s.blobs), filepath.FromSlash(name))); err != nil {
				return fmt.Errorf("store: the change of basis of a party that has left: %w", err)
			}
		}
	}
	return nil
}

// sweepUnrecorded removes the folders of models that were made and never released: what
// they were made of may have been deleted meanwhile.
func (s *Store) sweepUnrecorded() error {
	folders, err := filepath.Glob(filepath.Join(filepath.Dir(s.blobs), "models", "*", "*"))
	if err != nil {
		return err
	}
	for _, folder := range folders {
		hash, err := wire.ParseHash(filepath.Base(filepath.Dir(folder)))
		if err != nil {
			continue // not one of ours
		}
		round, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			continue // durable's, which it sweeps itself
		}
		if err := s.removeUnrecorded(hash, round); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) removeUnrecorded(hash wire.Hash, round int) error {
	var n int
	if err := s.db.QueryRow("SELECT count(*) FROM rounds WHERE study = ? AND round = ?", hash[:], round).Scan(&n); err != nil || n > 0 {
		return err
	}
	return os.RemoveAll(filepath.Join(s.modelDir(hash), strconv.Itoa(round)))
}
