package lab

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// A journal is a file of finished trials, one JSON object a line, so that an
// interrupted simulation goes on where it was. The first line says of what setting,
// data and seed they are; a journal of another is refused. A last line that was cut
// off is dropped.
type journal struct {
	file *os.File
	done map[int]*Outcome
	took map[int]float64
	// synced is when the file last went to the disk: at most once a second, since a
	// power cut should cost less than a second's work and draws may take far less.
	synced time.Time
}

type journalHead struct {
	Format  int    `json:"format"`
	Setting string `json:"setting"`
}

type journalLine struct {
	Repeat  int       `json:"repeat"`
	Seconds float64   `json:"seconds"`
	Cells   []Cell    `json:"cells"`
	Values  []float64 `json:"values"`
	Notes   []string  `json:"notes,omitempty"`
}

// ErrOtherJournal says that a journal belongs to another setting: delete it, or
// name another file.
var ErrOtherJournal = errors.New("the journal belongs to another setting, seed or data")

// maxJournalLine bounds a line: ten thousand cells.
const maxJournalLine = 4 << 20

// settingHash names setting, seed and data.
func settingHash(parts ...any) (string, error) {
	h := sha256.New()
	for _, p := range parts {
		b, err := json.Marshal(p)
		if err != nil {
			return "", err
		}
		h.Write(append(b, 0))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func openJournal(path, setting string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: f, done: map[int]*Outcome{}, took: map[int]float64{}}
	end, err := j.read(setting)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err == nil && end == 0 {
		err = j.append(journalHead{1, setting})
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// read takes the lines in and returns where the last whole one ends.
func (j *journal) read(setting string) (int64, error) {
	r := bufio.NewReaderSize(io.LimitReader(j.file, 1<<30), 1<<16)
	var end int64
	for first := true; ; first = false {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return end, nil // what follows the last newline was cut off
		}
		if err != nil {
			return 0, err
		}
		if len(line) > maxJournalLine {
			return 0, fmt.Errorf("a line of %d bytes is no trial", len(line))
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if first {
			var head journalHead
			if err := d.Decode(&head); err != nil || head.Format != 1 {
				return 0, errors.New("not a journal of trials")
			}
			if head.Setting != setting {
				return 0, ErrOtherJournal
			}
		} else {
			var l journalLine
			if err := d.Decode(&l); err != nil || len(l.Cells) != len(l.Values) || l.Repeat < 0 {
				return 0, errors.New("a line is no trial")
			}
			j.done[l.Repeat] = &Outcome{l.Cells, l.Values, l.Notes}
			j.took[l.Repeat] = l.Seconds
		}
		end += int64(len(line))
	}
}

// add keeps a trial.
func (j *journal) add(repeat int, o *Outcome, seconds float64) error {
	return j.append(journalLine{repeat, seconds, o.Cells, o.Values, o.Notes})
}

func (j *journal) append(line any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(b, '\n')); err != nil {
		return err
	}
	if time.Since(j.synced) < time.Second {
		return nil
	}
	j.synced = time.Now()
	return j.file.Sync()
}

func (j *journal) close() error { return errors.Join(j.file.Sync(), j.file.Close()) }
