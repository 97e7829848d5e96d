package masked

import (
	"bytes"
	"slices"
	"testing"

	"concord/wire"
)

// TestAllSign holds that a smaller set begins when every one of its members has signed to go
// on with it, and not before: whoever has not signed may still reveal for the larger set, and
// masked figures for both would show by their difference who was left out.
func TestAllSign(t *testing.T) {
	ids := people(7)
	c := config(ids, 1, numbered(2, 10))
	for last := range 6 { // whoever signs last
		sites := sitesOf(t, ids, c)
		rest, gone := sites[:6], sites[6]
		all(t, sites)
		exchange(t, rest, sites, KindReady)
		exchange(t, []*site{gone}, []*site{rest[last], gone}, KindReady)
		for i, s := range rest {
			if i == last {
				continue
			}
			if err := s.Without(gone.me); err != nil {
				t.Fatal(err)
			}
			exchange(t, []*site{s}, rest, KindAbsent)
			for _, s := range rest {
				step := s.Next()
				if step.Attempt != 1 || len(s.Members()) != 7 || step.Due == DueReady {
					t.Fatalf("%d of 6 have signed, and a site goes on without: %+v", i+1, step)
				}
				v, err := Encode(c.Statistics, s.values)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Ready(v, new(bytes.Buffer)); err == nil {
					t.Fatal("a site masks its figures a second time before all have signed")
				}
			}
		}
		// The last one has everything and reveals instead; nothing has been masked for fewer.
		if err := rest[last].Reveal(); err != nil {
			t.Fatal(err)
		}
		exchange(t, rest[last:last+1], rest, KindReveal)
		for _, s := range rest {
			for _, m := range s.Outbox() {
				if m.Kind == KindReady && len(m.Set) != 7 {
					t.Fatal("figures were masked for a set that somebody has not signed for")
				}
			}
		}
		open := (&adversary{honest: slices.Concat(rest, []*site{gone})}).opened()
		if len(open) > 1 {
			t.Fatalf("the sums of %d sets can be known", len(open))
		}
	}
}

// TestTwoSteps lets people leave out two parties, some of them both at once and some one after
// the other: what each has signed counts whichever set it signed from.
func TestTwoSteps(t *testing.T) {
	ids := people(8)
	sites := sitesOf(t, ids, config(ids, 1, numbered(2, 10)))
	rest, gone := sites[:6], sites[6:]
	all(t, sites)
	exchange(t, rest, rest, KindReady)
	for i, s := range rest {
		if err := s.Without(gone[0].me); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := s.Without(gone[1].me); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range rest[1:] { // a set of seven, of which one says nothing
		if due := s.Next().Due; due != DueOthers {
			t.Fatal(due)
		}
	}
	seventh := gone[1]
	exchange(t, rest, sites, KindAbsent, KindReady)
	if err := seventh.Without(gone[0].me); err != nil {
		t.Fatal(err)
	}
	exchange(t, []*site{seventh}, rest, KindAbsent) // and then it is gone
	for _, s := range rest[1:] {
		if step := s.Next(); step.Attempt != 2 {
			t.Fatalf("%+v", step)
		}
		if err := s.Without(seventh.me); err != nil {
			t.Fatal(err)
		}
	}
	run(t, rest)
	for _, s := range rest {
		checkSums(t, s, rest)
	}
}

// TestAbsentBounded: a party signs once toward a set, and what it signs is of use to nobody a
// second time, in whatever other words.
func TestAbsentBounded(t *testing.T) {
	ids := people(6)
	sites := sitesOf(t, ids, config(ids, 1, numbered(1, 1)))
	all(t, sites)
	from, to, gone := sites[0], sites[1], sites[5]
	if err := from.Without(gone.me); err != nil {
		t.Fatal(err)
	}
	exchange(t, sites[:1], sites[1:2], KindAbsent)
	before := len(to.messages)
	h := from.head(from.current(), KindAbsent)
	h.Next, h.Revealed = []wire.Hash{gone.me}, true
	partyError(t, to.Take(from.forge(t, h), nil), from, "signed twice to go on with the same set")
	if len(to.messages) != before {
		t.Fatal("a second message was kept")
	}
}
