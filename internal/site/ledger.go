package site

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"concord/internal/durable"
	"concord/wire"
)

// ledgerFile counts what left of which rows, one JSON line a contribution or a piece of
// an anchor.
const ledgerFile = "ledger.jsonl"

// Spent is one contribution, or one piece of an anchor, that left or may have.
type Spent struct {
	Time     time.Time `json:"time"`
	Study    wire.Hash `json:"study"`
	Name     string    `json:"name"` // of the study
	Manifest wire.Hash `json:"manifest"`
	Source   wire.Hash `json:"source"` // SHA-256 of the file that the rows came from
	Rows     int       `json:"rows"`
	Dim      int       `json:"dim"` // directions of the rows that left; of a piece all of them
	// PieceFor is how many other parties can read the piece of an anchor that left; 0
	// for a contribution.
	PieceFor int `json:"piece_for,omitempty"`
	// Site is whose it is, where sites share a ledger.
	Site wire.Hash `json:"site,omitzero"`
	// Epsilon and Delta are those of the contract's noise; 0 for none.
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
}

// Spend adds a contribution to the ledger, once for each manifest, and makes it
// durable: before it is sealed, so that none leaves uncounted.
func (s *Site) Spend(path string, e Spent) error {
	path = s.ledger(path)
	unlock, err := durable.Lock(path + ".lock")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer unlock()
	all, err := readLedger(path)
	if err != nil {
		return err
	}
	for _, old := range all {
		if old.Manifest == e.Manifest {
			return nil
		}
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return appendLine(path, line, secretPerm)
}

// appendLine adds a line to a file, whole or not at all, and makes it durable. The file
// stays the one that it is: others may share it. A last line that was cut off in the
// middle gets its end first.
func appendLine(path string, line []byte, perm fs.FileMode) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, perm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	last := []byte{'\n'}
	if end > 0 {
		if _, err := f.ReadAt(last, end-1); err != nil {
			return err
		}
	}
	line = append(slices.Clone(line), '\n')
	if last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		return errors.Join(err, f.Truncate(end)) // a full disk: no half of a line stays
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path)) // it may be a new file
}

// SpentOn lists what left of the same file of rows, this manifest's aside.
func (s *Site) SpentOn(path string, source, but wire.Hash) ([]Spent, error) {
	all, err := readLedger(s.ledger(path))
	if err != nil {
		return nil, err
	}
	var same []Spent
	for _, e := range all {
		if e.Source == source && e.Manifest != but {
			same = append(same, e)
		}
	}
	return same, nil
}

// SpentIn lists the contributions of a site to a study that were sealed, or were about
// to be; those that name no site too.
func (s *Site) SpentIn(path string, in, of wire.Hash) ([]Spent, error) {
	all, err := readLedger(s.ledger(path))
	if err != nil {
		return nil, err
	}
	var out []Spent
	for _, e := range all {
		if e.Study == in && e.PieceFor == 0 && (e.Site == of || e.Site == wire.Hash{}) {
			out = append(out, e)
		}
	}
	return out, nil
}

// ledger is where the ledger is: a path is meant from the site's folder.
func (s *Site) ledger(path string) string {
	switch {
	case path == "":
		return s.path(ledgerFile)
	case filepath.IsAbs(path):
		return path
	}
	return s.path(path)
}

// damagedLine says which line of a ledger cannot be read: it may count what left, and
// so it stops what counts.
type damagedLine struct {
	path string
	line int
	err  error
}

// Error names the file and the line.
func (e *damagedLine) Error() string {
	return fmt.Sprintf("%s: line %d is damaged: %v", e.path, e.line, e.err)
}

// Hint says what a person can do.
func (e *damagedLine) Hint() string {
	return "correct the line from a copy; one that a power cut left half written was of nothing that left, and may be removed"
}

func readLedger(path string) ([]Spent, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Spent
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		var e Spent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, &damagedLine{path, n, err}
		}
		all = append(all, e)
	}
	return all, lines.Err()
}
