package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/pinned"
	"concord/wire"
)

// hostile is a server that holds the analyst's key and answers as it likes.
func hostile(t *testing.T, answer http.HandlerFunc) *client.Client {
	t.Helper()
	analyst, err := identity.New(identity.RoleAnalyst, "Analyst", nil)
	if err != nil {
		t.Fatal(err)
	}
	party, err := identity.New(identity.RoleParty, "Party", nil)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(answer)
	if srv.TLS, err = pinned.Server(analyst.TLSKey()); err != nil {
		t.Fatal(err)
	}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	c, err := client.Connect(client.Target{Address: srv.Listener.Addr().String()}, wire.Hash{1}, party, analyst.Statement)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestRedirect: a server cannot lead a party out of the pinned connection.
func TestRedirect(t *testing.T) {
	reached := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reached = true
		w.Write([]byte("{}"))
	}))
	defer elsewhere.Close()
	c := hostile(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	if _, err := c.Status(t.Context()); err == nil {
		t.Error("a redirect was taken for an answer")
	}
	if reached {
		t.Error("the client followed a redirect to another server")
	}
}

// TestEscapes: nothing that a server writes moves the cursor of a terminal.
func TestEscapes(t *testing.T) {
	const evil = "ok\x1b[2J\r\u202egnp\x07"
	c := hostile(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/status") {
			w.Write([]byte(`{"state":"ok\u001b[2J","problem":"ok\u001b[2J\r","waiting_for":["ok\u001b]52;c;x\u0007"]}`))
			return
		}
		w.WriteHeader(http.StatusConflict)
		w.Write([]byte(`{"code":"conflict","message":"ok\u001b[2J\r\u202egnp\u0007","hint":"ok\u001b[2J"}`))
	})
	st, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, refusal := c.Roster(t.Context())
	var r *client.Refusal
	if !errors.As(refusal, &r) {
		t.Fatalf("Roster = %v, want a refusal", refusal)
	}
	for _, text := range append([]string{string(st.State), st.Problem, r.Reason, r.Advice}, st.WaitingFor...) {
		if strings.ContainsAny(text, evil[2:3]+"\r\a\u202e") || !strings.HasPrefix(text, "ok") {
			t.Errorf("a terminal would obey %q", text)
		}
	}
}

// TestTooMuch: an answer over its limit is an error, not memory.
func TestTooMuch(t *testing.T) {
	c := hostile(t, func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat("{},", 1<<16))
		w.Write([]byte(`{"bundles":[`))
		for range 1 + api.MaxListBytes/len(chunk) {
			w.Write(chunk)
		}
	})
	if _, err := c.Bundles(t.Context()); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("Bundles = %v, want an error about the size", err)
	}
}
