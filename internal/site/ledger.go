package site

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"concord/internal/durable"
	"concord/study"
)

// ledgerFile counts what left of which rows, one JSON line a contribution.
const ledgerFile = "ledger.jsonl"

// Spent is one contribution that left, or may have.
type Spent struct {
	Time     time.Time  `json:"time"`
	Study    study.Hash `json:"study"`
	Name     string     `json:"name"` // of the study
	Manifest study.Hash `json:"manifest"`
	Source   study.Hash `json:"source"` // SHA-256 of the file that the rows came from
	Rows     int        `json:"rows"`
	Dim      int        `json:"dim"`
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
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, secretPerm)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// SpentOn lists the contributions of the same file of rows, other than this manifest's.
func (s *Site) SpentOn(path string, source, but study.Hash) ([]Spent, error) {
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
			return nil, fmt.Errorf("%s: line %d is damaged: %w", path, n, err)
		}
		all = append(all, e)
	}
	return all, lines.Err()
}
