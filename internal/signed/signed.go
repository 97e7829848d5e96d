// Package signed says who asks and who answers where TLS cannot: behind a reverse
// proxy that ends TLS, or an inspecting proxy that reads and could change what
// passes. The party signs its request, the analyst signs the answer to that very
// request, both with the Ed25519 keys of their identity statements; each travels in
// one header.
//
// Start with [NewRequest] and [Request.Header] at the party, [ReadRequest],
// [Request.Matches] and [Request.Verify] at the server, [NewAnswer] and
// [ReadAnswer] for the way back. It does not hide anything: who stands between reads
// names, sizes and times. Bundles are sealed by themselves (package bundle).
package signed

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"concord/identity"
	"concord/wire"
)

// The headers, each with a canonical JSON object in unpadded base64url.
const (
	RequestHeader = "Concord-Request"
	AnswerHeader  = "Concord-Answer"
)

// Window is how far the clock of the party may be from that of the server.
const Window = 5 * time.Minute

const (
	maxHeaderBytes = 4 << 10
	nonceSize      = 16
	// RunSize is the number of bytes of a run.
	RunSize = 16
)

// Headers that decide what a request does and what an answer means, besides path and
// body: those of resumable uploads. Location is not one of them: reverse proxies
// rewrite it, and its last part alone counts.
var (
	requestHeaders = []string{"Upload-Length", "Upload-Offset", "X-Http-Method-Override"}
	answerHeaders  = []string{"Upload-Length", "Upload-Offset"}
)

// hashHeaders is the SHA-256 of a line "Name: value" for each value of the headers
// named, zero if there is none.
func hashHeaders(h http.Header, names []string) wire.Hash {
	var lines []byte
	for _, name := range names {
		for _, value := range h.Values(name) {
			lines = fmt.Appendf(lines, "%s: %s\n", name, value)
		}
	}
	if lines == nil {
		return wire.Hash{}
	}
	return sha256.Sum256(lines)
}

// Empty is the hash of no body.
var Empty = wire.Hash(sha256.Sum256(nil))

// Request is what a party signs of a request: everything that decides what the
// server does. The target is the path and query beyond the prefix that a reverse
// proxy may have added.
type Request struct {
	Format int `json:"format"`
	// Server is the analyst's fingerprint: another server does not take it.
	Server wire.Hash `json:"server"`
	Study  wire.Hash `json:"study"`
	Party  wire.Hash `json:"party"`
	Method string    `json:"method"`
	Target string    `json:"target"`
	Body   wire.Hash `json:"body"` // SHA-256
	// Headers is the hash of those headers that decide what a request does, zero if
	// it has none of them.
	Headers wire.Hash `json:"headers,omitzero"`
	Nonce   []byte    `json:"nonce"`
	Time    time.Time `json:"time"` // UTC, by the party's clock, in milliseconds
	// Run names the server's process, drawn when it starts: a request that changes
	// something must name the one that gets it, so that none from before a restart,
	// whose nonces are forgotten, is taken again. A party learns it from any answer.
	Run       []byte `json:"run,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

// NewRequest begins a request with a fresh nonce and the time.
func NewRequest(id *identity.Identity, analyst, hash wire.Hash) *Request {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce)
	return &Request{
		Format: 1, Server: analyst, Study: hash, Party: id.Statement.Fingerprint(),
		Body: Empty, Nonce: nonce, Time: time.Now().UTC().Truncate(time.Millisecond),
	}
}

// Cover takes over the headers that are signed.
func (r *Request) Cover(h http.Header) { r.Headers = hashHeaders(h, requestHeaders) }

// Header signs the request and returns the header's value and the hash that an
// answer must name.
func (r *Request) Header(id *identity.Identity) (value string, hash wire.Hash) {
	r.Signature = id.Sign(wire.SignRequest, r.signedPart())
	b := encode(r)
	return base64.RawURLEncoding.EncodeToString(b), wire.HashOf(b)
}

func (r Request) signedPart() []byte {
	r.Signature = nil
	return encode(r)
}

func encode(v any) []byte {
	b, err := wire.Canonical(v)
	if err != nil { // hashes, bytes, strings and a time in UTC always encode
		panic("signed: " + err.Error())
	}
	return b
}

// ReadRequest decodes the one request header of h and returns also its hash. It is
// nil without an error if there is no such header. Nothing is verified yet.
func ReadRequest(h http.Header) (*Request, wire.Hash, error) {
	b, err := read(h, RequestHeader)
	if b == nil || err != nil {
		return nil, wire.Hash{}, err
	}
	r := new(Request)
	hash := wire.HashOf(b)
	if err := wire.DecodeCanonical(b, r); err != nil {
		return nil, hash, fmt.Errorf("the %s header: %w", RequestHeader, err)
	}
	if r.Format != 1 {
		return nil, hash, fmt.Errorf("the %s header has format %d, this program reads format 1", RequestHeader, r.Format)
	}
	if len(r.Nonce) != nonceSize {
		return nil, hash, fmt.Errorf("the %s header has a nonce of %d bytes, must have %d", RequestHeader, len(r.Nonce), nonceSize)
	}
	return r, hash, nil
}

// read decodes a header that may stand once.
func read(h http.Header, name string) ([]byte, error) {
	values := h.Values(name)
	switch {
	case len(values) == 0:
		return nil, nil
	case len(values) > 1:
		return nil, fmt.Errorf("the %s header stands %d times, must stand once", name, len(values))
	case len(values[0]) > maxHeaderBytes:
		return nil, fmt.Errorf("the %s header has %d characters, at most %d are read", name, len(values[0]), maxHeaderBytes)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(values[0])
	if err != nil || len(b) == 0 {
		return nil, fmt.Errorf("the %s header is not base64url", name)
	}
	return b, nil
}

// Matches compares what was signed with what arrived.
func (r *Request) Matches(method, target string, h http.Header, analyst wire.Hash) error {
	switch {
	case r.Server != analyst:
		return fmt.Errorf("the request was signed for the server of analyst %s, this is %s", r.Server.Short(), analyst.Short())
	case r.Method != method:
		return fmt.Errorf("the request was signed as %.10q and arrived as %.10q", r.Method, method)
	case r.Target != target:
		return fmt.Errorf("the request was signed for another path or query than it arrived at; does a proxy between rewrite paths?")
	case r.Headers != hashHeaders(h, requestHeaders):
		return fmt.Errorf("the request was signed with other headers of %s than it arrived with; does a proxy between remove headers?", strings.Join(requestHeaders, ", "))
	}
	return nil
}

// Skew is how far the party's clock is ahead of now.
func (r *Request) Skew(now time.Time) time.Duration { return r.Time.Sub(now) }

// Verify checks the signature with the key of the statement whose fingerprint is
// Party.
func (r *Request) Verify(party *identity.Statement) error {
	if party.Fingerprint() != r.Party {
		return fmt.Errorf("the request was signed by %s, not by %q", r.Party.Short(), party.Name)
	}
	return wire.Verify(party.SigningKey, wire.SignRequest, r.signedPart(), r.Signature)
}
