package store

import "concord/identity"

// TestAnalyst signs the audit logs of tests.
var TestAnalyst = func() *identity.Identity {
	id, err := identity.New(identity.RoleAnalyst, "Signer", nil)
	if err != nil {
		panic(err)
	}
	return id
}()

var testAnalyst = TestAnalyst
