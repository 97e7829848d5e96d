// This file made the recording beside it: the requests that the parties' client of
// version 1 sends through a study. It was copied into internal/server at the last
// commit of version 1 and run there with
//
//	CONCORD_RECORD=DIR go test -run RecordVersion1 ./internal/server
//
// Nobody runs it again: the recording is what programs in the field send.
package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"concord/bundle"
	"concord/identity"
	"concord/internal/pinned"
	"concord/internal/server"
	"concord/member"
)

type recorded struct {
	Party  int                 `json:"party"`
	Method string              `json:"method"`
	Path   string              `json:"path"`
	Header map[string][]string `json:"header"`
	Body   string              `json:"body,omitempty"` // a file
	Status int                 `json:"status"`
}

func TestRecordVersion1(t *testing.T) {
	dir := os.Getenv("CONCORD_RECORD")
	if dir == "" {
		t.Fatal("CONCORD_RECORD names no folder")
	}
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t)
	var log []recorded
	inner := server.New(w.analyst, w.store, slog.New(slog.DiscardHandler)).Handler()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		e := recorded{Method: r.Method, Path: r.URL.Path, Header: r.Header}
		key, err := pinned.PeerKey(r.TLS)
		if err != nil {
			t.Error(err)
		}
		for i, p := range w.parties {
			if p.Statement.TLSKey == key {
				e.Party = i + 1
			}
		}
		if len(body) > 0 {
			e.Body = fmt.Sprintf("%02d.body", len(log)+1)
			write(e.Body, body)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		inner.ServeHTTP(answer, r)
		e.Status = answer.Code
		log = append(log, e)
		for k, v := range answer.Header() {
			rw.Header()[k] = v
		}
		rw.WriteHeader(answer.Code)
		rw.Write(answer.Body.Bytes())
	}))
	config, err := pinned.Server(w.analyst.TLSKey())
	if err != nil {
		t.Fatal(err)
	}
	srv.TLS = config
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	w.address = srv.Listener.Addr().String()

	keys, err := w.analyst.EncodeSecret()
	if err != nil {
		t.Fatal(err)
	}
	write("analyst.identity", keys.Reveal())
	contract, err := w.contract.Encode()
	if err != nil {
		t.Fatal(err)
	}
	write("contract.json", contract)
	for i := range 2 {
		id := identity(t, identity.RoleParty, fmt.Sprintf("Party %d", i+1))
		w.parties = append(w.parties, id)
		if keys, err = id.EncodeSecret(); err != nil {
			t.Fatal(err)
		}
		write(fmt.Sprintf("party%d.identity", i+1), keys.Reveal())
		write(fmt.Sprintf("party%d.secret", i+1), w.secrets[i])
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a, b := w.parties[0], w.parties[1]
	members := []*identity.Statement{w.analyst.Statement, a.Statement, b.Statement}
	for i, id := range w.parties {
		_, err := w.as(id).Join(t.Context(), w.secrets[i], id.Statement.Encode())
		check(err)
		_, err = w.as(id).Roster(t.Context())
		check(err)
	}
	w.roster, err = member.NewRoster(w.contract, 1, members)
	check(err)
	w.epoch = w.roster.Epoch(w.study)
	for _, id := range w.parties {
		check(w.as(id).Confirm(t.Context(), member.Confirm(id, w.study, w.epoch)))
		_, err = w.as(id).Status(t.Context())
		check(err)
	}
	for _, pair := range [][2]*identity.Identity{{a, b}, {b, a}} {
		_, err := w.as(pair[0]).Send(t.Context(), w.setup(pair[0], pair[1]))
		check(err)
	}
	for _, id := range w.parties {
		bundles, err := w.as(id).Bundles(t.Context())
		check(err)
		for _, b := range bundles {
			_, err := w.as(id).Fetch(t.Context(), b.Manifest, io.Discard, 1<<20)
			check(err)
		}
		_, err = w.as(id).Roster(t.Context())
		check(err)
	}
	for _, id := range w.parties {
		path := w.contribution(id, func(*bundle.Draft) {})
		for range 2 { // the second time as after a lost receipt
			_, err := w.as(id).Send(t.Context(), path)
			check(err)
		}
	}
	_, err = w.as(a).Bundles(t.Context())
	check(err)
	list, err := json.MarshalIndent(log, "", "  ")
	check(err)
	write("exchange.json", append(list, '\n'))
}
