package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"concord/internal/api"
	"concord/wire"
)

// TestRetryAfter: a client waits as long as the server says and sends the whole
// request again, but not for longer than its bound, and not without being told how
// long.
func TestRetryAfter(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, tc := range []struct {
		name   string
		status int
		after  []string // of the answers before the success
		tries  int64
		ok     bool
	}{
		{"told to wait", http.StatusTooManyRequests, []string{"1", "1"}, 3, true},
		{"busy", http.StatusServiceUnavailable, []string{"1"}, 2, true},
		{"too long", http.StatusTooManyRequests, []string{"31"}, 1, false},
		{"for ever", http.StatusTooManyRequests, []string{"99999999999999999999"}, 1, false},
		{"a date", http.StatusTooManyRequests, []string{"Fri, 31 Dec 1999 23:59:59 GMT"}, 1, false},
		{"negative", http.StatusTooManyRequests, []string{"-1"}, 1, false},
		{"nothing said", http.StatusTooManyRequests, []string{""}, 1, false},
		{"another status", http.StatusConflict, []string{"1"}, 1, false},
	} {
		var tries atomic.Int64
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := tries.Add(1)
			if b, err := io.ReadAll(r.Body); err != nil || string(b) != `"hello"` {
				t.Errorf("%s: try %d has the body %q, %v", tc.name, n, b, err)
			}
			w.Header().Set(api.HeaderVersion, "2")
			w.Header().Set("Content-Type", "application/json")
			if int(n) <= len(tc.after) {
				if after := tc.after[n-1]; after != "" {
					w.Header().Set(api.HeaderRetryAfter, after)
				}
				w.WriteHeader(tc.status)
				io.WriteString(w, `{"code":"too_many","message":"later"}`)
				return
			}
			io.WriteString(w, "{}")
		}))
		c := &Client{base: srv.URL, study: wire.Hash{1}, http: srv.Client()}
		began := time.Now()
		err := c.sendJSON(t.Context(), http.MethodPost, "/x", "hello", 100, nil)
		var refusal *Refusal
		if tries.Load() != tc.tries || (err == nil) != tc.ok || !tc.ok && !errors.As(err, &refusal) {
			t.Errorf("%s: %d tries, %v; want %d", tc.name, tries.Load(), err, tc.tries)
		}
		if least := time.Duration(tc.tries-1) * time.Second; time.Since(began) < least {
			t.Errorf("%s: it took %v, the server asked for %v", tc.name, time.Since(began), least)
		}
		srv.Close()
	}
	// Interrupted while it waits, it ends at once.
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(api.HeaderRetryAfter, "20")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer srv.Close()
	c := &Client{base: srv.URL, study: wire.Hash{1}, http: srv.Client()}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.exchange(ctx, http.MethodPost, "/x", http.Header{}, bytes.NewReader([]byte("x")), 1); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("interrupted while waiting: %v", err)
	}
}
