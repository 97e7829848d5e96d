package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// conns tells connections that ask something from those that never get that far:
// whoever scans ports, sends what is not HTTP, headers without end or bytes too slowly.
// The log has them with --verbose, so that nothing that reaches the server goes without
// a line.
type conns struct {
	log  *slog.Logger
	open sync.Map // net.Conn to *atomic.Bool, whether it has asked
}

// askedKey is the key of a connection's flag in the contexts of its requests.
type askedKey struct{}

// context gives the requests of a connection its flag.
func (c *conns) context(ctx context.Context, conn net.Conn) context.Context {
	asked := new(atomic.Bool)
	c.open.Store(conn, asked)
	return context.WithValue(ctx, askedKey{}, asked)
}

// state notes connections that end without having asked anything.
func (c *conns) state(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed && state != http.StateHijacked {
		return
	}
	asked, ok := c.open.LoadAndDelete(conn)
	if ok && !asked.(*atomic.Bool).Load() {
		c.log.Debug("a connection ended without a request", "remote", conn.RemoteAddr().String())
	}
}

// handler marks the connections of what it answers.
func (c *conns) handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked, ok := r.Context().Value(askedKey{}).(*atomic.Bool); ok {
			asked.Store(true)
		}
		h.ServeHTTP(w, r)
	})
}
