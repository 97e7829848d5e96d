package signed_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"concord/identity"
	"concord/internal/signed"
	"concord/wire"
)

func newIdentity(t testing.TB, role identity.Role, name string) *identity.Identity {
	t.Helper()
	id, err := identity.New(role, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// request is a signed one, and its header.
func request(t testing.TB, party, analyst *identity.Identity) (http.Header, wire.Hash) {
	t.Helper()
	r := signed.NewRequest(party, analyst.Statement.Fingerprint(), wire.Hash{1})
	r.Method, r.Target = "GET", "/v1/x?a=b"
	h := http.Header{"Upload-Offset": {"7"}, "Accept": {"anything"}}
	r.Cover(h)
	value, hash := r.Header(party)
	h.Set(signed.RequestHeader, value)
	return h, hash
}

func TestRequest(t *testing.T) {
	analyst, north, east := newIdentity(t, identity.RoleAnalyst, "A"), newIdentity(t, identity.RoleParty, "N"), newIdentity(t, identity.RoleParty, "E")
	h, hash := request(t, north, analyst)
	r, got, err := signed.ReadRequest(h)
	if err != nil || got != hash {
		t.Fatalf("ReadRequest: %v, hash %v, want %v", err, got, hash)
	}
	self := analyst.Statement.Fingerprint()
	if err := errors.Join(r.Matches("GET", "/v1/x?a=b", h, self), r.Verify(north.Statement)); err != nil {
		t.Fatal(err)
	}
	if skew := r.Skew(time.Now()); skew > time.Second || skew < -time.Minute {
		t.Errorf("the skew of one clock is %v", skew)
	}
	for name, err := range map[string]error{
		"method":   r.Matches("PUT", "/v1/x?a=b", h, self),
		"path":     r.Matches("GET", "/v1/X?a=b", h, self),
		"query":    r.Matches("GET", "/v1/x?a=c", h, self),
		"server":   r.Matches("GET", "/v1/x?a=b", h, east.Statement.Fingerprint()),
		"offset":   r.Matches("GET", "/v1/x?a=b", http.Header{"Upload-Offset": {"8"}}, self),
		"none":     r.Matches("GET", "/v1/x?a=b", http.Header{}, self),
		"two":      r.Matches("GET", "/v1/x?a=b", http.Header{"Upload-Offset": {"7", "7"}}, self),
		"method 2": r.Matches("GET", "/v1/x?a=b", http.Header{"Upload-Offset": {"7"}, "X-Http-Method-Override": {"DELETE"}}, self),
		"another":  r.Verify(east.Statement),
	} {
		if err == nil {
			t.Errorf("another %s is taken", name)
		}
	}
	// Every field is signed: changing any bit of the object breaks it.
	b, err := base64.RawURLEncoding.DecodeString(h.Get(signed.RequestHeader))
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 1
		r, _, err := signed.ReadRequest(http.Header{signed.RequestHeader: {base64.RawURLEncoding.EncodeToString(c)}})
		if err == nil && r.Verify(north.Statement) == nil {
			t.Fatalf("a change of byte %d (%q) is taken", i, b[i])
		}
	}
}

func TestReadRequest(t *testing.T) {
	h, _ := request(t, newIdentity(t, identity.RoleParty, "N"), newIdentity(t, identity.RoleAnalyst, "A"))
	value := h.Get(signed.RequestHeader)
	for name, bad := range map[string][]string{
		"twice":      {value, value},
		"joined":     {value + ", " + value},
		"padded":     {value + "=="},
		"empty":      {""},
		"long":       {strings.Repeat("A", 1<<16)},
		"no object":  {base64.RawURLEncoding.EncodeToString([]byte("[]"))},
		"other keys": {base64.RawURLEncoding.EncodeToString([]byte(`{"format":1,"x":2}`))},
		"no nonce":   {base64.RawURLEncoding.EncodeToString([]byte(`{"format":1}`))},
	} {
		if r, _, err := signed.ReadRequest(http.Header{signed.RequestHeader: bad}); err == nil {
			t.Errorf("%s: read as %v", name, r)
		}
	}
	if r, _, err := signed.ReadRequest(http.Header{}); r != nil || err != nil {
		t.Errorf("no header: %v, %v", r, err)
	}
}

func TestAnswer(t *testing.T) {
	analyst, other := newIdentity(t, identity.RoleAnalyst, "A"), newIdentity(t, identity.RoleAnalyst, "B")
	asked, body := wire.Hash{1}, wire.HashOf([]byte("body"))
	h := http.Header{signed.AnswerHeader: {signed.NewAnswer(analyst, asked, 200, http.Header{"Upload-Offset": {"7"}}, body, make([]byte, signed.RunSize))}, "Upload-Offset": {"7"}}
	a, err := signed.ReadAnswer(h, 200, asked, analyst.Statement)
	if err != nil || a.Body != body {
		t.Fatalf("ReadAnswer = %v, %v", a, err)
	}
	for name, try := range map[string]func() (*signed.Answer, error){
		"analyst": func() (*signed.Answer, error) { return signed.ReadAnswer(h, 200, asked, other.Statement) },
		"request": func() (*signed.Answer, error) { return signed.ReadAnswer(h, 200, wire.Hash{2}, analyst.Statement) },
		"status":  func() (*signed.Answer, error) { return signed.ReadAnswer(h, 409, asked, analyst.Statement) },
		"offset": func() (*signed.Answer, error) {
			return signed.ReadAnswer(http.Header{signed.AnswerHeader: h[signed.AnswerHeader], "Upload-Offset": {"8"}}, 200, asked, analyst.Statement)
		},
		"twice": func() (*signed.Answer, error) {
			v := h.Get(signed.AnswerHeader)
			return signed.ReadAnswer(http.Header{signed.AnswerHeader: {v, v}}, 200, asked, analyst.Statement)
		},
	} {
		if _, err := try(); err == nil {
			t.Errorf("another %s is taken", name)
		}
	}
	if _, err := signed.ReadAnswer(http.Header{}, 200, asked, analyst.Statement); !errors.Is(err, signed.ErrUnsigned) {
		t.Errorf("no signature: %v", err)
	}
}

func TestCheckBody(t *testing.T) {
	whole := strings.Repeat("rows ", 1000)
	hash, err := signed.HashBody(strings.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		body io.Reader
		want error
	}{
		"same":      {strings.NewReader(whole), nil},
		"in pieces": {iotest.OneByteReader(strings.NewReader(whole)), nil},
		"with EOF":  {iotest.DataErrReader(strings.NewReader(whole)), nil},
		"changed":   {strings.NewReader(whole[1:] + "r"), signed.ErrBody},
		"cut":       {strings.NewReader(whole[1:]), signed.ErrBody},
		"longer":    {strings.NewReader(whole + "x"), signed.ErrBody},
		"broken":    {io.MultiReader(strings.NewReader(whole[:10]), iotest.ErrReader(iotest.ErrTimeout)), iotest.ErrTimeout},
	} {
		r := signed.CheckBody(io.NopCloser(test.body), hash)
		if _, err := io.ReadAll(r); !errors.Is(err, test.want) || (test.want == nil) != (err == nil) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

func FuzzReadRequest(f *testing.F) {
	north := newIdentity(f, identity.RoleParty, "N")
	h, _ := request(f, north, newIdentity(f, identity.RoleAnalyst, "A"))
	f.Add(h.Get(signed.RequestHeader))
	f.Fuzz(func(t *testing.T, value string) {
		r, hash, err := signed.ReadRequest(http.Header{signed.RequestHeader: {value}})
		if err != nil || r == nil {
			return
		}
		b, err := wire.Canonical(r)
		if err != nil || wire.HashOf(b) != hash {
			t.Fatalf("accepted another spelling: %v", err)
		}
	})
}

// TestRequestOfAnother: a request counts as that of the party that it names, whoever else
// signs it.
func TestRequestOfAnother(t *testing.T) {
	north, east := newIdentity(t, identity.RoleParty, "North"), newIdentity(t, identity.RoleParty, "East")
	r := signed.NewRequest(north, wire.Hash{1}, wire.Hash{2})
	r.Party = east.Statement.Fingerprint()
	r.Header(north)
	if err := r.Verify(north.Statement); err == nil || !strings.Contains(err.Error(), "was signed by "+r.Party.Short()) {
		t.Errorf("a request in East's name that North signed, for North: %v", err)
	}
	if r.Verify(east.Statement) == nil {
		t.Error("a request in East's name that North signed counts as East's")
	}
}

// TestNonceEntropy: every byte of a nonce is drawn. Of 16 requests all have the same byte at
// one of 16 places with probability 16·256⁻¹⁵.
func TestNonceEntropy(t *testing.T) {
	north := newIdentity(t, identity.RoleParty, "North")
	varies := map[int]bool{}
	first := signed.NewRequest(north, wire.Hash{1}, wire.Hash{2}).Nonce
	for range 15 {
		for i, b := range signed.NewRequest(north, wire.Hash{1}, wire.Hash{2}).Nonce {
			varies[i] = varies[i] || b != first[i]
		}
	}
	for i := range first {
		if !varies[i] {
			t.Errorf("byte %d of all nonces is %d", i, first[i])
		}
	}
}
