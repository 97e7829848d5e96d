package doctor_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"concord/identity"
	"concord/internal/client"
	"concord/internal/doctor"
	"concord/internal/proxytest"
	"concord/internal/server"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

// network is a server with both fronts, and a public certificate before the web
// front.
type network struct {
	analyst, party *identity.Identity
	pinned, web    string
	public         *proxytest.Authority
	front          string // of the public certificate
	// date replaces the time that the public front's answers name.
	date func() time.Time
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{date: time.Now}
	var err error
	if n.analyst, err = identity.New(identity.RoleAnalyst, "Office", nil); err != nil {
		t.Fatal(err)
	}
	if n.party, err = identity.New(identity.RoleParty, "North", nil); err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.TempDir(), n.analyst)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	var fronts []server.Front
	for i, address := range []*string{&n.pinned, &n.web} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		*address = ln.Addr().String()
		fronts = append(fronts, server.Front{Listener: ln, Web: i == 1})
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.New(n.analyst, st, slog.New(slog.DiscardHandler)).ServeFronts(ctx, fronts...) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if n.public, err = proxytest.NewAuthority("Public CA"); err != nil {
		t.Fatal(err)
	}
	reverse := proxytest.Reverse(n.web, "/trials")
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", n.date().UTC().Format(http.TimeFormat))
		reverse.ServeHTTP(w, r)
	}))
	cert, err := n.public.Issue("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	front.TLS = &tls.Config{Certificates: []tls.Certificate{*cert}}
	front.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	front.StartTLS()
	t.Cleanup(front.Close)
	n.front = front.Listener.Addr().String()
	return n
}

// look examines a target and returns the report by check.
func (n *network) look(t *testing.T, target client.Target, change func(*doctor.Server)) map[string]doctor.Finding {
	t.Helper()
	s := doctor.Server{Target: target, Fingerprint: n.analyst.Statement.Fingerprint(), Analyst: n.analyst.Statement}
	if change != nil {
		change(&s)
	}
	r := new(doctor.Report)
	if c := doctor.Network(t.Context(), r, s, n.party); c != nil {
		c.Close()
	}
	out := map[string]doctor.Finding{}
	for _, f := range r.Findings {
		if f.Verdict != doctor.OK && f.Cure == "" {
			t.Errorf("%s has no cure: %s", f.Check, f.Found)
		}
		out[f.Check] = f
	}
	return out
}

func want(t *testing.T, name string, got map[string]doctor.Finding, check string, v doctor.Verdict, found string) {
	t.Helper()
	f, ok := got[check]
	if !ok || f.Verdict != v || !strings.Contains(f.Found, found) {
		t.Errorf("%s: %s is %+v, want %s with %q", name, check, f, v, found)
	}
}

func proxied(t *testing.T, h http.Handler) func(*http.Request) (*url.URL, error) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return http.ProxyURL(u)
}

func TestNetwork(t *testing.T) {
	n := newNetwork(t)
	pinned := client.Target{Address: n.pinned}
	got := n.look(t, pinned, nil)
	want(t, "pinned", got, "tls", doctor.OK, "the analyst's own key")
	want(t, "pinned", got, "analyst", doctor.OK, "Office")
	want(t, "pinned", got, "clock", doctor.OK, "")
	want(t, "pinned", got, "version", doctor.OK, "version")
	got = n.look(t, pinned, func(s *doctor.Server) { s.Analyst = n.party.Statement })
	want(t, "another key", got, "tls", doctor.Failed, "expected is")
	got = n.look(t, pinned, func(s *doctor.Server) { s.Fingerprint, s.Analyst = wire.Hash{1}, nil })
	want(t, "another analyst", got, "analyst", doctor.Failed, "another key than the one that was agreed on")
	got = n.look(t, client.Target{Address: n.web}, nil)
	want(t, "pinned to plain HTTP", got, "tls", doctor.Failed, "no TLS connection")
	got = n.look(t, client.Target{Address: "no-such-name.invalid:1"}, nil)
	want(t, "no name", got, "dns", doctor.Failed, "not known here")
	got = n.look(t, client.Target{Address: n.front}, nil)
	want(t, "pinned to a public certificate", got, "tls", doctor.Failed, `issued by "Public CA"`)

	web := client.Target{TLS: member.TLSWebPKI, Address: n.front, Prefix: "/trials"}
	got = n.look(t, web, nil)
	want(t, "an unknown authority", got, "tls", doctor.Failed, "certificate")
	web.Roots = n.public.PEM()
	got = n.look(t, web, nil)
	want(t, "webpki", got, "analyst", doctor.OK, "its answer is signed")
	want(t, "webpki, short certificate", got, "tls", doctor.Warning, `issued by "Public CA"`)
	got = n.look(t, client.Target{TLS: member.TLSWebPKI, Address: n.front, Prefix: "/elsewhere", Roots: n.public.PEM()}, nil)
	want(t, "another path", got, "analyst", doctor.Failed, "another path")
	n.date = func() time.Time { return time.Now().Add(time.Hour) }
	want(t, "a proxy that lies about the time", n.look(t, web, nil), "clock", doctor.OK, "")
	n.date = time.Now

	// Through proxies, where only they know the name.
	named := client.Target{Address: "analyst.example:443"}
	named.Proxy = proxied(t, proxytest.Forward("", func(string) string { return n.pinned }))
	got = n.look(t, named, nil)
	want(t, "forward proxy", got, "dns", doctor.OK, "the proxy looks up the server's name itself")
	want(t, "forward proxy", got, "tls", doctor.OK, "the analyst's own key")
	hospital, err := proxytest.NewAuthority("Hospital CA")
	if err != nil {
		t.Fatal(err)
	}
	named.Proxy = proxied(t, proxytest.Inspect(hospital, nil, func(string) string { return n.pinned }, nil, nil))
	got = n.look(t, named, nil)
	want(t, "inspecting proxy, pinned", got, "tls", doctor.Failed, `issued by "Hospital CA"`)
	if !strings.Contains(got["tls"].Cure, "tls webpki") {
		t.Errorf("the cure is %q", got["tls"].Cure)
	}
	named.Proxy = proxied(t, proxytest.Forward("a:b", func(string) string { return n.pinned }))
	want(t, "a password", n.look(t, named, nil), "tcp", doctor.Failed, "407")
	named.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("socks5://127.0.0.1:1") }
	got = n.look(t, named, nil)
	want(t, "a proxy of another kind", got, "tcp", doctor.Warning, "socks5")
	want(t, "a proxy of another kind", got, "analyst", doctor.Failed, "")
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "identity.secret")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	look := func() map[string]doctor.Finding {
		r := new(doctor.Report)
		doctor.Folder(r, dir, func(name string) bool { return name == "identity.secret" })
		out := map[string]doctor.Finding{}
		for _, f := range r.Findings {
			out[f.Check] = f
		}
		return out
	}
	for _, test := range []struct {
		folder, file os.FileMode
		want         doctor.Verdict
	}{
		{0o700, 0o600, doctor.OK},
		{0o700, 0o644, doctor.Warning},
		{0o755, 0o600, doctor.Warning},
		{0o750, 0o640, doctor.Failed},
		{0o755, 0o604, doctor.Failed},
		{0o755, 0o602, doctor.Failed},
		{0o777, 0o600, doctor.Failed},
	} {
		for path, perm := range map[string]os.FileMode{dir: test.folder, file: test.file} {
			if err := os.Chmod(path, perm); err != nil {
				t.Fatal(err)
			}
		}
		want(t, test.folder.String()+" "+test.file.String(), look(), "permissions", test.want, "")
	}
	want(t, "clean", look(), "leftovers", doctor.OK, "")
	if err := os.WriteFile(filepath.Join(dir, "roster.partial-123"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, "a crash", look(), "leftovers", doctor.Warning, "roster.partial-123")
}

func TestDisk(t *testing.T) {
	for need, v := range map[int64]doctor.Verdict{1: doctor.OK, 1 << 60: doctor.Failed} {
		r := new(doctor.Report)
		doctor.Disk(r, t.TempDir(), need, "a test")
		if r.Findings[0].Verdict != v {
			t.Errorf("%d bytes: %+v, want %s", need, r.Findings[0], v)
		}
	}
}

// TestWrite: a report fails if a check did, says nothing that moves a cursor, and is
// the same in JSON.
func TestWrite(t *testing.T) {
	r := new(doctor.Report)
	r.OK("a", "fine\x1b[2J")
	r.Warn("b", "odd", "look")
	var text, raw bytes.Buffer
	if err := r.Write(&text, false); err != nil {
		t.Errorf("a warning fails: %v", err)
	}
	r.Fail("c", "wrong", "mend it")
	if err := r.Write(&raw, true); err == nil || !strings.Contains(err.Error(), "1 of 3 checks failed") {
		t.Errorf("a failure gives %v", err)
	}
	if strings.ContainsRune(text.String(), '\x1b') || !strings.Contains(text.String(), "cure: look") {
		t.Errorf("the report reads %q", text.String())
	}
	var again doctor.Report
	if err := json.Unmarshal(raw.Bytes(), &again); err != nil || len(again.Findings) != 3 || again.Findings[2].Cure != "mend it" {
		t.Errorf("the JSON reads back as %+v, %v", again, err)
	}
}
