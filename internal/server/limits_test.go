package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/pinned"
	"concord/internal/server"
	"concord/wire"
)

// rawClient speaks HTTP to a world's server with a key of its own.
func (w *world) rawClient(id *identity.Identity) *http.Client {
	w.t.Helper()
	config, err := pinned.Client(id.TLSKey(), func(wire.Hash) error { return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
	w.t.Cleanup(hc.CloseIdleConnections)
	return hc
}

// ask sends a request and returns the answer's status, header and, of an error, its
// code.
func (w *world) ask(hc *http.Client, method, path string, header http.Header, body io.Reader) (int, http.Header, string) {
	w.t.Helper()
	req, err := http.NewRequest(method, "https://"+w.address+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := hc.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer api.Error
	if resp.StatusCode >= 400 {
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
			w.t.Fatalf("%s %s: %s: %v", method, path, resp.Status, err)
		}
	}
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header, answer.Code
}

func wantLater(t *testing.T, what string, status int, header http.Header, code string) {
	t.Helper()
	after, err := strconv.Atoi(header.Get("Retry-After"))
	if status != http.StatusTooManyRequests || code != api.CodeTooMany || err != nil || after < 1 {
		t.Errorf("%s: status %d, code %q, Retry-After %q; want 429, %q and a number", what, status, code, header.Get("Retry-After"), api.CodeTooMany)
	}
}

// TestWrongSecretsAreLimited: after some wrong secrets an address has to wait, good
// secret or not; a party that is in is not touched.
func TestWrongSecretsAreLimited(t *testing.T) {
	w := newWorld(t, server.WithLimits(server.Limits{WrongBurst: 3, WrongRequests: 0.01}))
	w.join()
	guess := newIdentity(t, identity.RoleParty, "Guess")
	hc := w.rawClient(guess)
	try := func(secret string) (int, http.Header, string) {
		b, err := json.Marshal(api.JoinRequest{Secret: []byte(secret), Statement: guess.Statement.Encode()})
		if err != nil {
			t.Fatal(err)
		}
		return w.ask(hc, "POST", api.Path(api.PathJoin, w.study), nil, strings.NewReader(string(b)))
	}
	for i := range 3 {
		if status, _, code := try(fmt.Sprint("wrong", i)); status != http.StatusForbidden || code != api.CodeForbidden {
			t.Fatalf("wrong secret %d: %d %s", i+1, status, code)
		}
	}
	status, header, code := try("wrong again")
	wantLater(t, "the fourth wrong secret", status, header, code)
	status, header, code = try(string(w.secrets[2]))
	wantLater(t, "a good secret after that", status, header, code)
	status, header, code = w.ask(hc, "GET", api.Path(api.PathRoster, w.study), nil, nil)
	wantLater(t, "an unknown key that asks for the roster", status, header, code)
	if _, err := w.as(w.parties[0]).Status(t.Context()); err != nil {
		t.Errorf("a member at the same address: %v", err)
	}
}

// TestRequestsAreLimited: by address where no membership is needed, by party
// elsewhere; one party's requests are not another's.
func TestRequestsAreLimited(t *testing.T) {
	w := newWorld(t, server.WithLimits(server.Limits{AddressBurst: 6, AddressRequests: 0.01, KeyBurst: 6, KeyRequests: 0.01}))
	w.join()
	hc := w.rawClient(w.parties[0])
	var status int
	var header http.Header
	var code string
	for range 7 {
		status, header, code = w.ask(hc, "GET", api.PathIdentity, nil, nil)
	}
	wantLater(t, "the seventh request for the identity", status, header, code)
	for range 7 {
		status, header, code = w.ask(hc, "GET", api.Path(api.PathStatus, w.study), nil, nil)
	}
	wantLater(t, "a party's seventh request", status, header, code)
	if status, _, _ := w.ask(w.rawClient(w.parties[1]), "GET", api.Path(api.PathStatus, w.study), nil, nil); status != http.StatusOK {
		t.Errorf("the other party: status %d", status)
	}
	many := http.Header{}
	for i := range 70 {
		many.Set(fmt.Sprint("X-Header-", i), "x")
	}
	if status, _, code := w.ask(w.rawClient(w.parties[1]), "GET", api.Path(api.PathStatus, w.study), many, nil); status != http.StatusRequestHeaderFieldsTooLarge || code != api.CodeBadRequest {
		t.Errorf("70 header fields: %d %s", status, code)
	}
}

// TestQuotas: a party's bundles and bytes, the server's bytes and the disk's reserve
// are looked at before anything is taken, and a resent bundle needs no room.
func TestQuotas(t *testing.T) {
	for _, tc := range []struct {
		name   string
		limits server.Limits
		status int
		code   string
	}{
		{"bundles", server.Limits{PartyBundles: 1}, http.StatusForbidden, api.CodeQuota},
		{"bytes", server.Limits{PartyBytes: 6000}, http.StatusForbidden, api.CodeQuota},
		{"store", server.Limits{StoreBytes: 6000}, http.StatusInsufficientStorage, api.CodeFull},
	} {
		w := newWorld(t, server.WithLimits(tc.limits))
		w.join()
		a, b := w.parties[0], w.parties[1]
		setup := w.setup(a, b)
		if _, err := w.as(a).Send(t.Context(), setup); err != nil {
			t.Fatalf("%s: the first bundle: %v", tc.name, err)
		}
		f, err := os.Open(w.contribution(a, nil))
		if err != nil {
			t.Fatal(err)
		}
		status, _, code := w.ask(w.rawClient(a), "PUT", api.Path(api.PathBundles, w.study), http.Header{"Content-Type": {api.BundleMediaType}}, f)
		f.Close()
		if status != tc.status || code != tc.code {
			t.Errorf("%s: the second bundle: %d %q, want %d %q", tc.name, status, code, tc.status, tc.code)
		}
		if _, err := w.as(a).Send(t.Context(), setup); err != nil {
			t.Errorf("%s: the first bundle again: %v", tc.name, err)
		}
	}
}

// TestFullDisk: a bundle that would touch the reserve is refused with words while
// everything else goes on, and taken when there is room again.
func TestFullDisk(t *testing.T) {
	w := newWorld(t, server.WithLimits(server.Limits{ReserveBytes: 1 << 20}))
	free := int64(1<<20 + 100)
	w.server.SetRoom(func(string) (int64, error) { return free, nil })
	w.join()
	a, b := w.parties[0], w.parties[1]
	_, err := w.as(a).Send(t.Context(), w.setup(a, b))
	wantRefusal(t, "no room", err, api.CodeFull, "nearly full")
	if err := w.server.Ready(t.Context()); err != nil {
		t.Errorf("above the reserve the server is not ready: %v", err)
	}
	free = 1<<20 - 1
	if err := w.server.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "reserve") {
		t.Errorf("below the reserve Ready = %v", err)
	}
	if _, err := w.as(b).Status(t.Context()); err != nil {
		t.Errorf("a full disk and a question: %v", err)
	}
	free = 1 << 30
	if _, err := w.as(a).Send(t.Context(), w.setup(a, b)); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestOps: metrics count what happened, without a name or a hash of anybody, and
// health says what is.
func TestOps(t *testing.T) {
	w := newWorld(t)
	w.join()
	if _, err := w.as(w.parties[0]).Send(t.Context(), w.setup(w.parties[0], w.parties[1])); err != nil {
		t.Fatal(err)
	}
	_, err := w.as(w.parties[0]).Send(t.Context(), w.contribution(w.parties[0], func(d *bundle.Draft) { d.Epoch = wire.Hash{1} }))
	wantRefusal(t, "another epoch", err, api.CodeRefused, "epoch")
	ops, err := w.server.OpsHandler()
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string) (int, string) {
		answer := httptest.NewRecorder()
		ops.ServeHTTP(answer, httptest.NewRequest("GET", path, nil))
		return answer.Code, answer.Body.String()
	}
	if code, text := get(server.PathLive); code != http.StatusOK || text != "{\"status\":\"live\"}\n" {
		t.Errorf("live: %d %s", code, text)
	}
	if code, text := get(server.PathReady); code != http.StatusOK || text != "{\"status\":\"ready\"}\n" {
		t.Errorf("ready: %d %s", code, text)
	}
	code, text := get(server.PathMetrics)
	if code != http.StatusOK {
		t.Fatalf("metrics: %d %s", code, text)
	}
	for _, want := range []string{
		`concord_requests_total{route="POST /v1/studies/{study}/join",status="200"} 2`,
		`concord_requests_total{route="PUT /v1/studies/{study}/bundles",status="200"} 1`,
		`concord_requests_total{route="PUT /v1/studies/{study}/bundles",status="422"} 1`,
		`concord_refusals_total{code="refused"} 1`,
		`concord_stored_bundles{kind="setup"} 1`,
		`concord_studies{state="setup"} 1`,
		`concord_ready 1`,
		`concord_disk_free_bytes`,
		`concord_request_seconds_bucket`,
		`concord_connections`,
		`concord_bytes_total{way="received"}`,
		fmt.Sprintf(`concord_build_info{api="%d"`, api.Version),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	for _, not := range []string{w.study.String(), w.study.Short(), w.parties[0].Statement.Name, w.epoch.Short()} {
		if strings.Contains(text, not) {
			t.Errorf("the metrics hold %q", not)
		}
	}
	stopped := server.New(w.analyst, w.store, nil)
	if err := stopped.Ready(t.Context()); err == nil {
		t.Error("a server that does not serve is ready")
	}
}
