package server_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/server"
	"concord/internal/signed"
	"concord/member"
	"concord/wire"
)

// wantProblem is wantRefusal for an operation that is called without a client.
func wantProblem(t testing.TB, name string, err error, code, reason string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: done, want a refusal %q", name, code)
	} else if e := server.Explain(err); e.Code != code || !strings.Contains(e.Message, reason) {
		t.Errorf("%s: %q %q, want a refusal %q with %q", name, e.Code, e.Message, code, reason)
	}
}

// setUp lets the two parties of a world join and agree the anchor.
func (w *world) setUp() {
	w.t.Helper()
	w.join()
	a, b := w.parties[0], w.parties[1]
	w.brings(a, w.setup(a, b))
	w.brings(b, w.setup(b, a))
}

func (w *world) brings(from *identity.Identity, path string) {
	w.t.Helper()
	if _, err := w.as(from).Send(w.t.Context(), path); err != nil {
		w.t.Fatal(err)
	}
}

// released waits until a model is released.
func (w *world) released() {
	w.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		st, err := w.as(w.parties[0]).Status(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if st.State == api.StateReleased {
			return
		}
		if st.State == api.StateFailed || time.Now().After(deadline) {
			w.t.Fatalf("status %+v", st)
		}
	}
}

// late lets a third party in after setup, which the others confirm with the anchor's id.
// The epoch is then that of the new roster.
func (w *world) late() *identity.Identity {
	w.t.Helper()
	ctx := w.t.Context()
	c, secret := newIdentity(w.t, identity.RoleParty, "Late"), []byte("asks")
	if err := w.store.AddAskingInvite(ctx, w.study, wire.HashOf(secret), ""); err != nil {
		w.t.Fatal(err)
	}
	if _, asks, err := w.as(c).Join(ctx, secret, c.Statement.Encode()); err != nil || !asks {
		w.t.Fatalf("a party that comes late joins: %v, asks %v", err, asks)
	}
	if err := w.server.Admit(ctx, w.study, c.Statement.Fingerprint()); err != nil {
		w.t.Fatal(err)
	}
	roster, err := w.as(w.parties[0]).Roster(ctx)
	if err != nil || roster.Pending == nil {
		w.t.Fatalf("the roster with an admission: %+v, %v", roster, err)
	}
	add, err := member.DecodeAmendment(roster.Pending.Amendment)
	if err != nil {
		w.t.Fatal(err)
	}
	anchor, other := wire.Hash{9}, wire.Hash{8}
	for i, id := range w.parties {
		if i > 0 { // who has another anchor than the first does not admit anybody
			err := w.as(id).Confirm(ctx, member.ConfirmAnchor(id, w.study, add.To, &other))
			wantRefusal(w.t, "another anchor", err, api.CodeRefused, "it names the anchor 0800")
		}
		if err := w.as(id).Confirm(ctx, member.ConfirmAnchor(id, w.study, add.To, &anchor)); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.as(c).Confirm(ctx, member.Confirm(c, w.study, add.To)); err != nil {
		w.t.Fatal(err)
	}
	w.epoch = add.To
	return c
}

// TestClockBack: a request that was signed once does not count again when the server's
// clock is set back to the time at which it was signed, however long ago that is; nobody
// else is kept out by it.
func TestClockBack(t *testing.T) {
	w := newWorld(t)
	w.join()
	party := w.parties[0]
	begun := time.Now().UTC().Truncate(time.Millisecond)
	clock, passed := begun, time.Duration(0)
	var mu sync.Mutex
	w.server.SetClock(func() (time.Time, time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		return clock, passed
	})
	pass := func(d, back time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		clock, passed = clock.Add(d-back), passed+d
	}
	body := append(append([]byte{'"'}, b64(member.Confirm(party, w.study, w.epoch).Encode())...), '"')
	path := api.Path(api.PathConfirmations, w.study)
	sign := func(at time.Time, run []byte) string {
		r := signed.NewRequest(party, w.analyst.Statement.Fingerprint(), w.study)
		r.Method, r.Target, r.Body, r.Run, r.Time = http.MethodPost, path, wire.HashOf(body), run, at
		value, _ := r.Header(party)
		return value
	}
	send := func(what, header string, status int, code string) {
		t.Helper()
		got, answer := w.send(t, http.MethodPost, path, body, http.Header{signed.RequestHeader: {header}})
		if got != status || answer.Code != code {
			t.Errorf("%s: %d %q, want %d %q", what, got, answer.Code, status, code)
		}
	}
	run := w.run(t)
	recorded := sign(begun, run)
	send("a request", recorded, http.StatusOK, "")
	send("the same again", recorded, http.StatusForbidden, api.CodeStale)
	for range 6 { // others come and go, so that what was long ago is forgotten
		pass(10*time.Minute, 0)
		send("another request", sign(begun.Add(passed), run), http.StatusOK, "")
	}
	send("an hour later", recorded, http.StatusForbidden, api.CodeClock)
	pass(0, 500*time.Millisecond)
	send("after a correction by half a second", sign(clock, run), http.StatusOK, "")
	pass(0, time.Hour)
	send("the clock is set back", recorded, http.StatusForbidden, api.CodeStale)
	again := w.run(t)
	if bytes.Equal(again, run) {
		t.Error("the run is the same after the clock was set back")
	}
	send("a new request then", sign(clock, again), http.StatusOK, "")
	send("one that was signed for the run before", sign(clock, run), http.StatusForbidden, api.CodeStale)
}

// TestLeftByItsOwnKey: who left a study gets the receipt again by its own TLS key. With
// any other key nobody passes as the one that left.
func TestLeftByItsOwnKey(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	ctx := t.Context()
	b := w.parties[1]
	a, err := member.NewChain(w.contract, w.study, w.roster).Propose(member.AmendWithdraw, b.Statement.Fingerprint(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	a.Sign(b)
	first, err := w.as(b).Amend(ctx, a.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.as(b).Amend(ctx, a.Encode()); err != nil || string(again.Withdrawal) != string(first.Withdrawal) || len(again.Withdrawal) == 0 {
		t.Errorf("its own key, again: %v; want the same receipt", err)
	}
	_, err = w.as(newIdentity(t, identity.RoleParty, "Stranger")).Amend(ctx, a.Encode())
	wantRefusal(t, "a stranger's key", err, api.CodeForbidden, "belongs to no party")
	_, err = w.as(w.parties[0]).Amend(ctx, a.Encode())
	wantRefusal(t, "another member's key", err, api.CodeForbidden, "the amendment is about another party")
}

// TestAmendmentOfAnother: what a party has signed about itself counts when that party
// brings it. Another that got hold of it cannot bring it in its place.
func TestAmendmentOfAnother(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	ctx := t.Context()
	a, b := w.parties[0].Statement.Fingerprint(), w.parties[1].Statement.Fingerprint()
	withdraw, err := member.NewChain(w.contract, w.study, w.roster).Propose(member.AmendWithdraw, b, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.server.Amend(ctx, w.study, b, withdraw.Encode())
	wantProblem(t, "unsigned", err, api.CodeForbidden, "the amendment is not signed by the party")
	withdraw.Sign(w.parties[1])
	_, err = w.server.Amend(ctx, w.study, a, withdraw.Encode())
	wantProblem(t, "brought by another", err, api.CodeForbidden, "the amendment is about another party")
	roster, err := w.as(w.parties[0]).Roster(ctx)
	if err != nil || len(roster.Amendments) != 0 {
		t.Errorf("the roster has %d amendments (%v), want none", len(roster.Amendments), err)
	}
	if _, err := w.server.Amend(ctx, w.study, b, withdraw.Encode()); err != nil {
		t.Errorf("brought by the party itself: %v", err)
	}
}

// TestUnconfirmedSendsNothing: the roster is closed when all have joined, but nothing is
// taken from a party whose people have not compared it.
func TestUnconfirmedSendsNothing(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	members := []*identity.Statement{w.analyst.Statement}
	for i, name := range []string{"North", "East"} {
		id := newIdentity(t, identity.RoleParty, name)
		if _, _, err := w.as(id).Join(ctx, w.secrets[i], id.Statement.Encode()); err != nil {
			t.Fatal(err)
		}
		w.parties, members = append(w.parties, id), append(members, id.Statement)
	}
	roster, err := member.NewRoster(w.contract, 1, members)
	if err != nil {
		t.Fatal(err)
	}
	w.epoch = roster.Epoch(w.study)
	a, b := w.parties[0], w.parties[1]
	if err := w.as(a).Confirm(ctx, member.Confirm(a, w.study, w.epoch)); err != nil {
		t.Fatal(err)
	}
	path := w.setup(b, a)
	_, err = w.as(b).Send(ctx, path)
	wantRefusal(t, "before it confirmed", err, api.CodeNotYet, "this party has not confirmed the roster")
	if err := w.as(b).Confirm(ctx, member.Confirm(b, w.study, w.epoch)); err != nil {
		t.Fatal(err)
	}
	w.brings(b, path)
}

// TestSetupOfAnotherStudy: the server cannot open a setup bundle, so that its line has to
// say all that binds it. (Of a contribution the payload says it again.)
func TestSetupOfAnotherStudy(t *testing.T) {
	w := newWorld(t)
	w.join()
	a, b := w.parties[0], w.parties[1]
	for _, tc := range []struct {
		reason string
		change func(*bundle.Draft)
	}{
		{"the bundle is another party's", func(d *bundle.Draft) { d.Sender = w.analyst.Statement.Fingerprint() }},
		{"the bundle is for contract", func(d *bundle.Draft) { d.Study = wire.Hash{1} }},
		{"it belongs to epoch", func(d *bundle.Draft) { d.Epoch = wire.Hash{1} }},
		{"the bundle is of round 1, number 1", func(d *bundle.Draft) { d.Round = 1 }},
		{"the bundle is of round 0, number 2", func(d *bundle.Draft) { d.Number = 2 }},
	} {
		path := w.sealed(a, bundle.KindSetup, []*identity.Statement{b.Statement}, []bundle.Source{bundle.FromBytes("entropy.bin", make([]byte, 32))}, tc.change)
		_, err := w.as(a).Send(t.Context(), path)
		code := api.CodeRefused
		if strings.Contains(tc.reason, "another party's") {
			code = api.CodeForbidden
		}
		wantRefusal(t, tc.reason, err, code, tc.reason)
	}
	// Nor does it see what is in the payload, but the line says its hash.
	good := w.setup(a, b)
	whole := readFile(t, good)
	whole[len(whole)-1] ^= 1
	changed := filepath.Join(t.TempDir(), "bundle")
	if err := os.WriteFile(changed, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.as(a).Send(t.Context(), changed)
	wantRefusal(t, "a payload with one bit changed", err, api.CodeRefused, "the payload has")
	w.brings(a, good)
}

// TestAdmissionToWhom: the anchor goes to one party that came after setup, from another.
func TestAdmissionToWhom(t *testing.T) {
	w := newWorld(t)
	w.setUp()
	c := w.late()
	a, b := w.parties[0], w.parties[1]
	admission := func(from *identity.Identity, to ...*identity.Statement) string {
		return w.sealed(from, bundle.KindAdmission, to, []bundle.Source{bundle.FromBytes("seed.bin", make([]byte, 32))}, nil)
	}
	const reason = "an admission is for one other party that came after setup"
	for _, tc := range []struct {
		name string
		from *identity.Identity
		to   []*identity.Statement
	}{
		{"to itself", c, []*identity.Statement{c.Statement}},
		{"to one of setup", a, []*identity.Statement{b.Statement}},
		{"to two", a, []*identity.Statement{b.Statement, c.Statement}},
		{"to the analyst", a, []*identity.Statement{w.analyst.Statement}},
	} {
		_, err := w.as(tc.from).Send(t.Context(), admission(tc.from, tc.to...))
		wantRefusal(t, "an admission "+tc.name, err, api.CodeRefused, reason)
	}
	w.brings(a, admission(a, c.Statement))
	// And who came late has no share in the anchor that there is.
	share := w.sealed(c, bundle.KindSetup, []*identity.Statement{a.Statement, b.Statement}, []bundle.Source{bundle.FromBytes("entropy.bin", make([]byte, 32))}, nil)
	_, err := w.as(c).Send(t.Context(), share)
	wantRefusal(t, "a share of a party that came late", err, api.CodeRefused, "this party came after setup")
}

// TestLateWithAnotherAnchor: whoever made its contribution with another anchor would be
// aligned to nonsense; the study says so and releases nothing to it.
func TestLateWithAnotherAnchor(t *testing.T) {
	for _, tc := range []struct {
		anchor wire.Hash
		want   string
	}{{wire.Hash{9}, ""}, {wire.Hash{8}, `"Late" used the anchor 08`}} {
		w := newWorld(t)
		w.setUp()
		for _, id := range w.parties {
			w.brings(id, w.contribution(id, nil))
		}
		w.released()
		c := w.late()
		w.brings(c, w.contribution(c, func(d *bundle.Draft) { d.Anchor = &tc.anchor }))
		if err := w.server.RunDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		st, err := w.store.Study(t.Context(), w.study)
		if err != nil {
			t.Fatal(err)
		}
		if (st.Problem == "") != (tc.want == "") || !strings.Contains(st.Problem, tc.want) {
			t.Errorf("anchor %x: the study's problem is %q, want %q", tc.anchor[:1], st.Problem, tc.want)
		}
		results := 0
		waiting, err := w.as(c).Bundles(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range waiting {
			if b.Kind == bundle.KindResult {
				results++
			}
		}
		if (results == 1) != (tc.want == "") {
			t.Errorf("anchor %x: the late party gets %d results", tc.anchor[:1], results)
		}
	}
}

// TestTargetChangedOnDisk: what a late party is aligned to, and the model that it gets,
// are those of which the record of the round has the hash, or it gets nothing.
func TestTargetChangedOnDisk(t *testing.T) {
	for _, file := range []string{"target.npy", "h.onnx"} {
		w := newWorld(t)
		w.setUp()
		for _, id := range w.parties {
			w.brings(id, w.contribution(id, nil))
		}
		w.released()
		path := w.store.ModelPath(w.study, 0, file)
		whole := readFile(t, path)
		whole[len(whole)-1] ^= 1 // the last bits of a number
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		c := w.late()
		w.brings(c, w.contribution(c, nil))
		if err := w.server.RunDue(t.Context()); err == nil || !strings.Contains(err.Error(), "changed on the disk") {
			t.Errorf("%s has one bit changed: %v, want an error that says so", file, err)
		}
		if waiting, err := w.as(c).Bundles(t.Context()); err != nil || len(waiting) != 0 {
			t.Errorf("%s has one bit changed: the late party may fetch %v (%v)", file, waiting, err)
		}
	}
}
