package server_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/pinned"
	"concord/member"
	"concord/wire"
)

// TestNotBeforeConfirming: who has not confirmed the roster sends nothing.
func TestNotBeforeConfirming(t *testing.T) {
	w := newWorld(t)
	a := newIdentity(t, identity.RoleParty, "North")
	if _, _, err := w.as(a).Join(t.Context(), w.secrets[0], a.Statement.Encode()); err != nil {
		t.Fatal(err)
	}
	_, err := w.as(a).Send(t.Context(), "server_test.go")
	wantRefusal(t, "a bundle", err, api.CodeNotYet, "has not confirmed")
	wantRefusal(t, "a confirmation", w.as(a).Confirm(t.Context(), member.Confirm(a, w.study, wire.Hash{})), api.CodeNotYet, "1 of 2 parties")
}

// TestWrongServer: a client speaks to no other key than the analyst's.
func TestWrongServer(t *testing.T) {
	w := newWorld(t)
	other := newIdentity(t, identity.RoleAnalyst, "Analyst")
	a := newIdentity(t, identity.RoleParty, "North")
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
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	w := newWorld(t)
	w.join()
	config, err := pinned.Client(w.parties[0].TLSKey(), func(wire.Hash) error { return nil })
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
		api.Path(api.PathBundle, w.study, wire.Hash{}), api.Path(api.PathUploads, w.study), api.UploadPath(w.study, strings.Repeat("0", 32)), api.Path(api.PathBundles, w.study) + "/..%2f..%2fconcord.db",
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
			f.Add(method, api.Path(path, w.study, wire.Hash{1}), []byte("{}"))
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
