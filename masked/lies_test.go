package masked

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"concord/wire"
)

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
				sent := map[string]map[wire.Hash]*message{KindReady: g.ready, KindReveal: g.reveal}[kind]
				h := *sent[liar.me].Head
				h.Shares, h.Opened = bytes.Clone(h.Shares), bytes.Clone(h.Opened)
				spoil(liar, &h)
				raw := liar.forge(t, &h)
				sent[liar.me].Head, sent[liar.me].raw, sent[liar.me].hash = &h, raw, wire.HashOf(raw)
				liar.taken[wire.HashOf(raw)] = true
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
		sites := play(func(liar *site, h *Head) { h.Key = &wire.Hash{1} }, KindReady)
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
	refused("a set that is too small", resign(func(h *Head) { h.Without = []wire.Hash{sites[2].me} }), words, "too few")
	refused("somebody else's party", resign(func(h *Head) { h.Without = []wire.Hash{{1}} }), words, "not in the round")
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
