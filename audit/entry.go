package audit

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"concord/identity"
	"concord/member"
	"concord/wire"
)

// MaxEntryBytes bounds a line, its line feed not counted.
const MaxEntryBytes = 4 << 10

const (
	maxKind = 32  // letters of a kind
	maxText = 200 // bytes of Program and of Backend
	maxNote = 600 // bytes of a note
)

// Kind says in one word what happened. Readers take words they do not know.
type Kind string

// The kinds that Concord writes.
const (
	Begun     Kind = "begun"     // the log begins in the middle of a study
	Created   Kind = "created"   // a study was made, by the analyst
	Dropped   Kind = "dropped"   // a study that nobody joined was forgotten
	Invited   Kind = "invited"   // an invite was made
	Joining   Kind = "joining"   // this site's statement is about to be sent
	Asked     Kind = "asked"     // a party waits for the analyst's word
	Joined    Kind = "joined"    // a party is in the open roster
	Admitted  Kind = "admitted"  // the analyst or the members took a party in
	Confirmed Kind = "confirmed" // people confirmed a roster and the contract
	Prepared  Kind = "prepared"  // what would leave was computed
	Approved  Kind = "approved"  // a person, or a written policy, said yes to a manifest
	Sealed    Kind = "sealed"    // a bundle is sealed, or about to be
	Sent      Kind = "sent"      // a bundle is about to leave
	Receipt   Kind = "receipt"   // the analyst acknowledged a bundle
	Received  Kind = "received"  // a bundle came and was checked
	Agreed    Kind = "agreed"    // the parties have one anchor
	Released  Kind = "released"  // the analyst released a result
	Modelled  Kind = "modelled"  // a site made its model of a result
	Failed    Kind = "failed"    // training failed
	Refused   Kind = "refused"   // something was turned away
	Witnessed Kind = "witnessed" // another participant told its log's head
	Given     Kind = "given"     // a file for another participant was written
	Exported  Kind = "exported"  // everything was sealed to an auditor
	Withdrawn Kind = "withdrawn" // a party, or a consent, was taken back
	Removed   Kind = "removed"   // data were deleted
	Rekeyed   Kind = "rekeyed"   // another participant has new keys
	Rekeying  Kind = "rekeying"  // whoever writes goes on with the keys of Party
	Repaired  Kind = "repaired"  // what a crash cut off was removed
)

// Event is what happened, as its writer says it. Kind is required.
type Event struct {
	Kind Kind `json:"kind"`
	// Epoch, Manifest and Party are what it concerns: a roster, a bundle, another
	// participant's fingerprint. Zero for none.
	Epoch    wire.Hash `json:"epoch,omitzero"`
	Manifest wire.Hash `json:"manifest,omitzero"`
	Party    wire.Hash `json:"party,omitzero"`
	// File is the SHA-256 of a file that it concerns.
	File wire.Hash `json:"file,omitzero"`
	// Heard is the audit head of Party that came with it.
	Heard member.Head `json:"heard,omitzero"`
	// Program and Backend say what computed, where that matters to repeat it.
	Program string `json:"program,omitempty"`
	Backend string `json:"backend,omitempty"`
	// Note says it in plain words, on one line and without data.
	Note string `json:"note,omitempty"`
}

// Entry is one line of a log.
type Entry struct {
	Format int   `json:"format"`
	Number int64 `json:"number"`
	// Time is the writer's clock, in UTC and whole seconds.
	Time time.Time `json:"time"`
	// Study is the contract hash, zero in a log that is of no study.
	Study wire.Hash `json:"study,omitzero"`
	// By is the fingerprint of who writes.
	By wire.Hash `json:"by"`
	Event
	// Previous is the SHA-256 of the line before; of the first entry, Origin.
	Previous  wire.Hash `json:"previous"`
	Signature []byte    `json:"signature,omitempty"`
}

// Origin is what stands in place of a line before the first: it ties a log to who
// began it, and to its study.
//
//	SHA-256("concord/audit/origin/v1\0" ‖ fingerprint ‖ study)
func Origin(owner, hash wire.Hash) wire.Hash {
	b := append([]byte("concord/audit/origin/v1\x00"), owner[:]...)
	return wire.HashOf(append(b, hash[:]...))
}

// Next makes and signs the entry that follows last, nil for the first one of a log
// of that study.
func Next(last *Entry, id *identity.Identity, hash wire.Hash, e Event, now time.Time) (*Entry, error) {
	own := id.Statement.Fingerprint()
	next := &Entry{Format: 1, Number: 1, Time: now.UTC().Truncate(time.Second), Study: hash, By: own, Event: e, Previous: Origin(own, hash)}
	if last != nil {
		if last.Study != hash {
			return nil, fmt.Errorf("audit: the log is of study %s, the event of %s", last.Study.Short(), hash.Short())
		}
		next.Number, next.Previous = last.Number+1, wire.HashOf(last.Encode())
	}
	next.Note = shorten(next.Note)
	if err := next.check(); err != nil {
		return nil, err
	}
	next.Signature = id.Sign(wire.SignAudit, next.signedPart())
	return next, nil
}

// shorten cuts a note at its bound and takes out what would not show: what others
// wrote may stand in it.
func shorten(note string) string {
	note = strings.Map(func(r rune) rune {
		if !shown(r) {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(note, "·"))
	if len(note) <= maxNote {
		return note
	}
	cut := maxNote - len("…")
	for !utf8.RuneStart(note[cut]) {
		cut--
	}
	return note[:cut] + "…"
}

func shown(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.In(r, unicode.Z, unicode.Cf)
}

// Encode returns the one encoding, without the line feed that ends the line.
func (e *Entry) Encode() []byte {
	b, err := wire.Canonical(e)
	if err != nil { // hashes, numbers, strings, bytes and a time in UTC always encode
		panic("audit: " + err.Error())
	}
	return b
}

// Head is the log's head when e is its last entry.
func (e *Entry) Head() member.Head {
	return member.Head{Number: e.Number, Hash: wire.HashOf(e.Encode())}
}

func (e Entry) signedPart() []byte {
	e.Signature = nil
	return e.Encode()
}

// Decode reads what Encode wrote. Nothing of it is authentic before Verify.
func Decode(line []byte) (*Entry, error) {
	if len(line) > MaxEntryBytes {
		return nil, fmt.Errorf("audit: an entry has %d bytes, at most %d are read", len(line), MaxEntryBytes)
	}
	if err := wire.CheckFormat(line, "audit: an entry", 1); err != nil {
		return nil, err
	}
	e := new(Entry)
	if err := wire.DecodeCanonical(line, e); err != nil {
		return nil, err
	}
	return e, e.check()
}

// Verify checks the writer's signature.
func (e *Entry) Verify(key ed25519.PublicKey) error {
	return wire.Verify(key, wire.SignAudit, e.signedPart(), e.Signature)
}

func (e *Entry) check() error {
	switch {
	case e.Format != 1:
		return fmt.Errorf("audit: an entry has format %d, this program reads format 1", e.Format)
	case e.Number < 1:
		return fmt.Errorf("audit: an entry has number %d, they begin with 1", e.Number)
	case e.By.IsZero() || e.Previous.IsZero():
		return errors.New("audit: an entry does not say by whom it is, or what it follows")
	case e.Kind == "" || len(e.Kind) > maxKind:
		return fmt.Errorf("audit: the kind of an entry has %d letters, must have 1 to %d", len(e.Kind), maxKind)
	case len(e.Note) > maxNote || len(e.Program) > maxText || len(e.Backend) > maxText:
		return fmt.Errorf("audit: an entry's text is longer than %d bytes", maxNote)
	}
	for _, c := range []byte(e.Kind) {
		if (c < 'a' || c > 'z') && c != '-' {
			return fmt.Errorf("audit: the kind %q of an entry must be of small letters and -", e.Kind)
		}
	}
	for _, text := range []string{e.Note, e.Program, e.Backend} {
		for _, r := range text {
			if r == utf8.RuneError || !shown(r) {
				return fmt.Errorf("audit: an entry's text has the invisible character %U", r)
			}
		}
	}
	if _, offset := e.Time.Zone(); offset != 0 || e.Time.Nanosecond() != 0 {
		return errors.New("audit: an entry's time must be in UTC and whole seconds")
	}
	if y := e.Time.Year(); y < 2000 || y > 9999 {
		return fmt.Errorf("audit: an entry's year is %d, must be 2000 to 9999", y)
	}
	if !e.Heard.IsZero() && (e.Heard.Number < 1 || e.Heard.Hash.IsZero() || e.Party.IsZero()) {
		return errors.New("audit: an entry has half an audit head of another participant")
	}
	return nil
}
