package visit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

const pooledYAML = `name: Pooled
parties: 5
features: [{name: a, range: [0, 1]}, {name: b, range: [0, 1]}, {name: c, range: [0, 1]}]
label: {name: y, levels: ["no", "yes"], positive: "yes"}
standardise: pooled
basis: {kind: pca, dim: 2}
`

// TestLedgerKeeps: what this site has answered is in its folder, and the next visit judges a
// question by it: over one party fewer, the difference of the sums is that party's figures.
func TestLedgerKeeps(t *testing.T) {
	c, err := contract.ParseYAML([]byte(pooledYAML))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	analyst, err := identity.New(identity.RoleAnalyst, "Office", nil)
	if err != nil {
		t.Fatal(err)
	}
	members := []*identity.Statement{analyst.Statement}
	var own *identity.Identity
	var set []wire.Hash
	for i := range c.Parties {
		id, err := identity.New(identity.RoleParty, fmt.Sprintf("Clinic %d", i+1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			own = id
		}
		members, set = append(members, id.Statement), append(set, id.Statement.Fingerprint())
	}
	slices.SortFunc(set, func(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) })
	roster, err := member.NewRoster(c, 1, members)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	begin := func() *Visit {
		return &Visit{
			site: &site.Site{Dir: dir}, ID: own, Whole: c, Contract: c, Study: wire.HashOf(raw),
			Chain: member.NewChain(c, wire.HashOf(raw), roster),
		}
	}
	fewer := slices.Clone(set)
	i := slices.IndexFunc(fewer, func(h wire.Hash) bool { return h != own.Statement.Fingerprint() })
	fewer = slices.Delete(fewer, i, i+1)
	source, other := wire.Hash{1}, wire.Hash{2}

	v := begin()
	verdict, err := v.judge(v.question(2, fewer, source, wire.Hash{8}))
	if err != nil || !verdict.OK() {
		t.Fatalf("before anything was answered: %+v, %v", verdict, err)
	}
	if err := v.answer(v.question(1, set, source, wire.Hash{9})); err != nil {
		t.Fatal(err)
	}
	v = begin()
	verdict, err = v.judge(v.question(2, fewer, source, wire.Hash{8}))
	if err != nil || verdict.OK() || !strings.Contains(verdict.Reveals, v.Chain.Known(set[i]).Name) {
		t.Errorf("over one party fewer: %+v, %v", verdict, err)
	}
	if verdict, err = v.judge(v.question(1, set, source, wire.Hash{9})); err != nil || !verdict.OK() {
		t.Errorf("the same question again: %+v, %v", verdict, err)
	}
	if verdict, err = v.judge(v.question(1, set, other, wire.Hash{9})); err != nil || verdict.OK() {
		t.Errorf("the same set of a corrected file: %+v, %v", verdict, err)
	}
	if err := v.answer(v.question(2, fewer, source, wire.Hash{8})); err != nil {
		t.Fatal(err)
	}
	l, err := begin().sumsLedger()
	if err != nil || len(l.Answered) != 2 || !slices.Equal(l.Answered[0].Set, set) || !slices.Equal(l.Answered[1].Set,
		fewer) {
		t.Errorf("the ledger has %+v, %v", l, err)
	}
}
