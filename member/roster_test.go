package member_test

import (
	"slices"
	"strings"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

const smallYAML = `
name: Readmission
parties: 3
features:
  - {name: age, unit: years, range: [0, 120]}
  - {name: weight, unit: kg, range: [1, 300]}
  - name: pressure
    unit: mmHg
    range: [40, 260]
label: {name: outcome, levels: ["0", "1"], positive: "1"}
`

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
	agreed := wire.HashOf([]byte("contract"))
	epoch := r.Epoch(agreed)

	shuffled := slices.Clone(members)
	slices.Reverse(shuffled)
	r2, err := member.NewRoster(c, 1, shuffled)
	if err != nil {
		t.Fatal(err)
	}
	if r2.Epoch(agreed) != epoch {
		t.Error("the epoch depends on the order of joining")
	}
	r3, err := member.NewRoster(c, 2, members)
	if err != nil {
		t.Fatal(err)
	}
	if r3.Epoch(agreed) == epoch || r.Epoch(wire.HashOf(nil)) == epoch {
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

	yes := member.Confirm(ids[0], agreed, epoch)
	got, err := member.DecodeConfirmation(yes.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if err := got.Check(r, agreed); err != nil {
		t.Error(err)
	}
	wantProblem(t, "another contract", got.Check(r, wire.HashOf(nil)), "confirmed contract")
	wantProblem(t, "another roster", got.Check(r3, agreed), "confirmed epoch")
	wantProblem(t, "a stranger", member.Confirm(twin, agreed, epoch).Check(r, agreed), "not a member")
	stolen := *got
	stolen.Party = members[1].Fingerprint()
	wantProblem(t, "in another's name", stolen.Check(r, agreed), "confirmation signature does not verify")
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
	three := slices.Clone(phrase) // letters of a word that has more tell it from no other
	long := slices.IndexFunc(phrase, func(w string) bool { return len(w) > 4 })
	three[long] = phrase[long][:3]
	for typed, want := range map[string]bool{
		full:                                 true,
		strings.ToUpper(full):                true,
		strings.ReplaceAll(full, " ", ",  "): true,
		strings.Join(short, " "):             true,
		strings.Join(phrase[:11], " "):       false,
		full + " zoo":                        false,
		strings.Join(append([]string{"zzzz"}, phrase[1:]...), " "): false,
		strings.Join(three, " "):                                   false,
		"":                                                         false,
	} {
		if member.SamePhrase(phrase, typed) != want {
			t.Errorf("SamePhrase(%q) = %v, want %v", typed, !want, want)
		}
	}
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

func newIdentity(t testing.TB, role identity.Role, name string) *identity.Identity {
	t.Helper()
	id, err := identity.New(role, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wantProblem(t *testing.T, name string, err error, problem string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: accepted, want an error with %q", name, problem)
	} else if !strings.Contains(err.Error(), problem) {
		t.Errorf("%s: error is\n  %v\nwant it to say\n  %s", name, err, problem)
	}
}

// TestNothingShared: two participants have no key in common, nor a name; each of them is
// looked at by itself.
func TestNothingShared(t *testing.T) {
	c, err := contract.ParseYAML([]byte(smallYAML))
	if err != nil {
		t.Fatal(err)
	}
	analyst := newIdentity(t, identity.RoleAnalyst, "Analyst").Statement
	north, east, west := newIdentity(t, identity.RoleParty, "North").Statement, newIdentity(t, identity.RoleParty, "East").Statement, newIdentity(t, identity.RoleParty, "West").Statement
	if what := member.SharedKey(north, east); what != "" {
		t.Errorf("two parties share the %s", what)
	}
	for what, share := range map[string]func(s *identity.Statement){
		"name":          func(s *identity.Statement) { s.Name = "NORTH" },
		"signing key":   func(s *identity.Statement) { s.SigningKey = north.SigningKey },
		"mask key":      func(s *identity.Statement) { s.MaskKey = north.MaskKey },
		"TLS key":       func(s *identity.Statement) { s.TLSKey = north.TLSKey },
		"age recipient": func(s *identity.Statement) { s.Recipient = north.Recipient },
	} {
		other := *east
		share(&other)
		if got := member.SharedKey(north, &other); got != what {
			t.Errorf("two parties with one %s share the %q", what, got)
		}
		_, err := member.NewRoster(c, 1, []*identity.Statement{analyst, north, &other, west})
		wantProblem(t, "a roster of two with one "+what, err, "have the same "+what)
	}
}
