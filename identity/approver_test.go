package identity_test

import (
	"testing"

	"concord/identity"
	"concord/secret"
)

func FuzzParseApprover(f *testing.F) {
	private, public := identity.NewApprover()
	f.Add(public)
	f.Add(string(private.Reveal()))
	f.Fuzz(func(t *testing.T, text string) {
		key, err := identity.ParseApprover(text)
		if err == nil {
			again, err := identity.ParseApprover(identity.ApproverText(key))
			if err != nil || string(again) != string(key) {
				t.Fatalf("written and read again it is another key (%v)", err)
			}
		}
		if _, err := identity.DecodeApprover(secret.NewBytes([]byte(text))); err == nil && len(text) < 64 {
			t.Fatal("accepted a key without its digits")
		}
	})
}
