package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/member"
	"concord/wire"
)

// said is a server that gives one answer to everything.
type said struct {
	status  int
	headers http.Header
	body    []byte
	asked   int
}

func (s *said) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked++
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	return &http.Response{
		Status: http.StatusText(s.status), StatusCode: s.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: s.headers.Clone(), Body: io.NopCloser(bytes.NewReader(s.body)), ContentLength: int64(len(s.body)), Request: r,
	}, nil
}

// FuzzAnswers: whatever a server answers, each call ends with a value within its bounds
// or an error, after a bounded number of requests.
func FuzzAnswers(f *testing.F) {
	id, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		f.Fatal(err)
	}
	hash := wire.Hash{1}
	sealed := filepath.Join(f.TempDir(), "bundle")
	writeBundle(f, sealed, id, hash)
	for _, s := range []struct {
		status int
		body   string
	}{
		{200, `{"statement":"YQ=="}`},
		{200, `{"number":1,"closed":true,"statements":["YQ=="],"confirmations":["YQ=="]}`},
		{200, `{"state":"released","expected":3,"present":3,"waiting_for":["a"]}`},
		{200, `{"bundles":[{"manifest":"` + hash.String() + `","sender":"` + hash.String() + `","kind":"setup","size":-1}]}`},
		{201, ``}, {204, ``}, {206, `x`}, {302, ``}, {409, `{"code":"offset","message":"x"}`}, {429, `{"code":"too_many","message":"x"}`},
		{503, `{"code":"busy","message":"x"}`}, {500, `no JSON`}, {426, `{"code":"version","message":"x"}`},
	} {
		f.Add(s.status, []byte(s.body), "Upload-Offset", "5", "Location", "/v1/studies/x/uploads/y")
	}
	f.Fuzz(func(t *testing.T, status int, body []byte, name1, value1, name2, value2 string) {
		if status < 100 || status > 599 {
			return
		}
		server := &said{status: status, headers: http.Header{}, body: body}
		server.headers.Set(name1, value1)
		server.headers.Set(name2, value2)
		c := &Client{base: "https://server.example", study: hash, http: &http.Client{
			Transport: server, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
		c.target.Pause = time.Nanosecond
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if r, err := c.Roster(ctx); err == nil && len(r.Statements) > contract.MaxParties+1 {
			t.Errorf("a roster of %d statements", len(r.Statements))
		}
		c.Status(ctx)
		c.Bundles(ctx)
		c.Join(ctx, []byte("secret"), id.Statement.Encode())
		c.ExchangeHeads(ctx, &member.Witness{})
		if n, err := c.Fetch(ctx, wire.Hash{2}, io.Discard, 100); err == nil && n > 100 {
			t.Errorf("fetched %d bytes, more than 100", n)
		}
		if receipt, err := c.Send(ctx, sealed); err == nil && len(receipt) > api.MaxMessageBytes {
			t.Errorf("a receipt of %d bytes", len(receipt))
		}
		if server.asked > 200 {
			t.Errorf("%d requests were sent to a server that always answers %d", server.asked, status)
		}
	})
}

// writeBundle seals a small bundle.
func writeBundle(f *testing.F, path string, id *identity.Identity, hash wire.Hash) {
	f.Helper()
	key, err := id.Statement.AgeRecipient()
	if err != nil {
		f.Fatal(err)
	}
	d := bundle.Draft{
		Header: bundle.Header{
			Study: hash, Epoch: wire.Hash{2}, Sender: id.Statement.Fingerprint(), Kind: bundle.KindSetup, Number: 1,
			Recipients: []wire.Hash{{3}},
		},
		Members: []bundle.Source{bundle.FromBytes("entropy.bin", make([]byte, 32))},
	}
	m, err := bundle.Describe(d)
	if err != nil {
		f.Fatal(err)
	}
	approval, err := bundle.Approve(m.Encode(), id.SigningKey(), bundle.PolicyPerson, time.Now())
	if err != nil {
		f.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	if _, err := bundle.Seal(file, bundle.Sealing{Manifest: m, Sources: d.Members, Approval: approval}, id.SigningKey(), key); err != nil {
		f.Fatal(err)
	}
}
