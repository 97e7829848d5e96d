// Package server is the analyst's server: it keeps what parties send, relays
// what they seal for each other without being able to read it, and runs the
// analyst's steps when every contribution is there.
//
// Start with [New] and [Server.Handler], or [Server.Serve] for the whole thing
// over TLS. A connection is authenticated by its key (package pinned); what a
// bundle says is authenticated by its sender's signature (package bundle).
// Every answer that acknowledges something is given after it is durable
// (package store). No handler trusts a size, a shape or a name in a message.
//
// What a message does, the operations do: [Server.Join], [Server.Confirm],
// [Server.TakeBundle] and their like, which take a study and a party whom the
// caller has authenticated. The HTTP handlers are one such caller. [Explain]
// says which of an operation's errors the other side may read.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/pinned"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

// Times after which a silent connection is given up. They bound idleness, not
// the length of a transfer.
const (
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute
	transferTimeout = 30 * time.Second // without a single byte
	shutdownTimeout = 10 * time.Second
	// retryAfter is when a job is tried again that failed for the server's own
	// trouble, a full disk for example.
	retryAfter = 30 * time.Second
	// lookEvery is how often the server looks for what another program has stored.
	lookEvery = time.Second
)

// maxChecking contributions are opened and checked at a time.
const maxChecking = 2

// Server is the analyst's server. Make one with New.
type Server struct {
	id    *identity.Identity
	store *store.Store
	log   *slog.Logger

	mu     sync.Mutex
	chains map[wire.Hash]*member.Chain // see chainOf; they do not change
	views  map[wire.Hash]*cached       // see view
	// uploading has the parties with an upload under way, by study.
	uploading map[[2]wire.Hash]bool
	contracts sync.Map // wire.Hash to *contract.Contract, decoded
	prints    sync.Map // *identity.Statement to wire.Hash, its fingerprint

	run    *run // names this process in signed requests
	nonces nonces

	refusals refusals

	// around goes around the API; for tests.
	around func(http.Handler) http.Handler

	uploads uploads
	guard   *guard
	metrics *metrics
	working atomic.Bool // runJobs runs
	// checking bounds how many contributions are checked at once.
	checking chan struct{}
	wake     chan struct{} // something arrived: look whether a study is complete
}

// New makes a server on an open store, which stays the caller's to close.
func New(id *identity.Identity, st *store.Store, log *slog.Logger, options ...Option) *Server {
	s := &Server{
		id:        id,
		store:     st,
		log:       log,
		chains:    map[wire.Hash]*member.Chain{},
		views:     map[wire.Hash]*cached{},
		uploading: map[[2]wire.Hash]bool{},
		uploads:   uploads{parts: map[store.UploadID]*turn{}, checks: map[store.UploadID]*check{}},
		checking:  make(chan struct{}, maxChecking),
		wake:      make(chan struct{}, 1),
		run:       newRun(),
	}
	s.guard, s.metrics = newGuard(Limits{}), newMetrics()
	for _, o := range options {
		o(s)
	}
	return s
}

// Front is a listener and how requests that come by it say who asks.
type Front struct {
	Listener net.Listener
	// Web is false for pinned TLS: the connection proves the party's key. If it is
	// true requests are signed (see WebHandler) and TLS, if any, is with a public
	// certificate.
	Web bool
	// TLS is the configuration with the public certificate; nil for plain HTTP, which
	// a reverse proxy turns into HTTPS. For Web only.
	TLS *tls.Config
	// Prefix is the path under which a reverse proxy has the server, or "". For Web
	// only.
	Prefix string
}

// Serve answers on ln over pinned TLS until ctx ends, and runs due jobs. It
// returns nil after an orderly end.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	return s.ServeFronts(ctx, Front{Listener: ln})
}

// ServeFronts answers on several listeners until ctx ends or one of them fails,
// and runs due jobs. It returns nil after an orderly end.
func (s *Server) ServeFronts(ctx context.Context, fronts ...Front) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	servers := make([]*http.Server, len(fronts))
	for i, f := range fronts {
		handler, config := s.Handler(), f.TLS
		if f.Web {
			handler = s.WebHandler(f.Prefix)
			if f.TLS == nil {
				handler = forwarded(handler)
			}
		} else {
			var err error
			if config, err = pinned.Server(s.id.TLSKey()); err != nil {
				return fmt.Errorf("server: %w", err)
			}
		}
		seen := &conns{log: s.log}
		servers[i] = &http.Server{
			Handler:           seen.handler(handler),
			ConnContext:       seen.context,
			ConnState:         seen.state,
			TLSConfig:         config,
			ReadHeaderTimeout: headerTimeout,
			IdleTimeout:       idleTimeout,
			MaxHeaderBytes:    maxHeaderBytes,
			HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
			ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		}
	}
	var running sync.WaitGroup
	running.Go(func() { s.runJobs(ctx) })
	running.Go(func() { s.sweepUploads(ctx) })
	running.Go(func() { s.noteRefusals(ctx) })
	failed := make(chan error, len(fronts))
	for i, srv := range servers {
		running.Go(func() {
			defer cancel()
			err := serveOne(srv, s.listen(fronts[i].Listener))
			if !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("server: %w", err)
			}
		})
		running.Go(func() {
			<-ctx.Done()
			end, stop := context.WithTimeout(context.Background(), shutdownTimeout)
			defer stop()
			if err := srv.Shutdown(end); err != nil {
				srv.Close()
			}
		})
	}
	running.Wait()
	s.uploads.running.Wait()
	close(failed)
	return <-failed // nil if none is in it
}

func serveOne(srv *http.Server, ln net.Listener) error {
	if srv.TLSConfig == nil {
		return srv.Serve(ln)
	}
	return srv.ServeTLS(ln, "", "")
}

// Handler returns the API without TLS; requests must carry a connection state
// with the client's certificate.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	s.routes(func(pattern string, h handler) { mux.Handle(pattern, s.wrap(h)) })
	if s.around != nil {
		return s.around(mux)
	}
	return mux
}

// routes calls handle for every route of the API. Each is described in
// api/openapi.json.
func (s *Server) routes(handle func(pattern string, h handler)) {
	handle("GET "+api.PathHealth, s.health)
	handle("GET "+api.PathDescription, s.describe)
	handle("GET "+api.PathIdentity, s.identity)
	handle("POST "+api.PathJoin, s.postJoin)
	handle("GET "+api.PathRoster, s.roster)
	handle("POST "+api.PathConfirmations, s.confirm)
	handle("POST "+api.PathAmendments, s.amend)
	handle("GET "+api.PathStatus, s.status)
	handle("POST "+api.PathAudit, s.audit)
	handle("PUT "+api.PathBundles, s.putBundle)
	handle("GET "+api.PathBundles, s.listBundles)
	handle("OPTIONS "+api.PathUploads, tus(s.uploadOptions))
	handle("POST "+api.PathUploads, tus(s.postUpload))
	handle("HEAD "+api.PathUpload, tus(s.headUpload))
	handle("PATCH "+api.PathUpload, tus(s.patchUpload))
	handle("POST "+api.PathUpload, tus(s.postToUpload))
	handle("DELETE "+api.PathUpload, tus(s.deleteUpload))
	handle("GET "+api.PathUpload, tus(s.uploadReceipt))
	handle("GET "+api.PathBundle, s.getBundle)
	handle("/", func(http.ResponseWriter, *http.Request) error {
		return &problem{http.StatusNotFound, api.CodeNotFound, "there is nothing at this path", "", nil}
	})
}
