package contract_test

import (
	"errors"
	"strings"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/member"
	"concord/release"
)

const studyWith = "name: T\nparties: 2\nfeatures: [a, b]\nlabel: {name: y}\n"

func TestAuditors(t *testing.T) {
	auditor := newIdentity(t, identity.RoleAuditor, "Audit office")
	party := newIdentity(t, identity.RoleParty, "North")
	read := func(name string) ([]byte, error) {
		switch name {
		case "auditor.json":
			return auditor.Statement.Encode(), nil
		case "party.json":
			return party.Statement.Encode(), nil
		}
		return nil, errors.New("no such file")
	}
	c, err := contract.ParseYAMLWith([]byte(studyWith+"auditors: [{statement: auditor.json}]\n"), read)
	if err != nil {
		t.Fatal(err)
	}
	want := contract.Auditor{Name: "Audit office", Fingerprint: auditor.Statement.Fingerprint(), Recipient: auditor.Statement.Recipient}
	if len(c.Auditors) != 1 || c.Auditors[0] != want {
		t.Errorf("auditors are %+v", c.Auditors)
	}
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := contract.Decode(b); err != nil || again.Auditors[0] != want {
		t.Errorf("read again: %v", err)
	}
	if text := release.Describe(c); !strings.Contains(text, `"Audit office" (`+want.Fingerprint.Short()) || !strings.Contains(text, "ALL THAT IT HAS") {
		t.Errorf("Describe does not say who may get what:\n%s", text)
	}
	byHand := "{name: Audit office, fingerprint: " + want.Fingerprint.String() + ", recipient: " + want.Recipient + "}"
	if c, err = contract.ParseYAML([]byte(studyWith + "auditors:\n  - " + byHand + "\n")); err != nil || c.Auditors[0] != want {
		t.Errorf("by hand: %v", err)
	}
	for _, bad := range []struct{ name, list, problem string }{
		{"a party", "{statement: party.json}", "must be an auditor's"},
		{"no file", "{statement: nobody.json}", "no such file"},
		{"both", "{statement: auditor.json, name: X}", "either statement or name"},
		{"nothing", "{name: X}", "needs statement"},
		{"twice", "{statement: auditor.json}, {statement: auditor.json}", "again, or has its keys"},
		{"a classic key", "{name: X, fingerprint: " + want.Fingerprint.String() + ", recipient: age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p}", "post-quantum"},
		{"a word too many", "{statement: auditor.json, role: x}", "role"},
	} {
		_, err := contract.ParseYAMLWith([]byte(studyWith+"auditors: ["+bad.list+"]\n"), read)
		wantProblem(t, bad.name, err, bad.problem)
	}
	_, err = contract.ParseYAML([]byte(studyWith + "auditors: [{statement: auditor.json}]\n"))
	wantProblem(t, "without files", err, "files are not read here")
	_, err = member.NewRoster(c, 1, []*identity.Statement{newIdentity(t, identity.RoleAnalyst, "A").Statement, party.Statement, auditor.Statement})
	wantProblem(t, "in a roster", err, "which no roster holds")
}

func newIdentity(t testing.TB, role identity.Role, name string) *identity.Identity {
	t.Helper()
	id, err := identity.New(role, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
