package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// errStuck ends an upload of which the other end takes nothing.
var errStuck = fmt.Errorf("the other end took no byte for %v", silence)

// wait watches a request until its answer begins: an upload that nobody takes is
// given up, and a wait for an answer that lasts is explained. How long the answer
// itself may take, the transport bounds (answerTimeout).
type wait struct {
	mu    sync.Mutex
	over  bool
	stuck *time.Timer // runs while there is a body to send
	told  *time.Timer
}

func (c *Client) wait(cancel context.CancelCauseFunc) *wait {
	w := &wait{stuck: time.AfterFunc(silence, func() { cancel(errStuck) }), told: time.AfterFunc(patience, func() {})}
	w.stuck.Stop()
	w.told.Stop()
	if notice := c.target.Notice; notice != nil {
		w.told = time.AfterFunc(patience, func() {
			w.mu.Lock() // one notice after the other, and none after the end
			defer w.mu.Unlock()
			if w.over {
				return
			}
			notice(fmt.Sprintf("waiting for the server at %s; it is given up after %v", c.target.Address, answerTimeout))
		})
	}
	return w
}

// end stops the watch: the answer begins, or there is none.
func (w *wait) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.stuck.Stop()
	w.told.Stop()
}

// request makes a request whose body can be read as often as it must be, and keeps
// the watch going while bytes are taken from it.
func (c *Client) request(ctx context.Context, method, path string, body io.ReaderAt, size int64, w *wait) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil || body == nil {
		return req, err
	}
	req.ContentLength = size
	// Each reader has its own place: the transport may still be reading from the last one.
	req.GetBody = func() (io.ReadCloser, error) {
		return io.NopCloser(&watched{io.NewSectionReader(body, 0, size), w}), nil
	}
	req.Body, err = req.GetBody()
	return req, err
}

type watched struct {
	io.Reader
	w *wait
}

// Read tells the watch that bytes go, and when the last went.
func (r *watched) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	switch {
	case r.w.over: // the answer came before all was sent
	case err != nil:
		r.w.stuck.Stop() // all is on its way; what follows is the wait for the answer
	default:
		r.w.stuck.Reset(silence)
		r.w.told.Reset(patience)
	}
	return n, err
}

// cause is why a request ended that this program itself gave up.
func cause(ctx context.Context) error {
	if c := context.Cause(ctx); errors.Is(c, errStuck) || errors.Is(c, errSilent) {
		return c
	}
	return nil
}
