package partycli_test

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
	"time"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/partycli"
	"concord/internal/pinned"
	"concord/internal/server"
	"concord/internal/site"
	"concord/internal/store"
	"concord/study"
)

// office is an analyst who may be malicious: a real server whose answers bend changes
// on their way to the party that it names.
type office struct {
	t        *testing.T
	dir      string
	id       *study.Identity
	store    *store.Store
	server   *server.Server
	front    *httptest.Server
	contract *study.Contract
	study    study.Hash
	// bendRoster and bendBundles change an answer to a party; bendFetch the bytes of a
	// bundle. They may be nil.
	bendRoster  func(party string, answer *api.Roster)
	bendBundles func(party string, answer *api.Bundles)
	bendFetch   func(party string, manifest study.Hash, raw []byte) []byte
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
	if o.id, err = study.NewIdentity(study.RoleAnalyst, "Office", nil); err != nil {
		t.Fatal(err)
	}
	if o.store, err = store.Open(t.TempDir(), o.id); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.store.Close() })
	if o.contract, err = study.ParseYAML([]byte("name: T\nparties: 3\nfeatures: [a, b]\nlabel: {name: y}\n")); err != nil {
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
		hash, err := study.ParseHash(manifest)
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
func (o *office) statementOf(name string) *study.Statement {
	b, err := os.ReadFile(filepath.Join(o.site(name), "statement.json"))
	if err != nil {
		return nil
	}
	s, err := study.DecodeStatement(b)
	if err != nil {
		o.t.Error(err)
	}
	return s
}

// concord runs a command of a clinic's program.
func (o *office) concord(name string, args ...string) (status int, out string) {
	var b strings.Builder
	status = partycli.Run(o.t.Context(), append([]string{"--dir", o.site(name)}, args...), strings.NewReader(""), &b, &b)
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
		invite := study.NewInvite(o.front.Listener.Addr().String(), o.study, o.id.Statement.Fingerprint())
		if err := o.store.AddInvite(o.t.Context(), o.study, study.HashOf(invite.Secret.Reveal()), name); err != nil {
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

// TestRelayCannotRead: the relay opens no share with its own keys, and finds none of
// what is in it anywhere in its store.
func TestRelayCannotRead(t *testing.T) {
	o := ready(t)
	for _, name := range clinics {
		raw := o.file(o.shareOf(name))
		s := o.statementOf(name)
		_, err := bundle.Open(bytes.NewReader(raw), int64(len(raw)), bundle.Expect{
			Study: o.study, Epoch: o.shareOf(name).Epoch, Kind: bundle.KindSetup, Sender: s.Fingerprint(), SenderKey: s.SigningKey,
			Recipient: o.statementOf(clinics[(slices.Index(clinics, name)+1)%3]).Fingerprint(),
		}, o.id.AgeIdentity())
		if err == nil || !strings.Contains(err.Error(), "not sealed to this recipient's key") {
			t.Errorf("the relay opens the share of %s: %v", name, err)
		}
		entropy, err := os.ReadFile(filepath.Join(o.site(name), "setup", "leaves", "entropy.bin"))
		if err != nil || len(entropy) != 32 {
			t.Fatalf("entropy of %s: %d bytes, %v", name, len(entropy), err)
		}
		for _, other := range clinics {
			if bytes.Contains(o.file(o.shareOf(other)), entropy[:8]) {
				t.Errorf("the entropy of %s stands in the share of %s", name, other)
			}
		}
	}
	o.send()
	o.sameSeeds()
}

// TestRelayAlters: a share that the relay has changed anywhere is refused, and the honest
// one is taken afterwards.
func TestRelayAlters(t *testing.T) {
	o := ready(t)
	share := o.shareOf("East")
	n := len(o.file(share))
	for _, at := range []int{10, n / 2, n - 1} {
		o.bendFetch = func(party string, manifest study.Hash, raw []byte) []byte {
			if party == "North" && manifest == share.Manifest {
				raw = bytes.Clone(raw)
				raw[at] ^= 1
			}
			return raw
		}
		o.must(1, `the setup bundle of "East": `, "North", "sync")
		o.noSeed("North")
	}
	o.bendFetch = func(party string, manifest study.Hash, raw []byte) []byte { return raw[:len(raw)-min(20, len(raw))] }
	o.must(1, `": bundle: the payload has `, "North", "sync") // the first that it looks at
	o.noSeed("North")
	o.bendFetch = nil
	o.send()
	o.sameSeeds()
}

// TestRelaySwaps: one party's share in the place of another's, or a party's own sent back
// to it, is refused.
func TestRelaySwaps(t *testing.T) {
	o := ready(t)
	east, west := o.file(o.shareOf("East")), o.file(o.shareOf("West"))
	o.bendFetch = func(party string, manifest study.Hash, raw []byte) []byte {
		switch {
		case party != "North":
			return raw
		case manifest == o.shareOf("East").Manifest:
			return west
		}
		return east
	}
	o.must(1, ", expected from ", "North", "sync")
	o.noSeed("North")
	own := o.file(o.shareOf("North"))
	o.bendFetch = func(string, study.Hash, []byte) []byte { return own }
	o.must(1, ", expected from ", "North", "sync")
	o.noSeed("North")
	// Claimed in the list: East's share as West's too.
	o.bendFetch = nil
	o.bendBundles = func(party string, a *api.Bundles) {
		for i := range a.Bundles {
			if a.Bundles[i].Sender == o.statementOf("West").Fingerprint() {
				a.Bundles[i].Manifest = o.shareOf("East").Manifest
			}
		}
	}
	o.must(1, `the setup bundle of "West": `, "North", "sync")
	o.noSeed("North")
	o.bendBundles = nil
	o.send()
	o.sameSeeds()
}

// TestRelayReordersAndWithholds: the order in which shares are listed changes nothing; a
// share that is held back stalls the party and names whose it is; and when it comes the
// anchor is the same.
func TestRelayReordersAndWithholds(t *testing.T) {
	o := ready(t)
	o.bendBundles = func(party string, a *api.Bundles) {
		if party == "North" {
			a.Bundles = slices.DeleteFunc(a.Bundles, func(b api.BundleInfo) bool { return b.Sender == o.statementOf("East").Fingerprint() })
		}
		slices.Reverse(a.Bundles)
		a.Bundles = append(a.Bundles, a.Bundles...) // and every one twice
	}
	for range 2 {
		o.must(3, "waiting for East to send their share of the anchor seed", "North", "sync")
		o.noSeed("North")
	}
	o.must(0, "the anchor is agreed among 3 parties", "West", "sync")
	o.must(0, "the anchor is agreed among 3 parties", "East", "sync")
	o.bendBundles = nil
	o.must(0, "the anchor is agreed among 3 parties", "North", "sync")
	o.sameSeeds()
}

// TestRelayReplays: shares of an earlier roster of the same study, and of another study,
// are refused with both epochs named.
func TestRelayReplays(t *testing.T) {
	o := newOffice(t)
	o.join()
	o.confirm(clinics...)
	o.concord("North", "sync")
	o.concord("East", "sync")
	share := o.shareOf("East")
	old := o.file(share)
	// Setup is not complete: the analyst takes West out and in again, which makes
	// roster 2 of the same keys.
	if err := o.server.Remove(t.Context(), o.study, o.statementOf("West").Fingerprint(), "a mistake", true); err != nil {
		t.Fatal(err)
	}
	invite := study.NewInvite(o.front.Listener.Addr().String(), o.study, o.id.Statement.Fingerprint())
	if err := o.store.AddInvite(t.Context(), o.study, study.HashOf(invite.Secret.Reveal()), ""); err != nil {
		t.Fatal(err)
	}
	o.must(0, "joined as", "West", "join", invite.Line(), "--name", "West")
	o.must(1, "made a new roster, number 2, before setup was complete", "North", "sync")
	o.confirm(clinics...)
	o.send()
	for _, name := range clinics {
		os.Remove(filepath.Join(o.site(name), "anchor.secret"))
	}
	now := o.shareOf("East")
	if now.Manifest == share.Manifest || now.Epoch == share.Epoch {
		t.Fatal("roster 2 has the share of roster 1")
	}
	other := ready(t)
	foreign := other.shareOf("East")
	for _, replay := range []struct {
		raw   []byte
		epoch study.Hash
	}{{old, share.Epoch}, {other.file(foreign), foreign.Epoch}} {
		o.bendFetch = func(_ string, manifest study.Hash, raw []byte) []byte {
			if manifest == now.Manifest {
				return replay.raw
			}
			return raw
		}
		o.must(1, fmt.Sprintf("it belongs to epoch %s, which is none that led to the present one, %s (roster 2)", replay.epoch.Short(), now.Epoch.Short()), "North", "sync")
		o.noSeed("North")
	}
	o.bendFetch = nil
	o.send()
	o.sameSeeds()
}

// forged is a statement under a clinic's name with keys of the analyst's.
func forged(t *testing.T, name string) *study.Identity {
	t.Helper()
	id, err := study.NewIdentity(study.RoleParty, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// invent makes the analyst show a party a roster with other keys under the names of
// some clinics, confirmed by all, as far as it has their keys.
func (o *office) invent(victim string, names ...string) {
	o.t.Helper()
	fake := map[string]*study.Identity{}
	for _, name := range names {
		fake[name] = forged(o.t, name)
	}
	o.bendRoster = func(party string, a *api.Roster) {
		if party != victim {
			return
		}
		members := []*study.Statement{o.id.Statement}
		a.Statements = [][]byte{o.id.Statement.Encode()}
		for _, name := range clinics {
			s := o.statementOf(name)
			if fake[name] != nil {
				s = fake[name].Statement
			}
			members, a.Statements = append(members, s), append(a.Statements, s.Encode())
		}
		roster, err := study.NewRoster(o.contract, 1, members)
		if err != nil {
			o.t.Error(err)
			return
		}
		epoch := roster.Epoch(o.study)
		a.Analyst = study.Confirm(o.id, o.study, epoch).Encode()
		honest := a.Confirmations
		a.Confirmations = nil
		for _, id := range fake {
			a.Confirmations = append(a.Confirmations, study.Confirm(id, o.study, epoch).Encode())
		}
		a.Confirmations = append(a.Confirmations, honest...)
	}
}

// TestSubstitutedKeys: with another key of one party, or of all, in the roster that one
// party sees, its phrase is another one, and who types the words that the others read
// out confirms nothing.
func TestSubstitutedKeys(t *testing.T) {
	for _, names := range [][]string{{"East"}, {"East", "West"}} {
		o := newOffice(t)
		o.join()
		o.invent("North", names...)
		theirs := o.phrase("West")
		if mine := o.phrase("North"); mine == theirs {
			t.Errorf("with other keys of %v the phrase is the same", names)
		}
		o.must(1, "the phrase is not this roster's; nothing was confirmed", "North", "roster", "confirm", "--phrase", theirs)
		o.must(1, "nobody here has confirmed the roster yet", "North", "sync")
	}
	// Its own entry a program recognises without anybody's help.
	o := newOffice(t)
	o.join()
	o.invent("North", "North")
	o.must(1, "the server's roster does not hold this site's own identity", "North", "roster")
}

// TestEquivocation: parties that were shown different rosters, and whose people did not
// compare, are stopped by each other's confirmations, which are of other epochs.
func TestEquivocation(t *testing.T) {
	o := newOffice(t)
	o.join()
	o.invent("North", "East")
	o.confirm("East", "West")
	// North's people confirm what they see. The server it confirms at cannot use that: its
	// honest part refuses the confirmation, a malicious one would say yes.
	o.acceptAll = true
	o.confirm("North")
	o.must(1, "has not confirmed the roster", "North", "sync")
	o.acknowledge("North")
	// Which one comes first depends on the keys: of another epoch, or of the East that
	// North was not shown.
	out := o.must(1, "the server's confirmations: study: ", "North", "sync")
	if !strings.Contains(out, "do not go on: tell the other parties and the analyst") {
		t.Errorf("the hint is missing:\n%s", out)
	}
	o.noSeed("North")
	// The others wait for a confirmation of theirs that North never gave.
	o.must(3, "waiting for North to confirm the roster", "West", "sync")
	o.noSeed("West")
}

// acknowledge gives a clinic the receipt for its share that an honest server refused.
func (o *office) acknowledge(name string) {
	o.t.Helper()
	raw, err := os.ReadFile(filepath.Join(o.site(name), "outbox", "setup.bundle"))
	if err != nil {
		o.t.Fatal(err)
	}
	env, _, err := bundle.ReadEnvelope(bytes.NewReader(raw))
	if err != nil {
		o.t.Fatal(err)
	}
	r := study.Receipt{Format: 1, Study: env.Study, Epoch: env.Epoch, Sender: env.Sender, Manifest: env.Manifest, Ciphertext: env.Ciphertext, Received: time.Now().UTC().Truncate(time.Second)}
	r.Sign(o.id)
	if err := os.WriteFile(filepath.Join(o.site(name), "receipts", "setup.json"), r.Encode(), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// TestDroppedConfirmations: without the confirmation of every party, or of the analyst,
// no party goes on, and it says whose is missing.
func TestDroppedConfirmations(t *testing.T) {
	o := ready(t)
	o.bendRoster = func(party string, a *api.Roster) {
		a.Confirmations = slices.DeleteFunc(a.Confirmations, func(b []byte) bool {
			c, err := study.DecodeConfirmation(b)
			return err == nil && c.Party == o.statementOf("East").Fingerprint()
		})
	}
	o.must(3, "waiting for East to confirm the roster", "North", "sync")
	o.noSeed("North")
	o.bendRoster = func(_ string, a *api.Roster) { a.Analyst = nil }
	o.must(1, "the analyst has not signed this contract and roster", "North", "sync")
	o.bendRoster = func(_ string, a *api.Roster) {
		a.Analyst = study.Confirm(o.id, o.study, study.Hash{1}).Encode()
	}
	o.must(1, "the analyst's signature over contract and roster: ", "North", "sync")
	o.bendRoster = func(_ string, a *api.Roster) { a.Analyst = a.Confirmations[0] }
	o.must(1, "it is another's", "North", "sync")
	o.noSeed("North")
	o.bendRoster = nil
	o.send()
	o.sameSeeds()
}

// TestAmendedRoster: a server that goes back behind an amendment that a site has followed,
// shows another in its place, or makes one up is refused, and what it says names both.
func TestAmendedRoster(t *testing.T) {
	o := ready(t)
	before := o.shareOf("East").Epoch
	o.must(0, "as of roster 2", "East", "rekey")
	o.must(0, `roster 2: "East" has new keys`, "North", "sync")
	var amended api.Roster
	o.bendRoster = func(_ string, a *api.Roster) {
		amended = *a
		a.Amendments = nil
	}
	o.must(1, "the server serves roster 1; this site has followed to roster 2", "North", "sync")
	o.must(1, "the server serves roster 1; this site has followed to roster 2", "North", "roster")
	_, head := o.chainOf(amended)
	fork := study.NewChain(o.contract, o.study, head.Root())
	remove, err := fork.Propose(study.AmendRemove, o.statementOf("West").Fingerprint(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	remove.Sign(o.id)
	o.bendRoster = func(_ string, a *api.Roster) { a.Amendments = []api.Amended{{Amendment: remove.Encode()}} }
	o.must(1, fmt.Sprintf("the server serves a roster 2 with epoch %s; this site has followed one with epoch %s", remove.To.Short(), head.Epoch().Short()), "North", "sync")
	if before == head.Epoch() {
		t.Error("the amendment left the epoch as it was")
	}
	// Made up: new keys for West that West has not signed, and a newcomer that nobody
	// confirmed, who would get the anchor.
	fake := forged(t, "West")
	rekey, err := head.Propose(study.AmendRekey, o.statementOf("West").Fingerprint(), fake.Statement, "")
	if err != nil {
		t.Fatal(err)
	}
	rekey.Sign(o.id)
	rekey.Sign(fake)
	eve := forged(t, "Eve")
	add, err := head.Propose(study.AmendAdd, study.Hash{}, eve.Statement, "")
	if err != nil {
		t.Fatal(err)
	}
	add.Sign(o.id)
	yes := [][]byte{study.Confirm(eve, o.study, add.To).Encode()}
	for _, tc := range []struct {
		a    api.Amended
		says string
	}{
		{api.Amended{Amendment: rekey.Encode()}, "is not signed by " + o.statementOf("West").Fingerprint().Short()},
		{api.Amended{Amendment: add.Encode(), Confirmations: yes}, `the amendment "add" is not confirmed by`},
	} {
		o.bendRoster = func(_ string, a *api.Roster) { a.Amendments = append(slices.Clone(amended.Amendments), tc.a) }
		o.must(1, tc.says, "North", "sync")
	}
	o.bendRoster = nil
	for _, name := range clinics {
		o.concord(name, "sync")
	}
	o.sameSeeds()
}

// chainOf is the chain that an answer tells.
func (o *office) chainOf(a api.Roster) (*study.Roster, *study.Chain) {
	o.t.Helper()
	var members []*study.Statement
	for _, b := range a.Statements {
		m, err := study.DecodeStatement(b)
		if err != nil {
			o.t.Fatal(err)
		}
		members = append(members, m)
	}
	root, err := study.NewRoster(o.contract, a.Number, members)
	if err != nil {
		o.t.Fatal(err)
	}
	chain := study.NewChain(o.contract, o.study, root)
	for _, told := range a.Amendments {
		if err := site.Follow(chain, told); err != nil {
			o.t.Fatal(err)
		}
	}
	return root, chain
}
