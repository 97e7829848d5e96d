package server

import (
	"math"
	"net/http"
	"time"

	"concord/internal/api"
)

// later is a problem that goes away by itself: its answer says when to try again.
type later struct {
	problem
	after time.Duration
}

// Unwrap gives the problem to those who look for one.
func (l *later) Unwrap() error { return &l.problem }

// seconds is what the header Retry-After says: whole ones, at least one.
func (l *later) seconds() int { return max(1, int(math.Ceil(l.after.Seconds()))) }

func tooMany(after time.Duration, message, hint string) error {
	return &later{problem{http.StatusTooManyRequests, api.CodeTooMany, message, hint, nil}, after}
}
