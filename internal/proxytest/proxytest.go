// Package proxytest has the things that stand between two institutions, for tests:
// a forward proxy, a reverse proxy that ends TLS, and an inspecting proxy with a
// certificate authority of its own. Start with [NewAuthority], [Forward], [Reverse]
// and [Inspect]; each is an http.Handler. Nothing of it is in a program.
package proxytest

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Authority issues certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	mu   sync.Mutex
	made map[string]*tls.Certificate
}

// NewAuthority makes one of a name.
func NewAuthority(name string) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cert: cert, key: key, made: map[string]*tls.Certificate{}}, err
}

// PEM is the authority's own certificate.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Issue makes a certificate for a host, or returns the one it made.
func (a *Authority) Issue(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.made[host]; c != nil {
		return c, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host},
		NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	c := &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key}
	a.made[host] = c
	return c, nil
}

// Config is the TLS configuration of a server for which the authority vouches,
// whatever name it is called by.
func (a *Authority) Config() *tls.Config {
	return &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		host := hello.ServerName
		if host == "" { // a client names no address
			host, _, _ = net.SplitHostPort(hello.Conn.LocalAddr().String())
		}
		return a.Issue(host)
	}}
}

// Forward is a forward proxy: it takes CONNECT and nothing else, and dials what
// resolve says. credentials is NAME:PASSWORD, or "" if anybody may pass.
func Forward(credentials string, resolve func(address string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !admitted(w, r, credentials) {
			return
		}
		up, err := net.DialTimeout("tcp", resolve(r.Host), 5*time.Second)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer up.Close()
		down, buffered, err := take(w)
		if err != nil {
			return
		}
		defer down.Close()
		go func() {
			io.Copy(up, buffered)
			up.(*net.TCPConn).CloseWrite()
		}()
		io.Copy(down, up)
	})
}

// admitted answers a request that is no CONNECT, or without the credentials.
func admitted(w http.ResponseWriter, r *http.Request, credentials string) bool {
	if r.Method != http.MethodConnect {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return false
	}
	given := &http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	if name, password, _ := given.BasicAuth(); credentials != "" && name+":"+password != credentials {
		w.Header().Set("Proxy-Authenticate", `Basic realm="hospital"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return false
	}
	return true
}

// take turns a CONNECT into a connection.
func take(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, nil, err
	}
	_, err = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	return conn, buffered, err
}

// Reverse is a reverse proxy: requests for prefix go to the server at target without
// it. Serve it with an authority's Config.
func Reverse(target, prefix string) http.Handler {
	u := &url.URL{Scheme: "http", Host: target}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(u)
		r.SetXForwarded()
		r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, prefix)
	}}
	return proxy
}

// Inspect is an inspecting proxy: it takes CONNECT, ends TLS with a certificate of
// authority, and sends what it reads on over a TLS connection of its own, which
// trusts upstream, or everything if it is nil. seen is called with every request and
// may change it, and change with every answer; both may be nil.
func Inspect(authority *Authority, upstream *x509.CertPool, resolve func(string) string, seen func(*http.Request), change func(*http.Response) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !admitted(w, r, "") {
			return
		}
		address := r.Host
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		conn, _, err := take(w)
		if err != nil {
			return
		}
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: upstream, InsecureSkipVerify: upstream == nil, ServerName: host},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, resolve(address))
			},
		}
		defer transport.CloseIdleConnections()
		proxy := &httputil.ReverseProxy{
			Transport:      transport,
			ModifyResponse: change,
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(&url.URL{Scheme: "https", Host: address})
				r.Out.Host = r.In.Host
				if seen != nil {
					seen(r.Out)
				}
			},
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Server", "hospital-gateway")
				w.WriteHeader(http.StatusBadGateway)
				fmt.Fprintf(w, "<html>the gateway cannot reach the site: %v</html>", err)
			},
		}
		config := authority.Config()
		config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return authority.Issue(host) }
		srv := &http.Server{Handler: proxy, ReadHeaderTimeout: 10 * time.Second}
		srv.Serve(newOne(tls.Server(conn, config)))
	})
}

// one is a listener with one connection; it ends when that is closed.
type one struct {
	conn chan net.Conn
	done chan struct{}
	addr net.Addr
}

func newOne(c net.Conn) net.Listener {
	l := &one{conn: make(chan net.Conn, 1), done: make(chan struct{}), addr: c.LocalAddr()}
	l.conn <- &closing{c, sync.OnceFunc(func() { close(l.done) })}
	return l
}

// Accept gives the one connection, and io.EOF when it is over.
func (l *one) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.done:
		return nil, io.EOF
	}
}

// Close does nothing: the connection ends by itself.
func (l *one) Close() error { return nil }

// Addr is the address of the listener that took the connection.
func (l *one) Addr() net.Addr { return l.addr }

type closing struct {
	net.Conn
	closed func()
}

// Close closes the connection and says so.
func (c *closing) Close() error {
	defer c.closed()
	return c.Conn.Close()
}
