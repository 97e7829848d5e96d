package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/server"
	"concord/internal/signed"
	"concord/wire"
)

func b64(b []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(b)) }

// send sends a request to the web front byte for byte: net/http's client would clean
// its path and its headers.
func (w *world) send(t testing.TB, method, target string, body []byte, h http.Header) (int, api.Error) {
	t.Helper()
	conn, err := net.Dial("tcp", w.web)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n", method, target, host, len(body))
	for name, values := range h {
		for _, v := range values {
			fmt.Fprintf(&head, "%s: %s\r\n", name, v)
		}
	}
	head.WriteString("\r\n")
	head.Write(body)
	if _, err := conn.Write(head.Bytes()); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer api.Error
	json.NewDecoder(resp.Body).Decode(&answer) // a success says something else
	return resp.StatusCode, answer
}

// raw signs and sends a request as a party.
func (w *world) raw(t testing.TB, id *identity.Identity, method, target string, body []byte, change func(*signed.Request)) (int, api.Error) {
	t.Helper()
	r := signed.NewRequest(id, w.analyst.Statement.Fingerprint(), w.study)
	r.Method, r.Target, r.Body, r.Run = method, target, wire.HashOf(body), w.run(t)
	if change != nil {
		change(r)
	}
	value, _ := r.Header(id)
	return w.send(t, method, target, body, http.Header{signed.RequestHeader: {value}})
}

// run asks the server which run it is.
func (w *world) run(t testing.TB) []byte {
	t.Helper()
	id := newIdentity(t, identity.RoleParty, "Asker")
	r := signed.NewRequest(id, w.analyst.Statement.Fingerprint(), w.study)
	r.Method, r.Target = "GET", api.PathIdentity
	value, asked := r.Header(id)
	req, err := http.NewRequest("GET", "http://"+w.web+api.PathIdentity, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(signed.RequestHeader, value)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	a, err := signed.ReadAnswer(resp.Header, resp.StatusCode, asked, w.analyst.Statement)
	if err != nil {
		t.Fatal(err)
	}
	return a.Run
}

// serveAgain serves the same store by another process, as far as it can tell.
func (w *world) serveAgain(t testing.TB) *world {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	srv := server.New(w.analyst, w.store, slog.New(slog.DiscardHandler))
	go func() { done <- srv.ServeFronts(ctx, server.Front{Listener: ln, Web: true}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("ServeFronts = %v", err)
		}
	})
	again := *w
	again.web = ln.Addr().String()
	return &again
}
