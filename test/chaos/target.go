package chaos

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"concord/identity"
	"concord/internal/pinned"
	"concord/internal/site"
	"concord/member"
	"concord/secret"
	"concord/wire"
)

// target is a server under attack, and what the attackers have: a party's keys, those
// of another, and those of strangers.
type target struct {
	ctx      context.Context
	address  string
	pid      int
	study    wire.Hash
	own      *identity.Identity // a party's
	other    *identity.Identity // another party's
	stranger *identity.Identity
	member   *http.Client // with the party's key
	foreign  *http.Client // with the stranger's
	// sealed is a bundle that the party has sent, foreignBundle one of another party.
	sealed, foreignBundle []byte
	confirmation          []byte     // of the other party
	invite                string     // one that was used
	uploads               sync.Mutex // the server takes one of a party at a time
}

// target collects what there is when all parties have done their setup.
func (p *play) target(ctx context.Context) (*target, error) {
	t := &target{ctx: ctx, address: p.address, invite: p.invites[0]}
	p.mu.Lock()
	if p.server != nil {
		t.pid = p.server.cmd.Process.Pid
	}
	p.mu.Unlock()
	tmp, err := os.MkdirTemp(p.dir, "keys-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	for i, id := range []**identity.Identity{&t.own, &t.other} {
		dir := filepath.Join(tmp, fmt.Sprint(i))
		if err := p.parties[i].folder().copyTo(dir); err != nil {
			return nil, err
		}
		s := &site.Site{Dir: filepath.Join(dir, siteDir)}
		if *id, err = s.Identity(); err != nil {
			return nil, err
		}
		if _, t.study, err = s.Contract(); err != nil {
			return nil, err
		}
		sealed, err := os.ReadFile(s.Outbox("setup"))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			t.sealed = sealed
		} else {
			t.foreignBundle = sealed
			if t.confirmation, err = os.ReadFile(s.Path("confirmation.json")); err != nil {
				return nil, err
			}
		}
	}
	if t.stranger, err = identity.New(identity.RoleParty, "Stranger", nil); err != nil {
		return nil, err
	}
	if t.member, err = clientOf(t.own); err != nil {
		return nil, err
	}
	t.foreign, err = clientOf(t.stranger)
	return t, err
}

func clientOf(id *identity.Identity) (*http.Client, error) {
	config, err := pinned.Client(id.TLSKey(), func(wire.Hash) error { return nil })
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Timeout:   2 * time.Minute,
		Transport: &http.Transport{TLSClientConfig: config, MaxIdleConnsPerHost: 8},
	}, nil
}

func (t *target) close() {
	t.member.CloseIdleConnections()
	t.foreign.CloseIdleConnections()
}

// path fills in the study.
func (t *target) path(below string) string { return "/v1/studies/" + t.study.String() + below }

// put uploads, one at a time.
func (t *target) put(body []byte) (int, error) {
	t.uploads.Lock()
	defer t.uploads.Unlock()
	return t.do(t.member, http.MethodPut, t.path("/bundles"), body)
}

// do sends a request and returns the status of the answer, 0 if the server hung up.
func (t *target) do(c *http.Client, method, path string, body []byte, headers ...string) (int, error) {
	req, err := http.NewRequestWithContext(t.ctx, method, "https://"+t.address, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.URL.Path = path
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, hungUp(t.ctx, err)
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, nil
}

func (t *target) get(c *http.Client, path string) (int, error) {
	return t.do(c, http.MethodGet, path, nil)
}

// hungUp is nil for what a server does that wants no more of a request, and the error
// for a server that is not there or does not answer.
func hungUp(ctx context.Context, err error) error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("the server does not answer: %w", err)
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return err
	}
	return nil
}

// connect opens a connection with a party's key, or with none.
func (t *target) connect(id *identity.Identity, change func(*tls.Config)) (*tls.Conn, error) {
	raw, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(t.ctx, "tcp", t.address)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{InsecureSkipVerify: true}
	if id != nil {
		if config, err = pinned.Client(id.TLSKey(), func(wire.Hash) error { return nil }); err != nil {
			return nil, err
		}
	}
	if change != nil {
		change(config)
	}
	raw.SetDeadline(time.Now().Add(time.Minute))
	return tls.Client(raw, config), nil
}

// usedSecret is of an invite whose party has joined.
func (t *target) usedSecret() (secret.Bytes, error) {
	v, err := member.ParseInvite(t.invite)
	return v.Secret, err
}
