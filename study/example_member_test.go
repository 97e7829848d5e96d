package study_test

import (
	"fmt"
	"log"

	"concord/study"
)

// Everybody who has the same contract, names and keys reads out the same twelve words; with
// one key changed they differ.
func ExamplePhrase() {
	c, err := study.ParseYAML([]byte(`
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
	identity := func(role study.Role, name string) *study.Statement {
		id, err := study.NewIdentity(role, name, nil)
		if err != nil {
			log.Fatal(err)
		}
		return id.Statement
	}
	phrase := func(members ...*study.Statement) []string {
		roster, err := study.NewRoster(c, 1, members)
		if err != nil {
			log.Fatal(err)
		}
		return study.Phrase(roster.Epoch(study.HashOf(encoded)))
	}
	office, north, south := identity(study.RoleAnalyst, "Office"), identity(study.RoleParty, "North"), identity(study.RoleParty, "South")
	words := phrase(office, north, south)
	fmt.Println(len(words), "words")
	fmt.Println("any order:", fmt.Sprint(words) == fmt.Sprint(phrase(south, office, north)))
	fmt.Println("another South:", fmt.Sprint(words) == fmt.Sprint(phrase(office, north, identity(study.RoleParty, "South"))))
	// Output:
	// 12 words
	// any order: true
	// another South: false
}
