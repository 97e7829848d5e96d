package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"concord/audit"
	"concord/identity"
	"concord/internal/durable"
	"concord/member"
	"concord/wire"
)

// AuditFile is this site's audit log, a line an entry (package audit).
const AuditFile = "audit.jsonl"

// Note adds an entry to this site's audit log and returns the log's new head once
// it is durable. A command calls it before the step that it tells of leaves the
// site, or is told to a person: what a crash interrupts is then in the log at most
// without having happened, never the other way round. The site must be locked.
//
// A line is written and flushed first, then its line feed: an end without a line
// feed was never acknowledged to anybody. The next call removes it and says so.
func (s *Site) Note(id *identity.Identity, hash wire.Hash, event audit.Event) (member.Head, error) {
	f, err := os.OpenFile(s.path(AuditFile), os.O_CREATE|os.O_RDWR, filePerm)
	if err != nil {
		return member.Head{}, err
	}
	defer f.Close()
	last, torn, err := lastEntry(f)
	if err != nil {
		return member.Head{}, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if last == nil { // it may be new
		if err := durable.SyncDir(s.Dir); err != nil {
			return member.Head{}, err
		}
	}
	var events []audit.Event
	if last == nil && s.Joined() {
		events = append(events, audit.Event{Kind: audit.Begun, Note: "the log begins here; the study was begun by a program that kept none"})
	}
	if torn > 0 {
		events = append(events, audit.Event{Kind: audit.Repaired, Note: fmt.Sprintf("%d bytes of an entry that a crash cut off were removed; nothing of it had left", torn)})
	}
	for _, event := range append(events, event) {
		if last, err = audit.Next(last, id, hash, event, time.Now()); err != nil {
			return member.Head{}, err
		}
		if err := appendEntry(f, last.Encode()); err != nil {
			return member.Head{}, err
		}
	}
	return last.Head(), nil
}

// lastEntry is the last entry of a log, nil if it has none, and how many bytes
// without a line feed stood after it, which are removed.
func lastEntry(f *os.File) (*audit.Entry, int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, 0, err
	}
	// The end holds the last line and what was cut off after it.
	from := max(0, size-2*(audit.MaxEntryBytes+1))
	tail := make([]byte, size-from)
	if _, err := f.ReadAt(tail, from); err != nil {
		return nil, 0, err
	}
	whole := bytes.LastIndexByte(tail, '\n') + 1
	torn := int64(len(tail) - whole)
	if whole == 0 && from > 0 {
		return nil, 0, fmt.Errorf("no line ends in its last %d bytes; concord audit verify says more", len(tail))
	}
	if torn > 0 {
		if err := errors.Join(f.Truncate(size-torn), f.Sync()); err != nil {
			return nil, 0, err
		}
	}
	if whole == 0 {
		return nil, torn, nil
	}
	line := tail[:whole-1]
	e, err := audit.Decode(line[bytes.LastIndexByte(line, '\n')+1:])
	if err != nil {
		return nil, 0, fmt.Errorf("its last line is damaged (concord audit verify says more): %w", err)
	}
	return e, torn, nil
}

func appendEntry(f *os.File, line []byte) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	for _, b := range [][]byte{line, []byte("\n")} {
		if _, err := f.Write(b); err != nil {
			return errors.Join(err, f.Truncate(end)) // a full disk
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// OpenAudit opens this site's audit log for reading. fs.ErrNotExist says that there
// is none.
func (s *Site) OpenAudit() (*os.File, error) { return os.Open(s.path(AuditFile)) }

// Noted calls look for each entry of the log as it stands there, unverified, until
// look returns false.
func (s *Site) Noted(look func(*audit.Entry) bool) error {
	b, err := os.ReadFile(s.path(AuditFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	n := 0
	for line := range bytes.Lines(b) {
		n++
		line, whole := bytes.CutSuffix(line, []byte("\n"))
		if !whole {
			break // never acknowledged
		}
		e, err := audit.Decode(line)
		if err != nil {
			return fmt.Errorf("%s: line %d is damaged (concord audit verify says more): %w", s.path(AuditFile), n, err)
		}
		if !look(e) {
			break
		}
	}
	return nil
}

// witnessFile is the analyst's newest signed word on both audit logs.
const witnessFile = "witness.json"

// PutWitness stores the analyst's newest word on both audit logs.
func (s *Site) PutWitness(b []byte) error {
	return durable.WriteFile(s.path(receiptsDir, witnessFile), b, filePerm)
}

// Witness loads it; fs.ErrNotExist says that there is none.
func (s *Site) Witness() ([]byte, error) { return os.ReadFile(s.path(receiptsDir, witnessFile)) }

// BeginAudit makes room for the log of a study: that of another one, which this site
// asked to join and never joined, is moved aside, and so is that of the same keys with another
// statement, which no server took: it names another view of the features.
func (s *Site) BeginAudit(hash, own wire.Hash) error {
	var other, by wire.Hash
	err := s.Noted(func(e *audit.Entry) bool {
		other, by = e.Study, e.By
		return false
	})
	if err != nil || other.IsZero() || s.Joined() || other == hash && by == own {
		return err
	}
	if other == hash {
		other = by
	}
	if err := os.Rename(s.path(AuditFile), s.path("audit-"+other.String()+".jsonl")); err != nil {
		return err
	}
	return durable.SyncDir(s.Dir)
}
