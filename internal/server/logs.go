package server

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"concord/internal/limit"
	"concord/wire"
)

// What the log may carry: times, routes (never a path as it came), addresses of
// clients, short hashes of studies, bundles and parties, names of parties as they
// stand in the roster, kinds and sizes of bundles, codes of refusals, and the
// server's own trouble. It never carries a value, a label, a name of a feature or a
// level, a count of rows, a secret or a key, nor what a client wrote. What is wrong
// with the content of a contribution, the party is told and the analyst sees with
// concordd status; the log says only that it was refused.

// contentError is what is wrong with the content of a contribution: its words are
// for the party.
type contentError struct{ error }

// Unwrap is the cause.
func (e contentError) Unwrap() error { return e.error }

// Hint is the cause's.
func (e contentError) Hint() string {
	var h interface{ Hint() string }
	if errors.As(e.error, &h) {
		return h.Hint()
	}
	return ""
}

// reason is what the log says of a refusal.
func reason(err error, p *problem) string {
	var content contentError
	if errors.As(err, &content) {
		return "the content of the contribution"
	}
	return p.message
}

// requestLog is the log of one request.
func (s *Server) requestLog(r *http.Request, took time.Duration) *slog.Logger {
	log := s.log.With("route", route(r), "address", limit.Address(r.RemoteAddr), "seconds", took.Seconds())
	if hash, err := wire.ParseHash(r.PathValue("study")); err == nil {
		log = log.With("study", hash.Short())
	}
	return log
}

// route is the pattern that a request matched; of a path that is none, not even the
// method is the server's own word.
func route(r *http.Request) string {
	if r.Pattern == "/" || r.Pattern == "" {
		return "none"
	}
	return r.Pattern
}
