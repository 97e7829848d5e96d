package audit

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"time"

	"concord/identity"
	"concord/member"
	"concord/wire"
)

// Keys gives the signing key of the participant with a fingerprint, nil for one
// that is not known.
type Keys func(fingerprint wire.Hash) ed25519.PublicKey

// KeysOf looks keys up in identity statements.
func KeysOf(statements ...*identity.Statement) Keys {
	keys := make(map[wire.Hash]ed25519.PublicKey, len(statements))
	for _, s := range statements {
		keys[s.Fingerprint()] = s.SigningKey
	}
	return func(fingerprint wire.Hash) ed25519.PublicKey { return keys[fingerprint] }
}

// BrokenError says which line of a log breaks the chain, and how.
type BrokenError struct {
	// Line counts from 1. In a log that is in order it is the entry's number.
	Line   int64
	Reason string
}

// Error names the line and says what is wrong with it.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("audit: line %d breaks the chain: %s", e.Line, e.Reason)
}

// Chain is what is known of a log that was read whole: enough to compare it with
// the heads that others hold, a few dozen bytes an entry.
type Chain struct {
	// Last is the last entry, nil in an empty log.
	Last *Entry
	// Torn is how many bytes without a line feed stand after the last line: what a
	// crash cut off before it was acknowledged, or a line whose end was removed.
	Torn   int
	hashes []wire.Hash
	times  []time.Time
}

// Len is how many entries the log has.
func (c *Chain) Len() int64 { return int64(len(c.hashes)) }

// Hash is that of the entry with a number from 1 to Len.
func (c *Chain) Hash(number int64) wire.Hash { return c.hashes[number-1] }

// Head is the log's head, zero if it is empty.
func (c *Chain) Head() member.Head {
	if len(c.hashes) == 0 {
		return member.Head{}
	}
	return member.Head{Number: c.Len(), Hash: c.Hash(c.Len())}
}

// Verify reads a log of the study that owner began, and checks every line: its
// encoding, number, signature, and that it follows the line before. each, unless it
// is nil, gets every entry once it is checked. The error of the first line that is
// wrong is a *BrokenError.
//
// A log that is whole may still have been written anew by whoever has its key, or
// cut at its end: see [Chain.Check].
//
// Cost: one pass, one signature a line.
func Verify(r io.Reader, owner, hash wire.Hash, keys Keys, each func(*Entry) error) (*Chain, error) {
	lines := bufio.NewReaderSize(r, MaxEntryBytes+1)
	c := new(Chain)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return c, &BrokenError{c.Len() + 1, fmt.Sprintf("it has more than %d bytes", MaxEntryBytes)}
		case errors.Is(err, io.EOF):
			c.Torn = len(line)
			return c, nil
		case err != nil:
			return c, err
		}
		if err := c.Add(bytes.TrimSuffix(line, []byte("\n")), owner, hash, keys); err != nil {
			return c, err
		}
		if each == nil {
			continue
		}
		if err := each(c.Last); err != nil {
			return c, err
		}
	}
}

// Add checks that a line follows what the chain has, and takes it in.
func (c *Chain) Add(line []byte, owner, hash wire.Hash, keys Keys) error {
	broken := func(format string, args ...any) error {
		return &BrokenError{c.Len() + 1, fmt.Sprintf(format, args...)}
	}
	e, err := Decode(line)
	if err != nil {
		return broken("it is not an entry as it was written: %v", err)
	}
	want := c.Len() + 1
	previous, by := Origin(owner, hash), owner
	if c.Last != nil {
		previous, by = c.Hash(c.Len()), c.Last.By
		if c.Last.Kind == Rekeying && !c.Last.Party.IsZero() {
			by = c.Last.Party
		}
	}
	key := keys(e.By)
	switch {
	case e.Number > want:
		return broken("it is entry %d: entries %s stand nowhere before it", e.Number, span(want, e.Number-1))
	case e.Number < want:
		return broken("it is entry %d, which stands before already or is out of its place", e.Number)
	case e.Study != hash:
		return broken("it belongs to study %s, the log to %s", e.Study.Short(), hash.Short())
	case e.By != by:
		return broken("it is by %s, the log is by %s", e.By.Short(), by.Short())
	case key == nil:
		return broken("it is by %s, whose key is not known", e.By.Short())
	}
	if err := e.Verify(key); err != nil {
		return broken("its signature is wrong: the line was changed after it was written")
	}
	if e.Previous != previous {
		if c.Last == nil {
			return broken("it is the first of another log")
		}
		return broken("it was signed to follow another entry than the one before it: one of the two was replaced by whoever has the key")
	}
	c.Last = e
	c.hashes, c.times = append(c.hashes, wire.HashOf(line)), append(c.times, e.Time)
	return nil
}

// span writes first–last, or the one number that it is.
func span(first, last int64) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d to %d", first, last)
}
