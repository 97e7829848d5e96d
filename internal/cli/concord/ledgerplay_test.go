package concord_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"concord/contract"
	"concord/internal/cli/concord"
	"concord/masked"
	"concord/member"
	"concord/wire"
)

// TestLedgerHolds plays four sites that pool figures and then second moments. What a site
// has answered lies in its ledger before the answer leaves, and what it is asked next is
// judged beside it: a site that goes on with other rows hears what the sums of both would
// show, and nothing leaves without a typed yes to that.
func TestLedgerHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("plays a study of four sites")
	}
	o := newOffice(t)
	agreed, err := contract.ParseYAML([]byte(`
name: T
parties: 4
features: [{name: a, range: [0, 10]}, {name: b, range: [0, 10]}, {name: c, range: [0, 10]}]
label: {name: y, levels: ["no", "yes"], positive: "yes"}
standardise: pooled
basis: {kind: common, dim: 2}
alignment: {method: odc}
`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := agreed.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if o.study, err = o.store.AddStudy(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	names := []string{"Ash", "Birch", "Cedar", "Dogwood"}
	files, hashes := map[string]string{}, map[string]wire.Hash{}
	write := func(key string, shift int, more string) {
		text := "a,b,c,y\n"
		for i := range 20 {
			text += fmt.Sprintf("%d.%d,%d,%d,%s\n", i%7, shift, (i*i+shift)%10, (3*i+i/4)%9, []string{"no", "yes"}[i%2])
		}
		text += more
		files[key] = filepath.Join(t.TempDir(), "data.csv")
		if err := os.WriteFile(files[key], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		hashes[key] = wire.HashOf([]byte(text))
	}
	var set []wire.Hash
	for i, name := range names {
		invite := member.NewInvite(o.front.Listener.Addr().String(), o.study, o.id.Statement.Fingerprint())
		if err := o.store.AddInvite(t.Context(), o.study, wire.HashOf(invite.Secret.Reveal()), name); err != nil {
			t.Fatal(err)
		}
		o.must(0, "joined as", name, "join", invite.Line(), "--name", name)
		set = append(set, o.statementOf(name).Fingerprint())
		write(name, i, "")
	}
	slices.SortFunc(set, func(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) })
	// The phrase is slow to make and the same for all.
	phrase := o.phrase("Ash")
	for _, name := range names {
		o.must(0, "confirmed: every name", name, "roster", "confirm", "--phrase", phrase)
	}
	typed := func(text, name string, args ...string) (int, string) {
		var b strings.Builder
		status := concord.Run(t.Context(), append([]string{"--dir", o.site(name)}, args...), strings.NewReader(text), &b, &b)
		return status, b.String()
	}
	yes := func(name string, args ...string) {
		t.Helper()
		if status, out := typed("yes\n", name, args...); status != 0 {
			t.Fatalf("%s: concord %s: %s", name, strings.Join(args, " "), out)
		}
	}
	answered := func(name string) []masked.Answered {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(o.site(name), "pool", "ledger.json"))
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		l, err := masked.DecodeLedger(b)
		if err != nil {
			t.Fatal(err)
		}
		return l.Answered
	}
	for range 2 {
		for _, name := range names {
			o.concord(name, "sync")
		}
	}
	for _, name := range names {
		o.must(0, "prepared stage 1 of 2", name, "pool", "prepare", files[name])
		if got := answered(name); len(got) != 0 {
			t.Errorf("%s has answered %v before anybody approved anything", name, got)
		}
		yes(name, "pool", "approve")
		o.concord(name, "sync")
		got := answered(name)
		if len(got) != 1 || got[0].Topic != "figures" || got[0].Stage != 1 || !slices.Equal(got[0].Set, set) || got[0].Source != hashes[name] {
			t.Fatalf("the ledger of %s after its figures left: %+v, want them of %d parties, of its file", name, got, len(set))
		}
	}
	for range 2 {
		for _, name := range names {
			o.concord(name, "sync")
		}
	}
	// The same rows again show nothing more; others would show what changed.
	o.must(0, "prepared stage 2 of 2", "Birch", "pool", "prepare", files["Birch"])
	o.must(0, "nothing that this site has answered shows more", "Birch", "pool", "review")
	write("corrected", 0, "1,2,3,yes\n")
	yes("Ash", "pool", "prepare", files["corrected"])
	const reveals = "what changed in this site's data since it answered"
	if _, out := typed("", "Ash", "pool", "review"); !strings.Contains(strings.Join(strings.Fields(out), " "), reveals) {
		t.Errorf("the review of other rows does not say %q:\n%s", reveals, out)
	}
	if status, out := typed("", "Ash", "pool", "approve"); status == 0 || !strings.Contains(strings.Join(strings.Fields(out), " "), reveals) {
		t.Errorf("without a yes other rows are approved (status %d):\n%s", status, out)
	}
	o.concord("Ash", "sync")
	if got := answered("Ash"); len(got) != 1 {
		t.Errorf("the ledger has %d answers; nothing left after the first", len(got))
	}
	yes("Ash", "pool", "approve")
	o.concord("Ash", "sync")
	if got := answered("Ash"); len(got) != 2 || got[1].Stage != 2 || got[1].Source == hashes["Ash"] || !got[1].Approved {
		t.Errorf("the ledger after a yes: %+v, want a second answer, of other rows, which a person approved", got)
	}
}
