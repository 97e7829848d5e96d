package auditlog_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/auditlog"
	"concord/member"
	"concord/wire"
)

var hash = wire.Hash{7}

func newIdentity(t *testing.T, role identity.Role, name string) *identity.Identity {
	t.Helper()
	id, err := identity.New(role, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// write writes a log of events, and returns it with its heads.
func write(t *testing.T, id *identity.Identity, events ...audit.Event) ([]byte, []member.Head) {
	t.Helper()
	var b bytes.Buffer
	var heads []member.Head
	var last *audit.Entry
	for _, event := range events {
		e, err := audit.Next(last, id, hash, event, time.Unix(1_700_000_000, 0))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(e.Encode(), '\n'))
		heads, last = append(heads, e.Head()), e
	}
	return b.Bytes(), heads
}

func logOf(b []byte, own, analyst *identity.Identity, others ...*identity.Identity) *auditlog.Log {
	l := &auditlog.Log{
		Study: hash, Owner: own.Statement.Fingerprint(), Analyst: analyst.Statement.Fingerprint(),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil },
	}
	for _, id := range append(others, own, analyst) {
		l.People = append(l.People, id.Statement)
	}
	return l
}

func problems(t *testing.T, l *auditlog.Log) string {
	t.Helper()
	res, err := l.Verify()
	if err != nil {
		t.Fatal(err)
	}
	if res.OK != (len(res.Problems) == 0) {
		t.Errorf("OK is %v, problems %q", res.OK, res.Problems)
	}
	return strings.Join(res.Problems, "\n")
}

// TestTwoLogs: an analyst who shows one log to one party and another to the next is
// found by what one party says in a bundle to the other.
func TestTwoLogs(t *testing.T) {
	analyst, north, east := newIdentity(t, identity.RoleAnalyst, "Office"), newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleParty, "East")
	_, mine := write(t, analyst, audit.Event{Kind: audit.Created}, audit.Event{Kind: audit.Invited})
	_, theirs := write(t, analyst, audit.Event{Kind: audit.Created}, audit.Event{Kind: audit.Dropped})
	b, heads := write(t, north, audit.Event{Kind: audit.Joining}, audit.Event{Kind: audit.Receipt, Party: analyst.Statement.Fingerprint(), Heard: mine[1]})
	for _, c := range []struct {
		name string
		seen member.Head
		want string
	}{{"the same log", mine[1], ""}, {"another log", theirs[1], "Office has two different entries 2"}} {
		l := logOf(b, north, analyst, east)
		l.Receipt(&member.Receipt{Heads: member.NewHeads(mine[1], heads[0])}, analyst.Statement.Fingerprint())
		l.Envelope(member.NewHeads(member.Head{Number: 5, Hash: wire.Hash{1}}, c.seen), east.Statement.Fingerprint(), bundle.KindSetup)
		if got := problems(t, l); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWhoseHead: what the analyst has seen in a result vouches for whom it is for, and
// what a party has seen for the analyst's log, at whoever holds it.
func TestWhoseHead(t *testing.T) {
	analyst, north := newIdentity(t, identity.RoleAnalyst, "Office"), newIdentity(t, identity.RoleParty, "North")
	b, heads := write(t, north, audit.Event{Kind: audit.Joining}, audit.Event{Kind: audit.Joined})
	l := logOf(b, north, analyst)
	l.Envelope(member.NewHeads(member.Head{Number: 9, Hash: wire.Hash{9}}, heads[1]), analyst.Statement.Fingerprint(), bundle.KindResult)
	res, err := l.Verify()
	if err != nil || !res.OK || res.Vouched.Entries != 2 || res.Vouched.By != "Office" {
		t.Errorf("%+v, %v", res, err)
	}
	l.Envelope(member.NewHeads(member.Head{}, member.Head{Number: 2, Hash: wire.Hash{1}}), analyst.Statement.Fingerprint(), bundle.KindResult)
	if got := problems(t, l); !strings.Contains(got, "entry 2 is not the one that Office holds") {
		t.Errorf("a head that the log does not have: %q", got)
	}
	office, own := write(t, analyst, audit.Event{Kind: audit.Created})
	l = logOf(office, analyst, analyst, north)
	l.Envelope(member.NewHeads(heads[1], own[0]), north.Statement.Fingerprint(), bundle.KindSetup)
	res, err = l.Verify()
	if err != nil || !res.OK || res.Vouched.Entries != 1 || res.Vouched.By != "North" || len(res.Heard) != 1 || res.Heard[0].Head != heads[1] {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestOther: two logs bear each other out, and one that was cut is found.
func TestOther(t *testing.T) {
	analyst, north := newIdentity(t, identity.RoleAnalyst, "Office"), newIdentity(t, identity.RoleParty, "North")
	office, heads := write(t, analyst, audit.Event{Kind: audit.Created}, audit.Event{Kind: audit.Invited}, audit.Event{Kind: audit.Joined})
	b, _ := write(t, north, audit.Event{Kind: audit.Joining}, audit.Event{Kind: audit.Receipt, Party: analyst.Statement.Fingerprint(), Heard: heads[1]})
	l := logOf(b, north, analyst)
	if err := l.Other(bytes.NewReader(office)); err != nil {
		t.Error(err)
	}
	cut := office[:bytes.IndexByte(office, '\n')+1]
	if err := l.Other(bytes.NewReader(cut)); err == nil || !strings.Contains(err.Error(), "the log ends before entry 2, which North holds") {
		t.Errorf("a log that was cut: %v", err)
	}
	if err := l.Other(bytes.NewReader(b)); err == nil {
		t.Error("the own log was taken for another's")
	}
	if err := l.Other(strings.NewReader("x")); err == nil {
		t.Error("what is no log was taken for one")
	}
}

// TestShow: nothing that others wrote reaches the terminal but as it can be shown.
func TestShow(t *testing.T) {
	north := newIdentity(t, identity.RoleParty, "North")
	b, _ := write(t, north, audit.Event{Kind: audit.Failed, Note: "a\x1b[2J\nb"})
	var out bytes.Buffer
	if err := logOf(b, north, north).Show(&out); err != nil || strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := logOf(append(b, "x\n"...), north, north).Show(&out); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a damaged line: %v", err)
	}
}
