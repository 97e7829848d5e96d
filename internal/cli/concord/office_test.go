package concord_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/cli/concord"
	"concord/internal/pinned"
	"concord/internal/server"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

// office is an analyst who may be malicious: a real server whose answers bend changes
// on their way to the party that it names.
type office struct {
	t        *testing.T
	dir      string
	id       *identity.Identity
	store    *store.Store
	server   *server.Server
	front    *httptest.Server
	contract *contract.Contract
	study    wire.Hash
	// bendRoster and bendBundles change an answer to a party; bendFetch the bytes of a
	// bundle. They may be nil.
	bendRoster  func(party string, answer *api.Roster)
	bendBundles func(party string, answer *api.Bundles)
	bendFetch   func(party string, manifest wire.Hash, raw []byte) []byte
	// acceptAll answers every confirmation and every bundle with a yes.
	acceptAll bool
	// losePosts lets the server do what a message asks, and loses its answer.
	losePosts bool
}

var clinics = []string{"North", "East", "West"}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, dir: t.TempDir()}
	var err error
	if o.id, err = identity.New(identity.RoleAnalyst, "Office", nil); err != nil {
		t.Fatal(err)
	}
	if o.store, err = store.Open(t.TempDir(), o.id); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.store.Close() })
	if o.contract, err = contract.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b]\nlabel: {name: y}\n")); err != nil {
		t.Fatal(err)
	}
	raw, err := o.contract.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if o.study, err = o.store.AddStudy(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	o.server = server.New(o.id, o.store, slog.New(slog.DiscardHandler))
	honest := o.server.Handler()
	o.front = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { o.answer(honest, w, r) }))
	if o.front.TLS, err = pinned.Server(o.id.TLSKey()); err != nil {
		t.Fatal(err)
	}
	o.front.StartTLS()
	t.Cleanup(o.front.Close)
	return o
}

// answer lets the honest server answer and bends what it says.
func (o *office) answer(honest http.Handler, w http.ResponseWriter, r *http.Request) {
	if o.acceptAll && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/confirmations") {
		w.Write([]byte("{}"))
		return
	}
	if o.losePosts && strings.HasSuffix(r.URL.Path, "/amendments") {
		honest.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	if r.Method != http.MethodGet {
		honest.ServeHTTP(w, r)
		return
	}
	r.Header.Del("Range")
	rec := httptest.NewRecorder()
	honest.ServeHTTP(rec, r)
	body, party := rec.Body.Bytes(), o.who(r)
	path := strings.TrimPrefix(r.URL.Path, "/v1/studies/"+o.study.String())
	switch manifest, isBundle := strings.CutPrefix(path, "/bundles/"); {
	case rec.Code != http.StatusOK:
	case path == "/roster" && o.bendRoster != nil:
		body = bent(o.t, body, func(a *api.Roster) { o.bendRoster(party, a) })
	case path == "/bundles" && o.bendBundles != nil:
		body = bent(o.t, body, func(a *api.Bundles) { o.bendBundles(party, a) })
	case isBundle && o.bendFetch != nil:
		hash, err := wire.ParseHash(manifest)
		if err != nil {
			o.t.Error(err)
		}
		body = o.bendFetch(party, hash, body)
	}
	for name, values := range rec.Header() {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(rec.Code)
	w.Write(body)
}

func bent[T any](t *testing.T, body []byte, change func(*T)) []byte {
	v := new(T)
	if err := json.Unmarshal(body, v); err != nil {
		t.Error(err)
	}
	change(v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Error(err)
	}
	return b
}

// who names the party of a connection.
func (o *office) who(r *http.Request) string {
	key, err := pinned.PeerKey(r.TLS)
	if err != nil {
		return ""
	}
	for _, name := range clinics {
		if s := o.statementOf(name); s != nil && s.TLSKey == key {
			return name
		}
	}
	return ""
}

func (o *office) site(name string) string { return filepath.Join(o.dir, name) }

// statementOf is a clinic's own statement, nil before it has one.
func (o *office) statementOf(name string) *identity.Statement {
	b, err := os.ReadFile(filepath.Join(o.site(name), "statement.json"))
	if err != nil {
		return nil
	}
	s, err := identity.DecodeStatement(b)
	if err != nil {
		o.t.Error(err)
	}
	return s
}

// concord runs a command of a clinic's program.
func (o *office) concord(name string, args ...string) (status int, out string) {
	var b strings.Builder
	status = concord.Run(o.t.Context(), append([]string{"--dir", o.site(name)}, args...), strings.NewReader(""), &b, &b)
	return status, b.String()
}

// must runs a command that must end with a status, and say something.
func (o *office) must(status int, says string, name string, args ...string) string {
	o.t.Helper()
	got, out := o.concord(name, args...)
	if got != status || !strings.Contains(out, says) {
		o.t.Errorf("%s: concord %s: status %d, want %d and %q:\n%s", name, strings.Join(args, " "), got, status, says, out)
	}
	return out
}

// join lets all clinics join.
func (o *office) join() {
	o.t.Helper()
	for _, name := range clinics {
		invite := member.NewInvite(o.front.Listener.Addr().String(), o.study, o.id.Statement.Fingerprint())
		if err := o.store.AddInvite(o.t.Context(), o.study, wire.HashOf(invite.Secret.Reveal()), name); err != nil {
			o.t.Fatal(err)
		}
		o.must(0, "joined as", name, "join", invite.Line(), "--name", name)
	}
}

// phrase is what a clinic's program shows.
func (o *office) phrase(name string) string {
	o.t.Helper()
	out := o.must(0, "phrase: ", name, "roster")
	_, words, _ := strings.Cut(out, "phrase: ")
	words, _, _ = strings.Cut(words, "\n")
	return words
}

// confirm lets clinics confirm the phrase that each of them sees, as people do who do
// not compare.
func (o *office) confirm(names ...string) {
	o.t.Helper()
	for _, name := range names {
		o.must(0, "confirmed: every name", name, "roster", "confirm", "--phrase", o.phrase(name))
	}
}

// send lets all clinics send their shares.
func (o *office) send() {
	o.t.Helper()
	for _, name := range clinics {
		o.concord(name, "sync")
	}
}

// noSeed makes sure that a clinic has agreed to no anchor.
func (o *office) noSeed(name string) {
	o.t.Helper()
	if _, err := os.Stat(filepath.Join(o.site(name), "anchor.secret")); err == nil {
		o.t.Errorf("%s has an anchor", name)
	}
}

// sameSeeds makes sure that all clinics have one anchor.
func (o *office) sameSeeds() {
	o.t.Helper()
	var first []byte
	for _, name := range clinics {
		b, err := os.ReadFile(filepath.Join(o.site(name), "anchor.secret"))
		if err != nil {
			o.t.Errorf("%s: %v", name, err)
			continue
		}
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			o.t.Errorf("%s has another anchor than the others", name)
		}
	}
}

// ready is an office at which all have joined and confirmed, and sent their shares.
func ready(t *testing.T) *office {
	o := newOffice(t)
	o.join()
	o.confirm(clinics...)
	o.send()
	for _, name := range clinics { // what they agreed on the way is forgotten again
		if err := os.Remove(filepath.Join(o.site(name), "anchor.secret")); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return o
}

// shareOf is the manifest of the share that a clinic sent.
func (o *office) shareOf(name string) store.Bundle {
	o.t.Helper()
	all, err := o.store.All(o.t.Context(), o.study)
	if err != nil {
		o.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(b store.Bundle) bool {
		return b.Kind == bundle.KindSetup && b.Sender == o.statementOf(name).Fingerprint()
	})
	if i < 0 {
		o.t.Fatalf("%s has sent no share", name)
	}
	return all[i]
}

// file is a stored bundle.
func (o *office) file(b store.Bundle) []byte {
	o.t.Helper()
	f, err := o.store.OpenBundle(b)
	if err != nil {
		o.t.Fatal(err)
	}
	defer f.Close()
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(f); err != nil {
		o.t.Fatal(err)
	}
	return buf.Bytes()
}
