package masked

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"concord/study"
)

// partyError fails unless err names the party.
func partyError(t *testing.T, err error, s *site, part string) {
	t.Helper()
	var named *PartyError
	if !errors.As(err, &named) || named.Party != s.me || !strings.Contains(err.Error(), part) {
		t.Fatalf("%v, want an error about %v: %s", err, s.id, part)
	}
}

func exchange(t *testing.T, from, to []*site, kinds ...string) {
	t.Helper()
	for _, f := range from {
		for _, m := range f.Outbox() {
			for _, s := range to {
				if slices.Contains(kinds, m.Kind) {
					if err := f.give(s, m); err != nil && !errors.Is(err, ErrLeft) {
						t.Fatal(err)
					}
				}
			}
		}
	}
}

func all(t *testing.T, sites []*site) {
	t.Helper()
	for _, s := range sites {
		s.step(t)
	}
}

// difference of two sums at entry i, as a number.
func subtract(a, b []Word, i int) float64 { return a[i].Sub(b[i]).Float() }

// sumsWith computes the sums of a set as an attacker would, from the words and whatever
// shares it has, without asking what is due.
func (s *site) sumsWith(g *group, revealed []*message) ([]Word, error) {
	forced := *s.Round
	forced.groups = map[study.Hash]*group{}
	copied := *g
	copied.reveal = map[study.Hash]*message{}
	for _, m := range revealed {
		copied.reveal[m.Sender] = m
	}
	forced.groups[g.hash] = &copied
	good, _ := forced.reveals(&copied)
	if len(good) < copied.threshold {
		return nil, errors.New("too few shares")
	}
	streams, err := forced.ownStreams(&copied)
	if err != nil {
		return nil, err
	}
	words := make([]Word, s.Config.Statistics.N)
	for _, m := range g.members {
		if err := forced.addBody(words, m, *g.ready[m].Body, s.open); err != nil {
			return nil, err
		}
	}
	total := make([]byte, len(words)*wordBytes)
	apply(streams, total, 0, make([]byte, chunkBytes), zeros)
	for i := range words {
		words[i] = words[i].Sub(getWord(total[i*wordBytes:]))
	}
	return words, nil
}

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
		h.Next = []study.Hash{victim.me}
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
				late = append(late, &message{Head: h, hash: study.HashOf(s.forge(t, h))})
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

// reveals counts the reveal messages of a site.
func (s *site) reveals() int {
	n := 0
	for _, m := range s.Outbox() {
		if m.Kind == KindReveal {
			n++
		}
	}
	return n
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
	h.Next = []study.Hash{sites[5].me}
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
			if step := s.Next(); step.Due != DueOthers || !slices.Equal(step.Proposed, []study.Hash{slow.me}) {
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
	name := func(h study.Hash) string { return h.Short() }
	sums := func(stage int, of []*study.Identity, values func(i int) []float64) []Word {
		c := config(of, 1, numbered(4, 1000))
		c.Stage = stage
		sites := sitesOf(t, of, c)
		for i := range sites {
			sites[i].values = values(i)
		}
		run(t, sites)
		return checkSums(t, sites[1], sites)
	}
	set := func(of []*study.Identity) []study.Hash {
		var s []study.Hash
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
	old, changed := study.HashOf([]byte("a.csv")), study.HashOf([]byte("b.csv"))
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

// TestEquivocation lets a party send different messages to different parties.
func TestEquivocation(t *testing.T) {
	ids := people(6)
	c := config(ids, 1, numbered(2, 10))
	sites := sitesOf(t, ids, c)
	liar := sites[5]
	other := newSite(t, c, ids[5], []float64{-3, 4})
	all(t, sites)
	other.step(t)
	exchange(t, sites[:5], append(slices.Clone(sites), other), KindReady)
	exchange(t, []*site{liar}, sites[:4], KindReady)
	exchange(t, []*site{other}, sites[4:5], KindReady)
	all(t, sites[:5])
	exchange(t, sites[:5], sites[:5], KindReveal)
	// Four of six have seen the same and finish; the fifth knows that somebody lied.
	for _, s := range sites[:4] {
		step := s.Next()
		if step.Due != DueNothing || len(step.Problems) != 1 {
			t.Fatalf("%+v", step)
		}
		partyError(t, step.Problems[0], sites[4], "has another message of \""+liar.id.Statement.Name)
		checkSums(t, s, sites)
	}
	step := sites[4].Next()
	if step.Due != DueOthers || len(step.Problems) != 4 {
		t.Fatalf("%+v", step)
	}
	if _, err := sites[4].Sums(sites[4].open); err == nil {
		t.Fatal("a party that has another message has sums")
	}
	// What is forwarded names the liar, and is proof: it signed both.
	for _, m := range sites[4].Forward() {
		if m.Sender == liar.me {
			partyError(t, sites[4].give(sites[0], m), liar, "two different messages")
		}
	}
}

// TestWrongShares: shares that are not those that were promised are found, and whoever made them
// is named.
func TestWrongShares(t *testing.T) {
	ids := people(6)
	c := config(ids, 1, numbered(2, 10))
	play := func(spoil func(liar *site, h *Head), kind string) []*site {
		sites := sitesOf(t, ids, c)
		liar := sites[5]
		for _, due := range []string{KindReady, KindReveal} {
			all(t, sites[:5])
			liar.step(t)
			if due == kind {
				g := liar.current()
				sent := map[string]map[study.Hash]*message{KindReady: g.ready, KindReveal: g.reveal}[kind]
				h := *sent[liar.me].Head
				h.Shares, h.Opened = bytes.Clone(h.Shares), bytes.Clone(h.Opened)
				spoil(liar, &h)
				raw := liar.forge(t, &h)
				sent[liar.me].Head, sent[liar.me].raw, sent[liar.me].hash = &h, raw, study.HashOf(raw)
				liar.taken[study.HashOf(raw)] = true
			}
			exchange(t, sites, sites, due)
		}
		return sites
	}
	at := func(s *site) int { i, _ := slices.BinarySearchFunc(s.all, s.me, compare); return i }

	t.Run("to one party", func(t *testing.T) {
		var victim *site
		sites := play(func(liar *site, h *Head) { h.Shares[2*shareBytes*((at(liar)+1)%6)] ^= 1 }, KindReady)
		for _, s := range sites {
			if at(s) == (at(sites[5])+1)%6 {
				victim = s
			}
		}
		step := victim.Next()
		partyError(t, step.Problems[0], sites[5], "gave this party a share")
		if victim.reveals() != 0 || step.Due != DueNothing { // the other five are enough
			t.Fatalf("%+v", step)
		}
		checkSums(t, victim, sites)
	})
	t.Run("of no key", func(t *testing.T) {
		sites := play(func(liar *site, h *Head) { h.Key = &study.Hash{1} }, KindReady)
		_, err := sites[0].Sums(sites[0].open)
		partyError(t, err, sites[5], "another key than it promised")
	})
	t.Run("revealed", func(t *testing.T) {
		sites := play(func(liar *site, h *Head) { h.Opened[shareBytes*at(liar)+3] ^= 1 }, KindReveal)
		step := sites[0].Next()
		partyError(t, step.Problems[0], sites[5], "revealed another share")
		checkSums(t, sites[0], sites) // five are enough
	})
}

// TestSpoilt offers a site what a relay, another study or another stage could.
func TestSpoilt(t *testing.T) {
	ids := people(5)
	c := config(ids[:4], 1, numbered(3, 10))
	sites := sitesOf(t, ids[:4], c)
	all(t, sites)
	from, to := sites[0], sites[1]
	m := from.Outbox()[0]
	words := from.words[*m.Body]
	refused := func(name string, head, body []byte, part string) {
		t.Helper()
		before := to.State()
		err := to.Take(head, bytes.NewReader(body))
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(before.Reveal(), to.State().Reveal()) {
			t.Errorf("%s left a trace", name)
		}
	}
	flipped := bytes.Clone(words)
	flipped[17] ^= 4
	refused("a flipped bit", m.Head, flipped, "not those that it signed")
	refused("words cut short", m.Head, words[:40], "another length")
	refused("words too long", m.Head, append(bytes.Clone(words), 0), "another length")
	if err := to.Take(m.Head, nil); err == nil {
		t.Error("a ready message without words")
	}
	for i := range m.Head { // every byte of the head
		b := bytes.Clone(m.Head)
		b[i] ^= 1
		if to.Take(b, bytes.NewReader(words)) == nil {
			t.Fatalf("a head with byte %d changed was taken", i)
		}
	}
	resign := func(change func(h *Head)) []byte {
		h := *from.messages[0].Head
		change(&h)
		return from.forge(t, &h)
	}
	refused("another study", resign(func(h *Head) { h.Study[0]++ }), words, "another study")
	refused("another epoch", resign(func(h *Head) { h.Epoch[0]++ }), words, "another epoch")
	refused("another stage", resign(func(h *Head) { h.Stage++ }), words, "another stage")
	refused("other statistics", resign(func(h *Head) { h.Statistics[0]++ }), words, "sums 3 statistics")
	refused("other number of statistics", resign(func(h *Head) { h.Words++ }), words, "sums 4 statistics")
	refused("no such kind", resign(func(h *Head) { h.Kind = "x" }), words, "kind")
	refused("too few shares", resign(func(h *Head) { h.Shares = h.Shares[64:] }), words, "shares its key in 192 bytes, must be 256")
	refused("a newer format", resign(func(h *Head) { h.Format = 2 }), words, "format 2")
	refused("a set that is too small", resign(func(h *Head) { h.Without = []study.Hash{sites[2].me} }), words, "too few")
	refused("somebody else's party", resign(func(h *Head) { h.Without = []study.Hash{{1}} }), words, "not in the round")
	refused("in another's name", resign(func(h *Head) { h.Sender = sites[2].me }), words, "signature")
	stranger := newSite(t, config(ids[1:], 1, c.Statistics), ids[4], []float64{1, 2, 3})
	stranger.step(t)
	o := stranger.Outbox()[0]
	refused("a stranger's", o.Head, stranger.words[*o.Body], "not in the round")
	refused("a message that is too long", bytes.Repeat([]byte{' '}, MaxHeadBytes+1), nil, "at most")

	if err := to.Take(m.Head, bytes.NewReader(words)); err != nil {
		t.Fatal(err)
	}
	again := newSite(t, c, ids[0], []float64{5, 5, 5})
	again.step(t)
	o = again.Outbox()[0]
	refused("another message of the same party", o.Head, again.words[*o.Body], "two different messages")
}

// TestTwiceMasked: one round masks once, and a state that was taken away (a backup that
// was restored) ends in a message that the others refuse, not in their difference.
func TestTwiceMasked(t *testing.T) {
	ids := people(4)
	c := config(ids, 1, numbered(3, 10))
	s := newSite(t, c, ids[0], []float64{1, 2, 3})
	empty := s.State()
	s.step(t)
	v, _ := Encode(c.Statistics, []float64{1, 2, 4})
	if err := s.Ready(v, new(bytes.Buffer)); err == nil {
		t.Fatal("a second vector was masked")
	}
	back, err := Resume(c, ids[0], empty)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := back.Ready(v, &body); err != nil {
		t.Fatal(err)
	}
	// The pairs' masks are the same, the own key is another: the difference of the words is no
	// small number anywhere.
	first := s.words[*s.Outbox()[0].Body]
	for i := range 3 {
		d := getWord(body.Bytes()[16*i:]).Sub(getWord(first[16*i:])).Float()
		if d > -1e6 && d < 1e6 { // by chance with 2·10⁶·2⁶⁴/2¹²⁸ < 2⁻⁴²
			t.Fatalf("the difference of two masked messages is %g", d)
		}
	}
	// What the relay kept of the first message brings it back instead.
	restored, _ := Resume(c, ids[0], empty)
	if err := restored.Take(s.Outbox()[0].Head, bytes.NewReader(first)); err != nil {
		t.Fatal(err)
	}
	if due := restored.Next().Due; due != DueOthers {
		t.Fatalf("a site that got its own message back has to %s", due)
	}
}

// TestEditedState edits a site's folder.
func TestEditedState(t *testing.T) {
	ids := people(4)
	c := config(ids, 1, numbered(2, 10))
	sites := sitesOf(t, ids, c)
	run(t, sites)
	s := sites[0]
	state := s.State().Reveal()
	for i := 0; i < len(state); i += 41 {
		b := bytes.Clone(state)
		b[i] ^= 1
		if _, err := Resume(c, s.id, newSecret(b)); err == nil {
			t.Fatalf("a state with byte %d changed was read", i)
		}
	}
	for _, m := range s.groups[s.current().hash].ready {
		words := s.words[*m.Body]
		s.words[*m.Body] = append(bytes.Clone(words[:31]), words[31]^1)
		if _, err := s.Sums(s.open); err == nil || !strings.Contains(err.Error(), "have changed") {
			t.Fatal(err)
		}
		delete(s.words, *m.Body)
		if _, err := s.Sums(s.open); err == nil {
			t.Fatal("sums without the words of a party")
		}
		s.words[*m.Body] = words
	}
	checkSums(t, s, sites)
}
