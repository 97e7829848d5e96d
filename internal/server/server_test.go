package server_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/linalg"
	"concord/member"
	"concord/release"
	"concord/wire"
)

// TestStudy plays a whole study against the server, each request twice: an
// answer may be lost, and asking again must change nothing.
func TestStudy(t *testing.T) { newWorld(t).play(t) }

func (w *world) play(t *testing.T) {
	w.join()
	ctx := t.Context()
	a, b := w.parties[0], w.parties[1]
	for i, send := range []struct {
		from *identity.Identity
		path string
	}{{a, w.setup(a, b)}, {b, w.setup(b, a)}, {a, w.contribution(a, nil)}, {b, w.contribution(b, nil)}} {
		first, err := w.as(send.from).Send(ctx, send.path)
		if err != nil {
			t.Fatalf("bundle %d: %v", i+1, err)
		}
		if _, err := member.DecodeReceipt(first, w.analyst.Statement); err != nil {
			t.Errorf("bundle %d: receipt: %v", i+1, err)
		}
		again, err := w.as(send.from).Send(ctx, send.path)
		if err != nil || !bytes.Equal(first, again) {
			t.Errorf("bundle %d: sent again gives another receipt (%v)", i+1, err)
		}
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		st, err := w.as(a).Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if st.State == api.StateReleased {
			break
		}
		if st.State == api.StateFailed || time.Now().After(deadline) {
			t.Fatalf("status %+v", st)
		}
		time.Sleep(10 * time.Millisecond)
	}
	bundles, err := w.as(a).Bundles(ctx)
	if err != nil || len(bundles) != 2 {
		t.Fatalf("party 1 may fetch %v, %v; want a setup bundle and a result", bundles, err)
	}
	for _, info := range bundles {
		if info.Kind != bundle.KindResult {
			continue
		}
		var buf bytes.Buffer
		if _, err := w.as(a).Fetch(ctx, info.Manifest, &buf, 1<<20); err != nil {
			t.Fatal(err)
		}
		r, err := bundle.Open(bytes.NewReader(buf.Bytes()), int64(buf.Len()), bundle.Expect{
			Study: w.study, Epoch: w.epoch, Kind: bundle.KindResult, Sender: w.analyst.Statement.Fingerprint(),
			SenderKey: w.analyst.Statement.SigningKey, Recipient: a.Statement.Fingerprint(),
		}, a.AgeIdentity())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Bytes(release.MemberModel, 1<<20); err != nil {
			t.Error(err)
		}
		_, err = w.as(b).Fetch(ctx, info.Manifest, io.Discard, 1<<20)
		wantRefusal(t, "another party's result", err, api.CodeNotFound, "")
	}
}

func TestJoinRefused(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	a := newIdentity(t, identity.RoleParty, "North")
	_, _, err := w.as(a).Join(ctx, []byte("guess"), a.Statement.Encode())
	wantRefusal(t, "a wrong secret", err, api.CodeForbidden, "the invite is unknown")
	_, _, err = w.as(newIdentity(t, identity.RoleParty, "Thief")).Join(ctx, w.secrets[0], a.Statement.Encode())
	wantRefusal(t, "another's statement", err, api.CodeForbidden, "does not hold the TLS key")
	stranger := newIdentity(t, identity.RoleAnalyst, "Second analyst")
	_, _, err = w.as(stranger).Join(ctx, w.secrets[0], stranger.Statement.Encode())
	wantRefusal(t, "an analyst", err, api.CodeForbidden, "only parties join")
	_, _, err = w.as(a).Join(ctx, w.secrets[0], []byte("{}"))
	wantRefusal(t, "no statement", err, api.CodeRefused, "identity statement")

	if _, _, err := w.as(a).Join(ctx, w.secrets[0], a.Statement.Encode()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.as(a).Join(ctx, w.secrets[0], a.Statement.Encode()); err != nil {
		t.Errorf("the same join again: %v", err)
	}
	b := newIdentity(t, identity.RoleParty, "East")
	_, _, err = w.as(b).Join(ctx, w.secrets[0], b.Statement.Encode())
	wantRefusal(t, "a used invite", err, api.CodeForbidden, "used by another party")
	twin := newIdentity(t, identity.RoleParty, "NORTH")
	_, _, err = w.as(twin).Join(ctx, w.secrets[1], twin.Statement.Encode())
	wantRefusal(t, "a name that sounds the same", err, api.CodeConflict, "the same name")
	_, _, err = w.as(a).Join(ctx, w.secrets[1], a.Statement.Encode())
	wantRefusal(t, "one party with two invites", err, api.CodeConflict, "joined with another invite")
	if _, _, err := w.as(b).Join(ctx, w.secrets[1], b.Statement.Encode()); err != nil {
		t.Fatal(err)
	}
	c := newIdentity(t, identity.RoleParty, "West")
	_, _, err = w.as(c).Join(ctx, w.secrets[2], c.Statement.Encode())
	wantRefusal(t, "a third party of two", err, api.CodeConflict, "as many parties have joined")
	_, err = w.as(c).Roster(ctx)
	wantRefusal(t, "a stranger asks for the roster", err, api.CodeForbidden, "belongs to no party")
}

func TestConfirmRefused(t *testing.T) {
	w := newWorld(t)
	w.join()
	ctx := t.Context()
	a, b := w.parties[0], w.parties[1]
	wantRefusal(t, "in another's name", w.as(a).Confirm(ctx, member.Confirm(b, w.study, w.epoch)), api.CodeForbidden, "another party's")
	wantRefusal(t, "another epoch", w.as(a).Confirm(ctx, member.Confirm(a, w.study, wire.Hash{1})), api.CodeRefused, "confirmed epoch")
	wantRefusal(t, "another contract", w.as(a).Confirm(ctx, member.Confirm(a, wire.Hash{1}, w.epoch)), api.CodeRefused, "confirmed contract")
}

func TestBundleRefused(t *testing.T) {
	w := newWorld(t)
	w.join()
	ctx := t.Context()
	a, b := w.parties[0], w.parties[1]
	good := w.contribution(a, nil)
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	file := func(b []byte) string {
		path := filepath.Join(t.TempDir(), "bundle")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-10] ^= 1
	x, anchors := mat.NewDense(20, 2, nil), mat.NewDense(3, 2, nil)
	labels := make([]int64, 20)
	contribution := func(x, a *mat.Dense, y []int64) string {
		return w.sealed(w.parties[0], bundle.KindContribution, []*identity.Statement{w.analyst.Statement}, members(x, a, y), nil)
	}
	for _, tc := range []struct{ name, path, code, reason string }{
		{"truncated", file(whole[:len(whole)-1]), api.CodeRefused, fmt.Sprintf("the payload has %d bytes", len(whole)-1-len(line(whole)))},
		{"cut in the line", file(whole[:50]), api.CodeRefused, "after 50 bytes"},
		{"empty", file(nil), api.CodeRefused, "after 0 bytes"},
		{"altered", file(flipped), api.CodeRefused, "SHA-256"},
		{"not a bundle", file(bytes.Repeat([]byte("x"), 1<<17)), api.CodeRefused, "not a bundle"},
		{"another version", file(bytes.Replace(whole, []byte(`"format":1`), []byte(`"format":2`), 1)), api.CodeRefused, "format 2, this program reads format 1"},
		{"trailing bytes", file(append(bytes.Clone(whole), 0)), api.CodeRefused, "has more than the"},
		{"another's bundle", w.contribution(b, nil), api.CodeRefused, "signature does not verify"},
		{"another contract", w.contribution(a, func(d *bundle.Draft) { d.Study = wire.Hash{1} }), api.CodeRefused, "for contract 0100000"},
		{"another epoch", w.contribution(a, func(d *bundle.Draft) { d.Epoch = wire.Hash{1} }), api.CodeRefused, "epoch 0100000"},
		{"another round", w.contribution(a, func(d *bundle.Draft) { d.Round = 1 }), api.CodeRefused, "round 1"},
		{"a result", w.sealed(a, bundle.KindResult, []*identity.Statement{w.analyst.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, nil), api.CodeRefused, `not "result"`},
		{"setup for the analyst", w.sealed(a, bundle.KindSetup, []*identity.Statement{w.analyst.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, nil), api.CodeRefused, "other parties only"},
		{"setup for everybody", w.sealed(a, bundle.KindSetup, []*identity.Statement{w.analyst.Statement, b.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, nil), api.CodeRefused, "for 2 recipients, must be for the other 1"},
		{"X too wide", contribution(mat.NewDense(20, 3, nil), anchors, labels), api.CodeRefused, "X is 20 × 3 and A is 3 × 2, the contract says 2 columns"},
		{"A too short", contribution(x, mat.NewDense(2, 2, nil), labels), api.CodeRefused, "A has 2 rows"},
		{"label missing", contribution(x, anchors, labels[:19]), api.CodeRefused, "Y has 19 labels, X has 20 rows"},
		{"below a floor", contribution(x, anchors, labels), api.CodeRefused, `class "yes" has 0 rows`},
		{"no Y", w.sealed(a, bundle.KindContribution, []*identity.Statement{w.analyst.Statement}, members(x, anchors, labels)[:2], nil), api.CodeRefused, `no member "Y.npy"`},
	} {
		_, err := w.as(a).Send(ctx, tc.path)
		wantRefusal(t, tc.name, err, tc.code, tc.reason)
	}
	// None of that was kept: the good one is still taken, and then no other.
	if _, err := w.as(a).Send(ctx, good); err != nil {
		t.Fatalf("after all refusals the good bundle: %v", err)
	}
	rnd := rand.NewChaCha8([32]byte{2})
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	_, err = w.as(a).Send(ctx, contribution(linalg.Normal(20, 2, rnd), linalg.Normal(3, 2, rnd), labels))
	wantRefusal(t, "a second contribution", err, api.CodeConflict, "another contribution of this party is already stored")
	entries, err := os.ReadDir(filepath.Join(w.dir, "bundles"))
	if err != nil || len(entries) != 1 {
		t.Errorf("the store keeps %d files (%v), want the one good bundle", len(entries), err)
	}
}

// TestForeignPayload: a party that is a recipient of another's setup bundle puts
// its own signed line before that bundle's payload, or claims that bundle's
// manifest. Neither replaces what the other sent nor opens it to anybody else.
func TestForeignPayload(t *testing.T) {
	w := newWorld(t)
	w.join()
	ctx := t.Context()
	victim, mallory := w.parties[0], w.parties[1]
	path := w.setup(victim, mallory)
	if _, err := w.as(victim).Send(ctx, path); err != nil {
		t.Fatal(err)
	}
	sent, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	env, line, err := bundle.ReadEnvelope(bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	forged := *env
	forged.Sender = mallory.Statement.Fingerprint()
	forged.Recipients = []wire.Hash{victim.Statement.Fingerprint()}
	forged.Signature = nil
	unsigned, err := wire.Canonical(&forged)
	if err != nil {
		t.Fatal(err)
	}
	forged.Signature = mallory.Sign(wire.SignEnvelope, unsigned)
	stolen := filepath.Join(t.TempDir(), "stolen")
	if err := os.WriteFile(stolen, append(forged.Line(), sent[len(line):]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.as(mallory).Send(ctx, stolen); err != nil {
		t.Fatalf("the server cannot see the forgery and takes it as mallory's own: %v", err)
	}
	for _, want := range []struct {
		reader *identity.Identity
		file   []byte
	}{{mallory, sent}, {victim, append(forged.Line(), sent[len(line):]...)}} {
		waiting, err := w.as(want.reader).Bundles(ctx)
		if err != nil || len(waiting) != 1 {
			t.Fatalf("%s may fetch %v, %v; want one bundle", want.reader, waiting, err)
		}
		var got bytes.Buffer
		if _, err := w.as(want.reader).Fetch(ctx, waiting[0].Manifest, &got, 1<<20); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.file) {
			t.Errorf("%s fetches another file than was sent", want.reader)
		}
	}
	entries, err := os.ReadDir(filepath.Join(w.dir, "bundles"))
	if err != nil || len(entries) != 2 {
		t.Errorf("the store keeps %d files (%v), want two", len(entries), err)
	}
}
