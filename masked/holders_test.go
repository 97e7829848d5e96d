package masked

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"concord/identity"
	"concord/wire"
)

// held is a configuration of wards and, from the split on, laboratories.
func held(ids []*identity.Identity, split int) Config {
	c := config(ids, 1, numbered(4, 100))
	ward, lab := Holders{Name: `the view "ward"`}, Holders{Name: `the view "lab"`}
	for i, id := range ids {
		if i < split {
			ward.Parties = append(ward.Parties, id.Statement.Fingerprint())
		} else {
			lab.Parties = append(lab.Parties, id.Statement.Fingerprint())
		}
	}
	c.Holders = []Holders{ward, lab}
	return c
}

// TestHolders holds that no set is summed in which too few have the same statistics: a round
// does not begin with one, nobody can go on with one, and who goes on with one all the
// same is refused by its name. Of a lot that is large enough a party may be left out.
func TestHolders(t *testing.T) {
	ids := people(9)
	for split := range 10 {
		_, err := New(held(ids, split), ids[0])
		if enough := split >= 4 && split <= 5; (err == nil) != enough {
			t.Errorf("%d wards and %d laboratories: %v", split, 9-split, err)
		}
	}
	c := held(ids, 5)
	sites := sitesOf(t, ids, c)
	run(t, sites[1:8])
	few := sites[8].me
	if err := sites[1].Without(few); err == nil || !strings.Contains(err.Error(), `3 of the set have the view "lab", of which 1 may collude`) || !strings.Contains(err.Error(), "amend the roster") {
		t.Fatalf("a laboratory of four is left out: %v", err)
	}
	// A program that does not know of views signs it, and is named.
	c.Holders = nil
	careless := newSite(t, c, ids[2], nil)
	for _, s := range sites[1:8] {
		for _, m := range s.Outbox() {
			if err := s.give(careless, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := careless.Without(few); err != nil {
		t.Fatal(err)
	}
	for _, m := range careless.Outbox() {
		if m.Kind != KindAbsent {
			continue
		}
		var party *PartyError
		if err := careless.give(sites[1], m); !errors.As(err, &party) || party.Name != "Hospital 3" || !strings.Contains(err.Error(), "goes on with too few") {
			t.Fatalf("a set with three laboratories is taken: %v", err)
		}
	}
	// One ward of five may be left out.
	sites = sitesOf(t, ids, held(ids, 5))
	here := sites[1:]
	run(t, here)
	for _, s := range here {
		if err := s.Without(sites[0].me); err != nil {
			t.Fatal(err)
		}
	}
	run(t, here)
	for _, s := range here {
		checkSums(t, s, here)
	}
	// And a later stage cannot begin with fewer than there must be.
	c = held(ids, 5)
	c.Without = []wire.Hash{few}
	if _, err := New(c, ids[0]); err == nil {
		t.Fatal("a stage begins with three laboratories")
	}
	c = held(ids, 5)
	c.Holders[0].Parties = append(c.Holders[0].Parties, wire.Hash{1})
	if _, err := New(c, ids[0]); err == nil {
		t.Fatal("somebody outside of the round holds statistics")
	}
}

// TestLedgerViewsRule draws parties with views and questions that the ledger admits. Of every
// question there are sums over all who have any of some views; for all of them together it
// is solved whether a combination has few parties.
func TestLedgerViewsRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const parties = 15
		everybody := rapid.Permutation([]int{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
		views := make([]string, parties+1)
		for p := range views {
			views[p] = fmt.Sprint("view ", 1+p%3)
		}
		var l Ledger
		me := wire.Hash{1}
		for n := range rapid.IntRange(1, 4).Draw(t, "questions") {
			q := Answered{Topic: "figures", Stage: n + 1}
			dropped := everybody.Draw(t, "order")[:rapid.IntRange(0, 5).Draw(t, "dropped")]
			for p := 1; p <= parties; p++ {
				if !slices.Contains(dropped, p) {
					q.Set, q.Views = append(q.Set, wire.Hash{byte(p)}), append(q.Views, views[p])
				}
			}
			if l.Judge(q, me, 0, called).OK() {
				l.Add(q)
			}
		}
		var sums [][]int64 // who is in each
		for _, q := range l.Answered {
			for some := 1; some < 8; some++ {
				row := make([]int64, parties)
				for k, p := range q.Set {
					if view := int(q.Views[k][len("view ")] - '1'); some>>view&1 == 1 {
						row[p[0]-1] = 1
					}
				}
				sums = append(sums, row)
			}
		}
		without := func(a, b int) [][]int64 {
			var out [][]int64
			for _, row := range sums {
				row = slices.Clone(row)
				row[a-1], row[b-1] = 0, 0
				out = append(out, row)
			}
			return out
		}
		whole := rank(cloned(sums))
		for a := 1; a <= parties; a++ {
			for b := a; b <= parties; b++ {
				if rank(without(a, b)) < whole {
					t.Fatalf("sums over %v of views %v show %d and %d", l.Answered, views[1:], a, b)
				}
			}
		}
	})
}

func cloned(m [][]int64) [][]int64 {
	var out [][]int64
	for _, row := range m {
		out = append(out, slices.Clone(row))
	}
	return out
}

func TestLedgerViews(t *testing.T) {
	me := wire.Hash{1}
	ask := func(stage int, views string, who ...int) Answered {
		return Answered{Topic: "figures", Stage: stage, Set: set(who...), Views: strings.Split(views, "")}
	}
	all := ask(1, "wwwwwllll", 1, 2, 3, 4, 5, 6, 7, 8, 9)
	var l Ledger
	if v := l.Judge(all, me, 1, called); !v.OK() {
		t.Fatalf("%+v", v)
	}
	l.Add(all)
	for _, test := range []struct {
		q    Answered
		want string
	}{
		{ask(2, "wwwwwllll", 1, 2, 3, 4, 5, 6, 7, 8, 9), ""},
		{ask(2, "wwwwllll", 1, 2, 3, 4, 6, 7, 8, 9), "Hospital E alone"},
		{ask(2, "wwwwwlll", 1, 2, 3, 4, 5, 6, 7, 8), `3 parties of the set have the view "l"`},
		{ask(2, "wwww", 1, 2, 3, 4), "Hospital E alone"},
		{ask(2, "wwwww", 1, 2, 3, 4, 5), ""}, // the four laboratories stand together
		{ask(2, "www", 1, 2, 3, 4), "views for a set of"},
	} {
		v := l.Judge(test.q, me, 1, called)
		if got := fmt.Sprint(v.Reveals, v.Never); v.OK() != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%v: %+v, want %q", test.q.Views, v, test.want)
		}
	}
	again, err := DecodeLedger(l.Encode())
	if err != nil || !slices.Equal(again.Answered[0].Views, all.Views) {
		t.Fatal(err)
	}
	l.Answered[0].Views = l.Answered[0].Views[1:]
	if _, err := DecodeLedger(l.Encode()); err == nil {
		t.Error("a view too few is read")
	}
}
