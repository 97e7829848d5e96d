package server_test

import (
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"concord/internal/client"
	"concord/internal/proxytest"
	"concord/member"
)

// TestUploadThroughProxy: with signed requests, through a reverse proxy that lets only
// small bodies pass, tells so with a page of its own, and now and then does not reach
// the server, a bundle arrives whole.
func TestUploadThroughProxy(t *testing.T) {
	w := newWorld(t)
	w.join()
	authority, err := proxytest.NewAuthority("Test authority")
	if err != nil {
		t.Fatal(err)
	}
	const most = 40_000
	var requests, large, failed atomic.Int64
	pass := proxytest.Reverse(w.web, "/trials")
	proxy := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n := requests.Add(1)
		switch {
		case r.ContentLength > most:
			large.Add(1)
			http.Error(rw, "<html>413 Request Entity Too Large</html>", http.StatusRequestEntityTooLarge)
		case n%5 == 0:
			failed.Add(1)
			http.Error(rw, "<html>502 Bad Gateway</html>", http.StatusBadGateway)
		default:
			pass.ServeHTTP(rw, r)
		}
	})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: proxy, TLSConfig: authority.Config()}
	done := make(chan error, 1)
	go func() { done <- srv.ServeTLS(ln, "", "") }()
	defer func() {
		srv.Close()
		<-done
	}()
	var notices []string
	c, err := client.Connect(client.Target{
		TLS: member.TLSWebPKI, Address: ln.Addr().String(), Prefix: "/trials", Roots: authority.PEM(), Pause: time.Millisecond, PartBytes: 150_000,
		Notice: func(s string) { notices = append(notices, s) },
	}, w.study, w.parties[0], w.analyst.Statement)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	path := w.large(w.parties[0], 15_000, nil) // 360 KB
	raw, err := c.Send(t.Context(), path)
	if err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(notices, "\n"))
	}
	if _, err := member.DecodeReceipt(raw, w.analyst.Statement); err != nil {
		t.Error(err)
	}
	w.stored(t, readFile(t, path))
	if large.Load() == 0 || failed.Load() == 0 {
		t.Errorf("%d bodies were too large, %d requests failed: the proxy tried nothing", large.Load(), failed.Load())
	}
	if text := strings.Join(notices, "\n"); !strings.Contains(text, "trying again in") || !strings.Contains(text, "bytes have arrived") {
		t.Errorf("the notices are %s", text)
	}
}
