package store

import "concord/study"

// TestAnalyst signs the audit logs of tests.
var TestAnalyst = func() *study.Identity {
	id, err := study.NewIdentity(study.RoleAnalyst, "Signer", nil)
	if err != nil {
		panic(err)
	}
	return id
}()

var testAnalyst = TestAnalyst
