package store

import (
	"context"
	"database/sql"
	"os"
)

// Usage is what a party, and all together, take of the store. Uploads count whole
// from their beginning.
type Usage struct {
	// Bundles and Bytes are the party's in one study.
	Bundles int
	Bytes   int64
	// All are the bytes of everybody's, and Coming those of uploads that have not
	// arrived yet.
	All, Coming int64
}

// Usage says what the sender of a bundle takes of the store in its study. What is
// stored or coming in the bundle's own place does not count.
func (s *Store) Usage(ctx context.Context, b Bundle) (u Usage, err error) {
	var bytes sql.NullInt64
	err = s.db.QueryRowContext(ctx, `SELECT count(*), sum(size) FROM (
		SELECT size FROM bundles WHERE study = ?1 AND sender = ?2 AND NOT (epoch = ?3 AND kind = ?4 AND round = ?5)
		UNION ALL SELECT size FROM uploads WHERE study = ?1 AND sender = ?2 AND NOT (epoch = ?3 AND kind = ?4 AND round = ?5))`,
		b.Study[:], b.Sender[:], b.Epoch[:], b.Kind, b.Round).Scan(&u.Bundles, &bytes)
	if err != nil {
		return u, err
	}
	u.Bytes = bytes.Int64
	err = s.db.QueryRowContext(ctx, `SELECT (SELECT coalesce(sum(size), 0) FROM bundles) + (SELECT coalesce(sum(size), 0) FROM uploads),
		(SELECT coalesce(sum(size - arrived), 0) FROM uploads WHERE NOT (study = ?1 AND sender = ?2 AND epoch = ?3 AND kind = ?4 AND round = ?5))`,
		b.Study[:], b.Sender[:], b.Epoch[:], b.Kind, b.Round).Scan(&u.All, &u.Coming)
	return u, err
}

// Stored counts the bundles of each kind, with their bytes.
func (s *Store) Stored(ctx context.Context) (map[string]Kind, error) {
	rows, err := query(ctx, s.db, "SELECT kind, count(*), sum(size) FROM bundles GROUP BY kind", func(row *sql.Rows) (k Kind, err error) {
		err = row.Scan(&k.Name, &k.Bundles, &k.Bytes)
		return k, err
	})
	out := map[string]Kind{}
	for _, k := range rows {
		out[k.Name] = k
	}
	return out, err
}

// Kind is what the store has of one kind of bundle.
type Kind struct {
	Name    string
	Bundles int
	Bytes   int64
}

// Dir is the folder in which bundles lie.
func (s *Store) Dir() string { return s.blobs }

// Writable tries whether files and database can be written, and changes nothing.
func (s *Store) Writable(ctx context.Context) error {
	f, err := s.Incoming()
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write([]byte{0}); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	// The transaction takes the lock that a writer takes.
	tx, err := s.writer.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return tx.Rollback()
}

// CountStudies is the number of studies, and of parties in them.
func (s *Store) CountStudies(ctx context.Context) (studies, parties int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM studies), (SELECT count(*) FROM members)").Scan(&studies, &parties)
	return studies, parties, err
}
