package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/pinned"
	"concord/member"
	"concord/wire"
)

// Target says where a server is and what stands between. An invite names it.
type Target struct {
	// TLS is member.TLSPinned, also if empty, or member.TLSWebPKI.
	TLS     string
	Address string // host:port
	Prefix  string // a reverse proxy's path, for webpki
	// Roots are certificates in PEM that are trusted besides the system's, for webpki:
	// an inspecting proxy's.
	Roots []byte
	// Proxy chooses the forward proxy; nil means as HTTPS_PROXY and NO_PROXY say.
	Proxy func(*http.Request) (*url.URL, error)
	// Notice is told what a long wait is for; nil tells nobody.
	Notice func(string)
	// Progress is told how much of a transfer is done, in bytes; nil tells nobody.
	Progress func(what string, done, total int64)
	// PartBytes is the most that one request of an upload carries; 0 means 32 MiB.
	PartBytes int64
	// Pause is the first pause before something that broke off is tried again; it
	// doubles. 0 means a second.
	Pause time.Duration
}

// Invited is the target that an invite names.
func Invited(v member.Invite) Target {
	return Target{TLS: v.TLS, Address: v.Address, Prefix: v.Prefix}
}

// URL is where the API of a target begins.
func (t Target) URL() string { return "https://" + t.Address + t.Prefix }

func (t Target) web() bool { return t.TLS == member.TLSWebPKI }

// Connect makes a client that accepts only the analyst's server: by its TLS key, or
// by the signature of its answers. Nothing is sent yet.
func Connect(t Target, hash wire.Hash, id *identity.Identity, analyst *identity.Statement) (*Client, error) {
	if t.web() {
		return web(t, hash, &signer{id: id, study: hash, fingerprint: analyst.Fingerprint(), analyst: analyst})
	}
	return pin(t, hash, id, func(key wire.Hash, cs *tls.ConnectionState) error {
		if key != analyst.TLSKey {
			return pinned.Wrong(cs)
		}
		return nil
	})
}

// Meet makes the first contact: it asks the server for the analyst's statement
// and accepts it only if its fingerprint is the invite's, and the connection
// holds its TLS key or the answer its signature. No secret is sent before that.
func Meet(ctx context.Context, t Target, hash wire.Hash, id *identity.Identity, fingerprint wire.Hash) (*Client, *identity.Statement, error) {
	if t.web() {
		return meetWeb(ctx, t, hash, id, fingerprint)
	}
	var mu sync.Mutex
	var first *tls.ConnectionState // its key is pinned for every later connection
	var seen wire.Hash
	c, err := pin(t, hash, id, func(key wire.Hash, cs *tls.ConnectionState) error {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first, seen = cs, key
		}
		if key != seen {
			return pinned.Wrong(cs)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var answer api.Identity
	err = c.getJSON(ctx, api.PathIdentity, api.MaxMessageBytes, &answer)
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		var other *pinned.WrongKey
		if first != nil && errors.As(pinned.Wrong(first), &other) && other.Issuer != "" {
			err = &Unreachable{t.Address, other} // whoever answered, it was not a pinned server
		}
		return nil, nil, err
	}
	if wire.HashOf(answer.Statement) != fingerprint {
		return nil, nil, &Unreachable{t.Address, pinned.Wrong(first)}
	}
	statement, err := identity.DecodeStatement(answer.Statement)
	if err != nil {
		return nil, nil, fmt.Errorf("the analyst's statement: %w", err)
	}
	if statement.Role != identity.RoleAnalyst || statement.TLSKey != seen {
		return nil, nil, &Unreachable{t.Address, pinned.Wrong(first)}
	}
	return c, statement, nil
}

func meetWeb(ctx context.Context, t Target, hash wire.Hash, id *identity.Identity, fingerprint wire.Hash) (*Client, *identity.Statement, error) {
	s := &signer{id: id, study: hash, fingerprint: fingerprint}
	c, err := web(t, hash, s)
	if err != nil {
		return nil, nil, err
	}
	// The signer learns the analyst's statement from this answer and checks it.
	if err := c.getJSON(ctx, api.PathIdentity, api.MaxMessageBytes, nil); err != nil {
		return nil, nil, err
	}
	return c, s.analyst, nil
}

// pin makes a client over pinned TLS.
func pin(t Target, hash wire.Hash, id *identity.Identity, accept func(wire.Hash, *tls.ConnectionState) error) (*Client, error) {
	config, err := pinned.ClientSeeing(id.TLSKey(), accept)
	if err != nil {
		return nil, err
	}
	t.Prefix = ""
	return build(t, hash, transport(t, config), nil), nil
}

// web makes a client that signs its requests.
func web(t Target, hash wire.Hash, s *signer) (*Client, error) {
	config, err := t.Config()
	if err != nil {
		return nil, err
	}
	s.base = transport(t, config)
	s.prefix = t.Prefix
	return build(t, hash, s, s), nil
}

// ChooseProxy is the forward proxy of a request, nil if there is none. Its errors do not
// quote the variable, which may hold a password.
func (t Target) ChooseProxy(req *http.Request) (*url.URL, error) {
	choose := t.Proxy
	if choose == nil {
		choose = http.ProxyFromEnvironment
	}
	u, err := choose(req)
	// What does not parse is tried again by net/http with http:// before it.
	if err != nil || u != nil && (u.Hostname() == "" || u.Hostname() == "http" || u.Hostname() == "https") {
		return nil, &ProxyError{Variable: ProxyVariable()}
	}
	return u, nil
}

// Config is the TLS configuration of a webpki target.
func (t Target) Config() (*tls.Config, error) {
	roots, err := x509.SystemCertPool()
	if err != nil || roots == nil {
		roots = x509.NewCertPool() // a system without any
	}
	if len(t.Roots) > 0 && !roots.AppendCertsFromPEM(t.Roots) {
		return nil, errors.New("the file of certificates that this site trusts holds none in PEM")
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, nil
}

func build(t Target, hash wire.Hash, rt http.RoundTripper, s *signer) *Client {
	return &Client{
		target: t,
		base:   t.URL(),
		study:  hash,
		signer: s,
		// A redirect would lead to where nobody is known.
		http: &http.Client{Transport: rt, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

func transport(t Target, config *tls.Config) *http.Transport {
	return &http.Transport{
		Proxy:                  t.ChooseProxy,
		OnProxyConnectResponse: refusedByProxy,
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  answerTimeout,
		// HTTP/1.1: requests go one after the other, and large bodies faster than in the
		// frames and windows of HTTP/2.
		ForceAttemptHTTP2: false,
	}
}
