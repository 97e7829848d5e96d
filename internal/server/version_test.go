package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/pinned"
	"concord/internal/server"
	"concord/internal/store"
	"concord/member"
	"concord/release"
	"concord/secret"
	"concord/wire"
)

// exchange is a recorded request and the status of the answer it got, see
// testdata/version1/record_test.go.
type exchange struct {
	Party  int         `json:"party"`
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
	Status int         `json:"status"`
}

// TestVersion1 plays a study as the clients of version 1 recorded it: every
// request of theirs gets the answer that it got, and a result comes back that they
// can open.
func TestVersion1(t *testing.T) {
	read := func(name string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("testdata", "version1", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	load := func(name string) *identity.Identity {
		t.Helper()
		id, err := identity.Decode(secret.NewBytes(read(name)))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	analyst := load("analyst.identity")
	parties := []*identity.Identity{load("party1.identity"), load("party2.identity")}
	st, err := store.Open(t.TempDir(), analyst)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	hash, err := st.AddStudy(t.Context(), read("contract.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range parties {
		if err := st.AddInvite(t.Context(), hash, wire.HashOf(read(fmt.Sprintf("party%d.secret", i+1))), ""); err != nil {
			t.Fatal(err)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	srv := server.New(analyst, st, slog.New(slog.DiscardHandler))
	srv.SetAround(observe(t, new(answered)))
	go func() { done <- srv.Serve(ctx, ln) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve = %v", err)
		}
	}()
	clients := make([]*http.Client, len(parties))
	for i, id := range parties {
		config, err := pinned.Client(id.TLSKey(), func(wire.Hash) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
		defer clients[i].CloseIdleConnections()
	}
	do := func(e exchange, body []byte) (int, http.Header, []byte) {
		t.Helper()
		req, err := http.NewRequest(e.Method, "https://"+ln.Addr().String()+e.Path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range e.Header {
			req.Header[k] = v
		}
		req.Header.Del("Accept-Encoding") // the client's transport asks for it itself
		resp, err := clients[e.Party-1].Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header, answer
	}
	var recording []exchange
	if err := json.Unmarshal(read("exchange.json"), &recording); err != nil || len(recording) < 15 {
		t.Fatalf("exchange.json holds %d requests (%v)", len(recording), err)
	}
	for i, e := range recording {
		if e.Header.Get(api.HeaderVersion) != "" {
			t.Fatalf("request %d names a version; those of version 1 do not", i+1)
		}
		var body []byte
		if e.Body != "" {
			body = read(e.Body)
		}
		status, header, answer := do(e, body)
		if status != e.Status {
			t.Fatalf("request %d, %s %s: status %d, want %d: %s", i+1, e.Method, e.Path, status, e.Status, answer)
		}
		if got := header.Get(api.HeaderVersion); got != strconv.Itoa(api.Version) {
			t.Errorf("request %d: the answer names version %q, want %d", i+1, got, api.Version)
		}
	}
	// The result is sealed anew every time, so no recording names it.
	deadline := time.Now().Add(30 * time.Second)
	var list struct {
		Bundles []struct {
			Manifest wire.Hash `json:"manifest"`
			Kind     string    `json:"kind"`
		} `json:"bundles"`
	}
	for len(list.Bundles) < 2 {
		if time.Now().After(deadline) {
			t.Fatal("no result after 30 s")
		}
		_, _, answer := do(exchange{Party: 1, Method: "GET", Path: "/v1/studies/" + hash.String() + "/bundles"}, nil)
		if err := json.Unmarshal(answer, &list); err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, b := range list.Bundles {
		if b.Kind != bundle.KindResult {
			continue
		}
		_, _, answer := do(exchange{Party: 1, Method: "GET", Path: "/v1/studies/" + hash.String() + "/bundles/" + b.Manifest.String()}, nil)
		r, err := bundle.Open(bytes.NewReader(answer), int64(len(answer)), bundle.Expect{
			Study: hash, Kind: bundle.KindResult, Sender: analyst.Statement.Fingerprint(), SenderKey: analyst.Statement.SigningKey,
			Recipient: parties[0].Statement.Fingerprint(), Epoch: recordedEpoch(t, hash, read("contract.json"), analyst, parties),
		}, parties[0].AgeIdentity())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Bytes(release.MemberModel, 1<<20); err != nil {
			t.Error(err)
		}
	}
}

func recordedEpoch(t *testing.T, hash wire.Hash, encoded []byte, analyst *identity.Identity, parties []*identity.Identity) wire.Hash {
	t.Helper()
	c, err := contract.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	members := []*identity.Statement{analyst.Statement}
	for _, p := range parties {
		members = append(members, p.Statement)
	}
	r, err := member.NewRoster(c, 1, members)
	if err != nil {
		t.Fatal(err)
	}
	return r.Epoch(hash)
}

// TestVersions: a request of another version is answered or refused as the rule
// says, and a refusal names both versions and who is to upgrade.
func TestVersions(t *testing.T) {
	w := newWorld(t)
	config, err := pinned.Client(newIdentity(t, identity.RoleParty, "North").TLSKey(), func(wire.Hash) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	defer hc.CloseIdleConnections()
	for _, tc := range []struct {
		header  []string
		status  int
		code    string
		message []string
	}{
		{nil, 200, "", nil},
		{[]string{"1"}, 200, "", nil},
		{[]string{strconv.Itoa(api.Version)}, 200, "", nil},
		{[]string{strconv.Itoa(api.Version + 1)}, 400, api.CodeVersion,
			[]string{fmt.Sprintf("version %d", api.Version+1), fmt.Sprintf("version %d", api.Version), "analyst upgrades concordd"}},
		{[]string{"0"}, 400, api.CodeBadRequest, []string{"Concord-Version"}},
		{[]string{"two"}, 400, api.CodeBadRequest, nil},
		{[]string{"02"}, 400, api.CodeBadRequest, nil},
		{[]string{"1", "2"}, 400, api.CodeBadRequest, nil},
		{[]string{strings.Repeat("9", 30)}, 400, api.CodeBadRequest, nil},
	} {
		req, err := http.NewRequest("GET", "https://"+w.address+api.PathIdentity, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range tc.header {
			req.Header.Add(api.HeaderVersion, v)
		}
		resp, err := hc.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var answer api.Error
		err = json.NewDecoder(resp.Body).Decode(&answer)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tc.status || answer.Code != tc.code || resp.Header.Get(api.HeaderVersion) != strconv.Itoa(api.Version) {
			t.Errorf("version %q: %s, version %q, %+v, %v; want %d %q", tc.header, resp.Status, resp.Header.Get(api.HeaderVersion), answer, err, tc.status, tc.code)
		}
		for _, want := range tc.message {
			if !strings.Contains(answer.Message+" "+answer.Hint, want) {
				t.Errorf("version %q: %q, hint %q; want %q in them", tc.header, answer.Message, answer.Hint, want)
			}
		}
	}
}
