package server_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"
	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/client"
	"concord/internal/pinned"
	"concord/internal/server"
	"concord/internal/store"
	"concord/linalg"
	"concord/member"
	"concord/release"
	"concord/wire"
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
	listener *net.TCPListener // of the pinned front, open while servers come and go
	address  string           // its address
	web      string           // of the web front, plain HTTP
	target   client.Target
	analyst  *identity.Identity
	store    *store.Store
	contract *contract.Contract
	study    wire.Hash
	secrets  [][]byte
	parties  []*identity.Identity
	roster   *member.Roster
	epoch    wire.Hash
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
	w := &world{t: t, dir: t.TempDir(), analyst: newIdentity(t, identity.RoleAnalyst, "Analyst"), seen: new(answered), log: log, options: options}
	var err error
	if w.contract, err = contract.ParseYAML([]byte(yaml)); err != nil {
		t.Fatal(err)
	}
	agreed, err := w.contract.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w.study = wire.HashOf(agreed)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.listener, w.address = ln.(*net.TCPListener), ln.Addr().String()
	t.Cleanup(func() { ln.Close() })
	w.serve()
	t.Cleanup(func() { w.stop() })
	if _, err := w.store.AddStudy(t.Context(), agreed); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		secret := fmt.Appendf(nil, "secret %d", i)
		w.secrets = append(w.secrets, secret)
		if err := w.store.AddInvite(t.Context(), w.study, wire.HashOf(secret), ""); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// lent is a listener that outlives the server to which it is lent: a port that is closed
// and listened on again may have been given to somebody else meanwhile.
type lent struct {
	*net.TCPListener
	ended atomic.Bool
}

func (l *lent) Accept() (net.Conn, error) {
	conn, err := l.TCPListener.Accept()
	if err != nil && l.ended.Load() {
		err = net.ErrClosed
	}
	return conn, err
}

func (l *lent) Close() error {
	l.ended.Store(true)
	return l.SetDeadline(time.Now()) // which wakes Accept
}

// serve opens the store and starts a server at the world's address.
func (w *world) serve() {
	w.t.Helper()
	var err error
	if w.store, err = store.Open(w.dir, w.analyst); err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.Sweep(); err != nil {
		w.t.Fatal(err)
	}
	if err := w.listener.SetDeadline(time.Time{}); err != nil {
		w.t.Fatal(err)
	}
	ln := &lent{TCPListener: w.listener}
	webListener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	w.web = webListener.Addr().String()
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
	w.serve()
}

func newIdentity(t testing.TB, role identity.Role, name string) *identity.Identity {
	t.Helper()
	id, err := identity.New(role, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// as connects with a party's key.
func (w *world) as(id *identity.Identity) *client.Client {
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
	members := []*identity.Statement{w.analyst.Statement}
	for i := range n {
		id := newIdentity(w.t, identity.RoleParty, fmt.Sprintf("Party %d", i+1))
		if _, _, err := w.as(id).Join(w.t.Context(), w.secrets[i], id.Statement.Encode()); err != nil {
			w.t.Fatal(err)
		}
		w.parties, members = append(w.parties, id), append(members, id.Statement)
	}
	var err error
	if w.roster, err = member.NewRoster(w.contract, 1, members); err != nil {
		w.t.Fatal(err)
	}
	w.epoch = w.roster.Epoch(w.study)
	for _, id := range w.parties {
		if err := w.as(id).Confirm(w.t.Context(), member.Confirm(id, w.study, w.epoch)); err != nil {
			w.t.Fatal(err)
		}
	}
}

// sealed writes a bundle of one party to a file. change may alter the draft.
func (w *world) sealed(from *identity.Identity, kind string, to []*identity.Statement, members []bundle.Source, change func(*bundle.Draft)) string {
	w.t.Helper()
	anchorID := wire.Hash{9}
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

func (w *world) setup(from, to *identity.Identity) string {
	return w.sealed(from, bundle.KindSetup, []*identity.Statement{to.Statement}, []bundle.Source{bundle.FromBytes("entropy.bin", make([]byte, 32))}, nil)
}

// contribution is a good one: 20 rows, half of them positive.
func (w *world) contribution(from *identity.Identity, change func(*bundle.Draft)) string {
	rnd := rand.NewChaCha8([32]byte{1})
	labels := make([]int64, 20)
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	return w.sealed(from, bundle.KindContribution, []*identity.Statement{w.analyst.Statement},
		members(linalg.Normal(20, 2, rnd), linalg.Normal(w.contract.Anchor.Rows, 2, rnd), labels), change)
}

func members(x, a *mat.Dense, y []int64) []bundle.Source {
	out := append(bundle.FromMatrix(release.MemberX, x), bundle.FromMatrix(release.MemberA, a)...)
	return append(out, bundle.FromInts(release.MemberY, y))
}

func wantRefusal(t testing.TB, name string, err error, code, reason string) {
	t.Helper()
	var r *client.Refusal
	if !errors.As(err, &r) || r.Code != code || !strings.Contains(r.Reason, reason) {
		t.Errorf("%s: %v, want a refusal %q with %q", name, err, code, reason)
	}
}

// certificate is what a party presents, in DER.
func certificate(t testing.TB, id *identity.Identity) []byte {
	t.Helper()
	config, err := pinned.Server(id.TLSKey())
	if err != nil {
		t.Fatal(err)
	}
	return config.Certificates[0].Certificate[0]
}
