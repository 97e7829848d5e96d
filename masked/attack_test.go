package masked

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"concord/identity"
	"concord/wire"
)

// TestLateMessage is why whoever has left a set never reveals for it. The relay holds back the
// victim's messages from everybody but its accomplice; the others go on without the
// victim. Played first by sites without the rule: the accomplice subtracts.
func TestLateMessage(t *testing.T) {
	ids := people(6)
	c := config(ids, 1, numbered(3, 1000))
	for _, rule := range []bool{false, true} {
		sites := sitesOf(t, ids, c)
		victim, accomplice, others := sites[5], sites[4], sites[:4]
		all(t, sites)
		exchange(t, sites[:5], sites, KindReady)                             // everybody has those of all
		exchange(t, []*site{victim}, []*site{victim, accomplice}, KindReady) // but the victim's
		victim.step(t)                                                       // it reveals, in good faith
		if victim.reveals() != 1 {
			t.Fatal("the victim did not reveal")
		}
		first := accomplice.current()
		for _, s := range others {
			if err := s.Without(victim.me); err != nil {
				t.Fatal(err)
			}
		}
		// The accomplice has the victim's message and says that it has not.
		h := accomplice.head(first, KindAbsent)
		h.Next = []wire.Hash{victim.me}
		raw := accomplice.forge(t, h)
		// The late message comes to the others, before they know that all have signed.
		exchange(t, []*site{victim}, others, KindReady)
		var late []*message
		for _, s := range others {
			if due := s.Next().Due; due != DueOthers {
				t.Fatalf("a site that left the set has to %s", due)
			}
			if err := s.Reveal(); err == nil {
				t.Fatal("a site revealed for a set that it had left")
			}
			if !rule { // it reveals all the same
				g := s.current()
				h := s.head(g, KindReveal)
				for _, m := range g.members {
					share, err := s.openShare(g, m)
					if err != nil {
						t.Fatal(err)
					}
					h.Seen, h.Opened = append(h.Seen, g.ready[m].hash[:]...), append(h.Opened, share...)
				}
				late = append(late, &message{Head: h, hash: wire.HashOf(s.forge(t, h))})
			}
		}
		for _, s := range others {
			if err := s.Take(raw, nil); err != nil {
				t.Fatal(err)
			}
		}
		fewer := sites[:5]
		exchange(t, others, fewer, KindAbsent)
		if err := accomplice.Take(raw, nil); err != nil {
			t.Fatal(err)
		}
		run(t, fewer)
		second := checkSums(t, accomplice, fewer)
		// What the accomplice has of the first set: all words, its own shares, and the victim's.
		if err := victim.give(accomplice, victim.Outbox()[0]); err != nil && !errors.Is(err, ErrLeft) {
			t.Fatal(err)
		}
		g := accomplice.groups[first.hash]
		shares := late
		if m := victim.groups[first.hash].reveal[victim.me]; m != nil {
			shares = append(shares, m)
		}
		own := accomplice.head(g, KindReveal)
		for _, m := range g.members {
			share, err := accomplice.openShare(g, m)
			if err != nil {
				t.Fatal(err)
			}
			own.Seen, own.Opened = append(own.Seen, g.ready[m].hash[:]...), append(own.Opened, share...)
		}
		shares = append(shares, &message{Head: own})
		sums, err := accomplice.sumsWith(g, shares)
		if !rule {
			if err != nil {
				t.Fatalf("the attack does not work without the rule: %v", err)
			}
			for i, x := range victim.values {
				want, _ := Fixed(x)
				if subtract(sums, second, i) != want.Float() {
					t.Fatal("the difference is not the victim's vector: the attack plays something else")
				}
			}
			continue
		}
		if err == nil {
			t.Fatal("the accomplice knows both sums")
		}
		// Not even with a lower threshold: the few shares give another key than was committed to.
		lower := *g
		lower.threshold = len(shares)
		if _, err := accomplice.sumsWith(&lower, shares); err == nil {
			t.Fatal("fewer shares than the threshold open the keys")
		}
	}
}

// TestRevealedStays says that whoever has revealed does not leave, and that its message to leave
// would be refused by others.
func TestRevealedStays(t *testing.T) {
	ids := people(6)
	sites := sitesOf(t, ids, config(ids, 1, numbered(1, 1)))
	all(t, sites)
	exchange(t, sites, sites, KindReady)
	first := sites[0]
	first.step(t)
	if err := first.Without(sites[5].me); err == nil || !strings.Contains(err.Error(), "has revealed") {
		t.Fatal(err)
	}
	exchange(t, sites[:1], sites, KindReveal)
	h := first.head(first.current(), KindAbsent)
	h.Next = []wire.Hash{sites[5].me}
	partyError(t, sites[1].Take(first.forge(t, h), nil), first, "has revealed")
	// And the other way round.
	second := newSite(t, first.Config, ids[0], first.values)
	exchange(t, sites[1:5], []*site{second}, KindReady)
	if err := second.Take(first.forge(t, h), nil); err != nil {
		t.Fatal(err)
	}
	partyError(t, second.Take(first.groups[first.current().hash].reveal[first.me].raw, nil), first, "had left")
}

// TestNoDeadlock lets people at different sites decide while messages are under way: some
// sign to go on without a party whose message then comes to the rest.
func TestNoDeadlock(t *testing.T) {
	ids := people(6)
	c := config(ids, 1, numbered(2, 10))
	begin := func() (sites []*site, slow *site, rest []*site) {
		sites = sitesOf(t, ids, c)
		all(t, sites)
		exchange(t, sites[:5], sites, KindReady)
		for _, s := range sites[:2] {
			if err := s.Without(sites[5].me); err != nil {
				t.Fatal(err)
			}
		}
		return sites, sites[5], sites[:5]
	}
	t.Run("they follow", func(t *testing.T) {
		sites, slow, rest := begin()
		exchange(t, []*site{slow}, rest, KindReady)
		exchange(t, sites[:2], rest, KindAbsent)
		for _, s := range sites[2:5] {
			if step := s.Next(); step.Due != DueOthers || !slices.Equal(step.Proposed, []wire.Hash{slow.me}) {
				t.Fatalf("%+v", step)
			}
			if err := s.Without(slow.me); err != nil {
				t.Fatal(err)
			}
		}
		run(t, rest)
		checkSums(t, sites[0], rest)
		checkSums(t, sites[4], rest)
		// Whoever was left out may know the sums, which its own figures are not in.
		for _, s := range rest {
			for _, m := range s.Outbox() {
				if err := s.give(slow, m); err != nil && !errors.Is(err, ErrLeft) {
					t.Fatal(err)
				}
			}
		}
		if due := slow.Next().Due; due != DueNothing {
			t.Fatal(due)
		}
		checkSums(t, slow, rest)
	})
	t.Run("they do not follow", func(t *testing.T) {
		sites, slow, rest := begin()
		exchange(t, []*site{slow}, rest, KindReady)
		exchange(t, sites[:2], sites, KindAbsent)
		for _, s := range sites[2:] { // people say so; four are enough
			if err := s.Reveal(); err != nil {
				t.Fatal(err)
			}
		}
		exchange(t, sites[2:], sites, KindReveal)
		for _, s := range sites {
			checkSums(t, s, sites)
		}
	})
	t.Run("one has revealed", func(t *testing.T) {
		sites, slow, rest := begin()
		exchange(t, []*site{slow}, rest[3:], KindReady) // two have all
		sites[3].step(t)
		exchange(t, sites[3:4], sites, KindReveal)
		if err := sites[2].Without(slow.me); err != nil {
			t.Fatal(err)
		}
		exchange(t, sites[:3], sites, KindAbsent)
		// Three left it, of which one may lie: with the one who revealed, the fifth, the slow one and
		// the liar the set could still open.
		if err := sites[3].Without(slow.me); err == nil || !strings.Contains(err.Error(), "has revealed") {
			t.Fatal(err)
		}
		if err := sites[4].Without(slow.me); err != nil {
			t.Fatal(err)
		}
		exchange(t, sites[4:5], sites, KindAbsent)
		if err := sites[3].Without(slow.me); err != nil { // now it cannot
			t.Fatal(err)
		}
		run(t, rest)
		for _, s := range rest {
			checkSums(t, s, rest)
		}
		if open := (&adversary{honest: sites[1:], colluding: sites[:1]}).opened(); len(open) > 1 {
			t.Fatal(open)
		}
	})
}

// TestDifferences plays what the ledger is there for: two answered rounds of which each is
// in order, and whose difference is one party's figures, or the change of one.
func TestDifferences(t *testing.T) {
	ids := people(6)
	name := func(h wire.Hash) string { return h.Short() }
	sums := func(stage int, of []*identity.Identity, values func(i int) []float64) []Word {
		c := config(of, 1, numbered(4, 1000))
		c.Stage = stage
		sites := sitesOf(t, of, c)
		for i := range sites {
			sites[i].values = values(i)
		}
		run(t, sites)
		return checkSums(t, sites[1], sites)
	}
	set := func(of []*identity.Identity) []wire.Hash {
		var s []wire.Hash
		for _, id := range of {
			s = append(s, id.Statement.Fingerprint())
		}
		slices.SortFunc(s, compare)
		return s
	}
	plain := func(i int) []float64 { return someValues(i, 4, 1000) }
	corrected := func(i int) []float64 {
		v := plain(i)
		if i == 0 {
			v[2] += 7.25
		}
		return v
	}
	first := sums(1, ids, plain)
	me := ids[0].Statement.Fingerprint()
	var l Ledger
	old, changed := wire.HashOf([]byte("a.csv")), wire.HashOf([]byte("b.csv"))
	l.Add(Answered{Topic: "figures", Stage: 1, Set: set(ids), Source: old})

	second := sums(2, ids, corrected)
	if got := subtract(second, first, 2); got != 7.25 {
		t.Fatalf("the difference is %g: the attack plays something else", got)
	}
	if v := l.Judge(Answered{Topic: "figures", Stage: 2, Set: set(ids), Source: changed}, me, 1, name); v.OK() || v.Never != nil {
		t.Fatalf("the ledger admits corrected data: %+v", v)
	}
	third := sums(3, ids[:5], plain)
	for i, x := range plain(5) {
		if want, _ := Fixed(x); subtract(first, third, i) != want.Float() {
			t.Fatal("the difference is not the sixth party's: the attack plays something else")
		}
	}
	v := l.Judge(Answered{Topic: "figures", Stage: 3, Set: set(ids[:5]), Source: old}, me, 1, name)
	if v.OK() || v.Never != nil || !strings.Contains(v.Reveals, ids[5].Statement.Fingerprint().Short()+" alone") {
		t.Fatalf("the ledger admits one party fewer: %+v", v)
	}
	if v := l.Judge(Answered{Topic: "figures", Stage: 2, Set: set(ids), Source: old}, me, 1, name); !v.OK() {
		t.Fatalf("the ledger refuses the same again: %+v", v)
	}
}

// TestPuppets says how many must stand beside those that may collude, and what all but one
// know together: nothing protects the last one.
func TestPuppets(t *testing.T) {
	ids := people(4)
	_, err := New(config(ids[:3], 1, numbered(1, 1)), ids[0])
	if err == nil || !strings.Contains(err.Error(), "a set of 3 parties of which 1 may collude") {
		t.Fatal(err)
	}
	sites := sitesOf(t, ids, config(ids, 1, numbered(5, 10)))
	run(t, sites)
	words := checkSums(t, sites[1], sites)
	for i := range words {
		for _, s := range sites[1:] {
			w, _ := Fixed(s.values[i])
			words[i] = words[i].Sub(w)
		}
		if last, _ := Fixed(sites[0].values[i]); words[i] != last {
			t.Fatal("the sums minus those of all others are not the last one's: the documents say that they are")
		}
	}
}
