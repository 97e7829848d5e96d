package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"concord/internal/durable"
	"concord/wire"
)

// UploadLife is how long an upload is kept on which nothing happens.
const UploadLife = 7 * 24 * time.Hour

// UploadID names an upload: 16 random bytes.
type UploadID [16]byte

// String gives 32 lower-case hexadecimal digits.
func (id UploadID) String() string { return hex.EncodeToString(id[:]) }

// ParseUploadID reads what String wrote.
func ParseUploadID(s string) (id UploadID, err error) {
	if b, err := hex.DecodeString(s); err == nil && len(b) == len(id) {
		copy(id[:], b)
	}
	if id.String() != s {
		return id, fmt.Errorf("%.40q is not 32 lower-case hexadecimal digits", s)
	}
	return id, nil
}

// Upload is a bundle of which a part has come. There is one for each kind and round
// of a party's bundles.
type Upload struct {
	Study, Epoch, Sender wire.Hash
	Kind                 string
	Round                int
	ID                   UploadID
	// Line is the envelope line, the first bytes of the file, and Size the whole
	// file's.
	Line []byte
	Size int64
	// Arrived bytes are on the disk. Hash is the state, as package crypto/sha256
	// encodes it, of the hash of those after the line.
	Arrived int64
	Hash    []byte
	Expires time.Time
}

// BeginUpload makes room for a bundle, with its line as what has arrived; Study to
// Line, Size and Hash must be set. If an upload with the same line is under way it
// is returned as it stands; one with another line gives way.
func (s *Store) BeginUpload(ctx context.Context, u Upload) (Upload, error) {
	switch known, err := s.uploadAt(ctx, u); {
	case err == nil && bytes.Equal(known.Line, u.Line) && known.Size == u.Size:
		return known, nil
	case err != nil && !errors.Is(err, ErrNotFound):
		return u, err
	}
	rand.Read(u.ID[:])
	u.Arrived, u.Expires = int64(len(u.Line)), time.Now().Add(UploadLife)
	err := durable.Write(s.uploadPath(u.ID), 0o600, func(f *os.File) error {
		_, err := f.Write(u.Line)
		return err
	})
	if err != nil {
		return u, err
	}
	var before []byte
	// Uploads are not noted: what counts is the bundle that comes of one.
	err = s.change(ctx, func(tx *sql.Tx) error {
		before = nil
		if err := stays(tx, u.Study, u.Sender); err != nil {
			return err
		}
		err := tx.QueryRow("SELECT id FROM uploads WHERE study = ? AND epoch = ? AND sender = ? AND kind = ? AND round = ?",
			u.Study[:], u.Epoch[:], u.Sender[:], u.Kind, u.Round).Scan(&before)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = tx.Exec(`INSERT OR REPLACE INTO uploads (study, epoch, sender, kind, round, id, line, size, arrived, hash, expires)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			u.Study[:], u.Epoch[:], u.Sender[:], u.Kind, u.Round, u.ID[:], u.Line, u.Size, u.Arrived, u.Hash, u.Expires.Unix())
		return err
	})
	if err != nil {
		return u, errors.Join(err, os.Remove(s.uploadPath(u.ID)))
	}
	if before != nil {
		s.removeUpload(UploadID(before))
	}
	return u, nil
}

const uploadColumns = "SELECT study, epoch, sender, kind, round, id, line, size, arrived, hash, expires FROM uploads "

// Upload returns a party's upload, or ErrNotFound.
func (s *Store) Upload(ctx context.Context, hash, sender wire.Hash, id UploadID) (Upload, error) {
	return s.uploadOf(ctx, uploadColumns+"WHERE study = ? AND sender = ? AND id = ?", hash[:], sender[:], id[:])
}

// uploadAt returns the upload that takes another's place, or ErrNotFound.
func (s *Store) uploadAt(ctx context.Context, u Upload) (Upload, error) {
	return s.uploadOf(ctx, uploadColumns+"WHERE study = ? AND epoch = ? AND sender = ? AND kind = ? AND round = ?",
		u.Study[:], u.Epoch[:], u.Sender[:], u.Kind, u.Round)
}

func (s *Store) uploadOf(ctx context.Context, q string, args ...any) (Upload, error) {
	found, err := query(ctx, s.db, q, func(row *sql.Rows) (u Upload, err error) {
		var hash, epoch, sender, id []byte
		var expires int64
		err = row.Scan(&hash, &epoch, &sender, &u.Kind, &u.Round, &id, &u.Line, &u.Size, &u.Arrived, &u.Hash, &expires)
		copy(u.Study[:], hash)
		copy(u.Epoch[:], epoch)
		copy(u.Sender[:], sender)
		copy(u.ID[:], id)
		u.Expires = time.Unix(expires, 0)
		return u, err
	}, args...)
	if err != nil {
		return Upload{}, err
	}
	if len(found) == 0 || time.Now().After(found[0].Expires) {
		return Upload{}, ErrNotFound
	}
	// A file that somebody removed, or that a crash took: the upload begins anew.
	if info, err := os.Stat(s.uploadPath(found[0].ID)); err != nil || info.Size() < found[0].Arrived {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Upload{}, err
		}
		return Upload{}, ErrNotFound
	}
	return found[0], nil
}

// OpenUpload opens an upload's file at the end of what has arrived, and cuts off
// what came after it but was not recorded. Only one may have it open.
func (s *Store) OpenUpload(u Upload) (*os.File, error) {
	f, err := os.OpenFile(s.uploadPath(u.ID), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(u.Arrived); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// RecordUpload flushes an upload's file and records how much of it has arrived:
// when it returns, that much is durable. ErrNotFound: the upload has ended
// meanwhile.
func (s *Store) RecordUpload(ctx context.Context, u *Upload, file *os.File, arrived int64, hash []byte) error {
	if err := file.Sync(); err != nil {
		return err
	}
	expires := time.Now().Add(UploadLife)
	var changed int64
	// not noted: see BeginUpload
	err := s.change(ctx, func(tx *sql.Tx) error {
		res, err := tx.Exec("UPDATE uploads SET arrived = ?, hash = ?, expires = ? WHERE id = ?", arrived, hash, expires.Unix(), u.ID[:])
		if err != nil {
			return err
		}
		changed, err = res.RowsAffected()
		return err
	})
	if err != nil {
		return err
	}
	if changed == 0 {
		return ErrNotFound
	}
	u.Arrived, u.Hash, u.Expires = arrived, hash, expires
	return nil
}

// DropUpload ends an upload and removes what has come of it.
func (s *Store) DropUpload(ctx context.Context, u Upload) error {
	err := s.change(ctx, func(tx *sql.Tx) error { // not noted: see BeginUpload
		_, err := tx.Exec("DELETE FROM uploads WHERE id = ?", u.ID[:])
		return err
	})
	if err == nil {
		s.removeUpload(u.ID)
	}
	return err
}

// endUpload forgets the uploads in whose place a bundle is stored now.
func endUpload(tx *sql.Tx, b Bundle) ([]UploadID, error) {
	rows, err := tx.Query("DELETE FROM uploads WHERE study = ? AND epoch = ? AND sender = ? AND kind = ? AND round = ? RETURNING id",
		b.Study[:], b.Epoch[:], b.Sender[:], b.Kind, b.Round)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ended []UploadID
	for rows.Next() {
		id, err := scanUploadID(rows)
		if err != nil {
			return nil, err
		}
		ended = append(ended, id)
	}
	return ended, rows.Err()
}

func scanUploadID(row *sql.Rows) (id UploadID, err error) {
	var b []byte
	err = row.Scan(&b)
	copy(id[:], b)
	return id, err
}

// ExpireUploads ends the uploads on which nothing has happened for UploadLife, and
// says how many they were.
func (s *Store) ExpireUploads(ctx context.Context, now time.Time) (int, error) {
	expired, err := query(ctx, s.db, "SELECT id FROM uploads WHERE expires < ?", scanUploadID, now.Unix())
	if err != nil {
		return 0, err
	}
	for _, id := range expired {
		if err := s.DropUpload(ctx, Upload{ID: id}); err != nil {
			return 0, err
		}
	}
	return len(expired), nil
}

// sweepUploads removes uploads that have expired, files that no upload names, and
// uploads whose file is gone.
func (s *Store) sweepUploads() error {
	ctx := context.Background()
	if _, err := s.ExpireUploads(ctx, time.Now()); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.uploads)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name()] = true
	}
	rows, err := query(ctx, s.db, "SELECT id FROM uploads", scanUploadID)
	if err != nil {
		return err
	}
	for _, id := range rows {
		if !there[id.String()] {
			if err := s.DropUpload(ctx, Upload{ID: id}); err != nil {
				return err
			}
		}
		delete(there, id.String())
	}
	for name := range there {
		if _, err := ParseUploadID(name); err != nil {
			continue // not one of ours, or durable's, which it sweeps itself
		}
		if err := os.Remove(filepath.Join(s.uploads, name)); err != nil {
			return err
		}
	}
	return durable.Sweep(s.uploads)
}

// removeUpload removes an upload's file. If that fails the file is swept later.
func (s *Store) removeUpload(id UploadID) { os.Remove(s.uploadPath(id)) }

func (s *Store) uploadPath(id UploadID) string { return filepath.Join(s.uploads, id.String()) }
