package signed

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"concord/identity"
	"concord/wire"
)

// ErrUnsigned is returned for an answer without a signature: something between
// answered in the server's place, or the server is not set up for webpki.
var ErrUnsigned = errors.New("the answer is not signed by the analyst's server")

// Answer is what the analyst signs of an answer.
type Answer struct {
	Format int `json:"format"`
	// Request is the hash of the request that is answered.
	Request wire.Hash `json:"request"`
	Status  int       `json:"status"`
	// Body is the SHA-256 of the body; zero for a bundle, which its own sender
	// signed, and of which part may be sent.
	Body wire.Hash `json:"body,omitzero"`
	// Headers is the hash of those headers that say what a request did, zero if there
	// is none of them.
	Headers   wire.Hash `json:"headers,omitzero"`
	Time      time.Time `json:"time"` // the server's clock, UTC, in milliseconds
	Run       []byte    `json:"run"`
	Signature []byte    `json:"signature,omitempty"`
}

// NewAnswer signs an answer with headers h as the analyst and returns the header's
// value.
func NewAnswer(id *identity.Identity, request wire.Hash, status int, h http.Header, body wire.Hash, run []byte) string {
	a := Answer{Format: 1, Request: request, Status: status, Body: body, Headers: hashHeaders(h, answerHeaders), Time: time.Now().UTC().Truncate(time.Millisecond), Run: run}
	a.Signature = id.Sign(wire.SignAnswer, a.signedPart())
	return base64.RawURLEncoding.EncodeToString(encode(a))
}

func (a Answer) signedPart() []byte {
	a.Signature = nil
	return encode(a)
}

// ReadAnswer checks that the analyst signed the head of an answer to one request.
// Whether the body is the one that was signed is for whoever reads it.
func ReadAnswer(h http.Header, status int, request wire.Hash, analyst *identity.Statement) (*Answer, error) {
	b, err := read(h, AnswerHeader)
	if b == nil && err == nil {
		err = ErrUnsigned
	}
	if err != nil {
		return nil, err
	}
	a := new(Answer)
	if err := wire.DecodeCanonical(b, a); err != nil {
		return nil, fmt.Errorf("the %s header: %w", AnswerHeader, err)
	}
	if a.Format != 1 {
		return nil, fmt.Errorf("the %s header has format %d, this program reads format 1", AnswerHeader, a.Format)
	}
	if err := wire.Verify(analyst.SigningKey, wire.SignAnswer, a.signedPart(), a.Signature); err != nil {
		return nil, err
	}
	switch {
	case a.Request != request:
		return nil, errors.New("the server's answer is to another request")
	case a.Status != status:
		return nil, fmt.Errorf("the server signed an answer with status %d, it arrived with %d", a.Status, status)
	case a.Headers != hashHeaders(h, answerHeaders):
		return nil, fmt.Errorf("the server signed other headers of %s than arrived", strings.Join(answerHeaders, ", "))
	}
	return a, nil
}
