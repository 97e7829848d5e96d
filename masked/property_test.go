package masked

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/wire"
)

// TestAnyOrder plays rounds in which messages come in any order, twice, late or never,
// sites crash between any two steps, and some parties never come. Whoever comes gets
// the exact sums, everybody the same.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		colluders := rapid.IntRange(0, 2).Draw(t, "colluders")
		n := rapid.IntRange(colluders+3, 8).Draw(t, "parties")
		missing := rapid.IntRange(0, n-colluders-3).Draw(t, "missing")
		ids := people(n)
		c := config(ids, colluders, numbered(rapid.IntRange(1, 9).Draw(t, "words"), 1e8))
		var sites []*site
		for _, id := range ids {
			values := rapid.SliceOfN(rapid.Float64Range(-1e8, 1e8), c.Statistics.N, c.Statistics.N).Draw(t, "values")
			sites = append(sites, newSite(t, c, id, values))
		}
		here, gone := sites[missing:], sites[:missing]
		someStep := func(s *site) {
			if s.Next().Due == DueReady || s.Next().Due == DueReveal {
				s.step(t)
				if rapid.Bool().Draw(t, "crash") {
					s.reload(t, c)
				}
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			from := rapid.SampledFrom(here).Draw(t, "from")
			to := rapid.SampledFrom(here).Draw(t, "to")
			someStep(from)
			messages := append(from.Outbox(), from.Forward()...)
			if len(messages) > 0 {
				m := rapid.SampledFrom(messages).Draw(t, "message")
				if err := from.give(to, m); err != nil && !errors.Is(err, ErrLeft) {
					t.Fatal(err)
				}
				if rapid.Bool().Draw(t, "crash") {
					to.reload(t, c)
				}
			}
			if missing > 0 && rapid.IntRange(0, 3).Draw(t, "without") == 0 {
				if step := from.Next(); step.Attempt == 1 && len(step.Without) == 0 {
					var without []wire.Hash
					for _, s := range gone {
						without = append(without, s.me)
					}
					err := from.Without(without...)
					if (err != nil) != (missing+colluders >= from.current().threshold) {
						t.Fatal(err)
					}
				}
			}
		}
		run(t, here)
		if missing > 0 {
			for _, s := range here {
				var without []wire.Hash
				for _, g := range gone {
					without = append(without, g.me)
				}
				if missing+colluders >= threshold(n, colluders) {
					if s.Without(without...) == nil {
						t.Fatal("too many were left out at once")
					}
					continue
				}
				if step := s.Next(); step.Attempt == 1 && len(step.Without) == 0 {
					if err := s.Without(without...); err != nil {
						t.Fatal(err)
					}
				}
			}
			if missing+colluders >= threshold(n, colluders) {
				return
			}
			run(t, here)
		}
		var first []Word
		for _, s := range here {
			if step := s.Next(); step.Due != DueNothing || len(step.Problems) > 0 {
				t.Fatalf("%+v", step)
			}
			words := checkSums(t, s, here)
			if first == nil {
				first = words
			}
			if !slices.Equal(first, words) {
				t.Fatal("two parties have different sums")
			}
		}
		// And the words are the sums of the values: 2⁻⁶⁰ is more than 8 parties' roundings.
		for i, w := range first {
			want := new(big.Rat)
			for _, s := range here {
				want.Add(want, new(big.Rat).SetFloat64(s.values[i]))
			}
			off := want.Sub(want, rational(w))
			if off.Abs(off).Cmp(new(big.Rat).SetFrac64(1, 1<<60)) > 0 {
				t.Fatalf("sum %d is off by %v", i+1, off)
			}
		}
	})
}

// adversary has every message that any honest party ever made, whether or not it was
// delivered, and all that the colluding parties know.
type adversary struct {
	honest, colluding []*site
}

// opened are the sets whose sums the adversary can compute: all words are there, and
// shares of enough members.
func (a *adversary) opened() []string {
	sets := make(map[string]*group)
	for _, s := range a.honest {
		for _, g := range s.groups {
			sets[fmt.Sprint(g.members)] = g
		}
	}
	var open []string
	for key, g := range sets {
		ready, shares := true, 0
		for _, s := range a.honest {
			if contains(g.members, s.me) {
				own := s.groups[g.hash]
				ready = ready && own != nil && own.ready[s.me] != nil
				if own != nil && own.reveal[s.me] != nil {
					shares++
				}
			}
		}
		for _, s := range a.colluding {
			if contains(g.members, s.me) {
				shares++
			}
		}
		if ready && shares >= g.threshold {
			open = append(open, key)
		}
	}
	return open
}

// forge signs a message of a colluding party, whatever an honest program would do.
func (s *site) forge(t fataler, h *Head) []byte {
	h.Signature = nil
	h.Signature = s.id.Sign(wire.SignPool, h.signedPart())
	return h.Encode()
}

// TestOneSetOpens lets an adversary be the relay, with as many parties as the round
// assumes: it withholds what it likes from whom it likes, its parties send masked
// messages for every set and sign to go on with any set that somebody signed for. The honest
// parties do what is due and, when their people say so, go on without others. Whatever
// happens, the sums of one set at most can be known.
func TestOneSetOpens(t *testing.T) {
	opened, restarted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		colluders := rapid.IntRange(0, 2).Draw(t, "colluders")
		n := rapid.IntRange(colluders+4, 8).Draw(t, "parties")
		ids := people(n)
		c := config(ids, colluders, numbered(1, 1))
		sites := sitesOf(t, ids, c)
		a := &adversary{honest: sites[colluders:], colluding: sites[:colluders]}
		pool := newPool()
		var held map[string]int // by kind, the senders whose messages are withheld: a bit each
		for i := range rapid.IntRange(20, 40).Draw(t, "steps") {
			if i%10 == 0 {
				one := 1 << rapid.IntRange(0, n-1).Draw(t, "victim")
				held = map[string]int{
					KindReady:  rapid.SampledFrom([]int{0, one, one}).Draw(t, "ready"),
					KindReveal: rapid.SampledFrom([]int{0, one, 255}).Draw(t, "reveal"),
					KindAbsent: rapid.SampledFrom([]int{0, one, 255}).Draw(t, "absent"),
				}
			}
			s := rapid.SampledFrom(a.honest).Draw(t, "site")
			if rapid.IntRange(0, 7).Draw(t, "act") == 0 { // people, who may be of one mind
				without := []wire.Hash{rapid.SampledFrom(sites).Draw(t, "without").me}
				if at := bits.TrailingZeros(uint(held[KindReady])); at < n {
					without[0] = sites[at].me // whoever is missed
				}
				if rapid.IntRange(0, 3).Draw(t, "two") == 0 {
					without = append(without, rapid.SampledFrom(sites).Draw(t, "and").me)
				}
				for _, s := range a.honest {
					if rapid.IntRange(0, 4).Draw(t, "agrees") > 0 {
						_ = s.Without(without...) // refused or not: its people say anything
						pool.collect(t, s)
					}
				}
			} else { // a sync, in which some senders' messages are withheld
				s.step(t)
				pool.collect(t, s)
				for _, m := range pool.messages {
					if at := slices.IndexFunc(sites, func(o *site) bool { return o.me == m.Sender }); held[m.Kind]>>at&1 == 0 {
						pool.deliver(s, m)
					}
				}
			}
			for _, s := range a.colluding {
				s.collude(t, pool, a.honest)
			}
			open := a.opened()
			if len(open) > 1 {
				t.Fatalf("the sums of %d sets can be known: %v", len(open), open)
			}
			opened += len(open)
			if s.Next().Attempt > 1 {
				restarted++
			}
		}
	})
	least := 100
	if testing.Short() {
		least = 15 // rapid draws a fifth of the cases
	}
	if opened < least || restarted < least {
		t.Fatalf("sets opened %d times, went on with fewer %d times: the test sees too little", opened, restarted)
	}
}

// pool is everything that the relay has, with the words.
type pool struct {
	messages []Message
	seen     map[wire.Hash]bool
	words    map[wire.Hash][]byte
}

func newPool() *pool { return &pool{seen: map[wire.Hash]bool{}, words: map[wire.Hash][]byte{}} }

func (p *pool) collect(t fataler, s *site) {
	t.Helper()
	for _, m := range s.Outbox() {
		if hash := wire.HashOf(m.Head); !p.seen[hash] {
			p.seen[hash] = true
			p.messages = append(p.messages, m)
			if m.Body != nil {
				p.words[*m.Body] = s.words[*m.Body]
			}
		}
	}
}

func (p *pool) deliver(to *site, m Message) {
	if m.Body == nil {
		_ = to.Take(m.Head, nil)
		return
	}
	if to.Take(m.Head, bytes.NewReader(p.words[*m.Body])) == nil {
		to.words[*m.Body] = p.words[*m.Body]
	}
}

// collude makes a colluding party send a masked message for every set that an honest one
// is in, and sign toward every set that an honest one signed toward.
func (s *site) collude(t fataler, p *pool, honest []*site) {
	t.Helper()
	for _, o := range honest {
		if g := o.current(); contains(g.members, s.me) && s.groups[g.hash].sent(s.me) == nil {
			mine, err := s.group(g.without)
			if err != nil {
				t.Fatal(err)
			}
			v, _ := Encode(s.Config.Statistics, s.values)
			coefficients, _ := draw(g.threshold)
			var body bytes.Buffer
			if err := s.ready(mine, v, &body, coefficients); err != nil {
				t.Fatal(err)
			}
			s.words[wire.HashOf(body.Bytes())] = body.Bytes()
		}
		for _, m := range o.messages {
			if m.Kind != KindAbsent || m.Sender != o.me || contains(m.Next, s.me) {
				continue
			}
			h := s.head(o.groups[o.setWithout(m.Without)], KindAbsent)
			h.Next = m.Next
			raw := s.forge(t, h)
			if hash := wire.HashOf(raw); !p.seen[hash] {
				p.seen[hash] = true
				p.messages = append(p.messages, Message{Head: raw, Kind: KindAbsent, Sender: s.me})
			}
		}
	}
	p.collect(t, s)
}

// sent is a member's ready message for the set, nil for none or no set.
func (g *group) sent(by wire.Hash) *message {
	if g == nil {
		return nil
	}
	return g.ready[by]
}
