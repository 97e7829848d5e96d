package study_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/member"
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

func TestRoster(t *testing.T) {
	c, err := contract.ParseYAML([]byte(smallYAML))
	if err != nil {
		t.Fatal(err)
	}
	analyst := newIdentity(t, identity.RoleAnalyst, "Analyst")
	var members []*identity.Statement
	var ids []*identity.Identity
	for _, name := range []string{"North", "East", "West"} {
		id := newIdentity(t, identity.RoleParty, name)
		ids, members = append(ids, id), append(members, id.Statement)
	}
	members = append(members, analyst.Statement)
	r, err := member.NewRoster(c, 1, members)
	if err != nil {
		t.Fatal(err)
	}
	hash := wire.HashOf([]byte("contract"))
	epoch := r.Epoch(hash)

	shuffled := slices.Clone(members)
	slices.Reverse(shuffled)
	r2, err := member.NewRoster(c, 1, shuffled)
	if err != nil {
		t.Fatal(err)
	}
	if r2.Epoch(hash) != epoch {
		t.Error("the epoch depends on the order of joining")
	}
	r3, err := member.NewRoster(c, 2, members)
	if err != nil {
		t.Fatal(err)
	}
	if r3.Epoch(hash) == epoch || r.Epoch(wire.HashOf(nil)) == epoch {
		t.Error("the epoch does not depend on roster number and contract")
	}
	if len(r.Parties()) != 3 || r.Analyst().Fingerprint() != analyst.Statement.Fingerprint() {
		t.Error("roles are mixed up")
	}

	twin := newIdentity(t, identity.RoleParty, "north")
	for _, bad := range []struct {
		name    string
		members []*identity.Statement
		problem string
	}{
		{"one party short", members[1:], "has 1 analysts and 2 parties, the contract says 1 and 3"},
		{"no analyst", members[:3], "has 0 analysts and 3 parties"},
		{"one member twice", append(slices.Clone(members[:2]), members[3], members[0]), "have the same name"},
		{"two names that sound alike", append([]*identity.Statement{twin.Statement}, members[0], members[1], members[3]), "have the same name"},
	} {
		_, err := member.NewRoster(c, 1, bad.members)
		wantProblem(t, bad.name, err, bad.problem)
	}

	yes := member.Confirm(ids[0], hash, epoch)
	got, err := member.DecodeConfirmation(yes.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Check(r, hash); err != nil {
		t.Error(err)
	}
	wantProblem(t, "another contract", got.Check(r, wire.HashOf(nil)), "confirmed contract")
	wantProblem(t, "another roster", got.Check(r3, hash), "confirmed epoch")
	wantProblem(t, "a stranger", member.Confirm(twin, hash, epoch).Check(r, hash), "not a member")
	stolen := *got
	stolen.Party = members[1].Fingerprint()
	wantProblem(t, "in another's name", stolen.Check(r, hash), "confirmation signature does not verify")
}

// TestPhraseIsFrozen: two releases that show different words for one epoch
// could not be compared over the telephone. Do not change these.
func TestPhraseIsFrozen(t *testing.T) {
	got := strings.Join(member.Phrase(wire.HashOf([]byte("concord"))), " ")
	const want = "exact loyal glare broken bean turkey naive pipe volume ceiling solution stereo"
	if got != want {
		t.Errorf("phrase is %q, want %q", got, want)
	}
}

func TestSamePhrase(t *testing.T) {
	phrase := member.Phrase(wire.Hash{1})
	full := strings.Join(phrase, " ")
	short := make([]string, len(phrase))
	for i, w := range phrase {
		short[i] = w[:min(4, len(w))]
	}
	for typed, want := range map[string]bool{
		full:                                 true,
		strings.ToUpper(full):                true,
		strings.ReplaceAll(full, " ", ",  "): true,
		strings.Join(short, " "):             true,
		strings.Join(phrase[:11], " "):       false,
		full + " zoo":                        false,
		strings.Join(append([]string{"zzzz"}, phrase[1:]...), " "):        false,
		strings.Join(append([]string{phrase[0][:2]}, phrase[1:]...), " "): false,
		"": false,
	} {
		if member.SamePhrase(phrase, typed) != want {
			t.Errorf("SamePhrase(%q) = %v, want %v", typed, !want, want)
		}
	}
}

func TestInvite(t *testing.T) {
	web := member.NewInvite("analyst.example:443", wire.HashOf([]byte("c")), wire.HashOf([]byte("a")))
	web.TLS, web.Prefix = member.TLSWebPKI, "/trials/concord"
	got, err := member.ParseInvite(web.Line())
	if err != nil {
		t.Fatal(err)
	}
	if got.TLS != web.TLS || got.Address != web.Address || got.Prefix != web.Prefix || got.Contract != web.Contract || got.Line() != web.Line() {
		t.Errorf("the webpki invite changed on its way: %v", got)
	}
	v := member.NewInvite("analyst.example:8443", wire.HashOf([]byte("c")), wire.HashOf([]byte("a")))
	line := v.Line()
	got, err = member.ParseInvite(" " + line + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if got.TLS != member.TLSPinned || got.Address != v.Address || got.Contract != v.Contract || got.Analyst != v.Analyst || got.Line() != line {
		t.Errorf("the invite changed on its way: %v", got)
	}
	if strings.Contains(fmt.Sprintf("%v %+v", v, v), line[strings.LastIndex(line, "/")+1:]) {
		t.Error("an invite printed its secret")
	}
	for _, bad := range []struct{ name, line, problem string }{
		{"empty", "", "begins with concord-invite/1/"},
		{"another version", strings.Replace(line, "/1/", "/3/", 1), `version "3", this program reads versions 1 and 2`},
		{"another mode", strings.Replace(web.Line(), "webpki", "quantum", 1), `tls "quantum"`},
		{"a prefix out of its place", strings.Replace(web.Line(), "/trials/", "/../", 1), "path prefix"},
		{"a prefix with an escape", strings.Replace(web.Line(), "/trials/", "/%2e/", 1), "path prefix"},
		{"webpki cut", web.Line()[:len(web.Line())-1], "damaged"},
		{"a query in the address", strings.Replace(web.Line(), ":443", "?x:443", 1), "must be host:port"},
		{"cut", line[:len(line)-1], "damaged"},
		{"cut at a slash", line[:strings.LastIndex(line, "/")], "has 5 parts"},
		{"no port", strings.Replace(line, ":8443", "", 1), "must be host:port"},
	} {
		_, err := member.ParseInvite(bad.line)
		wantProblem(t, bad.name, err, bad.problem)
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

func FuzzDecodeConfirmation(f *testing.F) {
	f.Add(member.Confirm(newIdentity(f, identity.RoleParty, "North"), wire.Hash{1}, wire.Hash{2}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := member.DecodeConfirmation(b)
		if err == nil && string(c.Encode()) != string(b) {
			t.Fatal("accepted another spelling")
		}
	})
}

func FuzzParseInvite(f *testing.F) {
	v := member.NewInvite("[::1]:8443", wire.Hash{1}, wire.Hash{2})
	f.Add(v.Line())
	f.Add(v.Line()[:len(v.Line())-4] + "\r\r" + v.Line()[len(v.Line())-4:]) // which base64 passes over
	v.TLS, v.Prefix = member.TLSWebPKI, "/a/b"
	f.Add(v.Line())
	f.Fuzz(func(t *testing.T, line string) {
		v, err := member.ParseInvite(line)
		if err == nil && v.Line() != strings.TrimSpace(line) {
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
