package client

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWait: an upload that nobody takes ends, a wait that lasts is explained, and
// neither happens once the answer has begun.
func TestWait(t *testing.T) {
	for _, test := range []struct {
		name   string
		then   func(*wait, io.Reader)
		after  time.Duration
		cause  error
		notice int
	}{
		{"nobody takes the rest", func(*wait, io.Reader) {}, silence + time.Second, errStuck, 1},
		{"it takes its time", func(_ *wait, r io.Reader) {
			for range 3 {
				time.Sleep(silence - time.Second)
				r.Read(make([]byte, 1))
			}
		}, time.Second, nil, 3},
		{"all is sent, the answer lasts", func(_ *wait, r io.Reader) { io.Copy(io.Discard, r) }, answerTimeout, nil, 1},
		{"the answer comes before all is sent", func(w *wait, r io.Reader) {
			w.end()
			r.Read(make([]byte, 1)) // the transport reads on for a moment
		}, answerTimeout, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				var notices []string
				c := &Client{target: Target{Address: "analyst.example:1", Notice: func(text string) { notices = append(notices, text) }}, base: "https://analyst.example:1"}
				w := c.wait(cancel)
				req, err := c.request(ctx, "PUT", "/x", strings.NewReader("0123456789"), 10, w)
				if err != nil {
					t.Fatal(err)
				}
				req.Body.Read(make([]byte, 1))
				test.then(w, req.Body)
				time.Sleep(test.after)
				synctest.Wait()
				if got := cause(ctx); !errors.Is(got, test.cause) || (got == nil) != (test.cause == nil) {
					t.Errorf("the request ended with %v, want %v", got, test.cause)
				}
				if len(notices) != test.notice || test.notice > 0 && !strings.Contains(notices[0], "waiting for the server at analyst.example:1") {
					t.Errorf("%d notices %q, want %d", len(notices), notices, test.notice)
				}
				w.end()
				cancel(nil)
			})
		})
	}
}
