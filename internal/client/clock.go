package client

import (
	"net/http"
	"time"
)

// Clock is what an answer told of the server's clock.
type Clock struct {
	// Ahead is how far the server's clock is ahead of this computer's; it is known to
	// a second and to half of RTT.
	Ahead time.Duration
	RTT   time.Duration
}

// ServerClock is what the last answer told of the server's clock; ok is false before
// the first one.
func (c *Client) ServerClock() (clock Clock, ok bool) {
	if p := c.clock.Load(); p != nil {
		return *p, true
	}
	return Clock{}, false
}

// look notes the clock of an answer.
func (c *Client) look(resp *http.Response, asked time.Time) {
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return
	}
	rtt := time.Since(asked)
	// A Date is cut to a second: half of one is added.
	c.clock.Store(&Clock{Ahead: at.Add(time.Second / 2).Sub(asked.Add(rtt / 2)), RTT: rtt})
}
