package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"concord/audit"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

func newIdentity(t testing.TB, name string) *identity.Identity {
	t.Helper()
	id, err := identity.New(identity.RoleParty, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

var hash = wire.Hash{7}

// events have every field in use in one entry or another.
var events = []audit.Event{
	{Kind: audit.Joining, Note: "this site's statement goes to analyst.example:8443"},
	{Kind: audit.Confirmed, Epoch: wire.Hash{1}, Note: "North, East & <West>"},
	{Kind: audit.Prepared, Epoch: wire.Hash{1}, Manifest: wire.Hash{2}},
	{Kind: audit.Approved, Epoch: wire.Hash{1}, Manifest: wire.Hash{2}, Note: "by a person"},
	{Kind: audit.Sent, Epoch: wire.Hash{1}, Manifest: wire.Hash{2}, Party: wire.Hash{3}},
	{Kind: audit.Receipt, Epoch: wire.Hash{1}, Manifest: wire.Hash{2}, Party: wire.Hash{3}, Heard: member.Head{Number: 4, Hash: wire.Hash{5}}},
	{Kind: audit.Released, File: wire.Hash{6}, Program: "v1.2.3", Backend: "OpenBLAS 0.3.21"},
}

// log writes events and returns its lines and heads.
func log(t testing.TB, id *identity.Identity, events []audit.Event) (lines [][]byte, heads []member.Head) {
	t.Helper()
	var last *audit.Entry
	for i, event := range events {
		e, err := audit.Next(last, id, hash, event, time.Unix(1_700_000_000+int64(60*i), 5))
		if err != nil {
			t.Fatal(err)
		}
		lines, heads, last = append(lines, e.Encode()), append(heads, e.Head()), e
	}
	return lines, heads
}

func text(lines [][]byte) []byte {
	return append(bytes.Join(lines, []byte("\n")), '\n')
}

func verify(id *identity.Identity, b []byte) (*audit.Chain, error) {
	return audit.Verify(bytes.NewReader(b), id.Statement.Fingerprint(), hash, audit.KeysOf(id.Statement), nil)
}

func TestLog(t *testing.T) {
	id := newIdentity(t, "North")
	lines, heads := log(t, id, events)
	var got []audit.Event
	chain, err := audit.Verify(bytes.NewReader(text(lines)), id.Statement.Fingerprint(), hash, audit.KeysOf(id.Statement), func(e *audit.Entry) error {
		got = append(got, e.Event)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, events) {
		t.Errorf("read %+v, wrote %+v", got, events)
	}
	if chain.Len() != int64(len(events)) || chain.Head() != heads[len(heads)-1] || chain.Torn != 0 {
		t.Errorf("%d entries, head %v, %d torn bytes", chain.Len(), chain.Head(), chain.Torn)
	}
	empty, err := verify(id, nil)
	if err != nil || empty.Len() != 0 || !empty.Head().IsZero() {
		t.Errorf("an empty log: %v, %v", empty.Len(), err)
	}
	if _, err := audit.Verify(bytes.NewReader(text(lines)), id.Statement.Fingerprint(), wire.Hash{8}, audit.KeysOf(id.Statement), nil); err == nil {
		t.Error("a log of another study was read")
	}
}

// TestEveryByte: a log with any one byte changed, removed or doubled is not read
// as a whole log, except that without its last line feed the last line is torn.
func TestEveryByte(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	id := newIdentity(t, "North")
	lines, _ := log(t, id, events)
	good := text(lines)
	for i := range good {
		changes := map[string][]byte{
			"flipped": slices.Concat(good[:i], []byte{good[i] ^ 1}, good[i+1:]),
			"case":    slices.Concat(good[:i], []byte{good[i] ^ 0x20}, good[i+1:]),
			"removed": slices.Concat(good[:i], good[i+1:]),
			"doubled": slices.Concat(good[:i], good[i:i+1], good[i:]),
			"space":   slices.Concat(good[:i], []byte{' '}, good[i:]),
		}
		for what, b := range changes {
			chain, err := verify(id, b)
			if err == nil && chain.Torn == 0 {
				t.Errorf("byte %d %s: the log is accepted", i, what)
			}
			line := int64(bytes.Count(good[:i], []byte("\n"))) + 1
			var broken *audit.BrokenError
			if errors.As(err, &broken) && (broken.Line < line || broken.Line > line+1) {
				t.Errorf("byte %d %s, in line %d: %v", i, what, line, err)
			}
		}
	}
}

// TestLines: lines that are removed, repeated, reordered or put in from elsewhere
// are found, and the error says which one it is.
func TestLines(t *testing.T) {
	id, thief := newIdentity(t, "North"), newIdentity(t, "North")
	lines, _ := log(t, id, events)
	other, _ := log(t, id, append([]audit.Event{{Kind: audit.Begun}}, events...))
	foreign, _ := log(t, thief, events)
	cases := []struct {
		name  string
		lines [][]byte
		line  int64
		text  string
	}{
		{"the first removed", lines[1:], 1, "entries 1 stand nowhere"},
		{"one removed", slices.Delete(slices.Clone(lines), 3, 4), 4, "entries 4 stand"},
		{"two removed", slices.Delete(slices.Clone(lines), 2, 4), 3, "entries 3 to 4 stand"},
		{"one repeated", slices.Insert(slices.Clone(lines), 3, lines[2]), 4, "stands before already"},
		{"two exchanged", slices.Concat(lines[:2], [][]byte{lines[3], lines[2]}, lines[4:]), 3, "entries 3 stand"},
		{"an empty line", slices.Insert(slices.Clone(lines), 2, nil), 3, "not an entry"},
		{"a line of an own other log", slices.Concat(lines[:2], [][]byte{other[2]}, lines[3:]), 3, "follow another entry"},
		{"a line of somebody else", slices.Concat(lines[:2], [][]byte{foreign[2]}, lines[3:]), 3, "it is by"},
		{"somebody else's log", foreign, 1, "it is by"},
		{"a long line", slices.Insert(slices.Clone(lines), 1, bytes.Repeat([]byte("x"), 2*audit.MaxEntryBytes)), 2, "more than"},
	}
	for _, c := range cases {
		_, err := verify(id, text(c.lines))
		var broken *audit.BrokenError
		if !errors.As(err, &broken) || broken.Line != c.line || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want line %d and %q", c.name, err, c.line, c.text)
		}
	}
}

// TestWholeRewritten: whoever has the key can write any log. Up to the newest head
// that somebody else holds that is found, with the entries in question; beyond it
// nothing is claimed.
func TestWholeRewritten(t *testing.T) {
	id := newIdentity(t, "North")
	lines, heads := log(t, id, events)
	vouchers := []audit.Voucher{
		{heads[4], "the analyst", "the second receipt"},
		{heads[1], "the analyst", "the first receipt"},
	}
	chain, err := verify(id, text(lines))
	if err != nil {
		t.Fatal(err)
	}
	vouched, err := chain.Check(vouchers)
	if err != nil || vouched.Entries != 5 || vouched.Open != 2 || vouched.What != "the second receipt" {
		t.Fatalf("%+v, %v", vouched, err)
	}
	if want := time.Unix(1_700_000_000+5*60, 0).UTC(); !vouched.Since.Equal(want) {
		t.Errorf("nothing is vouched for since %v, want %v", vouched.Since, want)
	}
	for n := range len(events) + 1 {
		cut, err := verify(id, append([]byte(nil), bytes.Join(append(slices.Clone(lines[:n]), nil), []byte("\n"))...))
		if err != nil {
			t.Fatal(err)
		}
		_, err = cut.Check(vouchers)
		var disagree *audit.DisagreeError
		if found := errors.As(err, &disagree) && disagree.Missing && disagree.First == int64(n)+1; found != (n < 5) {
			t.Errorf("cut after %d entries: %v", n, err)
		}
	}
	for n := range events {
		changed := slices.Clone(events)
		changed[n].Note += " and more"
		again, _ := log(t, id, changed)
		chain, err := verify(id, text(again))
		if err != nil {
			t.Fatal(err)
		}
		_, err = chain.Check(vouchers)
		var disagree *audit.DisagreeError
		found := errors.As(err, &disagree) && disagree.First <= int64(n)+1 && int64(n)+1 <= disagree.Last
		if found != (n < 5) {
			t.Errorf("entry %d rewritten: %v", n+1, err)
		}
	}
}

func TestSightings(t *testing.T) {
	at := func(minute int) time.Time { return time.Unix(int64(60*minute), 0) }
	head := func(n int64, h byte) member.Head { return member.Head{Number: n, Hash: wire.Hash{h}} }
	for _, c := range []struct {
		name string
		seen []audit.Sighting
		text string
	}{
		{"in order", []audit.Sighting{{head(1, 1), at(1), "a"}, {head(4, 4), at(2), "b"}, {head(4, 4), at(3), "c"}, {head(2, 2), time.Time{}, "d"}}, ""},
		{"late", []audit.Sighting{{head(4, 4), at(2), "b"}, {head(1, 1), at(1), "a"}}, ""},
		{"back", []audit.Sighting{{head(1, 1), at(2), "b"}, {head(4, 4), at(1), "a"}}, "had 4 entries (a), and 1 later (b)"},
		{"two", []audit.Sighting{{head(4, 4), at(1), "a"}, {head(4, 5), time.Time{}, "b"}}, "two different entries 4"},
	} {
		err := audit.CheckSightings("the analyst", c.seen)
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
	}
}

// TestRekeyed: after a re-key, signed with the old key, the new one signs; before
// it, and by any other, it does not.
func TestRekeyed(t *testing.T) {
	old, fresh := newIdentity(t, "North"), newIdentity(t, "North")
	lines, _ := log(t, old, []audit.Event{{Kind: audit.Begun}, {Kind: audit.Rekeying, Party: fresh.Statement.Fingerprint()}})
	last, err := audit.Decode(lines[1])
	if err != nil {
		t.Fatal(err)
	}
	next, err := audit.Next(last, fresh, hash, audit.Event{Kind: audit.Prepared}, time.Unix(1_700_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	keys := audit.KeysOf(old.Statement, fresh.Statement)
	owner := old.Statement.Fingerprint()
	if _, err := audit.Verify(bytes.NewReader(text(append(lines, next.Encode()))), owner, hash, keys, nil); err != nil {
		t.Error(err)
	}
	if _, err := audit.Verify(bytes.NewReader(text([][]byte{lines[0], next.Encode()})), owner, hash, keys, nil); err == nil {
		t.Error("a new key was taken without the old one's word")
	}
	again, err := audit.Next(last, old, hash, audit.Event{Kind: audit.Prepared}, time.Unix(1_700_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Verify(bytes.NewReader(text(append(lines, again.Encode()))), owner, hash, keys, nil); err == nil {
		t.Error("the old key went on after a re-key")
	}
}

func TestNextRefuses(t *testing.T) {
	id := newIdentity(t, "North")
	now := time.Unix(1_700_000_000, 0)
	for name, e := range map[string]audit.Event{
		"no kind":      {},
		"a long kind":  {Kind: audit.Kind(strings.Repeat("a", 33))},
		"another kind": {Kind: "Sent!"},
		"half a head":  {Kind: audit.Receipt, Party: wire.Hash{1}, Heard: member.Head{Number: 3}},
		"no party":     {Kind: audit.Receipt, Heard: member.Head{Number: 3, Hash: wire.Hash{1}}},
	} {
		if _, err := audit.Next(nil, id, hash, e, now); err == nil {
			t.Errorf("%s: an entry was made", name)
		}
	}
	e, err := audit.Next(nil, id, hash, audit.Event{Kind: audit.Failed, Note: "a\nb\u202e" + strings.Repeat("ä", 400)}, now)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(e.Note, "a·b·ä") || !strings.HasSuffix(e.Note, "ä…") || len(e.Note) > 600 {
		t.Errorf("the note is %q", e.Note)
	}
	if _, err := audit.Next(e, id, wire.Hash{1}, audit.Event{Kind: audit.Sent}, now); err == nil {
		t.Error("an entry follows one of another study")
	}
}

func FuzzDecode(f *testing.F) {
	id := newIdentity(f, "North")
	lines, _ := log(f, id, events)
	for _, line := range lines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := audit.Decode(line)
		if err == nil && !bytes.Equal(e.Encode(), line) {
			t.Errorf("%q is read and written as %q", line, e.Encode())
		}
	})
}

func ExampleVerify() {
	id, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		panic(err)
	}
	first, err := audit.Next(nil, id, wire.Hash{1}, audit.Event{Kind: audit.Begun}, time.Now())
	if err != nil {
		panic(err)
	}
	line := append(first.Encode(), '\n')
	line[12]++ // somebody edits the log
	_, err = audit.Verify(bytes.NewReader(line), id.Statement.Fingerprint(), wire.Hash{1}, audit.KeysOf(id.Statement), nil)
	fmt.Println(err != nil)
	// Output: true
}

// TestAnotherStudysEntry: an entry that its owner signed for another study stands in no other
// log, also where everything else of it fits; and logs of two owners, or of two studies,
// begin apart.
func TestAnotherStudysEntry(t *testing.T) {
	id, other := newIdentity(t, "North"), newIdentity(t, "East")
	own := id.Statement.Fingerprint()
	e, err := audit.Next(nil, id, hash, events[0], time.Unix(1_700_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	e.Study, e.Signature = wire.Hash{8}, nil
	e.Signature = id.Sign(wire.SignAudit, e.Encode())
	var broken *audit.BrokenError
	if _, err := verify(id, text([][]byte{e.Encode()})); !errors.As(err, &broken) || !strings.Contains(broken.Reason, "it belongs to study 0800") {
		t.Errorf("an entry of another study: %v", err)
	}
	origins := []wire.Hash{audit.Origin(own, hash), audit.Origin(other.Statement.Fingerprint(), hash), audit.Origin(own, wire.Hash{8})}
	for i, a := range origins {
		if slices.Contains(origins[:i], a) {
			t.Errorf("log %d begins as another does", i+1)
		}
	}
}
