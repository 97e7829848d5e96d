package doctor

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/pinned"
	"concord/internal/signed"
	"concord/member"
	"concord/wire"
)

// stepTimeout bounds every step on the way to the server.
const stepTimeout = 10 * time.Second

// expiring is how long before its end a certificate is a warning.
const expiring = 14 * 24 * time.Hour

// Server is what is known of the server that Network looks for.
type Server struct {
	Target client.Target
	Study  wire.Hash
	// Fingerprint is the analyst's; Analyst its statement, nil before a site has
	// joined.
	Fingerprint wire.Hash
	Analyst     *identity.Statement
}

// Network goes the way to a server step by step: proxy, name, connection, TLS, the
// analyst's answer, version, clock. It stops where the way ends, and returns a client
// if it came through, for the caller to close.
func Network(ctx context.Context, r *Report, s Server, id *identity.Identity) *client.Client {
	r.OK("server", "%s, tls %s", s.Target.URL(), mode(s.Target))
	proxy, err := chosen(r, s.Target)
	if err != nil {
		return nil
	}
	var seen wire.Hash
	if proxy != nil && proxy.Scheme != "http" && proxy.Scheme != "https" {
		r.Warn("tcp", "a proxy of kind "+proxy.Scheme+" is not looked at step by step", "whether it works, the next line shows")
	} else {
		conn := dial(ctx, r, s.Target.Address, proxy)
		if conn == nil {
			return nil
		}
		defer conn.Close()
		seen = handshake(ctx, r, conn, s)
	}
	return answer(ctx, r, s, id, seen)
}

func mode(t client.Target) string {
	if t.TLS == member.TLSWebPKI {
		return member.TLSWebPKI
	}
	return member.TLSPinned
}

// chosen says which proxy is used and why.
func chosen(r *Report, t client.Target) (*url.URL, error) {
	req, err := http.NewRequest(http.MethodGet, t.URL(), nil)
	if err != nil {
		r.Err("proxy", err, "copy the whole invite again")
		return nil, err
	}
	variable := client.ProxyVariable()
	proxy, err := t.ChooseProxy(req)
	none, _ := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: "https", Host: "other.invalid"}})
	switch {
	case err != nil:
		r.Err("proxy", err, "")
	case proxy != nil:
		who := ""
		if proxy.User != nil {
			who = ", with a name and a password"
		}
		r.OK("proxy", "%s, from %s%s", proxy.Host, variable, who)
	case none != nil:
		r.OK("proxy", "none for this address: NO_PROXY names it, or it is this computer; %s names %s for others", variable, none.Host)
	default:
		r.OK("proxy", "none: HTTPS_PROXY is not set")
	}
	return proxy, err
}

// dial connects to the server, through the proxy if there is one.
func dial(ctx context.Context, r *Report, address string, proxy *url.URL) net.Conn {
	to, what := address, "the server"
	if proxy != nil {
		to, what = proxy.Host, "the proxy"
		switch {
		case proxy.Port() != "":
		case proxy.Scheme == "https":
			to = net.JoinHostPort(proxy.Hostname(), "443")
		default:
			to = net.JoinHostPort(proxy.Hostname(), "80")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	host, _, err := net.SplitHostPort(to)
	if err != nil {
		r.Err("dns", err, "an address is host:port")
		return nil
	}
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		cure := "check the name; where only a proxy knows names, set HTTPS_PROXY"
		if proxy != nil {
			cure = "check the proxy's name in HTTPS_PROXY; NO_PROXY names hosts that need no proxy"
		}
		r.Fail("dns", fmt.Sprintf("the name of %s, %s, is not known here: %v", what, host, err), cure)
		return nil
	}
	how := ""
	if proxy != nil {
		how = "; the proxy looks up the server's name itself"
	}
	r.OK("dns", "%s is %s%s", host, strings.Join(addresses[:min(3, len(addresses))], ", "), how)
	begun := time.Now()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", to)
	if err != nil {
		cure := "check address and port, a firewall, and whether it is running"
		if proxy != nil {
			cure = "check the proxy's address and port in HTTPS_PROXY; NO_PROXY names hosts that need no proxy"
		}
		r.Fail("tcp", fmt.Sprintf("%s at %s does not answer: %v", what, to, errors.Unwrap(err)), cure)
		return nil
	}
	took := time.Since(begun).Round(time.Millisecond)
	if proxy == nil {
		r.OK("tcp", "connected to %s in %v", to, took)
		return conn
	}
	if proxy.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: proxy.Hostname()})
	}
	through, err := tunnel(conn, proxy, address)
	if err != nil {
		conn.Close()
		r.Err("tcp", err, "ask your IT")
		return nil
	}
	r.OK("tcp", "connected to %s in %v, and through it to %s", to, took, address)
	return through
}

// tunnel asks a proxy for a connection.
func tunnel(conn net.Conn, proxy *url.URL, address string) (net.Conn, error) {
	conn.SetDeadline(time.Now().Add(stepTimeout))
	defer conn.SetDeadline(time.Time{})
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if u := proxy.User; u != nil {
		password, _ := u.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password)))
	}
	trouble := &client.ProxyError{Proxy: proxy.Host, Variable: client.ProxyVariable()}
	if trouble.Cause = req.Write(conn); trouble.Cause != nil {
		return nil, trouble
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		trouble.Cause = err
		return nil, trouble
	}
	if resp.StatusCode != http.StatusOK {
		trouble.Status = resp.StatusCode
		return nil, trouble
	}
	return conn, nil
}

// handshake looks at who is at the other end and returns the hash of its key.
func handshake(ctx context.Context, r *Report, conn net.Conn, s Server) (seen wire.Hash) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	host, _, _ := net.SplitHostPort(s.Target.Address)
	// Everything is accepted here, to say what it is; nothing is sent by it.
	c := tls.Client(conn, &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	if err := c.HandshakeContext(ctx); err != nil {
		r.Fail("tls", "no TLS connection: "+err.Error(), "something that speaks no TLS, or another one, answers there: check the port, and ask your IT about an inspecting proxy")
		return seen
	}
	state := c.ConnectionState()
	cert := state.PeerCertificates[0]
	if s.Target.TLS == member.TLSWebPKI {
		chain(r, s.Target, host, state.PeerCertificates)
		return seen
	}
	seen, err := pinned.PeerKey(&state)
	switch {
	case err != nil || cert.Issuer.CommonName != "concord":
		r.Err("tls", &client.Unreachable{Address: s.Target.Address, Cause: pinned.Wrong(&state)}, "")
	case s.Analyst != nil && seen != s.Analyst.TLSKey:
		r.Fail("tls", fmt.Sprintf("the server holds the key %s, expected is %s", seen.Short(), s.Analyst.TLSKey.Short()), "do not go on: ask the analyst whether the server was set up anew, and compare fingerprints")
	case s.Analyst != nil:
		r.OK("tls", "the analyst's own key %s, %s", seen.Short(), tls.VersionName(state.Version))
	default:
		r.OK("tls", "a server with a key of its own, %s, %s", seen.Short(), tls.VersionName(state.Version))
	}
	return seen
}

// chain judges a public certificate.
func chain(r *Report, t client.Target, host string, certs []*x509.Certificate) {
	config, err := t.Config()
	if err != nil {
		r.Err("tls", err, "")
		return
	}
	between := x509.NewCertPool()
	for _, c := range certs[1:] {
		between.AddCert(c)
	}
	cert := certs[0]
	if _, err := cert.Verify(x509.VerifyOptions{DNSName: host, Roots: config.RootCAs, Intermediates: between}); err != nil {
		err = &client.Unreachable{Address: t.Address, Cause: &tls.CertificateVerificationError{UnverifiedCertificates: certs, Err: err}}
		r.Err("tls", err, "")
		return
	}
	left := time.Until(cert.NotAfter)
	text := fmt.Sprintf("a certificate for %s, issued by %q, valid until %s", host, cert.Issuer.CommonName, cert.NotAfter.Format(time.DateOnly))
	if left < expiring {
		r.Warn("tls", text, "whoever runs the server or proxy renews it")
		return
	}
	r.OK("tls", "%s", text)
}

// answer asks the server for the analyst's statement, the way a site does.
func answer(ctx context.Context, r *Report, s Server, id *identity.Identity, seen wire.Hash) *client.Client {
	ctx, cancel := context.WithTimeout(ctx, 2*stepTimeout)
	defer cancel()
	c, analyst, err := client.Meet(ctx, s.Target, s.Study, id, s.Fingerprint)
	var refused *client.Refusal
	if errors.As(err, &refused) && refused.Code == api.CodeClock {
		r.Err("clock", err, "")
		return nil
	}
	if err != nil {
		r.Err("analyst", err, "ask the analyst")
		return nil
	}
	how := "its connection holds the statement's key"
	if s.Target.TLS == member.TLSWebPKI {
		how = "its answer is signed"
	} else if !seen.IsZero() && seen != analyst.TLSKey {
		// The two connections saw different servers.
		r.Fail("analyst", fmt.Sprintf("the statement names the key %s, the connection held %s", analyst.TLSKey.Short(), seen.Short()), "do not go on: ask the analyst")
		return c
	}
	r.OK("analyst", "%q, fingerprint %s: %s", analyst.Name, s.Fingerprint.Short(), how)
	version(r, c)
	clock(r, c, s.Target.TLS == member.TLSWebPKI)
	return c
}

func version(r *Report, c *client.Client) {
	text := fmt.Sprintf("the server speaks version %d of the API, this program version %d", c.ServerVersion(), api.Version)
	if c.ServerVersion() != api.Version {
		r.Warn("version", text+"; they understand each other", "upgrade the older one before the next version comes")
		return
	}
	r.OK("version", "%s", text)
}

// clock compares this computer's clock with the server's.
func clock(r *Report, c *client.Client, matters bool) {
	clock, ok := c.ServerClock()
	if !ok {
		r.Warn("clock", "the server's answer does not say its time", "compare clocks by telephone")
		return
	}
	judge(r, clock, matters)
}

// judge says whether clocks that are so far apart matter: signed requests have a
// window.
func judge(r *Report, clock client.Clock, matters bool) {
	apart := clock.Ahead.Abs().Round(time.Second)
	side := "ahead of"
	if clock.Ahead < 0 {
		side = "behind"
	}
	text := fmt.Sprintf("the server's clock is %v %s this computer's", apart, side)
	cure := "set this computer's clock and time zone, by NTP if there is a time server"
	switch {
	case apart > signed.Window && matters:
		r.Fail("clock", fmt.Sprintf("%s; signed requests may be %v apart", text, signed.Window), cure)
	case apart > signed.Window/5:
		r.Warn("clock", text, cure)
	case apart <= time.Second:
		r.OK("clock", "as the server's")
	default:
		r.OK("clock", "%s", text)
	}
}
