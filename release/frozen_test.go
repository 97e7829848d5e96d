package release_test

import (
	"strings"
	"testing"

	"concord/member"
	"concord/release"
)

// Encodings that must be read for ever, and what must not be.
const (
	zeros = "0000000000000000000000000000000000000000000000000000000000000000"
	ones  = "1111111111111111111111111111111111111111111111111111111111111111"

	frozenAmendment = `{"format":1,"study":"` + ones + `","from":"` + ones + `","to":"` + ones + `","number":2,"kind":"remove","party":"` + ones + `","reason":"merged","signatures":[{"by":"` + ones + `","signature":"AAAA"}]}`
	frozenRound     = `{"format":1,"study":"` + ones + `","round":1,"epoch":"` + ones + `","parties":[{"party":"` + ones + `","contribution":"` + ones + `","g":"` + ones + `"}],"base":0,"target":"` + ones + `","model":"` + zeros + `"}`
)

// TestFrozenRecords: amendments and records of rounds written by earlier programs are
// read, and encode to the same bytes.
func TestFrozenRecords(t *testing.T) {
	a, err := member.DecodeAmendment([]byte(frozenAmendment))
	if err != nil || string(a.Encode()) != frozenAmendment || a.Kind != member.AmendRemove || a.Number != 2 {
		t.Errorf("the frozen amendment: %+v, %v", a, err)
	}
	r, err := release.DecodeRound([]byte(frozenRound))
	if err != nil || string(r.Encode()) != frozenRound || *r.Base != 0 || len(r.Parties) != 1 {
		t.Errorf("the frozen round: %+v, %v", r, err)
	}
	for _, bad := range []string{
		strings.Replace(frozenAmendment, `"format":1`, `"format":2`, 1),
		strings.Replace(frozenAmendment, `"number"`, `"Number"`, 1),
		strings.Replace(frozenAmendment, `"reason":"merged"`, `"reason":"a\nb"`, 1),
		frozenAmendment + " ",
		"{}", "",
	} {
		if _, err := member.DecodeAmendment([]byte(bad)); err == nil {
			t.Errorf("the amendment %q is read", bad)
		}
	}
	for _, bad := range []string{
		strings.Replace(frozenRound, `"format":1`, `"format":2`, 1), strings.Replace(frozenRound, `"round":1,`, `"round":1,"round":1,`, 1), "{}",
	} {
		if _, err := release.DecodeRound([]byte(bad)); err == nil {
			t.Errorf("the round %q is read", bad)
		}
	}
}
