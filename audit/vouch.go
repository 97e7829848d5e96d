package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"concord/member"
)

// Voucher is a head of a log that somebody else holds and has signed.
type Voucher struct {
	Head member.Head
	// By is who, and What is where it stands ("the receipt of 2 May"), for people.
	By, What string
}

// Vouched says how much of a log others vouch for.
type Vouched struct {
	// Entries is the number of the newest entry that somebody else holds; all up to
	// it are as they were then.
	Entries int64 `json:"entries"`
	// By and What say who holds it, and where; empty if nobody does.
	By   string `json:"by,omitempty"`
	What string `json:"what,omitempty"`
	// Since is the time of the first entry after it, zero if there is none: from
	// then on entries could be removed from the end unseen.
	Since time.Time `json:"since,omitzero"`
	// Open is how many those are.
	Open int64 `json:"open"`
}

// String says it in a sentence.
func (v Vouched) String() string {
	open := "nothing after it yet"
	if v.Open > 0 {
		entries := fmt.Sprintf("%d entries", v.Open)
		if v.Open == 1 {
			entries = "entry"
		}
		open = fmt.Sprintf("nobody vouches yet for the %s since %s: whether anything was removed from the end could not be seen", entries, v.Since.Format(time.RFC3339))
	}
	if v.Entries == 0 {
		if v.Open == 0 {
			return "the log is empty"
		}
		return open
	}
	text := fmt.Sprintf("entries 1 to %d are as %s holds them (%s)", v.Entries, v.By, v.What)
	if v.Open > 0 {
		text += "; " + open
	}
	return text
}

// DisagreeError says that a log is not what somebody else holds of it.
type DisagreeError struct {
	Voucher Voucher
	// First and Last are the entries of which one at least was changed, or that are
	// missing.
	First, Last int64
	Missing     bool
}

// Error names the entries and who holds what they were.
func (e *DisagreeError) Error() string {
	if e.Missing {
		return fmt.Sprintf("audit: the log ends before entry %d, which %s holds (%s): entries %s are missing", e.Voucher.Head.Number, e.Voucher.By, e.Voucher.What, span(e.First, e.Last))
	}
	which := fmt.Sprintf("entry %d was changed", e.Last)
	if e.First != e.Last {
		which = fmt.Sprintf("one of the entries %s was changed, and those after it were written anew", span(e.First, e.Last))
	}
	return fmt.Sprintf("audit: entry %d is not the one that %s holds (%s): %s", e.Voucher.Head.Number, e.Voucher.By, e.Voucher.What, which)
}

// Check compares the log with heads that others hold. The error is a *DisagreeError
// that names the earliest head that is not the log's; between it and the last one
// that is, lies the change.
func (c *Chain) Check(vouchers []Voucher) (Vouched, error) {
	sorted := slices.SortedStableFunc(slices.Values(vouchers), func(a, b Voucher) int { return cmp.Compare(a.Head.Number, b.Head.Number) })
	var out Vouched
	for _, v := range sorted {
		switch {
		case v.Head.Number > c.Len():
			return out, &DisagreeError{v, c.Len() + 1, v.Head.Number, true}
		case v.Head.Number < 1 || c.Hash(v.Head.Number) != v.Head.Hash:
			return out, &DisagreeError{v, out.Entries + 1, v.Head.Number, false}
		}
		out.Entries, out.By, out.What = v.Head.Number, v.By, v.What
	}
	if out.Open = c.Len() - out.Entries; out.Open > 0 {
		out.Since = c.times[out.Entries]
	}
	return out, nil
}

// Sighting is a head of another participant's log, as it was heard.
type Sighting struct {
	Head member.Head
	// Time is when its owner signed it, by the owner's clock; zero if that is not
	// said.
	Time time.Time
	What string
}

// CheckSightings compares what one participant told of its own log at different
// times: two hashes for one entry, or a head that went back, mean that the log was
// written anew or that different people were shown different ones.
func CheckSightings(who string, seen []Sighting) error {
	byNumber := map[int64]Sighting{}
	for _, s := range seen {
		if other, ok := byNumber[s.Head.Number]; ok && other.Head.Hash != s.Head.Hash {
			return fmt.Errorf("audit: %s has two different entries %d in its log: %s says %s, %s says %s", who, s.Head.Number, other.What, other.Head.Hash.Short(), s.What, s.Head.Hash.Short())
		}
		byNumber[s.Head.Number] = s
	}
	timed := slices.DeleteFunc(slices.Clone(seen), func(s Sighting) bool { return s.Time.IsZero() })
	slices.SortStableFunc(timed, func(a, b Sighting) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Head.Number, b.Head.Number))
	})
	for i := 1; i < len(timed); i++ {
		if before, after := timed[i-1], timed[i]; after.Head.Number < before.Head.Number {
			return fmt.Errorf("audit: the log of %s went back: it had %d entries (%s), and %d later (%s)", who, before.Head.Number, before.What, after.Head.Number, after.What)
		}
	}
	return nil
}
