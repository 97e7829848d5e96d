package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/signed"
	"concord/wire"
)

// signer is a transport that signs every request and accepts only answers that the
// analyst signed. A request that the server calls stale is signed anew, once.
type signer struct {
	id          *identity.Identity
	study       wire.Hash
	fingerprint wire.Hash // the analyst's
	prefix      string
	base        *http.Transport

	mu      sync.Mutex
	analyst *identity.Statement // nil before the server has shown it
	run     []byte              // of the server's process, from its last answer
}

// CloseIdleConnections lets http.Client reach the connections.
func (s *signer) CloseIdleConnections() { s.base.CloseIdleConnections() }

// RoundTrip signs and sends a request.
func (s *signer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if req.Body != nil && req.GetBody == nil {
		return nil, errors.New("client: a request to be signed has a body that cannot be read twice")
	}
	for again := false; ; again = true {
		resp, err := s.once(req)
		if err != nil || again || resp.StatusCode != http.StatusForbidden {
			return resp, err
		}
		body, err := readSoon(resp.Body)
		if err != nil {
			return nil, err
		}
		var answer api.Error
		if json.Unmarshal(body, &answer) != nil || answer.Code != api.CodeStale {
			resp.Body = io.NopCloser(bytes.NewReader(body))
			return resp, nil
		}
	}
}

func (s *signer) once(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	analyst, run := s.analyst, s.run
	s.mu.Unlock()
	out := req.Clone(req.Context())
	r := signed.NewRequest(s.id, s.fingerprint, s.study)
	r.Method, r.Target, r.Run = req.Method, strings.TrimPrefix(req.URL.RequestURI(), s.prefix), run
	r.Cover(req.Header)
	if req.Body != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		if r.Body, err = signed.HashBody(body); err != nil {
			return nil, err
		}
		if out.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	value, asked := r.Header(s.id)
	out.Header.Set(signed.RequestHeader, value)
	resp, err := s.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	if err := s.check(req, resp, asked, analyst); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// check accepts an answer that the analyst signed. The body is compared with what
// was signed while it is read.
func (s *signer) check(req *http.Request, resp *http.Response, asked wire.Hash, analyst *identity.Statement) error {
	if analyst == nil && resp.StatusCode == http.StatusOK && strings.HasSuffix(req.URL.Path, api.PathIdentity) {
		statement, err := s.meet(resp)
		if err != nil {
			return err
		}
		analyst = statement
	}
	if analyst == nil || len(resp.Header.Values(signed.AnswerHeader)) == 0 {
		return interference(resp)
	}
	a, err := signed.ReadAnswer(resp.Header, resp.StatusCode, asked, analyst)
	if err != nil {
		return &Tampered{req.URL.Host, err}
	}
	s.mu.Lock()
	s.analyst, s.run = analyst, a.Run
	s.mu.Unlock()
	// What a proxy says of the time does not count.
	resp.Header.Set("Date", a.Time.Format(http.TimeFormat))
	if !a.Body.IsZero() && req.Method != http.MethodHead {
		resp.Body = &checked{signed.CheckBody(resp.Body, a.Body), req.URL.Host}
	}
	return nil
}

// readSoon reads a short body to its end and closes it, or gives it up after silence.
func readSoon(body io.ReadCloser) ([]byte, error) {
	defer body.Close()
	late := time.AfterFunc(silence, func() { body.Close() })
	b, err := readAll(body, api.MaxMessageBytes)
	if !late.Stop() {
		err = errSilent
	}
	return b, err
}

// checked says whose answer was changed on its way.
type checked struct {
	io.ReadCloser
	host string
}

// Read names the host where the bytes are not those that were signed.
func (b *checked) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, signed.ErrBody) {
		err = &Tampered{b.host, err}
	}
	return n, err
}

// meet reads the analyst's statement from an answer, whose body can be read again.
func (s *signer) meet(resp *http.Response) (*identity.Statement, error) {
	body, err := readSoon(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var answer api.Identity
	if json.Unmarshal(body, &answer) != nil || len(answer.Statement) == 0 {
		return nil, interference(resp)
	}
	if got := wire.HashOf(answer.Statement); got != s.fingerprint {
		return nil, &Tampered{resp.Request.URL.Host, fmt.Errorf("it is the server of another analyst, %s, not of %s", got.Short(), s.fingerprint.Short())}
	}
	statement, err := identity.DecodeStatement(answer.Statement)
	if err != nil {
		return nil, fmt.Errorf("the analyst's statement: %w", err)
	}
	if statement.Role != identity.RoleAnalyst {
		return nil, &Tampered{resp.Request.URL.Host, errors.New("the fingerprint is a party's")}
	}
	return statement, nil
}
