package concord_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"concord/member"
)

// TestRekeyInterrupted: wherever a re-key is interrupted, the next command goes on with
// it; the keys are exchanged once, and the audit log verifies.
func TestRekeyInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := ready(t)
	old := o.statementOf("East").Fingerprint()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(o.site("East"), name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	oldKeys := read("identity.secret")

	// The analyst has signed, and the answer was lost.
	o.losePosts = true
	o.must(1, "", "East", "rekey")
	o.losePosts = false
	next := read("identity-next.secret")
	if o.statementOf("East").Fingerprint() != old {
		t.Fatal("the site took keys of which it has not heard that they count")
	}
	o.must(0, "as of roster 2", "East", "rekey")
	fresh := o.statementOf("East").Fingerprint()
	if fresh == old || string(read("identity.secret")) != string(next) {
		t.Error("the site has other keys than those that the analyst signed")
	}

	// Between the chain and the keys: the chain names the new ones.
	for name, b := range map[string][]byte{"identity.secret": oldKeys, "identity-next.secret": next} {
		if err := os.WriteFile(filepath.Join(o.site("East"), name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(o.site("East"), "identities")); err != nil {
		t.Fatal(err)
	}
	o.must(0, `"East"`, "East", "roster")
	if string(read("identity.secret")) != string(next) {
		t.Error("the interrupted exchange of keys was not finished")
	}
	if _, err := os.Stat(filepath.Join(o.site("East"), "identities", old.String()+".secret")); err != nil {
		t.Errorf("the old keys: %v", err)
	}
	if _, err := os.Stat(filepath.Join(o.site("East"), "identity-next.secret")); err == nil {
		t.Error("the next keys are still announced")
	}
	o.must(0, "entries, chained and signed", "East", "audit", "verify")

	// A second time, where another party's change came between.
	o.must(0, "as of roster 3", "West", "rekey")
	o.must(0, "as of roster 4", "East", "rekey")
	for _, name := range clinics {
		o.concord(name, "sync")
	}
	o.sameSeeds()
	if _, err := o.server.Status(t.Context(), o.study); err != nil {
		t.Error(err)
	}
	if s := o.statementOf("East"); s.Fingerprint() == fresh || s.Name != "East" {
		t.Error("the second re-key did not count")
	}
}

// TestWithdrawInterrupted: a withdrawal whose answer was lost is repeated with the same
// answer, and one that another amendment overtook is signed again.
func TestWithdrawInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := ready(t)
	for _, name := range clinics {
		o.concord(name, "sync")
	}
	o.losePosts = true
	o.must(1, "", "East", "withdraw", "--name", "T")
	o.losePosts = false
	if st, err := o.server.Status(t.Context(), o.study); err != nil || st.Present != 2 {
		t.Fatalf("the analyst's server: %+v, %v; want two parties left", st, err)
	}
	out := o.must(0, `"East" has withdrawn from "T"`, "East", "withdraw", "--name", "T")
	if !strings.Contains(out, "remains: no model that this party's rows went into was released") {
		t.Errorf("what remains:\n%s", out)
	}
	b, err := os.ReadFile(filepath.Join(o.site("East"), "withdrawn.json"))
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := member.DecodeWithdrawal(b, o.id.Statement)
	if err != nil || receipt.Kind != member.AmendWithdraw {
		t.Errorf("the receipt: %+v, %v", receipt, err)
	}
	receipt.Kind = member.AmendRemove
	if _, err := member.DecodeWithdrawal(receipt.Encode(), o.id.Statement); err == nil {
		t.Error("a receipt that was changed verifies")
	}
	o.must(1, "this site has withdrawn", "East", "sync")
	o.noSeed("East")

	// Overtaken: North signs for an epoch that is not the present one any more.
	o.must(0, "as of roster 3", "West", "rekey")
	o.must(0, `"North" has withdrawn`, "North", "withdraw", "--name", "T")
	st, err := o.server.Status(t.Context(), o.study)
	if err != nil || st.State != "ended" || !strings.Contains(st.Problem, "fewer than the two") {
		t.Errorf("with one party left: %+v, %v", st, err)
	}
}
