package concord

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"concord/internal/proxytest"
)

// proxy starts what stands between institutions, until the script ends, and puts its
// address into $NAME:
//
//	proxy forward NAME CREDENTIALS TO        passes bytes on to TO, for NAME:PASSWORD or anybody (-)
//	proxy reverse NAME CA.pem TO             ends TLS and passes requests on to TO
//	proxy inspect NAME CA.pem TRUST.pem TO   a forward proxy that reads what passes
//	proxy certificate CA.pem CERT KEY HOST   starts nothing, writes a certificate for HOST
//
// CA.pem is written: the authority whose certificates the proxy shows.
func proxy(ts *testscript.TestScript, _ bool, args []string) {
	authority := func(name, file string) *proxytest.Authority {
		a, err := proxytest.NewAuthority(name)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(file), a.PEM(), 0o600))
		return a
	}
	to := func(string) string { return args[len(args)-1] }
	var srv *httptest.Server
	switch args[0] {
	case "forward":
		credentials, _ := strings.CutPrefix(args[2], "-")
		srv = httptest.NewServer(proxytest.Forward(credentials, to))
	case "reverse":
		srv = httptest.NewUnstartedServer(proxytest.Reverse(to(""), ""))
		srv.TLS = authority("Public CA", args[2]).Config()
		srv.StartTLS()
	case "inspect":
		trust := x509.NewCertPool()
		if !trust.AppendCertsFromPEM([]byte(ts.ReadFile(args[3]))) {
			ts.Fatalf("%s holds no certificate", args[3])
		}
		srv = httptest.NewServer(proxytest.Inspect(authority("Hospital CA", args[2]), trust, to, nil, nil))
	case "certificate":
		pair, err := authority("Public CA", args[1]).Issue(to(""))
		ts.Check(err)
		key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[2]), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), 0o600))
		ts.Check(os.WriteFile(ts.MkAbs(args[3]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
		return
	default:
		ts.Fatalf("proxy: unknown kind %q", args[0])
	}
	ts.Defer(srv.Close)
	ts.Setenv(args[1], srv.Listener.Addr().String())
}
