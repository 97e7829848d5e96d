package lab

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"

	"concord/internal/durable"
)

// A journal is a file of finished trials, one JSON object a line, so that an
// interrupted simulation goes on where it was. The first line says of what setting,
// data and seed they are; a journal of another is refused. A last line that was cut
// off is dropped.
type journal struct {
	file   *os.File
	unlock func()
	done   map[int]*Outcome
	took   map[int]float64
	// synced is when the file last went to the disk: at most once a second, since a
	// power cut should cost less than a second's work and draws may take far less.
	synced time.Time
}

type journalHead struct {
	Format  int    `json:"format"`
	Setting string `json:"setting"`
	// Data names all contents of the data. Journals of before it have none.
	Data string `json:"data,omitempty"`
}

type journalLine struct {
	Repeat  int       `json:"repeat"`
	Seconds float64   `json:"seconds"`
	Cells   []Cell    `json:"cells"`
	Values  []float64 `json:"values"`
	Notes   []string  `json:"notes,omitempty"`
	// Sum is the CRC-32 of the line without it, in hexadecimal: a damaged number would
	// else be taken for a result. Lines of before it have none.
	Sum string `json:"sum,omitempty"`
}

// checksum of a line.
func (l journalLine) checksum() (string, error) {
	l.Sum = ""
	b, err := json.Marshal(l)
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(b)), err
}

// ErrOtherJournal says that a journal belongs to another setting: delete it, or
// name another file.
var ErrOtherJournal = errors.New("the journal belongs to another setting, seed or data: delete it to begin anew, or name another file")

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

// openJournal reads what is there and goes on behind it. The file is the process's own
// until close.
func openJournal(path string, head journalHead) (j *journal, err error) {
	unlock, err := durable.Lock(path)
	if errors.Is(err, durable.ErrLocked) {
		return nil, fmt.Errorf("%s: another process is writing this journal: wait for its end, or name another file", path)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	j = &journal{file: f, unlock: unlock, done: map[int]*Outcome{}, took: map[int]float64{}}
	end, err := j.read(head)
	if err == nil {
		err = f.Truncate(end)
	}
	if err == nil {
		_, err = f.Seek(end, io.SeekStart)
	}
	if err == nil && end == 0 {
		err = j.append(head)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// errNoJournal is of a file that something else is in, which is left as it is.
var errNoJournal = errors.New("not a journal of trials: name another file")

// read takes the lines in and returns where the last whole one ends.
func (j *journal) read(want journalHead) (int64, error) {
	r := bufio.NewReaderSize(io.LimitReader(j.file, 1<<30), 1<<16)
	var end int64
	for number := 1; ; number++ {
		line, err := r.ReadBytes('\n')
		if err == io.EOF { // what follows the last newline was cut off
			if number == 1 && !bytes.HasPrefix([]byte(headStart), line[:min(len(line), len(headStart))]) {
				return 0, errNoJournal
			}
			return end, nil
		}
		if err != nil {
			return 0, err
		}
		if number == 1 {
			var head journalHead
			if err := strictly(line, &head); err != nil || head.Format != want.Format {
				return 0, errNoJournal
			}
			if head.Setting != want.Setting || head.Data != "" && head.Data != want.Data {
				return 0, ErrOtherJournal
			}
		} else if err := j.take(line); err != nil {
			return 0, fmt.Errorf("line %d is damaged (%w): delete the journal to begin anew", number, err)
		}
		end += int64(len(line))
	}
}

// headStart is how every journal begins.
const headStart = `{"format":1,"setting":"`

// take keeps the trial of a line.
func (j *journal) take(line []byte) error {
	if len(line) > maxJournalLine {
		return fmt.Errorf("%d bytes are no trial", len(line))
	}
	var l journalLine
	if err := strictly(line, &l); err != nil || len(l.Cells) != len(l.Values) || l.Repeat < 0 {
		return errors.New("no trial")
	}
	if l.Sum != "" {
		if sum, err := l.checksum(); err != nil || sum != l.Sum {
			return errors.New("another checksum")
		}
	}
	j.done[l.Repeat] = &Outcome{l.Cells, l.Values, l.Notes}
	j.took[l.Repeat] = l.Seconds
	return nil
}

// strictly decodes an object that has no other fields.
func strictly(line []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// add keeps a trial.
func (j *journal) add(repeat int, o *Outcome, seconds float64) error {
	line := journalLine{Repeat: repeat, Seconds: seconds, Cells: o.Cells, Values: o.Values, Notes: o.Notes}
	var err error
	if line.Sum, err = line.checksum(); err != nil {
		return err
	}
	return j.append(line)
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

func (j *journal) close() error {
	defer j.unlock()
	return errors.Join(j.file.Sync(), j.file.Close())
}
