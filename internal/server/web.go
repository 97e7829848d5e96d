package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/limit"
	"concord/internal/signed"
	"concord/wire"
)

// WebHandler returns the API for requests that pass a reverse proxy or an
// inspecting proxy: who asks is said by a signature (package signed), and every
// answer to a signed request is signed. prefix is the path under which a proxy has
// the server; it may or may not strip it.
func (s *Server) WebHandler(prefix string) http.Handler {
	inner := s.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = withoutPrefix(r, prefix)
		req, hash, err := signed.ReadRequest(r.Header)
		if req == nil && err == nil {
			// Some paths are for everybody; the others refuse what nobody signed.
			inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), askerKey{}, &asker{})))
			return
		}
		out := &answerWriter{ResponseWriter: w, s: s, request: hash, head: r.Method == http.MethodHead}
		defer out.send()
		// Whose server it is, everybody may ask at any time: who asks first cannot
		// read a refusal, which is signed.
		if err == nil && r.URL.Path != api.PathIdentity {
			err = s.admissible(r, req)
		}
		if err != nil {
			p := toProblem(unsigned(err))
			out.Header().Set(api.HeaderVersion, strconv.Itoa(api.Version))
			s.metrics.refusals.WithLabelValues(p.code).Inc()
			if req != nil {
				s.refusals.count(req.Study, p.code)
			}
			s.log.Info("refused", "route", "signed", "address", limit.Address(r.RemoteAddr), "code", p.code, "reason", p.message)
			writeJSON(out, p.status, Explain(p), s.log)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), askerKey{}, &asker{req}))
		r.Body = signed.CheckBody(r.Body, req.Body)
		inner.ServeHTTP(out, r)
	})
}

// withoutPrefix strips the prefix from a request's path, if it is there.
func withoutPrefix(r *http.Request, prefix string) *http.Request {
	path, ok := strings.CutPrefix(r.URL.Path, prefix)
	raw, rawOK := strings.CutPrefix(r.URL.RawPath, prefix)
	if prefix == "" || !ok || !strings.HasPrefix(path, "/") || r.URL.RawPath != "" && !rawOK {
		return r
	}
	out := r.Clone(r.Context())
	out.URL = &url.URL{Path: path, RawPath: raw, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery}
	return out
}

// asker is who signed a request on its way through WebHandler; req is nil if
// nobody did.
type asker struct{ req *signed.Request }

type askerKey struct{}

// askerOf returns nil for a request that did not come through WebHandler.
func askerOf(r *http.Request) *asker {
	a, _ := r.Context().Value(askerKey{}).(*asker)
	return a
}

func unsigned(err error) error {
	if p, ok := err.(*problem); ok {
		return p
	}
	return &problem{http.StatusForbidden, api.CodeSignature, err.Error(), "repeat the command; if it stays, something between changes requests: run concord doctor", nil}
}

// admissible judges a signed request by what can be seen without its signer's key.
func (s *Server) admissible(r *http.Request, req *signed.Request) error {
	if err := req.Matches(r.Method, r.URL.RequestURI(), r.Header, s.id.Statement.Fingerprint()); err != nil {
		return err
	}
	run, now, _ := s.run.look()
	if skew := req.Skew(now); skew > signed.Window || skew < -signed.Window {
		return &problem{http.StatusForbidden, api.CodeClock,
			fmt.Sprintf("the request was signed at %s by this site's clock, the server's shows %s; they may be %v apart", req.Time.Format(time.DateTime), now.Format(time.DateTime), signed.Window),
			"set this computer's clock and time zone, by NTP if there is a time server; if it is right, tell the analyst", nil}
	}
	if req.Run != nil && !bytes.Equal(req.Run, run[:]) || req.Run == nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return &problem{http.StatusForbidden, api.CodeStale, "the request was signed for an earlier run of the server", "repeat the command", nil}
	}
	if req.Body == signed.Empty && r.ContentLength > 0 {
		return signed.ErrBody
	}
	return nil
}

// signer is the party of a study that signed a request.
func (s *Server) signer(ctx context.Context, a *asker, hash wire.Hash) (party wire.Hash, err error) {
	return s.signerAmong(ctx, a, hash, false)
}

// signerOrLeft is signer for what a party may ask that has left the study.
func (s *Server) signerOrLeft(ctx context.Context, a *asker, hash wire.Hash) (party wire.Hash, err error) {
	return s.signerAmong(ctx, a, hash, true)
}

func (s *Server) signerAmong(ctx context.Context, a *asker, hash wire.Hash, left bool) (party wire.Hash, err error) {
	if a.req == nil {
		return party, s.proved(a, hash, nil)
	}
	v, err := s.view(ctx, hash)
	if err != nil {
		return party, err
	}
	member, ok := v.people[a.req.Party]
	if !ok && left {
		member, ok = v.left[a.req.Party]
	}
	if !ok {
		return party, s.stranger(ctx, hash, func(m *identity.Statement) bool { return m.Fingerprint() == a.req.Party }, "the request was signed by")
	}
	return a.req.Party, s.proved(a, hash, member)
}

// proved makes sure that the party of a statement signed the request, and that it
// was not taken before.
func (s *Server) proved(a *asker, hash wire.Hash, party *identity.Statement) error {
	if err := s.verified(a, hash, party); err != nil {
		return err
	}
	return s.fresh(a)
}

// verified makes sure that the party of a statement signed the request for a study.
func (s *Server) verified(a *asker, hash wire.Hash, party *identity.Statement) error {
	if a.req == nil {
		return &problem{http.StatusForbidden, api.CodeSignature, "the request is not signed", "an older concord, or a proxy that removes the header " + signed.RequestHeader + ", cannot take part in this way; run concord doctor", nil}
	}
	if a.req.Study != hash {
		return unsigned(fmt.Errorf("the request was signed for study %s and arrived for %s", a.req.Study.Short(), hash.Short()))
	}
	if err := a.req.Verify(party); err != nil {
		return unsigned(err)
	}
	return nil
}

// fresh makes sure that a request was not taken before. It is asked only for parties
// and for who has an invite: what is remembered has bounds, and nobody else may fill it.
func (s *Server) fresh(a *asker) error {
	_, _, now := s.run.look()
	switch fresh, full := s.nonces.use(a.req.Party, a.req.Nonce, now); {
	case full:
		return &problem{http.StatusTooManyRequests, api.CodeSignature, "more signed requests came in the last minutes than the server remembers", "wait some minutes", nil}
	case !fresh:
		return &problem{http.StatusForbidden, api.CodeStale, "this very request came before", "repeat the command; if it stays, something between sends requests twice", nil}
	}
	return nil
}

// answerWriter holds an answer back until it is whole, and signs it. A bundle is
// not held: its own sender has signed it.
type answerWriter struct {
	http.ResponseWriter
	s       *Server
	request wire.Hash
	head    bool
	status  int
	body    bytes.Buffer
	passing bool
}

// Unwrap lets http.ResponseController reach the connection.
func (w *answerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader keeps the first status, and passes bundles on.
func (w *answerWriter) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if status == http.StatusOK || status == http.StatusPartialContent {
		w.passing = w.Header().Get("Content-Type") == api.BundleMediaType
	}
	if w.passing {
		w.sign(wire.Hash{})
		w.ResponseWriter.WriteHeader(status)
	}
}

// Write passes the bytes of a bundle on, and keeps those of other answers.
func (w *answerWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.passing {
		return w.ResponseWriter.Write(p)
	}
	return w.body.Write(p)
}

func (w *answerWriter) sign(body wire.Hash) {
	run, _, _ := w.s.run.look()
	w.Header().Set(signed.AnswerHeader, signed.NewAnswer(w.s.id, w.request, w.status, w.Header(), body, run[:]))
}

// send signs and sends what was held back.
func (w *answerWriter) send() {
	w.WriteHeader(http.StatusOK)
	if w.passing {
		return
	}
	body := w.body.Bytes()
	if w.head {
		body = nil
	}
	w.sign(sha256.Sum256(body))
	w.ResponseWriter.WriteHeader(w.status)
	aliveWriter(w.ResponseWriter).Write(body)
}
