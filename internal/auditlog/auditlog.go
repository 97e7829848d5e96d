// Package auditlog shows and verifies one participant's audit log beside all that
// others have said of it and it of others: what the party's and the analyst's
// program have in common there. The log itself is package audit's.
package auditlog

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

// Log is an audit log and its surroundings.
type Log struct {
	// Study is the contract hash, zero for a server's own log; Owner began the log.
	Study, Owner wire.Hash
	// Analyst is the study's, with the keys that it began with.
	Analyst wire.Hash
	// Origin gives the first fingerprint of a participant that has had new keys since;
	// zero for one that it does not know. nil if there is none such.
	Origin func(fingerprint wire.Hash) wire.Hash
	// People are all participants whose keys are known, the owner among them.
	People []*identity.Statement
	// Open opens the log for reading from its beginning.
	Open func() (io.ReadCloser, error)
	// Vouchers are heads of this log that others signed.
	Vouchers []audit.Voucher
	// Seen are heads of others' logs, by fingerprint.
	Seen map[wire.Hash][]audit.Sighting
	// Problems are what was wrong with the evidence itself.
	Problems []string
}

// Name is what people call a participant.
func (l *Log) Name(fingerprint wire.Hash) string {
	for _, s := range l.People {
		if s.Fingerprint() == fingerprint {
			return s.Name
		}
	}
	return fingerprint.Short()
}

// origin is a participant's first fingerprint.
func (l *Log) origin(fingerprint wire.Hash) wire.Hash {
	if l.Origin != nil {
		if first := l.Origin(fingerprint); !first.IsZero() {
			return first
		}
	}
	return fingerprint
}

// Envelope takes in what a bundle's line says. from is who signed it. What a party
// has seen is the analyst's log, what the analyst has seen is that of whom the bundle is
// for: here, the owner's.
func (l *Log) Envelope(heads *member.Heads, from wire.Hash, kind string) {
	about := l.Analyst
	if kind == bundle.KindResult {
		about = l.Owner
	}
	l.heads(heads, from, about, time.Time{}, fmt.Sprintf("the line of a %s bundle", kind))
}

// Receipt takes in what the analyst's receipt says.
func (l *Log) Receipt(r *member.Receipt, analyst wire.Hash) {
	l.heads(r.Heads, analyst, l.Owner, r.Received, "the receipt of "+r.Received.Format(time.RFC3339))
}

// Witness takes in what a witness says.
func (l *Log) Witness(w *member.Witness) {
	l.heads(&w.Heads, w.By, w.To, w.Time, "a witness of "+w.Time.Format(time.RFC3339))
}

// heads takes in what from signed: of its own log, and of the log of about.
func (l *Log) heads(h *member.Heads, from, about wire.Hash, at time.Time, what string) {
	switch {
	case h == nil:
		return
	case h.Seen == nil:
	case l.origin(about) == l.Owner:
		l.Vouchers = append(l.Vouchers, audit.Voucher{Head: *h.Seen, By: l.Name(from), What: what})
	case !about.IsZero():
		l.sight(about, audit.Sighting{Head: *h.Seen, What: what + ", by " + l.Name(from)})
	}
	if h.Own != nil {
		l.sight(from, audit.Sighting{Head: *h.Own, Time: at, What: what})
	}
}

func (l *Log) sight(from wire.Hash, s audit.Sighting) {
	if l.Seen == nil {
		l.Seen = map[wire.Hash][]audit.Sighting{}
	}
	from = l.origin(from)
	l.Seen[from] = append(l.Seen[from], s)
}

// OtherFile is Other for the log in a file; what is wrong with that log is a problem of
// this one, not an error.
func (l *Log) OtherFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := l.Other(f); err != nil {
		l.Problems = append(l.Problems, fmt.Sprintf("%s: %v", filepath.Base(path), err))
	}
	return nil
}

// Other takes in another participant's log of the same study: that log must be whole
// and have every head of it that was heard here, and what it heard of this one
// vouches for this one. Call it after the other evidence and before Verify.
func (l *Log) Other(r io.Reader) error {
	lines := bufio.NewReaderSize(r, audit.MaxEntryBytes+1)
	first, err := lines.Peek(audit.MaxEntryBytes + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	line, _, _ := bytes.Cut(first, []byte("\n"))
	e, err := audit.Decode(line)
	if err != nil {
		return fmt.Errorf("its first line is no entry of an audit log: %w", err)
	}
	owner := e.By
	if l.origin(owner) == l.Owner {
		return errors.New("it is this participant's own log, not another's")
	}
	var vouchers []audit.Voucher
	chain, err := audit.Verify(lines, owner, l.Study, audit.KeysOf(l.People...), func(e *audit.Entry) error {
		if l.origin(e.Party) == l.Owner && !e.Heard.IsZero() {
			vouchers = append(vouchers, audit.Voucher{Head: e.Heard, By: l.Name(owner), What: fmt.Sprintf("entry %d of its log", e.Number)})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the log of %s: %w", l.Name(owner), err)
	}
	var held []audit.Voucher
	for _, s := range append(l.Seen[l.origin(owner)], l.ownHeard(owner)...) {
		held = append(held, audit.Voucher{Head: s.Head, By: l.Name(l.Owner), What: s.What})
	}
	if _, err := chain.Check(held); err != nil {
		return fmt.Errorf("the log of %s: %w", l.Name(owner), err)
	}
	l.Vouchers = append(l.Vouchers, vouchers...)
	return nil
}

// ownHeard are the heads of another's log that stand in this one.
func (l *Log) ownHeard(other wire.Hash) []audit.Sighting {
	var out []audit.Sighting
	r, err := l.Open()
	if err != nil {
		return nil // Verify says so
	}
	defer r.Close()
	_, _ = audit.Verify(r, l.Owner, l.Study, audit.KeysOf(l.People...), func(e *audit.Entry) error { // Verify says what is wrong
		if l.origin(e.Party) == l.origin(other) && !e.Heard.IsZero() {
			out = append(out, audit.Sighting{Head: e.Heard, What: fmt.Sprintf("entry %d of the log here", e.Number)})
		}
		return nil
	})
	return out
}

// Heard is the newest head of another participant's log.
type Heard struct {
	Name        string    `json:"name"`
	Fingerprint wire.Hash `json:"fingerprint"`
	member.Head
}

// Result is what verifying a log found. OK is false if anything is wrong, and
// Problems says what.
type Result struct {
	Study    wire.Hash     `json:"study,omitzero"`
	OK       bool          `json:"ok"`
	Problems []string      `json:"problems,omitempty"`
	Entries  int64         `json:"entries"`
	Head     member.Head   `json:"head,omitzero"`
	Vouched  audit.Vouched `json:"vouched"`
	// Heard are the others' logs, as far as they were heard of.
	Heard []Heard `json:"heard"`
	// Torn bytes at the end were never acknowledged; the next change removes them.
	Torn int `json:"torn_bytes,omitempty"`
}

// Verify checks chain, signatures, what others hold of the log, and what was heard of
// theirs.
func (l *Log) Verify() (*Result, error) {
	res := &Result{Study: l.Study, Problems: slices.Clone(l.Problems), Heard: []Heard{}}
	wrong := func(err error) { res.Problems = append(res.Problems, err.Error()) }
	seen := map[wire.Hash][]audit.Sighting{}
	for from, list := range l.Seen {
		seen[from] = slices.Clone(list)
	}
	r, err := l.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	chain, err := audit.Verify(r, l.Owner, l.Study, audit.KeysOf(l.People...), func(e *audit.Entry) error {
		if !e.Heard.IsZero() {
			from := l.origin(e.Party)
			seen[from] = append(seen[from], audit.Sighting{Head: e.Heard, What: fmt.Sprintf("entry %d of the log here", e.Number)})
		}
		return nil
	})
	var broken *audit.BrokenError
	switch {
	case errors.As(err, &broken):
		wrong(err)
	case err != nil:
		return nil, err
	}
	res.Entries, res.Head, res.Torn = chain.Len(), chain.Head(), chain.Torn
	if broken == nil { // what is missing behind a broken line is not missing
		if res.Vouched, err = chain.Check(l.Vouchers); err != nil {
			wrong(err)
		}
	}
	for _, from := range slices.SortedFunc(maps.Keys(seen), func(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) }) {
		if from == l.Owner {
			continue
		}
		if err := audit.CheckSightings(l.Name(from), seen[from]); err != nil {
			wrong(err)
		}
		newest := slices.MaxFunc(seen[from], func(a, b audit.Sighting) int { return int(a.Head.Number - b.Head.Number) })
		res.Heard = append(res.Heard, Heard{l.Name(from), from, newest.Head})
	}
	res.OK = len(res.Problems) == 0
	return res, nil
}

// Write says for people what was found.
func (r *Result) Write(w io.Writer) {
	switch {
	case r.OK && r.Entries == 0:
		fmt.Fprintln(w, "no entries")
	case r.OK:
		fmt.Fprintf(w, "%d entries, chained and signed; head %s\n", r.Entries, r.Head.Hash.Short())
		fmt.Fprintf(w, "%s\n", r.Vouched)
	default:
		fmt.Fprintf(w, "%d entries are in order, then:\n", r.Entries)
		for _, p := range r.Problems {
			fmt.Fprintf(w, "  %s\n", wire.Printable(p))
		}
	}
	for _, h := range r.Heard {
		fmt.Fprintf(w, "heard of the log of %s: %d entries, %s\n", wire.Printable(h.Name), h.Number, h.Hash.Short())
	}
	if r.Torn > 0 {
		fmt.Fprintf(w, "%d bytes at the end belong to an entry that a crash cut off before it was acknowledged; the next change removes them\n", r.Torn)
	}
}

// Show writes the log for people, an entry a line. It is not verified.
func (l *Log) Show(w io.Writer) error {
	r, err := l.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, audit.MaxEntryBytes+1)
	n := 0
	for lines.Scan() {
		n++
		e, err := audit.Decode(lines.Bytes())
		if err != nil {
			return fmt.Errorf("line %d is damaged: %w", n, err)
		}
		fmt.Fprintf(w, "%4d  %s  %-9s", e.Number, e.Time.Format(time.RFC3339), e.Kind)
		if !e.Party.IsZero() {
			fmt.Fprintf(w, "  %s", wire.Printable(l.Name(e.Party)))
		}
		if e.Note != "" {
			fmt.Fprintf(w, "  %s", wire.Printable(e.Note))
		}
		if !e.Manifest.IsZero() {
			fmt.Fprintf(w, "  manifest %s", e.Manifest.Short())
		}
		fmt.Fprintln(w)
	}
	return lines.Err()
}

// Copy writes the log as it is, lines of JSON.
func (l *Log) Copy(w io.Writer) error {
	r, err := l.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return err
}

// WriteJSON writes results as JSON, one value.
func WriteJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", b)
	return err
}
