package server

import "net/http"

// SetAround puts f around the API.
func (s *Server) SetAround(f func(http.Handler) http.Handler) { s.around = f }

// Routes are the patterns of all routes.
func Routes() []string {
	var patterns []string
	new(Server).routes(func(pattern string, _ handler) { patterns = append(patterns, pattern) })
	return patterns
}
