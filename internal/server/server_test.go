package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/pinned"
	"concord/internal/server"
	"concord/internal/store"
	"concord/linalg"
	"concord/study"
)

// world is a running server with a study of two parties.
type world struct {
	t        testing.TB
	handler  http.Handler
	front    *server.Server
	seen     *answered
	server   *server.Server
	log      slog.Handler
	options  []server.Option
	dir      string
	address  string // of the pinned front
	web      string // of the web front, plain HTTP
	target   client.Target
	analyst  *study.Identity
	store    *store.Store
	contract *study.Contract
	study    study.Hash
	secrets  [][]byte
	parties  []*study.Identity
	roster   *study.Roster
	epoch    study.Hash
	stop     func() // ends the server and closes the store
}

const yaml = `
name: Test
parties: 2
features: [a, b, c]
label: {name: y, levels: [no, yes], positive: yes}
basis: {kind: svd, dim: 2}
`

func newWorld(t testing.TB, options ...server.Option) *world { return newWorldOf(t, yaml, options...) }

func newWorldOf(t testing.TB, yaml string, options ...server.Option) *world {
	t.Helper()
	return newLoggedWorld(t, yaml, slog.DiscardHandler, options...)
}

func newLoggedWorld(t testing.TB, yaml string, log slog.Handler, options ...server.Option) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), analyst: identity(t, study.RoleAnalyst, "Analyst"), seen: new(answered), log: log, options: options}
	var err error
	if w.contract, err = study.ParseYAML([]byte(yaml)); err != nil {
		t.Fatal(err)
	}
	contract, err := w.contract.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w.study = study.HashOf(contract)
	w.serve("127.0.0.1:0")
	t.Cleanup(func() { w.stop() })
	if _, err := w.store.AddStudy(t.Context(), contract); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		secret := fmt.Appendf(nil, "secret %d", i)
		w.secrets = append(w.secrets, secret)
		if err := w.store.AddInvite(t.Context(), w.study, study.HashOf(secret), ""); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// serve opens the store and starts a server on an address.
func (w *world) serve(address string) {
	w.t.Helper()
	var err error
	if w.store, err = store.Open(w.dir, w.analyst); err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.Sweep(); err != nil {
		w.t.Fatal(err)
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		w.t.Fatal(err)
	}
	webListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.address, w.web = ln.Addr().String(), webListener.Addr().String()
	w.target = client.Target{Address: w.address}
	ctx, cancel := context.WithCancel(context.Background())
	srv := server.New(w.analyst, w.store, slog.New(w.log), w.options...)
	w.server = srv
	srv.SetAround(observe(w.t, w.seen))
	w.handler, w.front = srv.Handler(), srv
	done := make(chan error, 1)
	go func() {
		done <- srv.ServeFronts(ctx, server.Front{Listener: ln}, server.Front{Listener: webListener, Web: true, Prefix: "/trials"})
	}()
	w.stop = func() {
		w.stop = func() {}
		cancel()
		if err := errors.Join(<-done, w.store.Close()); err != nil {
			w.t.Errorf("the server ends with %v", err)
		}
	}
}

// restart ends the server and starts another on the same address.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.serve(w.address)
}

func identity(t testing.TB, role study.Role, name string) *study.Identity {
	t.Helper()
	id, err := study.NewIdentity(role, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// as connects with a party's key.
func (w *world) as(id *study.Identity) *client.Client {
	w.t.Helper()
	c, err := client.Connect(w.target, w.study, id, w.analyst.Statement)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	return c
}

// join lets both parties join and confirm.
func (w *world) join() { w.joinAll(2) }

func (w *world) joinAll(n int) {
	w.t.Helper()
	members := []*study.Statement{w.analyst.Statement}
	for i := range n {
		id := identity(w.t, study.RoleParty, fmt.Sprintf("Party %d", i+1))
		if _, _, err := w.as(id).Join(w.t.Context(), w.secrets[i], id.Statement.Encode()); err != nil {
			w.t.Fatal(err)
		}
		w.parties, members = append(w.parties, id), append(members, id.Statement)
	}
	var err error
	if w.roster, err = study.NewRoster(w.contract, 1, members); err != nil {
		w.t.Fatal(err)
	}
	w.epoch = w.roster.Epoch(w.study)
	for _, id := range w.parties {
		if err := w.as(id).Confirm(w.t.Context(), study.Confirm(id, w.study, w.epoch)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// sealed writes a bundle of one party to a file. change may alter the draft.
func (w *world) sealed(from *study.Identity, kind string, to []*study.Statement, members []bundle.Source, change func(*bundle.Draft)) string {
	w.t.Helper()
	anchorID := study.Hash{9}
	d := bundle.Draft{
		Header:  bundle.Header{Study: w.study, Epoch: w.epoch, Sender: from.Statement.Fingerprint(), Kind: kind, Number: 1},
		Members: members,
	}
	if kind == bundle.KindContribution {
		d.Anchor = &anchorID
	}
	keys := make([]age.Recipient, len(to))
	for i, s := range to {
		d.Recipients = append(d.Recipients, s.Fingerprint())
		var err error
		if keys[i], err = s.AgeRecipient(); err != nil {
			w.t.Fatal(err)
		}
	}
	if change != nil {
		change(&d)
	}
	m, err := bundle.Describe(d)
	if err != nil {
		w.t.Fatal(err)
	}
	approval, err := bundle.Approve(m.Encode(), from.SigningKey(), bundle.PolicyPerson, time.Now())
	if err != nil {
		w.t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(w.t.TempDir(), "bundle"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := bundle.Seal(f, bundle.Sealing{Manifest: m, Sources: d.Members, Approval: approval}, from.SigningKey(), keys...); err != nil {
		w.t.Fatal(err)
	}
	return f.Name()
}

func (w *world) setup(from, to *study.Identity) string {
	return w.sealed(from, bundle.KindSetup, []*study.Statement{to.Statement}, []bundle.Source{bundle.FromBytes("entropy.bin", make([]byte, 32))}, nil)
}

// contribution is a good one: 20 rows, half of them positive.
func (w *world) contribution(from *study.Identity, change func(*bundle.Draft)) string {
	rnd := rand.NewChaCha8([32]byte{1})
	labels := make([]int64, 20)
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	return w.sealed(from, bundle.KindContribution, []*study.Statement{w.analyst.Statement},
		members(linalg.Normal(20, 2, rnd), linalg.Normal(w.contract.Anchor.Rows, 2, rnd), labels), change)
}

func members(x, a *mat.Dense, y []int64) []bundle.Source {
	out := append(bundle.FromMatrix(study.MemberX, x), bundle.FromMatrix(study.MemberA, a)...)
	return append(out, bundle.FromInts(study.MemberY, y))
}

func wantRefusal(t *testing.T, name string, err error, code, reason string) {
	t.Helper()
	var r *client.Refusal
	if !errors.As(err, &r) || r.Code != code || !strings.Contains(r.Reason, reason) {
		t.Errorf("%s: %v, want a refusal %q with %q", name, err, code, reason)
	}
}

// TestStudy plays a whole study against the server, each request twice: an
// answer may be lost, and asking again must change nothing.
func TestStudy(t *testing.T) { newWorld(t).play(t) }

func (w *world) play(t *testing.T) {
	w.join()
	ctx := t.Context()
	a, b := w.parties[0], w.parties[1]
	for i, send := range []struct {
		from *study.Identity
		path string
	}{{a, w.setup(a, b)}, {b, w.setup(b, a)}, {a, w.contribution(a, nil)}, {b, w.contribution(b, nil)}} {
		first, err := w.as(send.from).Send(ctx, send.path)
		if err != nil {
			t.Fatalf("bundle %d: %v", i+1, err)
		}
		if _, err := study.DecodeReceipt(first, w.analyst.Statement); err != nil {
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
		if _, err := r.Bytes(study.MemberModel, 1<<20); err != nil {
			t.Error(err)
		}
		_, err = w.as(b).Fetch(ctx, info.Manifest, io.Discard, 1<<20)
		wantRefusal(t, "another party's result", err, api.CodeNotFound, "")
	}
}

func TestJoinRefused(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	a := identity(t, study.RoleParty, "North")
	_, _, err := w.as(a).Join(ctx, []byte("guess"), a.Statement.Encode())
	wantRefusal(t, "a wrong secret", err, api.CodeForbidden, "the invite is unknown")
	_, _, err = w.as(identity(t, study.RoleParty, "Thief")).Join(ctx, w.secrets[0], a.Statement.Encode())
	wantRefusal(t, "another's statement", err, api.CodeForbidden, "does not hold the TLS key")
	stranger := identity(t, study.RoleAnalyst, "Second analyst")
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
	b := identity(t, study.RoleParty, "East")
	_, _, err = w.as(b).Join(ctx, w.secrets[0], b.Statement.Encode())
	wantRefusal(t, "a used invite", err, api.CodeForbidden, "used by another party")
	twin := identity(t, study.RoleParty, "NORTH")
	_, _, err = w.as(twin).Join(ctx, w.secrets[1], twin.Statement.Encode())
	wantRefusal(t, "a name that sounds the same", err, api.CodeConflict, "the same name")
	_, _, err = w.as(a).Join(ctx, w.secrets[1], a.Statement.Encode())
	wantRefusal(t, "one party with two invites", err, api.CodeConflict, "joined with another invite")
	if _, _, err := w.as(b).Join(ctx, w.secrets[1], b.Statement.Encode()); err != nil {
		t.Fatal(err)
	}
	c := identity(t, study.RoleParty, "West")
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
	wantRefusal(t, "in another's name", w.as(a).Confirm(ctx, study.Confirm(b, w.study, w.epoch)), api.CodeForbidden, "another party's")
	wantRefusal(t, "another epoch", w.as(a).Confirm(ctx, study.Confirm(a, w.study, study.Hash{1})), api.CodeRefused, "confirmed epoch")
	wantRefusal(t, "another contract", w.as(a).Confirm(ctx, study.Confirm(a, study.Hash{1}, w.epoch)), api.CodeRefused, "confirmed contract")
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
		return w.sealed(w.parties[0], bundle.KindContribution, []*study.Statement{w.analyst.Statement}, members(x, a, y), nil)
	}
	for _, tc := range []struct{ name, path, code, reason string }{
		{"truncated", file(whole[:len(whole)-1]), api.CodeRefused, ""},
		{"cut in the line", file(whole[:50]), api.CodeRefused, ""},
		{"empty", file(nil), api.CodeRefused, ""},
		{"altered", file(flipped), api.CodeRefused, ""},
		{"not a bundle", file(bytes.Repeat([]byte("x"), 1<<17)), api.CodeRefused, ""},
		{"another version", file(bytes.Replace(whole, []byte(`"format":1`), []byte(`"format":2`), 1)), api.CodeRefused, "format 2, this program reads format 1"},
		{"trailing bytes", file(append(bytes.Clone(whole), 0)), api.CodeRefused, ""},
		{"another's bundle", w.contribution(b, nil), api.CodeRefused, ""},
		{"another contract", w.contribution(a, func(d *bundle.Draft) { d.Study = study.Hash{1} }), api.CodeRefused, "contract"},
		{"another epoch", w.contribution(a, func(d *bundle.Draft) { d.Epoch = study.Hash{1} }), api.CodeRefused, "epoch"},
		{"another round", w.contribution(a, func(d *bundle.Draft) { d.Round = 1 }), api.CodeRefused, "round 1"},
		{"a result", w.sealed(a, bundle.KindResult, []*study.Statement{w.analyst.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, nil), api.CodeRefused, `not "result"`},
		{"setup for the analyst", w.sealed(a, bundle.KindSetup, []*study.Statement{w.analyst.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, nil), api.CodeRefused, "other parties only"},
		{"setup for everybody", w.sealed(a, bundle.KindSetup, []*study.Statement{w.analyst.Statement, b.Statement}, []bundle.Source{bundle.FromBytes("x", nil)}, nil), api.CodeRefused, "for 2 recipients, must be for the other 1"},
		{"X too wide", contribution(mat.NewDense(20, 3, nil), anchors, labels), api.CodeRefused, "X"},
		{"A too short", contribution(x, mat.NewDense(2, 2, nil), labels), api.CodeRefused, "A has 2 rows"},
		{"label missing", contribution(x, anchors, labels[:19]), api.CodeRefused, "Y has 19 labels, X has 20 rows"},
		{"below a floor", contribution(x, anchors, labels), api.CodeRefused, `class "yes" has 0 rows`},
		{"no Y", w.sealed(a, bundle.KindContribution, []*study.Statement{w.analyst.Statement}, members(x, anchors, labels)[:2], nil), api.CodeRefused, "Y"},
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
	forged.Recipients = []study.Hash{victim.Statement.Fingerprint()}
	forged.Signature = nil
	unsigned, err := study.Canonical(&forged)
	if err != nil {
		t.Fatal(err)
	}
	forged.Signature = mallory.Sign(study.SignEnvelope, unsigned)
	stolen := filepath.Join(t.TempDir(), "stolen")
	if err := os.WriteFile(stolen, append(forged.Line(), sent[len(line):]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.as(mallory).Send(ctx, stolen); err != nil {
		t.Fatalf("the server cannot see the forgery and takes it as mallory's own: %v", err)
	}
	for _, want := range []struct {
		reader *study.Identity
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

// TestNotBeforeConfirming: who has not confirmed the roster sends nothing.
func TestNotBeforeConfirming(t *testing.T) {
	w := newWorld(t)
	a := identity(t, study.RoleParty, "North")
	if _, _, err := w.as(a).Join(t.Context(), w.secrets[0], a.Statement.Encode()); err != nil {
		t.Fatal(err)
	}
	_, err := w.as(a).Send(t.Context(), "server_test.go")
	wantRefusal(t, "a bundle", err, api.CodeNotYet, "has not confirmed")
	wantRefusal(t, "a confirmation", w.as(a).Confirm(t.Context(), study.Confirm(a, w.study, study.Hash{})), api.CodeNotYet, "1 of 2 parties")
}

// TestWrongServer: a client speaks to no other key than the analyst's.
func TestWrongServer(t *testing.T) {
	w := newWorld(t)
	other := identity(t, study.RoleAnalyst, "Analyst")
	a := identity(t, study.RoleParty, "North")
	c, err := client.Connect(client.Target{Address: w.address}, w.study, a, other.Statement)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Status(t.Context()); !errors.Is(err, pinned.ErrWrongKey) {
		t.Errorf("Status at a server with another key = %v, want ErrWrongKey", err)
	}
	if _, _, err := client.Meet(t.Context(), client.Target{Address: w.address}, w.study, a, other.Statement.Fingerprint()); !errors.Is(err, pinned.ErrWrongKey) {
		t.Errorf("Meet with another fingerprint = %v, want ErrWrongKey", err)
	}
	met, analyst, err := client.Meet(t.Context(), client.Target{Address: w.address}, w.study, a, w.analyst.Statement.Fingerprint())
	if err != nil || analyst.Name != "Analyst" {
		t.Fatalf("Meet = %v, %v", analyst, err)
	}
	met.Close()
}

// TestMalformedRequests throws broken requests at every path with every method
// and then sees whether the server still serves.
func TestMalformedRequests(t *testing.T) {
	w := newWorld(t)
	w.join()
	config, err := pinned.Client(w.parties[0].TLSKey(), func(study.Hash) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	defer hc.CloseIdleConnections()
	bodies := []string{"", "{", "null", "[]", `"x"`, `{"secret":1}`, `{"unknown":""}`, `{"secret":""}{}`, strings.Repeat("[", 100000), strings.Repeat("a", 2<<20), "\xff\xfe"}
	paths := []string{
		"/", "/healthz", "/v1/identity", "/v1/studies/x/join", "/v1/studies/" + strings.Repeat("0", 64) + "/roster",
		api.Path(api.PathJoin, w.study), api.Path(api.PathRoster, w.study), api.Path(api.PathConfirmations, w.study),
		api.Path(api.PathStatus, w.study), api.Path(api.PathBundles, w.study),
		api.Path(api.PathBundle, w.study, study.Hash{}), api.Path(api.PathUploads, w.study), api.UploadPath(w.study, strings.Repeat("0", 32)), api.Path(api.PathBundles, w.study) + "/..%2f..%2fconcord.db",
	}
	for _, path := range paths {
		for _, method := range []string{"GET", "PUT", "POST", "DELETE", "PATCH", "HEAD"} {
			for _, body := range bodies {
				req, err := http.NewRequest(method, "https://"+w.address+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				resp, err := hc.Do(req)
				if err != nil {
					continue // the server may hang up on a body it does not want
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode >= 500 {
					t.Errorf("%s %s %.20q: %s", method, path, body, resp.Status)
				}
			}
		}
	}
	if _, err := w.as(w.parties[1]).Status(t.Context()); err != nil {
		t.Errorf("after malformed requests: %v", err)
	}
}

// TestNoKeyNoConnection: TLS 1.2, and a client without a key, get nothing.
func TestNoKeyNoConnection(t *testing.T) {
	w := newWorld(t)
	for name, config := range map[string]*tls.Config{
		"no key":  {InsecureSkipVerify: true, MinVersion: tls.VersionTLS13},
		"TLS 1.2": {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12},
	} {
		hc := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		resp, err := hc.Get("https://" + w.address + api.PathIdentity)
		if err == nil {
			resp.Body.Close()
			t.Errorf("%s: got %s", name, resp.Status)
		}
		hc.CloseIdleConnections()
	}
}

// FuzzHandler sends a member's requests with any method, path and body to the
// handlers. A panic is caught by the server and answered as an internal error,
// so an internal error is what fails here.
func FuzzHandler(f *testing.F) {
	w := newWorld(f)
	w.join()
	cert, err := x509.ParseCertificate(certificate(f, w.parties[0]))
	if err != nil {
		f.Fatal(err)
	}
	state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
	for _, path := range []string{api.PathHealth, api.PathIdentity, api.PathJoin, api.PathRoster, api.PathConfirmations, api.PathStatus, api.PathAudit, api.PathBundles, api.PathBundle} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			f.Add(method, api.Path(path, w.study, study.Hash{1}), []byte("{}"))
		}
	}
	good, err := os.ReadFile(w.contribution(w.parties[0], nil))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("PUT", api.Path(api.PathBundles, w.study), good)
	for _, method := range []string{"POST", "HEAD", "PATCH", "DELETE", "GET", "OPTIONS"} {
		f.Add(method, api.Path(api.PathUploads, w.study), good)
		f.Add(method, api.UploadPath(w.study, strings.Repeat("0", 32)), good)
	}
	f.Fuzz(func(t *testing.T, method, path string, body []byte) {
		req, err := http.NewRequest(method, "https://server/", bytes.NewReader(body))
		if err != nil {
			return
		}
		req.URL.Path, req.TLS = path, state
		if strings.Contains(path, "/uploads") {
			req.Header.Set(api.HeaderResumable, api.TusVersion)
			req.Header.Set("Content-Type", api.PartMediaType)
			req.Header.Set(api.HeaderLength, strconv.Itoa(len(body)))
			req.Header.Set(api.HeaderOffset, strconv.Itoa(len(body)/2))
		}
		answer := httptest.NewRecorder()
		w.handler.ServeHTTP(answer, req)
		for _, problem := range w.seen.take() {
			t.Error(problem)
		}
		if answer.Code == http.StatusInternalServerError {
			t.Errorf("%s %q: internal error", method, path)
		}
	})
}

// certificate is what a party presents, in DER.
func certificate(t testing.TB, id *study.Identity) []byte {
	t.Helper()
	config, err := pinned.Server(id.TLSKey())
	if err != nil {
		t.Fatal(err)
	}
	return config.Certificates[0].Certificate[0]
}
