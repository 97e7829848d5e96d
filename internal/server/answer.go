package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"concord/internal/api"
	"concord/internal/signed"
	"concord/internal/store"
)

// handler answers a request or returns why it cannot.
type handler func(http.ResponseWriter, *http.Request) error

// problem is an answer that is not a success. Its cause goes to the log, never
// to the client.
type problem struct {
	status        int
	code          string
	message, hint string
	cause         error
}

// Error is the message for people.
func (p *problem) Error() string { return p.message }

// Hint is the cure, or "".
func (p *problem) Hint() string { return p.hint }

func forbidden(format string, args ...any) error {
	return &problem{http.StatusForbidden, api.CodeForbidden, fmt.Sprintf(format, args...), "", nil}
}

func refused(err error) error {
	hint := ""
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		hint = h.Hint()
	}
	p := &problem{http.StatusUnprocessableEntity, api.CodeRefused, err.Error(), hint, nil}
	var content contentError
	if errors.As(err, &content) {
		return &private{p, content}
	}
	return p
}

// private is a problem whose words are not for the log.
type private struct {
	*problem
	content contentError
}

// Unwrap gives both to those who look for them.
func (p *private) Unwrap() []error { return []error{p.problem, p.content} }

func notYet(format string, args ...any) error {
	return &problem{http.StatusConflict, api.CodeNotYet, fmt.Sprintf(format, args...), "", nil}
}

func badRequest(format string, args ...any) error {
	return &problem{http.StatusBadRequest, api.CodeBadRequest, fmt.Sprintf(format, args...), "", nil}
}

// wrap turns errors into answers, logs, and keeps the server alive whatever a
// handler does.
func (s *Server) wrap(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started := time.Now()
		s.metrics.underWay.Inc()
		defer s.metrics.underWay.Dec()
		out, body := &measured{ResponseWriter: w}, count(r.Body)
		w, r.Body = out, body
		defer func() { s.metrics.answered(route(r), out, body, time.Since(started)) }()
		// Handlers that read a body push this on while bytes come; for the others
		// it ends a body that nobody reads.
		_ = http.NewResponseController(w).SetReadDeadline(started.Add(transferTimeout))
		var err error
		func() {
			defer func() {
				if v := recover(); v != nil {
					err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
				}
			}()
			if err = checkVersion(w, r); err == nil {
				err = s.before(r)
			}
			if err == nil {
				err = h(w, r)
			}
		}()
		log := s.requestLog(r, time.Since(started))
		if err == nil {
			log.Debug("answered")
			return
		}
		err = s.after(r, err)
		p := toProblem(err)
		s.metrics.refusals.WithLabelValues(p.code).Inc()
		var wait *later
		if errors.As(err, &wait) {
			w.Header().Set(api.HeaderRetryAfter, strconv.Itoa(wait.seconds()))
		}
		if p.cause != nil {
			log.Error("internal error", "error", p.cause)
		} else {
			log.Info("refused", "code", p.code, "reason", reason(err, p))
			s.refusals.add(r, p.code)
		}
		writeJSON(w, p.status, Explain(p), log)
	})
}

// Explain turns an operation's error into what the other side is told. The
// cause of trouble of the server's own is for the log; see api.CodeInternal.
func Explain(err error) api.Error {
	p := toProblem(err)
	return api.Error{Code: p.code, Message: p.message, Hint: p.hint}
}

func toProblem(err error) *problem {
	var p *problem
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &large):
		return &problem{http.StatusRequestEntityTooLarge, api.CodeTooLarge, fmt.Sprintf("the message has more than %d bytes", large.Limit), "", nil}
	case errors.Is(err, signed.ErrBody):
		return unsigned(err).(*problem)
	case errors.Is(err, syscall.ENOSPC):
		return &problem{http.StatusInsufficientStorage, api.CodeFull, "the server's disk is full", "tell the analyst, then try again", err}
	case errors.Is(err, store.ErrNotFound):
		return &problem{http.StatusNotFound, api.CodeNotFound, "no such study or bundle", "", nil}
	case errors.Is(err, store.ErrInvite):
		return &problem{http.StatusForbidden, api.CodeForbidden, store.ErrInvite.Error(), "ask the analyst for a new invite", nil}
	case errors.Is(err, store.ErrTurnedAway):
		return &problem{http.StatusForbidden, api.CodeForbidden, store.ErrTurnedAway.Error(), "ask the analyst", nil}
	case errors.Is(err, store.ErrClosed):
		return &problem{http.StatusConflict, api.CodeConflict, "as many parties have joined as the contract says", "ask the analyst", nil}
	case errors.Is(err, store.ErrConflict):
		return &problem{http.StatusConflict, api.CodeConflict, err.Error(), "join under another name and in another folder, or ask the analyst", nil}
	}
	return &problem{http.StatusInternalServerError, api.CodeInternal, "the server had trouble with this request; its log says more", "try again, then ask the analyst", err}
}

func writeJSON(w http.ResponseWriter, status int, v any, log *slog.Logger) {
	b, err := json.Marshal(v)
	if err != nil {
		log.Error("encode answer", "error", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	aliveWriter(w).Write(b)
}

func (s *Server) ok(w http.ResponseWriter, v any) error {
	writeJSON(w, http.StatusOK, v, s.log)
	return nil
}

// readJSON reads a message of limited size, strictly.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	dec := json.NewDecoder(http.MaxBytesReader(w, alive(w, r.Body), api.MaxMessageBytes))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) || errors.Is(err, signed.ErrBody) {
			return err
		}
		return badRequest("the message is not the JSON that this path takes")
	}
	if _, err := dec.Token(); errors.Is(err, signed.ErrBody) {
		return err
	} else if !errors.Is(err, io.EOF) {
		return badRequest("there is data after the JSON message")
	}
	return nil
}

// alive returns a reader that gives a transfer time as long as bytes come.
func alive(w http.ResponseWriter, body io.Reader) io.ReadCloser {
	return &idleReader{r: body, c: http.NewResponseController(w)}
}

type idleReader struct {
	r   io.Reader
	c   *http.ResponseController
	set time.Time // when the deadline was last moved
}

// deadlineStep is how often a deadline is moved at most: moving it has its cost, and
// seconds do not matter to it.
const deadlineStep = time.Second

// Read moves the deadline and reads.
func (r *idleReader) Read(p []byte) (int, error) {
	// A connection that cannot take a deadline is a test's, in memory.
	if now := time.Now(); now.Sub(r.set) > deadlineStep {
		_ = r.c.SetReadDeadline(now.Add(transferTimeout))
		r.set = now
	}
	return r.r.Read(p)
}

// Close does nothing: the request is closed by the server.
func (r *idleReader) Close() error { return nil }

// aliveWriter gives a transfer time as long as the client takes bytes.
func aliveWriter(w http.ResponseWriter) io.Writer {
	return &idleWriter{w: w, c: http.NewResponseController(w)}
}

type idleWriter struct {
	w   io.Writer
	c   *http.ResponseController
	set time.Time
}

// Write moves the deadline and writes.
func (w *idleWriter) Write(p []byte) (int, error) {
	if now := time.Now(); now.Sub(w.set) > deadlineStep {
		_ = w.c.SetWriteDeadline(now.Add(transferTimeout))
		w.set = now
	}
	return w.w.Write(p)
}
