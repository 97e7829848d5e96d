package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"concord/internal/api"
	"concord/internal/pinned"
	"concord/wire"
)

// Unreachable is returned when there is no answer at all, or nobody there who can be
// trusted with a request.
type Unreachable struct {
	Address string
	Cause   error
}

// Error says which server and, in the operating system's words, why.
func (e *Unreachable) Error() string {
	var chain *tls.CertificateVerificationError
	switch {
	case errors.Is(e.Cause, pinned.ErrWrongKey):
		return fmt.Sprintf("what answers at %s is not the analyst's server: %v", e.Address, e.Cause)
	case errors.As(e.Cause, &chain):
		return fmt.Sprintf("what answers at %s is not trusted: %v", e.Address, e.Cause)
	}
	return fmt.Sprintf("the server at %s does not answer: %v", e.Address, e.Cause)
}

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Cause }

// Hint says what to look at.
func (e *Unreachable) Hint() string {
	var wrong *pinned.WrongKey
	var dns *net.DNSError
	var chain *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	switch {
	case errors.As(e.Cause, &wrong) && wrong.Issuer != "":
		return "do not go on: an inspecting proxy, or another server, stands at this address. If the proxy is your institution's, ask your IT to let this address pass uninspected, or ask the analyst for an invite with tls webpki"
	case errors.Is(e.Cause, pinned.ErrWrongKey):
		return "do not go on: ask the analyst whether the server was set up anew, and compare fingerprints"
	case errors.As(e.Cause, &dns):
		return "the name is not known here: check it with the analyst; where only the proxy knows names, set HTTPS_PROXY"
	case errors.As(e.Cause, &chain):
		return chainHint(chain)
	case errors.As(e.Cause, &record):
		return "something that does not speak TLS answers at this address: check the port; a proxy is set by HTTPS_PROXY, not by the address"
	case errors.As(e.Cause, &alert), strings.Contains(e.Cause.Error(), "tls:"):
		return "what answers there speaks another TLS than agreed: an inspecting proxy, or the address of a server in another mode; ask the analyst whether the invite is for tls pinned or webpki"
	case errors.Is(e.Cause, errStuck):
		return "the link or a proxy stalls; repeat the command, nothing is lost"
	}
	return "check the address, the network and a firewall, and ask whether concordd serve is running; then repeat the command. A site without a network brings files (concord give --help)"
}

func chainHint(e *tls.CertificateVerificationError) string {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(e.Err, &unknown):
		issuer := ""
		if len(e.UnverifiedCertificates) > 0 {
			name := e.UnverifiedCertificates[0].Issuer
			if issuer = name.CommonName; issuer == "" {
				issuer = name.String()
			}
			issuer = wire.Printable(issuer)
		}
		return fmt.Sprintf("the certificate was issued by %q, which this computer does not trust. If it is your institution's inspecting proxy, give its certificate: concord join INVITE --ca FILE, or SSL_CERT_FILE", issuer)
	case errors.As(e.Err, &host):
		return "the certificate is for another name: check the address with the analyst"
	case errors.As(e.Err, &invalid) && invalid.Reason == x509.Expired:
		return "check this computer's date; if it is right, the analyst must renew the certificate"
	}
	return "tell the analyst; nothing was sent"
}

// ProxyError is trouble with the forward proxy that HTTPS_PROXY names.
type ProxyError struct {
	Proxy    string // host:port, without a password; "" if the variable names none
	Variable string
	Status   int // of its answer to CONNECT; 0 if it did not answer
	Cause    error
}

// Error says what the proxy did.
func (e *ProxyError) Error() string {
	if e.Proxy == "" {
		return e.Variable + " is set, and is not the URL of a proxy"
	}
	if e.Status == 0 {
		return fmt.Sprintf("the proxy %s (from %s) does not answer: %v", e.Proxy, e.Variable, e.Cause)
	}
	return fmt.Sprintf("the proxy %s (from %s) refuses to connect: %d %s", e.Proxy, e.Variable, e.Status, http.StatusText(e.Status))
}

// Unwrap returns the cause.
func (e *ProxyError) Unwrap() error { return e.Cause }

// Hint says what to change.
func (e *ProxyError) Hint() string {
	if e.Proxy == "" {
		return e.Variable + "=http://PROXY:PORT, or http://NAME:PASSWORD@PROXY:PORT with special characters written as %40"
	}
	switch e.Status {
	case 0:
		return "check the proxy's address and port in " + e.Variable + "; NO_PROXY names hosts that need no proxy"
	case http.StatusProxyAuthRequired:
		return "the proxy wants a name and a password: " + e.Variable + "=http://NAME:PASSWORD@" + e.Proxy + ", with special characters written as %40; only Basic authentication is supported"
	case http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusUnauthorized:
		return "ask your IT to allow CONNECT to the server's host and port"
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusNotFound:
		return "the proxy does not reach the server: check the address with the analyst, and ask your IT whether the proxy may reach that port"
	}
	return "ask your IT what the proxy " + e.Proxy + " wants"
}

// refusedByProxy turns a proxy's answer to CONNECT into a ProxyError.
func refusedByProxy(_ context.Context, proxy *url.URL, _ *http.Request, answer *http.Response) error {
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	return &ProxyError{Proxy: proxy.Host, Variable: ProxyVariable(), Status: answer.StatusCode}
}

// ProxyVariable is the environment variable that names the proxy for HTTPS, the way
// net/http looks for it.
func ProxyVariable() string {
	for _, name := range []string{"HTTPS_PROXY", "https_proxy"} {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return "HTTPS_PROXY"
}

// Interference is an answer that is not the server's: a proxy, a login page or
// another server gave it.
type Interference struct {
	Status  int
	By      string // what it says of itself, "" if nothing
	Page    bool   // it is a page for people
	Whereto string // the host of a redirect
	// Says is the message of an answer in the API's words that nobody signed, or by
	// whom this site cannot tell yet.
	Says string
}

// Error says what came.
func (e *Interference) Error() string {
	by := ""
	if e.By != "" {
		by = " (" + e.By + ")"
	}
	switch {
	case e.Whereto != "":
		return fmt.Sprintf("something between%s answers instead of the server and sends to %s", by, e.Whereto)
	case e.Page && e.Status == http.StatusOK:
		return fmt.Sprintf("something between%s answers with a page instead of the server", by)
	}
	if e.Says != "" {
		return fmt.Sprintf("an answer came that nobody vouches for: %s", e.Says)
	}
	return fmt.Sprintf("something between%s answers instead of the server: %d %s", by, e.Status, http.StatusText(e.Status))
}

// Hint says what to do.
func (e *Interference) Hint() string {
	if e.Says != "" {
		return "it may be the server's or a proxy's: check the invite's address and path with the analyst, and ask your IT what stands between"
	}
	switch e.Status {
	case http.StatusProxyAuthRequired:
		return "a proxy wants a name and a password: HTTPS_PROXY=http://NAME:PASSWORD@PROXY:PORT"
	case http.StatusRequestEntityTooLarge:
		return "a proxy lets no body of this size pass: the analyst raises its limit (client_max_body_size in nginx), or your IT that of your own proxy"
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return "a proxy does not reach concordd behind it: ask the analyst whether concordd serve is running, then repeat the command; nothing is lost"
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return "a proxy did not wait for the answer: repeat the command, nothing is lost; if it stays, the analyst raises its time (proxy_read_timeout in nginx)"
	case http.StatusTooManyRequests:
		return "a proxy lets fewer requests pass: wait a minute and repeat the command"
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return "a filter blocks this address: ask your IT to allow it, or exchange files instead"
	case http.StatusNotFound:
		return "the address leads to a web server that does not have concordd at this path: check the invite's path with the analyst"
	}
	if e.Whereto != "" || e.Page {
		return "a login page of the network, perhaps: open a browser, log in, and repeat the command"
	}
	return "run concord doctor; if the address is right, ask your IT and the analyst what stands between"
}

// interference describes an answer that is not the server's. It reads what is left of
// the body.
func interference(resp *http.Response) error {
	e := &Interference{Status: resp.StatusCode, By: wire.Printable(resp.Header.Get("Server"))}
	if e.By == "" {
		e.By = wire.Printable(resp.Header.Get("Via"))
	}
	e.Page = strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html")
	if u, err := resp.Location(); err == nil && resp.StatusCode >= 300 && resp.StatusCode < 400 {
		e.Whereto = wire.Printable(u.Host)
	}
	var answer api.Error
	if b, err := readSoon(resp.Body); err == nil && json.Unmarshal(b, &answer) == nil {
		e.Says = wire.Printable(answer.Message)
	}
	return e
}

// Tampered is returned when an answer came that claims to be the analyst's and is
// not, or not to this request.
type Tampered struct {
	Address string
	Cause   error
}

// Error says what is wrong.
func (e *Tampered) Error() string {
	return fmt.Sprintf("what answers at %s is not the analyst's server, or something changed its answer: %v", e.Address, e.Cause)
}

// Unwrap returns the cause.
func (e *Tampered) Unwrap() error { return e.Cause }

// Hint says what to do.
func (e *Tampered) Hint() string {
	return "do not go on: ask the analyst, and your IT what stands between; nothing that such an answer said was used"
}

// trouble turns what http.Client.Do returns into an error with a cure.
func (c *Client) trouble(ctx context.Context, err error) error {
	var proxy *ProxyError
	var between *Interference
	var tampered *Tampered
	var op *net.OpError
	switch {
	case errors.As(err, &proxy):
		return proxy
	case errors.As(err, &between):
		return between
	case errors.As(err, &tampered):
		return tampered
	case cause(ctx) != nil:
		return &Unreachable{c.target.Address, cause(ctx)}
	case errors.As(err, &op) && op.Op == "proxyconnect":
		name := "?"
		if req, reqErr := http.NewRequest(http.MethodGet, c.base, nil); reqErr == nil {
			if u, err := c.target.ChooseProxy(req); err == nil && u != nil {
				name = u.Host
			}
		}
		return &ProxyError{Proxy: name, Variable: ProxyVariable(), Cause: rootCause(op.Err)}
	}
	return &Unreachable{c.target.Address, rootCause(err)}
}

// untrusted says whether TLS refused the other end, which no repetition cures.
func untrusted(err error) bool {
	var chain *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	return errors.As(err, &chain) || errors.As(err, &record) || errors.As(err, &alert)
}

// rootCause strips the URL and the method that net/http puts before a cause.
func rootCause(err error) error {
	var op *net.OpError
	var wrong *pinned.WrongKey
	var dns *net.DNSError
	var chain *tls.CertificateVerificationError
	switch {
	case errors.As(err, &wrong):
		return wrong
	case errors.Is(err, pinned.ErrWrongKey):
		return pinned.ErrWrongKey
	case errors.As(err, &dns):
		return dns
	case errors.As(err, &chain):
		return chain
	case errors.As(err, &op):
		return op.Err
	}
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}
