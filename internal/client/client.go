// Package client is a party's side of the API: it reaches the analyst's server
// over a connection pinned to the analyst's key, and verifies whatever the
// server says that has a signature or a hash.
package client

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"concord/internal/api"
	"concord/internal/cli"
	"concord/internal/pinned"
	"concord/study"
)

const (
	dialTimeout = 10 * time.Second
	// answerTimeout bounds the wait for the head of an answer; the server
	// checks an upload before it answers.
	answerTimeout = 5 * time.Minute
	// silence is how long a server may pause in the middle of an answer.
	silence = time.Minute
)

// Client talks to one server about one study. Make one with [Connect] or, for
// the first contact, [Meet].
type Client struct {
	base  string
	study study.Hash
	http  *http.Client
	// server is the version of the API that the server's last answer named, 0
	// before the first.
	server atomic.Int64
}

// ServerVersion is the version of the API that the server speaks, 0 before its
// first answer.
func (c *Client) ServerVersion() int { return int(c.server.Load()) }

// speaks is the version in which this client speaks: its own, or an older server's.
func (c *Client) speaks() int {
	if v := c.ServerVersion(); v > 0 {
		return max(api.Oldest, min(v, api.Version))
	}
	return api.Version
}

// Refusal is the server's answer when it does not do what it was asked.
type Refusal struct {
	Status int
	Code   string // one of api.Code…
	Reason string
	Advice string
}

// Error gives the server's reason.
func (e *Refusal) Error() string { return "the server refuses: " + e.Reason }

// Hint gives the server's advice, or "".
func (e *Refusal) Hint() string { return e.Advice }

// Unreachable is returned when there is no answer at all.
type Unreachable struct {
	Address string
	Cause   error
}

// Error says which server and, in the operating system's words, why.
func (e *Unreachable) Error() string {
	return fmt.Sprintf("the server at %s does not answer: %v", e.Address, e.Cause)
}

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.Cause }

// Hint says what to look at.
func (e *Unreachable) Hint() string {
	if errors.Is(e.Cause, pinned.ErrWrongKey) {
		return "do not go on: ask the analyst whether the server was set up anew, and compare fingerprints"
	}
	return "check the address, the network and a firewall, and ask whether concordd serve is running; then repeat the command"
}

// Connect makes a client that accepts only the server that holds the analyst's
// TLS key. Nothing is sent yet.
func Connect(address string, hash study.Hash, own *ecdsa.PrivateKey, analyst *study.Statement) (*Client, error) {
	return connect(address, hash, own, func(key study.Hash) error {
		if key != analyst.TLSKey {
			return pinned.ErrWrongKey
		}
		return nil
	})
}

// Meet makes the first contact: it asks the server for the analyst's statement
// and accepts it only if its fingerprint is the invite's and the connection
// holds its TLS key. No secret is sent before that.
func Meet(ctx context.Context, address string, hash study.Hash, own *ecdsa.PrivateKey, fingerprint study.Hash) (*Client, *study.Statement, error) {
	var mu sync.Mutex
	var seen study.Hash // the first key, pinned for every later connection
	c, err := connect(address, hash, own, func(key study.Hash) error {
		mu.Lock()
		defer mu.Unlock()
		if seen.IsZero() {
			seen = key
		}
		if key != seen {
			return pinned.ErrWrongKey
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	var answer api.Identity
	if err := c.getJSON(ctx, api.PathIdentity, api.MaxMessageBytes, &answer); err != nil {
		return nil, nil, err
	}
	if study.HashOf(answer.Statement) != fingerprint {
		return nil, nil, &Unreachable{address, pinned.ErrWrongKey}
	}
	statement, err := study.DecodeStatement(answer.Statement)
	if err != nil {
		return nil, nil, fmt.Errorf("the analyst's statement: %w", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if statement.Role != study.RoleAnalyst || statement.TLSKey != seen {
		return nil, nil, &Unreachable{address, pinned.ErrWrongKey}
	}
	return c, statement, nil
}

func connect(address string, hash study.Hash, own *ecdsa.PrivateKey, accept func(study.Hash) error) (*Client, error) {
	config, err := pinned.Client(own, accept)
	if err != nil {
		return nil, err
	}
	return &Client{
		base:  "https://" + address,
		study: hash,
		// A redirect would lead out of the pinned connection.
		http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSClientConfig:       config,
			TLSHandshakeTimeout:   dialTimeout,
			ResponseHeaderTimeout: answerTimeout,
			ForceAttemptHTTP2:     true,
		}},
	}, nil
}

// Close gives up idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Join sends the party's statement and the invite's secret and returns the
// contract, whose SHA-256 is the one that the invite names. Asks is true while the
// party awaits the analyst's word.
func (c *Client) Join(ctx context.Context, secret, statement []byte) (contract []byte, asks bool, err error) {
	var answer api.JoinResponse
	err = c.sendJSON(ctx, http.MethodPost, api.Path(api.PathJoin, c.study), api.JoinRequest{Secret: secret, Statement: statement}, study.MaxContractBytes*2, &answer)
	if err != nil {
		return nil, false, err
	}
	if study.HashOf(answer.Contract) != c.study {
		return nil, false, errors.New("the server sent another contract than the invite names")
	}
	return answer.Contract, answer.Asks, nil
}

// Roster returns who has joined and who has confirmed.
func (c *Client) Roster(ctx context.Context) (api.Roster, error) {
	var answer api.Roster
	err := c.getJSON(ctx, api.Path(api.PathRoster, c.study), api.MaxRosterBytes, &answer)
	if err == nil && (len(answer.Statements) > study.MaxParties+1 || len(answer.Confirmations) > study.MaxParties) {
		err = fmt.Errorf("the server's roster has %d members and %d confirmations, at most %d parties take part", len(answer.Statements), len(answer.Confirmations), study.MaxParties)
	}
	return answer, err
}

// Confirm sends a confirmation.
func (c *Client) Confirm(ctx context.Context, confirmation *study.Confirmation) error {
	return c.sendJSON(ctx, http.MethodPost, api.Path(api.PathConfirmations, c.study), confirmation.Encode(), api.MaxMessageBytes, nil)
}

// Status asks how far the study is.
func (c *Client) Status(ctx context.Context) (api.Status, error) {
	var answer api.Status
	err := c.getJSON(ctx, api.Path(api.PathStatus, c.study), api.MaxMessageBytes, &answer)
	answer.State = api.State(cli.Printable(string(answer.State)))
	answer.Problem = cli.Printable(answer.Problem)
	for i, name := range answer.WaitingFor {
		answer.WaitingFor[i] = cli.Printable(name)
	}
	return answer, err
}

// Bundles lists what waits for this party.
func (c *Client) Bundles(ctx context.Context) ([]api.BundleInfo, error) {
	var answer api.Bundles
	err := c.getJSON(ctx, api.Path(api.PathBundles, c.study), api.MaxMessageBytes, &answer)
	return answer.Bundles, err
}

// Send uploads a sealed bundle from a file and returns the server's receipt.
func (c *Client) Send(ctx context.Context, path string) (receipt []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	body, err := c.do(ctx, http.MethodPut, api.Path(api.PathBundles, c.study), api.BundleMediaType, f, info.Size())
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return readAll(body, api.MaxMessageBytes)
}

// Fetch copies a bundle to w, at most limit bytes.
func (c *Client) Fetch(ctx context.Context, manifest study.Hash, w io.Writer, limit int64) (int64, error) {
	body, err := c.do(ctx, http.MethodGet, api.Path(api.PathBundle, c.study, manifest), "", nil, 0)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	n, err := io.Copy(w, io.LimitReader(body, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("the server sent more than %d bytes", limit)
	}
	return n, err
}

func (c *Client) getJSON(ctx context.Context, path string, limit int64, v any) error {
	body, err := c.do(ctx, http.MethodGet, path, "", nil, 0)
	if err != nil {
		return err
	}
	return decode(body, limit, v)
}

func (c *Client) sendJSON(ctx context.Context, method, path string, message any, limit int64, v any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	body, err := c.do(ctx, method, path, "application/json", bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return err
	}
	return decode(body, limit, v)
}

func decode(body io.ReadCloser, limit int64, v any) error {
	defer body.Close()
	b, err := readAll(body, limit)
	if err != nil || v == nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return errors.New("the server's answer is not the JSON that was expected; is it a Concord server of the same version?")
	}
	return nil
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("the server's answer has more than %d bytes", limit)
	}
	return b, err
}

// do sends a request and returns the body of a success.
func (c *Client) do(ctx context.Context, method, path, mediaType string, body io.Reader, size int64) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	req.Header.Set(api.HeaderVersion, strconv.Itoa(c.speaks()))
	if body != nil {
		req.ContentLength = size
		req.Header.Set("Content-Type", mediaType)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		cancel(nil)
		return nil, &Unreachable{req.URL.Host, rootCause(err)}
	}
	answered := newIdleBody(resp.Body, ctx, cancel)
	server, versionErr := api.CheckAnswer(resp.Header)
	c.server.Store(int64(server))
	if versionErr != nil && resp.StatusCode == http.StatusOK {
		answered.Close()
		return nil, versionErr
	}
	if resp.StatusCode == http.StatusOK {
		return answered, nil
	}
	defer answered.Close()
	b, err := readAll(answered, api.MaxMessageBytes)
	var answer api.Error
	if err != nil || json.Unmarshal(b, &answer) != nil || answer.Message == "" {
		return nil, fmt.Errorf("the server answers %s in words of its own; is a proxy between?", resp.Status)
	}
	if answer.Code == api.CodeAsks {
		return nil, &cli.Waiting{For: "the analyst to admit this site"}
	}
	return nil, &Refusal{resp.StatusCode, answer.Code, cli.Printable(answer.Message), cli.Printable(answer.Hint)}
}

// errSilent ends an answer that stopped coming.
var errSilent = fmt.Errorf("the server stopped sending for %v", silence)

// idleBody gives up an answer when the server falls silent in the middle of it.
type idleBody struct {
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

func newIdleBody(body io.ReadCloser, ctx context.Context, cancel context.CancelCauseFunc) *idleBody {
	return &idleBody{body, ctx, cancel, time.AfterFunc(silence, func() { cancel(errSilent) })}
}

func (b *idleBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.timer.Reset(silence)
	if err != nil && err != io.EOF && errors.Is(context.Cause(b.ctx), errSilent) {
		err = errSilent
	}
	return n, err
}

func (b *idleBody) Close() error {
	b.timer.Stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}

// rootCause strips the URL and the method that net/http puts before a cause.
func rootCause(err error) error {
	var op *net.OpError
	switch {
	case errors.Is(err, pinned.ErrWrongKey):
		return pinned.ErrWrongKey
	case errors.As(err, &op):
		return op.Err
	}
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}
