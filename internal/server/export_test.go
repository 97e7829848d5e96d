package server

import (
	"net/http"
	"time"
)

// SetAround puts f around the API.
func (s *Server) SetAround(f func(http.Handler) http.Handler) { s.around = f }

// Routes are the patterns of all routes.
func Routes() []string {
	var patterns []string
	new(Server).routes(func(pattern string, _ handler) { patterns = append(patterns, pattern) })
	return patterns
}

// SetRoom replaces what says how much of the disk is free.
func (s *Server) SetRoom(f func(dir string) (int64, error)) { s.guard.room = f }

// Taking are the bytes of bundles that are coming in as one stream.
func (s *Server) Taking() int64 { return s.guard.taking.Load() }

// SetClock replaces the clock, and the time that passes, by which signed requests are
// judged.
func (s *Server) SetClock(now func() (clock time.Time, passed time.Duration)) { s.run.now = now }
