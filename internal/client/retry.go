package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"

	"concord/internal/api"
	"concord/internal/pinned"
	"concord/wire"
)

// A transfer that breaks off is taken up again by itself, a bounded number of times:
// failures are counted anew when something has arrived in between.
const (
	maxFailures = 8
	// maxFirst failures are borne before the server has answered at all: it is down
	// then, or the address is wrong, and a person should know soon.
	maxFirst   = 3
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// retry repeats the rounds of one transfer.
type retry struct {
	c *Client
	// where says how far the transfer is: what people read between two rounds.
	where  func() string
	failed int
	at     int64 // what had arrived when it failed last
}

// run does rounds until one ends well, or with an error that no repetition cures, or
// too many have failed in a row. at says how much has arrived.
func (r *retry) run(ctx context.Context, at func() int64, round func() error) error {
	for {
		err := round()
		if err == nil {
			return nil
		}
		if now := at(); now > r.at {
			r.at, r.failed = now, 0
		}
		r.failed++
		most := maxFailures
		if r.c.ServerVersion() == 0 {
			most = maxFirst
		}
		switch {
		case ctx.Err() != nil || !passes(err):
			return err
		case r.failed >= most:
			return &GaveUp{Tries: r.failed, Where: r.where(), Cause: err}
		}
		pause := min(r.c.firstPause()<<(r.failed-1), maxPause)
		r.c.notice("%v; %s; trying again in %v (%d of %d)", err, r.where(), pause, r.failed, most-1)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// passes says whether an error may be gone at the next try.
func passes(err error) bool {
	var refusal *Refusal
	var between *Interference
	var proxy *ProxyError
	var away *Unreachable
	var dns *net.DNSError
	var own *fs.PathError
	switch {
	case errors.As(err, &own): // this computer's disk, whose errors look like a network's
		return false
	case errors.As(err, &refusal):
		switch refusal.Code {
		case api.CodeOffset, api.CodeLocked, api.CodeTooMany, api.CodeBusy, api.CodeInternal, api.CodeStale, codeBegin:
			return true
		}
		return false
	case errors.As(err, &between):
		return passingStatus(between.Status)
	case errors.As(err, &proxy):
		return proxy.Status == 0 || passingStatus(proxy.Status)
	case errors.As(err, &away):
		return !errors.Is(err, pinned.ErrWrongKey) && !untrusted(err) && !(errors.As(err, &dns) && dns.IsNotFound)
	}
	var network net.Error
	return errors.Is(err, errSilent) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

func passingStatus(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// GaveUp is returned when a transfer broke off too often.
type GaveUp struct {
	Tries int
	Where string
	Cause error
}

// Error says why, and how far the transfer is.
func (e *GaveUp) Error() string {
	return fmt.Sprintf("%v; %s; given up after %d tries without progress", e.Cause, e.Where, e.Tries)
}

// Unwrap returns the cause of the last failure.
func (e *GaveUp) Unwrap() error { return e.Cause }

// Hint is the cause's, if it has one.
func (e *GaveUp) Hint() string {
	var h interface{ Hint() string }
	if errors.As(e.Cause, &h) && h.Hint() != "" {
		return h.Hint()
	}
	return "repeat the command when the network is better: it goes on where it stopped"
}

func (c *Client) firstPause() time.Duration {
	if c.target.Pause > 0 {
		return c.target.Pause
	}
	return firstPause
}

// notice tells people something while they wait.
func (c *Client) notice(format string, args ...any) {
	if c.target.Notice != nil {
		c.target.Notice(wire.Printable(fmt.Sprintf(format, args...)))
	}
}

func (c *Client) progress(what string, done, total int64) {
	if c.target.Progress != nil {
		c.target.Progress(what, done, total)
	}
}
