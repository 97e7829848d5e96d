package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"os"

	"concord/wire"
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

// Usage says what the sender of a bundle takes of the store in its study; names are all
// fingerprints that it has had. What is stored or coming in the bundle's own place does
// not count.
func (s *Store) Usage(ctx context.Context, b Bundle, names []wire.Hash) (u Usage, err error) {
	raw, err := json.Marshal(names)
	if err != nil {
		return u, err
	}
	own := "sender IN (SELECT unhex(value) FROM json_each(?2))"
	place := own + " AND epoch = ?3 AND kind = ?4 AND round = ?5"
	err = s.db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(size), 0) FROM (
		SELECT size FROM bundles WHERE study = ?1 AND `+own+` AND NOT (`+place+` AND slot = ?6)
		UNION ALL SELECT size FROM uploads WHERE study = ?1 AND `+own+` AND NOT (`+place+`))`,
		b.Study[:], string(raw), b.Epoch[:], b.Kind, b.Round, b.slot()).Scan(&u.Bundles, &u.Bytes)
	if err != nil {
		return u, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT (SELECT coalesce(sum(size), 0) FROM bundles) + (SELECT coalesce(sum(size), 0) FROM uploads),
		(SELECT coalesce(sum(size - arrived), 0) FROM uploads WHERE NOT (study = ?1 AND `+place+`))`,
		b.Study[:], string(raw), b.Epoch[:], b.Kind, b.Round).Scan(&u.All, &u.Coming)
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
