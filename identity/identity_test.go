package identity_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"concord/identity"
	"concord/secret"
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

func TestStatement(t *testing.T) {
	id := newIdentity(t, identity.RoleParty, "Nord-Klinik & Söhne")
	b := id.Statement.Encode()
	s, err := identity.DecodeStatement(b)
	if err != nil {
		t.Fatal(err)
	}
	if s.Fingerprint() != wire.HashOf(b) {
		t.Error("the fingerprint is not the SHA-256 of the encoding")
	}
	other := newIdentity(t, identity.RoleParty, "Other")
	for _, c := range []struct {
		name    string
		change  func(*identity.Statement)
		problem string
	}{
		{"another name", func(s *identity.Statement) { s.Name = "Other" }, "identity signature does not verify"},
		{"another role", func(s *identity.Statement) { s.Role = identity.RoleAnalyst }, "identity signature does not verify"},
		{"another recipient", func(s *identity.Statement) { s.Recipient = other.Statement.Recipient }, "identity signature does not verify"},
		{"another TLS key", func(s *identity.Statement) { s.TLSKey = other.Statement.TLSKey }, "identity signature does not verify"},
		{"an approver slipped in", func(s *identity.Statement) { s.ApproverKey = other.Statement.SigningKey }, "identity signature does not verify"},
		{"short key", func(s *identity.Statement) { s.SigningKey = s.SigningKey[1:] }, "signing key has 31 bytes"},
		{"short mask key", func(s *identity.Statement) { s.MaskKey = nil }, "mask key has 0 bytes"},
		{"classic recipient", func(s *identity.Statement) {
			s.Recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
		}, "recipient"},
		{"a signing key of small order", func(s *identity.Statement) { s.SigningKey = append([]byte{1}, make([]byte, 31)...) }, "small order"},
		{"an approver key of small order", func(s *identity.Statement) { s.ApproverKey = make([]byte, 32) }, "small order"},
		{"a mask key of small order", func(s *identity.Statement) { s.MaskKey = make([]byte, 32) }, "mask key"},
		{"unknown format", func(s *identity.Statement) { s.Format = 2 }, "format 2"},
		{"unknown role", func(s *identity.Statement) { s.Role = "observer" }, `role is "observer"`},
		{"no name", func(s *identity.Statement) { s.Name = "" }, "name is missing"},
	} {
		bad := *s
		c.change(&bad)
		_, err := identity.DecodeStatement(bad.Encode())
		wantProblem(t, c.name, err, c.problem)
	}
	_, err = identity.DecodeStatement(append(b, '\n'))
	wantProblem(t, "trailing byte", err, "not the canonical encoding")
}

func TestIdentityFile(t *testing.T) {
	id := newIdentity(t, identity.RoleAnalyst, "Analyst")
	file, err := id.EncodeSecret()
	if err != nil {
		t.Fatal(err)
	}
	again, err := identity.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if again.Statement.Fingerprint() != id.Statement.Fingerprint() || !again.TLSKey().Equal(id.TLSKey()) {
		t.Error("the identity changed on its way through a file")
	}

	other, err := newIdentity(t, identity.RoleAnalyst, "Analyst").EncodeSecret()
	if err != nil {
		t.Fatal(err)
	}
	var a, b map[string]json.RawMessage
	if err := json.Unmarshal(file.Reveal(), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(other.Reveal(), &b); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"signing_seed", "age_identity", "mask_key", "tls_key"} {
		mixed := map[string]json.RawMessage{}
		for k, v := range a {
			mixed[k] = v
		}
		mixed[key] = b[key]
		raw, err := json.Marshal(mixed)
		if err != nil {
			t.Fatal(err)
		}
		_, err = identity.Decode(secret.NewBytes(raw))
		wantProblem(t, key, err, "the keys do not belong to the statement")
	}
	_, err = identity.Decode(secret.NewBytes(file.Reveal()[:100]))
	wantProblem(t, "truncated", err, "not complete JSON")
}

// TestIdentityDoesNotPrint looks for the private keys in everything that
// printing an identity gives.
func TestIdentityDoesNotPrint(t *testing.T) {
	id := newIdentity(t, identity.RoleParty, "North")
	file, err := id.EncodeSecret()
	if err != nil {
		t.Fatal(err)
	}
	var keys struct {
		Signing []byte `json:"signing_seed"`
		Age     string `json:"age_identity"`
	}
	if err := json.Unmarshal(file.Reveal(), &keys); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		fmt.Fprintf(&out, verb+verb, id, file)
		fmt.Fprintf(&out, verb+verb, struct{ id *identity.Identity }{id}, struct{ id identity.Identity }{*id})
	}
	if _, err := json.Marshal(id); err == nil {
		t.Error("an identity was encoded as JSON")
	}
	for _, leak := range []string{keys.Age, base64.StdEncoding.EncodeToString(keys.Signing), fmt.Sprintf("%x", keys.Signing), fmt.Sprint(keys.Signing)[1:40]} {
		if strings.Contains(out.String(), leak) {
			t.Error("a private key was printed")
		}
	}
}

func FuzzDecodeStatement(f *testing.F) {
	f.Add(newIdentity(f, identity.RoleParty, "North").Statement.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := identity.DecodeStatement(b)
		if err == nil && s.Fingerprint() != wire.HashOf(b) {
			t.Fatal("accepted another spelling")
		}
	})
}

func FuzzDecodeIdentity(f *testing.F) {
	file, err := newIdentity(f, identity.RoleParty, "North").EncodeSecret()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file.Reveal())
	f.Fuzz(func(t *testing.T, b []byte) {
		id, err := identity.Decode(secret.NewBytes(b))
		if err != nil {
			return
		}
		// What is accepted can sign for its own statement.
		if _, err := identity.DecodeStatement(id.Statement.Encode()); err != nil {
			t.Fatalf("an identity whose statement does not decode: %v", err)
		}
	})
}

func wantProblem(t *testing.T, name string, err error, problem string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: accepted, want an error with %q", name, problem)
	} else if !strings.Contains(err.Error(), problem) {
		t.Errorf("%s: error is\n  %v\nwant it to say\n  %s", name, err, problem)
	}
}
