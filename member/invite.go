package member

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"concord/secret"
	"concord/wire"
)

// How a party knows the server. Under pinned the TLS connection is with the
// analyst's own key and nothing stands between. Under webpki it ends wherever a
// public certificate is: at the server, a reverse proxy or an inspecting proxy;
// requests and answers are signed instead.
const (
	TLSPinned = "pinned"
	TLSWebPKI = "webpki"
)

// Invite is what the analyst gives to one party, over any channel: where the
// server is, which key it has, which contract it offers, and a secret that works
// once. It is one line of safe characters, for a pinned server
//
//	concord-invite/1/<host:port>/<contract hash>/<analyst's fingerprint>/<secret>
//
// and for one behind a public certificate
//
//	concord-invite/2/webpki/<host:port>[/<path prefix>]/<contract hash>/<analyst's fingerprint>/<secret>
//
// with the hashes and the secret in unpadded base64url.
type Invite struct {
	// TLS is TLSPinned, also if empty, or TLSWebPKI.
	TLS     string
	Address string // host:port
	// Prefix is the path under which a reverse proxy has the server, "" or
	// "/like/this"; webpki only.
	Prefix   string
	Contract wire.Hash
	Analyst  wire.Hash
	Secret   secret.Bytes // 16 bytes
}

const inviteSecretSize = 16

// NewInvite draws a secret from the operating system's entropy. The invite is for
// a pinned server; set TLS and Prefix for another.
func NewInvite(address string, contract, analyst wire.Hash) Invite {
	b := make([]byte, inviteSecretSize)
	rand.Read(b)
	return Invite{Address: address, Contract: contract, Analyst: analyst, Secret: secret.NewBytes(b)}
}

// Line returns the invite as one line. It holds the secret: whoever reads it
// can join in the invited party's place until the roster is confirmed.
func (v Invite) Line() string {
	enc := base64.RawURLEncoding.EncodeToString
	head := "concord-invite/1"
	if v.TLS == TLSWebPKI {
		head = "concord-invite/2/" + TLSWebPKI
	}
	return strings.Join([]string{head, v.Address + v.Prefix, enc(v.Contract[:]), enc(v.Analyst[:]), enc(v.Secret.Reveal())}, "/")
}

// ParseInvite reads what Line wrote. Errors do not quote the line.
func ParseInvite(line string) (Invite, error) {
	line = strings.TrimSpace(line)
	if strings.ContainsAny(line, " \t\r\n") {
		return Invite{}, fmt.Errorf("member: the invite has spaces or line ends in it: it is one line, join its pieces")
	}
	parts := strings.Split(line, "/")
	if len(parts) < 2 || parts[0] != "concord-invite" {
		return Invite{}, fmt.Errorf("member: an invite begins with concord-invite/1/ or concord-invite/2/; copy the whole line that concordd invite printed")
	}
	var v Invite
	var coded []string
	switch parts[1] {
	case "1":
		if len(parts) != 6 {
			return Invite{}, fmt.Errorf("member: the invite has %d parts, must have 6: was a piece of the line cut off?", len(parts))
		}
		v.TLS, v.Address, coded = TLSPinned, parts[2], parts[3:6]
	case "2":
		if len(parts) < 7 {
			return Invite{}, fmt.Errorf("member: the invite has %d parts, must have 7 or more: was a piece of the line cut off?", len(parts))
		}
		if parts[2] != TLSWebPKI {
			return Invite{}, fmt.Errorf("member: the invite is for tls %q, this program knows pinned and webpki; a newer concord may know it", parts[2])
		}
		end := len(parts) - 3
		v.TLS, v.Address, coded = TLSWebPKI, parts[3], parts[end:]
		if end > 4 {
			v.Prefix = "/" + strings.Join(parts[4:end], "/")
		}
		if err := CheckPrefix(v.Prefix); err != nil {
			return Invite{}, err
		}
	default:
		return Invite{}, fmt.Errorf("member: the invite has version %q, this program reads versions 1 and 2", parts[1])
	}
	if err := CheckAddress(v.Address); err != nil {
		return Invite{}, err
	}
	for i, dst := range []*wire.Hash{&v.Contract, &v.Analyst} {
		b, err := base64.RawURLEncoding.Strict().DecodeString(coded[i])
		if err != nil || len(b) != len(dst) {
			return Invite{}, fmt.Errorf("member: part %d from the end of the invite is damaged: was a piece of the line cut off?", 3-i)
		}
		copy(dst[:], b)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(coded[2])
	if err != nil || len(b) != inviteSecretSize {
		return Invite{}, fmt.Errorf("member: the last part of the invite is damaged: was a piece of the line cut off?")
	}
	v.Secret = secret.NewBytes(b)
	return v, nil
}

// CheckAddress admits host:port as it stands in an invite.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host == "" || port == "" || strings.ContainsAny(address, "/?#@\\ \t\r\n") {
		return fmt.Errorf("member: the invite's address must be host:port")
	}
	return nil
}

// CheckPrefix admits the path under which a reverse proxy has the server: "", or
// segments of letters, digits and -._~ after a slash each.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(prefix, "/"), "/") {
		plain := strings.IndexFunc(segment, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~", r)
		}) < 0
		if !plain || segment == "" || segment == "." || segment == ".." || prefix[0] != '/' || len(prefix) > 200 {
			return fmt.Errorf("member: the path prefix of a server is made of letters, digits and -._~ after slashes, like /concord, and has no slash at its end")
		}
	}
	return nil
}

// ParseServerURL reads https://host[:port][/prefix] into the address and the prefix
// of an invite.
func ParseServerURL(s string) (address, prefix string, err error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return "", "", fmt.Errorf("member: a server's URL is https://host, https://host:port or https://host/prefix")
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", fmt.Errorf("member: the server's URL has port %q, must be from 1 to 65535", port)
	}
	address, prefix = net.JoinHostPort(u.Hostname(), port), strings.TrimSuffix(u.EscapedPath(), "/")
	if err := CheckAddress(address); err != nil {
		return "", "", err
	}
	return address, prefix, CheckPrefix(prefix)
}

// JoinProof shows that somebody has an invite without showing the invite's secret
// to whoever reads the request on its way:
//
//	HMAC-SHA256(key, "concord/join/v1\0" ‖ study ‖ analyst ‖ statement)
//
// where key is the SHA-256 of the secret, which the server keeps, and statement is
// the joining party's, which no other can be put in place of.
func JoinProof(key wire.Hash, contract, analyst wire.Hash, statement []byte) []byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte("concord/join/v1\x00"))
	mac.Write(contract[:])
	mac.Write(analyst[:])
	mac.Write(statement)
	return mac.Sum(nil)
}
