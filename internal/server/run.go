package server

import (
	"crypto/rand"
	"sync"
	"time"

	"concord/internal/signed"
)

// mostBack is how far the server's clock may be set back without a new run: what time
// servers correct all the time.
const mostBack = time.Second

// run names this process in signed requests, which are good once and for some minutes. The
// server remembers their nonces as long, by time that passes and not by its clock. Were
// the clock set back, requests that it has forgotten would be good again: it draws a new
// name then, and whatever was signed for the old one is stale, as after a restart.
type run struct {
	// now is the clock's time, and the time that has passed since some moment.
	now func() (clock time.Time, passed time.Duration)

	mu   sync.Mutex
	name [signed.RunSize]byte
	// begun is the latest time that the clock has implied for that moment.
	begun time.Time
}

// newRun begins a run by the computer's clock.
func newRun() *run {
	started := time.Now()
	r := &run{now: func() (time.Time, time.Duration) {
		now := time.Now()
		return now.UTC(), now.Sub(started) // by the monotonic clock
	}}
	rand.Read(r.name[:])
	return r
}

// look returns the run's name and the time, by the clock and as it passes.
func (r *run) look() (name [signed.RunSize]byte, clock, passing time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clock, passed := r.now()
	switch begun := clock.Add(-passed); {
	case r.begun.Sub(begun) > mostBack:
		rand.Read(r.name[:])
		r.begun = begun
	case begun.After(r.begun):
		r.begun = begun
	}
	return r.name, clock, time.Unix(0, 0).Add(passed)
}
