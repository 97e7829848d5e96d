// Package client is a party's side of the API: it reaches the analyst's server
// over a connection pinned to the analyst's key, or by signed requests through
// whatever stands between, and verifies whatever the server says that has a
// signature or a hash.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"concord/contract"
	"concord/internal/api"
	"concord/member"
	"concord/wire"
)

const (
	dialTimeout = 10 * time.Second
	// patience is how long a wait is not worth a word.
	patience = 10 * time.Second
	// answerTimeout bounds the wait for the head of an answer; the server
	// checks an upload before it answers.
	answerTimeout = 5 * time.Minute
	// silence is how long a server may pause in the middle of an answer.
	silence = time.Minute
)

// Client talks to one server about one study. Make one with [Connect] or, for
// the first contact, [Meet].
type Client struct {
	target Target
	base   string
	study  wire.Hash
	http   *http.Client
	signer *signer // nil on a pinned connection
	clock  atomic.Pointer[Clock]
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

// Close gives up idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Join sends the party's statement with the invite's secret, or where a proxy may
// read it a proof of the secret, and returns the encoded contract, whose SHA-256 is the one
// that the invite names. Asks is true while the party awaits the analyst's word.
func (c *Client) Join(ctx context.Context, secret, statement []byte) (encoded []byte, asks bool, err error) {
	var answer api.JoinResponse
	req := api.JoinRequest{Secret: secret, Statement: statement}
	if c.signer != nil {
		req.Secret, req.Proof = nil, member.JoinProof(wire.HashOf(secret), c.study, c.signer.fingerprint, statement)
	}
	err = c.sendJSON(ctx, http.MethodPost, api.Path(api.PathJoin, c.study), req, contract.MaxBytes*2, &answer)
	if err != nil {
		return nil, false, err
	}
	if wire.HashOf(answer.Contract) != c.study {
		return nil, false, errors.New("the server sent another contract than the invite names")
	}
	return answer.Contract, answer.Asks, nil
}

// Roster returns who has joined and who has confirmed.
func (c *Client) Roster(ctx context.Context) (api.Roster, error) {
	var answer api.Roster
	err := c.getJSON(ctx, api.Path(api.PathRoster, c.study), api.MaxRosterBytes, &answer)
	if err == nil && (len(answer.Statements) > contract.MaxParties+1 || len(answer.Confirmations) > contract.MaxParties) {
		err = fmt.Errorf("the server's roster has %d members and %d confirmations, at most %d parties take part", len(answer.Statements), len(answer.Confirmations), contract.MaxParties)
	}
	return answer, err
}

// Confirm sends a confirmation.
func (c *Client) Confirm(ctx context.Context, confirmation *member.Confirmation) error {
	return c.sendJSON(ctx, http.MethodPost, api.Path(api.PathConfirmations, c.study), confirmation.Encode(), api.MaxMessageBytes, nil)
}

// Amend hands over an amendment of the roster that this party has signed, and returns it
// with the analyst's signature.
func (c *Client) Amend(ctx context.Context, amendment []byte) (*api.AmendResponse, error) {
	answer := new(api.AmendResponse)
	err := c.sendJSON(ctx, http.MethodPost, api.Path(api.PathAmendments, c.study), amendment, member.MaxWithdrawalBytes*2, answer)
	return answer, err
}

// ExchangeHeads gives the analyst this party's signed word on both audit logs, and
// returns the analyst's.
func (c *Client) ExchangeHeads(ctx context.Context, w *member.Witness) ([]byte, error) {
	var answer api.Audit
	err := c.sendJSON(ctx, http.MethodPost, api.Path(api.PathAudit, c.study), api.Audit{Witness: w.Encode()}, api.MaxMessageBytes, &answer)
	return answer.Witness, err
}

// Status asks how far the study is.
func (c *Client) Status(ctx context.Context) (api.Status, error) {
	var answer api.Status
	err := c.getJSON(ctx, api.Path(api.PathStatus, c.study), api.MaxMessageBytes, &answer)
	answer.State = api.State(wire.Printable(string(answer.State)))
	answer.Problem = wire.Printable(answer.Problem)
	for _, names := range [][]string{answer.WaitingFor, answer.Asking, answer.Pending} {
		for i, name := range names {
			names[i] = wire.Printable(name)
		}
	}
	return answer, err
}

// Bundles lists what waits for this party.
func (c *Client) Bundles(ctx context.Context) ([]api.BundleInfo, error) {
	var answer api.Bundles
	err := c.getJSON(ctx, api.Path(api.PathBundles, c.study), api.MaxListBytes, &answer)
	return answer.Bundles, err
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

// do makes a request and returns the body of an answer that is a success, which ends
// with an error if the server falls silent in the middle of it.
func (c *Client) do(ctx context.Context, method, path, mediaType string, body io.ReaderAt, size int64) (io.ReadCloser, error) {
	header := http.Header{}
	if body != nil {
		header.Set("Content-Type", mediaType)
	}
	resp, err := c.exchange(ctx, method, path, header, body, size)
	if err != nil {
		return nil, err
	}
	return success(resp)
}

// success is the body of an answer of status 200; another is an error.
func success(resp *http.Response) (io.ReadCloser, error) {
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	return nil, refusal(resp)
}

// refusal reads an answer that is not a success.
func refusal(resp *http.Response) error {
	defer resp.Body.Close()
	b, err := readAll(resp.Body, api.MaxMessageBytes)
	if err != nil && int64(len(b)) <= api.MaxMessageBytes { // the answer broke off
		return &Unreachable{resp.Request.URL.Host, rootCause(err)}
	}
	var answer api.Error
	if err != nil || json.Unmarshal(b, &answer) != nil || answer.Message == "" {
		return interference(resp)
	}
	if answer.Code == api.CodeAsks {
		return &wire.Waiting{For: "the analyst to admit this site"}
	}
	return &Refusal{resp.StatusCode, answer.Code, wire.Printable(answer.Message), wire.Printable(answer.Hint)}
}

// exchange makes a request and returns the answer, whatever its status. The caller
// closes its body. A server that says when to come again is obeyed, within bounds.
func (c *Client) exchange(ctx context.Context, method, path string, header http.Header, body io.ReaderAt, size int64) (*http.Response, error) {
	for waited := time.Duration(0); ; {
		resp, err := c.once(ctx, method, path, header, body, size)
		if err != nil {
			return nil, err
		}
		pause := retryAfter(resp)
		if pause == 0 || waited+pause > maxWaited {
			return resp, nil
		}
		resp.Body.Close()
		c.notice("the server is busy; trying again in %v", pause)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		waited += pause
	}
}

// maxWaited is how long a request is put off at a server's word, all in all. Beyond
// it a person should know.
const maxWaited = 30 * time.Second

// retryAfter is how long an answer asks to wait before the same request; 0 if it does
// not, or in words that this program does not take.
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	seconds, err := strconv.Atoi(resp.Header.Get(api.HeaderRetryAfter))
	if err != nil || seconds < 1 || time.Duration(seconds) > maxWaited/time.Second {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// once makes one request.
func (c *Client) once(ctx context.Context, method, path string, header http.Header, body io.ReaderAt, size int64) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	wait := c.wait(cancel)
	req, err := c.request(ctx, method, path, body, size, wait)
	if err != nil {
		wait.end()
		cancel(nil)
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set(api.HeaderVersion, strconv.Itoa(c.speaks()))
	asked := time.Now()
	resp, err := c.http.Do(req)
	wait.end()
	if err != nil {
		err = c.trouble(ctx, err)
		cancel(nil)
		return nil, err
	}
	c.look(resp, asked)
	resp.Body = newIdleBody(resp.Body, ctx, cancel)
	server, versionErr := api.CheckAnswer(resp.Header)
	c.server.Store(int64(server))
	if versionErr != nil && resp.StatusCode < 300 {
		resp.Body.Close()
		return nil, versionErr
	}
	return resp, nil
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

// Read reads on, and says so if it was silence that ended the answer.
func (b *idleBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.timer.Reset(silence)
	if err != nil && err != io.EOF && errors.Is(context.Cause(b.ctx), errSilent) {
		err = errSilent
	}
	return n, err
}

// Close ends the request.
func (b *idleBody) Close() error {
	b.timer.Stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}
