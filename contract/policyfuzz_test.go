package contract_test

import (
	"testing"

	"concord/contract"
)

func FuzzParsePolicy(f *testing.F) {
	f.Add([]byte("name: north\nfloors: {rows: 50, per_class: 5, people: 40, eps: 0.1}\nledger: /srv/ledger.jsonl\napprove: true\n"))
	f.Add([]byte("floors: {rows: -1}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := contract.ParsePolicy(b)
		if err == nil && (p.Rows < 0 || p.PerClass < 0 || p.People < 0 || !(p.Eps >= 0 && p.Eps < 1)) {
			t.Fatalf("accepted floors below nothing: %+v", p)
		}
	})
}
