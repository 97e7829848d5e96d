package identity_test

import (
	"fmt"
	"log"

	"concord/identity"
)

// An identity prints its name only. Its statement is public and signed by itself.
func ExampleNew() {
	id, err := identity.New(identity.RoleParty, "North hospital", nil)
	if err != nil {
		log.Fatal(err)
	}
	again, err := identity.DecodeStatement(id.Statement.Encode())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Name, again.Role, again.Fingerprint() == id.Statement.Fingerprint())
	_, err = identity.DecodeStatement(append(id.Statement.Encode(), ' '))
	fmt.Println("one byte more:", err != nil)
	// Output:
	// North hospital party true
	// one byte more: true
}
