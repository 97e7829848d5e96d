package member_test

import (
	"fmt"
	"log"

	"concord/contract"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

// Everybody who has the same contract, names and keys reads out the same twelve words; with
// one key changed they differ.
func ExamplePhrase() {
	c, err := contract.ParseYAML([]byte(`
name: Readmission
parties: 2
features: [{name: age, range: [18, 100]}, {name: visits, range: [0, 20]}]
label: {name: readmitted, levels: ["no", "yes"], positive: "yes"}
`))
	if err != nil {
		log.Fatal(err)
	}
	encoded, err := c.Encode()
	if err != nil {
		log.Fatal(err)
	}
	newIdentity := func(role identity.Role, name string) *identity.Statement {
		id, err := identity.New(role, name, nil)
		if err != nil {
			log.Fatal(err)
		}
		return id.Statement
	}
	phrase := func(members ...*identity.Statement) []string {
		roster, err := member.NewRoster(c, 1, members)
		if err != nil {
			log.Fatal(err)
		}
		return member.Phrase(roster.Epoch(wire.HashOf(encoded)))
	}
	office, north, south := newIdentity(identity.RoleAnalyst, "Office"), newIdentity(identity.RoleParty, "North"), newIdentity(identity.RoleParty, "South")
	words := phrase(office, north, south)
	fmt.Println(len(words), "words")
	fmt.Println("any order:", fmt.Sprint(words) == fmt.Sprint(phrase(south, office, north)))
	fmt.Println("another South:", fmt.Sprint(words) == fmt.Sprint(phrase(office, north, newIdentity(identity.RoleParty, "South"))))
	// Output:
	// 12 words
	// any order: true
	// another South: false
}
