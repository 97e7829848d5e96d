package server_test

import (
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/pinned"
	"concord/internal/proxytest"
	"concord/internal/signed"
	"concord/member"
	"concord/wire"
)

// host is the server's name; only the proxies of these tests know where it is.
const host = "analyst.example"

func authority(t testing.TB, name string) *proxytest.Authority {
	t.Helper()
	a, err := proxytest.NewAuthority(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// behind puts a proxy with a public certificate before the web front and makes it
// the way in; a forward proxy leads there.
func (w *world) behind(t testing.TB, public *proxytest.Authority, reverse http.Handler, prefix string) (address string) {
	t.Helper()
	front := httptest.NewUnstartedServer(reverse)
	front.TLS = public.Config()
	front.StartTLS()
	t.Cleanup(front.Close)
	address = front.Listener.Addr().String()
	w.through(t, proxytest.Forward("", func(string) string { return address }), "")
	w.target.TLS, w.target.Prefix, w.target.Roots = member.TLSWebPKI, prefix, public.PEM()
	return address
}

// through makes a forward proxy the way in.
func (w *world) through(t testing.TB, forward http.Handler, credentials string) {
	t.Helper()
	proxy := httptest.NewServer(forward)
	t.Cleanup(proxy.Close)
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	if name, password, ok := strings.Cut(credentials, ":"); ok {
		u.User = url.UserPassword(name, password)
	}
	w.target.Address, w.target.Proxy = host+":443", http.ProxyURL(u)
}

// TestStudyThrough plays a whole study through what stands between institutions.
func TestStudyThrough(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	t.Run("forward proxy, pinned", func(t *testing.T) {
		w := newWorld(t)
		w.through(t, proxytest.Forward("", func(string) string { return w.address }), "")
		w.play(t)
	})
	t.Run("forward proxy with a password, pinned", func(t *testing.T) {
		w := newWorld(t)
		w.through(t, proxytest.Forward("north:s3cret", func(string) string { return w.address }), "north:s3cret")
		w.play(t)
	})
	t.Run("reverse proxy that strips a prefix", func(t *testing.T) {
		w := newWorld(t)
		w.behind(t, authority(t, "Public CA"), proxytest.Reverse(w.web, "/trials"), "/trials")
		w.play(t)
	})
	t.Run("reverse proxy that keeps the prefix", func(t *testing.T) {
		w := newWorld(t)
		w.behind(t, authority(t, "Public CA"), proxytest.Reverse(w.web, ""), "/trials")
		w.play(t)
	})
	t.Run("inspecting proxy before a reverse proxy", func(t *testing.T) {
		w := newWorld(t)
		public, hospital := authority(t, "Public CA"), authority(t, "Hospital CA")
		address := w.behind(t, public, proxytest.Reverse(w.web, ""), "")
		trust := x509.NewCertPool()
		trust.AppendCertsFromPEM(public.PEM())
		requests, mu := 0, sync.Mutex{}
		w.through(t, proxytest.Inspect(hospital, trust, func(string) string { return address }, func(r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			requests++
		}, nil), "")
		w.target.Roots = hospital.PEM()
		w.play(t)
		if requests < 10 {
			t.Errorf("the inspecting proxy saw %d requests", requests)
		}
	})
}

// TestSecretUnseen: an inspecting proxy does not read an invite's secret, and cannot
// join in its holder's place with what it reads.
func TestSecretUnseen(t *testing.T) {
	w := newWorld(t)
	public := authority(t, "Public CA")
	var body []byte
	reverse := proxytest.Reverse(w.web, "")
	w.behind(t, public, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/join") {
			body, _ = io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		reverse.ServeHTTP(rw, r)
	}), "")
	id := newIdentity(t, identity.RoleParty, "North")
	_, _, err := w.as(id).Join(t.Context(), []byte("guess"), id.Statement.Encode())
	wantRefusal(t, "a wrong secret", err, api.CodeForbidden, "the invite is unknown")
	if _, _, err := w.as(id).Join(t.Context(), w.secrets[0], id.Statement.Encode()); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(body, w.secrets[0]) || bytes.Contains(body, []byte(`"secret"`)) || !bytes.Contains(body, []byte(`"proof"`)) {
		t.Errorf("the request to join shows %.200s", body)
	}
	// What the proxy read is for North's statement only.
	thief := newIdentity(t, identity.RoleParty, "Thief")
	stolen := bytes.Replace(body, b64(id.Statement.Encode()), b64(thief.Statement.Encode()), 1)
	if bytes.Equal(stolen, body) {
		t.Fatal("the statement was not found in the request")
	}
	status, answer := w.raw(t, thief, http.MethodPost, api.Path(api.PathJoin, w.study), stolen, nil)
	if status != http.StatusForbidden || answer.Code != api.CodeForbidden {
		t.Errorf("a thief with the proof: %d %+v", status, answer)
	}
	// Who has no invite fills no memory: the very same request gives the same answer.
	nonce := make([]byte, 16)
	for range 2 {
		if _, answer := w.raw(t, thief, http.MethodPost, api.Path(api.PathJoin, w.study), stolen, func(r *signed.Request) { r.Nonce = nonce }); answer.Code != api.CodeForbidden {
			t.Errorf("a thief again: %+v", answer)
		}
	}
	secret := []byte(`{"secret":"` + string(b64(w.secrets[1])) + `","statement":"` + string(b64(thief.Statement.Encode())) + `"}`)
	if status, answer = w.raw(t, thief, http.MethodPost, api.Path(api.PathJoin, w.study), secret, nil); status != http.StatusBadRequest {
		t.Errorf("a secret in the open: %d %+v", status, answer)
	}
}

// TestProxyRefuses: what a proxy does wrong is named, with a cure.
func TestProxyRefuses(t *testing.T) {
	w := newWorld(t)
	id := newIdentity(t, identity.RoleParty, "North")
	status := func() error {
		_, err := w.as(id).Status(t.Context())
		return err
	}
	// No password, a wrong one, a proxy that does not reach the server, none at all.
	for _, credentials := range []string{"", "north:guess"} {
		w.through(t, proxytest.Forward("north:s3cret", func(string) string { return w.address }), credentials)
		wantCure(t, "credentials "+credentials, status(), "407", "NAME:PASSWORD@")
	}
	w.through(t, proxytest.Forward("", func(string) string { return "127.0.0.1:1" }), "")
	wantCure(t, "a proxy that does not reach the server", status(), "502", "does not reach the server")
	w.through(t, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusForbidden) }), "")
	wantCure(t, "a proxy that forbids CONNECT", status(), "403", "allow CONNECT")
	gone := &url.URL{Scheme: "http", Host: "127.0.0.1:1"}
	w.target.Proxy = http.ProxyURL(gone)
	wantCure(t, "no proxy there", status(), "the proxy 127.0.0.1:1", "NO_PROXY")
}

// TestPinnedRefusesInspection: with tls pinned nobody reads along, and the cure is
// said.
func TestPinnedRefusesInspection(t *testing.T) {
	w := newWorld(t)
	w.join()
	hospital := authority(t, "Hospital CA")
	w.through(t, proxytest.Inspect(hospital, nil, func(string) string { return w.address }, nil, nil), "")
	_, err := w.as(w.parties[0]).Status(t.Context())
	wantCure(t, "a party that has joined", err, `issued by "Hospital CA"`, "tls webpki")
	if !errors.Is(err, pinned.ErrWrongKey) {
		t.Errorf("%v is not ErrWrongKey", err)
	}
	id := newIdentity(t, identity.RoleParty, "New")
	_, _, err = client.Meet(t.Context(), w.target, w.study, id, w.analyst.Statement.Fingerprint())
	wantCure(t, "a party that joins", err, `issued by "Hospital CA"`, "tls webpki")
}

// TestUntrustedInspection: an inspecting proxy whose authority nobody named here.
func TestUntrustedInspection(t *testing.T) {
	w := newWorld(t)
	public := authority(t, "Public CA")
	address := w.behind(t, public, proxytest.Reverse(w.web, ""), "")
	w.through(t, proxytest.Inspect(authority(t, "Hospital CA"), nil, func(string) string { return address }, nil, nil), "")
	id := newIdentity(t, identity.RoleParty, "New")
	_, _, err := client.Meet(t.Context(), w.target, w.study, id, w.analyst.Statement.Fingerprint())
	wantCure(t, "an unknown authority", err, "certificate", "--ca FILE")
	if h := hintOf(err); !strings.Contains(h, "Hospital CA") {
		t.Errorf("the hint %q does not name the authority", h)
	}
}

// TestInterference: answers that are not the server's are taken for what they are.
func TestInterference(t *testing.T) {
	w := newWorld(t)
	public := authority(t, "Public CA")
	var answer http.HandlerFunc
	w.behind(t, public, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { answer(rw, r) }), "")
	id := newIdentity(t, identity.RoleParty, "New")
	page := func(status int) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			rw.Header().Set("Server", "nginx/1.29\u202e")
			rw.WriteHeader(status)
			io.WriteString(rw, "<html>no</html>")
		}
	}
	for _, test := range []struct {
		name          string
		answer        http.HandlerFunc
		problem, cure string
	}{
		{"login page", page(200), "a page instead of the server", "log in"},
		{"redirect", func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, "https://login.hospital.example/x", http.StatusFound)
		}, "login.hospital.example", "log in"},
		{"proxy authentication", page(407), "407", "NAME:PASSWORD@"},
		{"too large", page(413), "413", "client_max_body_size"},
		{"too many", page(429), "429", "wait a minute"},
		{"server down", page(502), "502 Bad Gateway", "whether concordd serve is running"},
		{"unavailable", page(503), "503", "whether concordd serve is running"},
		{"slow", page(504), "504", "proxy_read_timeout"},
		{"blocked", page(403), "403", "ask your IT"},
		{"elsewhere", page(404), "404", "the invite's path"},
		{"a forged refusal", func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(403)
			io.WriteString(rw, `{"code":"forbidden","message":"leave the study"}`)
		}, "nobody vouches for: leave the study", "ask your IT"},
	} {
		answer = test.answer
		_, _, err := client.Meet(t.Context(), w.target, w.study, id, w.analyst.Statement.Fingerprint())
		wantCure(t, test.name+", first contact", err, test.problem, test.cure)
		_, err = w.as(id).Status(t.Context())
		wantCure(t, test.name, err, test.problem, test.cure)
		if strings.ContainsRune(err.Error(), '\u202e') {
			t.Errorf("%s: a terminal would obey %q", test.name, err)
		}
	}
}

// TestAnswersCannotBeChanged: an active inspecting proxy that forges, swaps or
// repeats answers is noticed, whatever it changes.
func TestAnswersCannotBeChanged(t *testing.T) {
	w := newWorld(t)
	w.join()
	a := w.parties[0]
	public := authority(t, "Public CA")
	reverse := proxytest.Reverse(w.web, "")
	var change func(*httptest.ResponseRecorder)
	w.behind(t, public, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		reverse.ServeHTTP(rec, r)
		change(rec)
		for k, v := range rec.Header() {
			rw.Header()[k] = v
		}
		rw.Header().Del("Content-Length")
		rw.WriteHeader(rec.Code)
		rw.Write(rec.Body.Bytes())
	}), "")
	var before *httptest.ResponseRecorder
	mallory := newIdentity(t, identity.RoleAnalyst, "Mallory")
	for name, f := range map[string]func(*httptest.ResponseRecorder){
		"body": func(r *httptest.ResponseRecorder) {
			b := bytes.Replace(r.Body.Bytes(), []byte(`"present":2`), []byte(`"present":3`), 1)
			r.Body.Reset()
			r.Body.Write(b)
		},
		"cut":      func(r *httptest.ResponseRecorder) { r.Body.Truncate(r.Body.Len() - 1) },
		"status":   func(r *httptest.ResponseRecorder) { r.Code = 201 },
		"unsigned": func(r *httptest.ResponseRecorder) { r.Header().Del(signed.AnswerHeader) },
		"twice": func(r *httptest.ResponseRecorder) {
			r.Header().Add(signed.AnswerHeader, r.Header().Get(signed.AnswerHeader))
		},
		"replay": func(r *httptest.ResponseRecorder) {
			if before == nil {
				t.Fatal("no answer from before")
			}
			*r = *before
		},
		"another key": func(r *httptest.ResponseRecorder) {
			r.Header().Set(signed.AnswerHeader, signed.NewAnswer(mallory, wire.Hash{}, r.Code, nil, wire.HashOf(r.Body.Bytes()), nil))
		},
	} {
		change = func(r *httptest.ResponseRecorder) { before = r }
		if _, err := w.as(a).Status(t.Context()); err != nil {
			t.Fatalf("%s: unchanged: %v", name, err)
		}
		kept := *before
		kept.Body = bytes.NewBuffer(bytes.Clone(before.Body.Bytes()))
		before = &kept
		change = f
		st, err := w.as(a).Status(t.Context())
		if err == nil {
			t.Errorf("%s: an answer that was changed is taken: %+v", name, st)
		}
		var refusal *client.Refusal
		if errors.As(err, &refusal) {
			t.Errorf("%s: taken for the server's word: %v", name, err)
		}
		if hintOf(err) == "" {
			t.Errorf("%s: %v has no cure", name, err)
		}
	}
}

// capture records what a party's client signs.
type capture struct {
	method, target, header string
	body                   []byte
}

// replayable lets a party ask for its status and confirm, through a proxy that keeps
// what it saw.
func (w *world) replayable(t *testing.T) []capture {
	t.Helper()
	var seen []capture
	reverse := proxytest.Reverse(w.web, "")
	w.behind(t, authority(t, "Public CA"), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, capture{r.Method, r.URL.RequestURI(), r.Header.Get(signed.RequestHeader), body})
		r.Body = io.NopCloser(bytes.NewReader(body))
		reverse.ServeHTTP(rw, r)
	}), "")
	c := w.as(w.parties[0])
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Confirm(t.Context(), member.Confirm(w.parties[0], w.study, w.epoch)); err != nil {
		t.Fatal(err)
	}
	return seen
}

// TestRequestsCannotBeChanged: a request that was signed once is taken once, and as
// it was signed.
func TestRequestsCannotBeChanged(t *testing.T) {
	w := newWorld(t)
	w.join()
	seen := w.replayable(t)
	if len(seen) != 2 {
		t.Fatalf("the proxy saw %d requests", len(seen))
	}
	// Replayed, also out of order.
	for i := len(seen) - 1; i >= 0; i-- {
		c := seen[i]
		status, answer := w.send(t, c.method, c.target, c.body, http.Header{signed.RequestHeader: {c.header}})
		if status != http.StatusForbidden || answer.Code != api.CodeStale {
			t.Errorf("%s %s again: %d %+v", c.method, c.target, status, answer)
		}
	}
	// Altered on the way: each is a fresh request, changed after it was signed.
	party := w.parties[0]
	confirmation := member.Confirm(party, w.study, w.epoch).Encode()
	body := append(append([]byte{'"'}, b64(confirmation)...), '"')
	confirm, state := api.Path(api.PathConfirmations, w.study), api.Path(api.PathStatus, w.study)
	run := w.run(t)
	other := newIdentity(t, identity.RoleAnalyst, "Other")
	for _, test := range []struct {
		name          string
		sign          func(*signed.Request)
		method, path  string
		body          []byte
		header        func(http.Header)
		status        int
		code, message string
	}{
		{name: "as it is", status: 200},
		{name: "method", method: "PUT", status: 403, code: api.CodeSignature, message: "signed as"},
		{name: "path", path: state, status: 403, code: api.CodeSignature, message: "another path"},
		{name: "mixed case", path: strings.Replace(confirm, "studies", "Studies", 1), status: 403, code: api.CodeSignature, message: "another path"},
		{name: "upper-case digits, signed", sign: func(r *signed.Request) { r.Target = strings.ToUpper(confirm) }, path: strings.ToUpper(confirm), status: 404, code: api.CodeNotFound},
		{name: "escaped", path: strings.Replace(confirm, "studies", "%73tudies", 1), status: 403, code: api.CodeSignature, message: "another path"},
		{name: "doubled slash", path: strings.Replace(confirm, "/v1/", "/v1//", 1), status: 403, code: api.CodeSignature, message: "another path"},
		{name: "query", path: confirm + "?force=1", status: 403, code: api.CodeSignature, message: "another path or query"},
		{name: "body", body: bytes.Replace(body, []byte(`"`), []byte(` "`), 1), status: 403, code: api.CodeSignature, message: "body"},
		{name: "body cut", body: body[:len(body)-1], status: 403, code: api.CodeSignature},
		{name: "body added", sign: func(r *signed.Request) { r.Body = signed.Empty }, status: 403, code: api.CodeSignature, message: "body"},
		{name: "study", sign: func(r *signed.Request) { r.Study = wire.Hash{7} }, status: 403, code: api.CodeSignature, message: "for study"},
		{name: "server", sign: func(r *signed.Request) { r.Server = other.Statement.Fingerprint() }, status: 403, code: api.CodeSignature, message: "for the server of analyst"},
		{name: "party", sign: func(r *signed.Request) { r.Party = w.parties[1].Statement.Fingerprint() }, status: 403, code: api.CodeSignature, message: "does not verify"},
		{name: "a stranger", sign: func(r *signed.Request) { r.Party = wire.Hash{8} }, status: 403, code: api.CodeForbidden, message: "no party"},
		{name: "an hour ago", sign: func(r *signed.Request) { r.Time = r.Time.Add(-time.Hour) }, status: 403, code: api.CodeClock, message: "this site's clock"},
		{name: "in an hour", sign: func(r *signed.Request) { r.Time = r.Time.Add(time.Hour) }, status: 403, code: api.CodeClock, message: "this site's clock"},
		{name: "another run", sign: func(r *signed.Request) { r.Run = make([]byte, signed.RunSize) }, status: 403, code: api.CodeStale, message: "earlier run"},
		{name: "no run", sign: func(r *signed.Request) { r.Run = nil }, status: 403, code: api.CodeStale, message: "earlier run"},
		{name: "an offset added", header: func(h http.Header) { h.Set("Upload-Offset", "0") }, status: 403, code: api.CodeSignature, message: "other headers"},
		{name: "twice", header: func(h http.Header) { h.Add(signed.RequestHeader, h.Get(signed.RequestHeader)) }, status: 403, code: api.CodeSignature, message: "2 times"},
		{name: "in lower case, twice", header: func(h http.Header) { h["concord-request"] = []string{h.Get(signed.RequestHeader)} }, status: 403, code: api.CodeSignature, message: "2 times"},
		{name: "not at all", header: func(h http.Header) { h.Del(signed.RequestHeader) }, status: 403, code: api.CodeSignature, message: "not signed"},
		{name: "rubbish", header: func(h http.Header) { h.Set(signed.RequestHeader, "AAAA") }, status: 403, code: api.CodeSignature},
	} {
		r := signed.NewRequest(party, w.analyst.Statement.Fingerprint(), w.study)
		r.Method, r.Target, r.Body, r.Run = "POST", confirm, wire.HashOf(body), run
		if test.sign != nil {
			test.sign(r)
		}
		value, _ := r.Header(party)
		h := http.Header{signed.RequestHeader: {value}}
		if test.header != nil {
			test.header(h)
		}
		method, path, sent := "POST", confirm, body
		if test.method != "" {
			method = test.method
		}
		if test.path != "" {
			path = test.path
		}
		if test.body != nil {
			sent = test.body
		}
		status, answer := w.send(t, method, path, sent, h)
		if status != test.status || answer.Code != test.code || !strings.Contains(answer.Message, test.message) {
			t.Errorf("%s: %d %+v, want %d %q %q", test.name, status, answer, test.status, test.code, test.message)
		}
	}
}

// TestNothingSurvivesARestart: what was signed for a run of the server, another does
// not take, though it has forgotten all nonces.
func TestNothingSurvivesARestart(t *testing.T) {
	w := newWorld(t)
	w.join()
	confirm := w.replayable(t)[1]
	again := w.serveAgain(t)
	status, answer := again.send(t, confirm.method, confirm.target, confirm.body, http.Header{signed.RequestHeader: {confirm.header}})
	if status != http.StatusForbidden || answer.Code != api.CodeStale {
		t.Errorf("after a restart: %d %+v", status, answer)
	}
	// A client notices and signs anew, unasked.
	c := w.as(w.parties[0])
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.web = again.web
	w.behind(t, authority(t, "Public CA"), proxytest.Reverse(w.web, ""), "")
	c = w.as(w.parties[0])
	if err := c.Confirm(t.Context(), member.Confirm(w.parties[0], w.study, w.epoch)); err != nil {
		t.Errorf("a client after a restart: %v", err)
	}
}

// TestPinnedFrontTakesNoSignature: on the pinned front the connection counts.
func TestPinnedFrontTakesNoSignature(t *testing.T) {
	w := newWorld(t)
	w.join()
	r := signed.NewRequest(w.parties[0], w.analyst.Statement.Fingerprint(), w.study)
	r.Method, r.Target = "GET", api.Path(api.PathStatus, w.study)
	value, _ := r.Header(w.parties[0])
	req := httptest.NewRequest("GET", r.Target, nil)
	req.Header.Set(signed.RequestHeader, value)
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, req)
	if rec.Code != http.StatusForbidden {
		t.Errorf("a signed request without a key on the connection: %d %s", rec.Code, rec.Body)
	}
}

// TestBufferingProxy: a proxy that takes a whole request before it sends it on.
func TestBufferingProxy(t *testing.T) {
	w := newWorld(t)
	u := &url.URL{Scheme: "http", Host: w.web}
	proxy := httputil.NewSingleHostReverseProxy(u)
	w.behind(t, authority(t, "Public CA"), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, 1<<20))
		if err != nil {
			rw.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), -1 // and forgets its length
		proxy.ServeHTTP(rw, r)
	}), "")
	w.play(t)
}

// TestCappingProxy: a proxy that lets no body of more than 600 kB pass gets smaller
// parts, by either way of saying no, and no wait in between.
func TestCappingProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	const most = 600_000
	w := newWorld(t)
	reverse := proxytest.Reverse(w.web, "")
	refusals, parts := 0, 0
	w.behind(t, authority(t, "Public CA"), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.ContentLength > most {
			refusals++
			rw.Header().Set("Content-Type", "text/html")
			rw.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if r.Method == http.MethodPatch {
			parts++
		}
		reverse.ServeHTTP(rw, r)
	}), "")
	w.join()
	a, b := w.parties[0], w.parties[1]
	for from, path := range map[*identity.Identity]string{a: w.setup(a, b), b: w.large(b, 100_000, nil)} {
		receipt, err := w.as(from).Send(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := member.DecodeReceipt(receipt, w.analyst.Statement); err != nil {
			t.Error(err)
		}
	}
	if refusals < 3 || refusals > 8 || parts < 4 {
		t.Errorf("the proxy refused %d requests and let %d parts pass", refusals, parts)
	}
}

// TestCompressingProxy: what is signed is what arrives after decompression.
func TestCompressingProxy(t *testing.T) {
	w := newWorld(t)
	reverse := proxytest.Reverse(w.web, "")
	compressed := 0
	w.behind(t, authority(t, "Public CA"), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		reverse.ServeHTTP(rec, r)
		for k, v := range rec.Header() {
			rw.Header()[k] = v
		}
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && rec.Body.Len() > 0 {
			compressed++
			rw.Header().Del("Content-Length")
			rw.Header().Set("Content-Encoding", "gzip")
			rw.WriteHeader(rec.Code)
			z := gzip.NewWriter(rw)
			z.Write(rec.Body.Bytes())
			z.Close()
			return
		}
		rw.WriteHeader(rec.Code)
		rw.Write(rec.Body.Bytes())
	}), "")
	w.join()
	if _, err := w.as(w.parties[0]).Status(t.Context()); err != nil {
		t.Error(err)
	}
	if compressed == 0 {
		t.Error("nothing was compressed")
	}
}

// BenchmarkStatus is a request on each front, the proxies' work left out.
func BenchmarkStatus(b *testing.B) {
	for _, name := range []string{"pinned", "webpki"} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			if name == "webpki" {
				w.behind(b, authority(b, "Public CA"), proxytest.Reverse(w.web, ""), "")
			}
			w.join()
			c := w.as(w.parties[0])
			for b.Loop() {
				if _, err := c.Status(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

func wantCure(t *testing.T, name string, err error, problem, cure string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), problem) || !strings.Contains(hintOf(err), cure) {
		t.Errorf("%s: %v (hint: %s); want %q and the cure %q", name, err, hintOf(err), problem, cure)
	}
}
