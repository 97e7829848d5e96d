package masked

import (
	"bytes"
	"crypto/subtle"
	"math/big"
	"slices"
	"testing"

	"concord/wire"
)

// deal makes a site's ready message with shares of its choice: change says what share a
// member, by its place in the set, gets. All promises are kept.
func (s *site) deal(t *testing.T, change func(at int, share *big.Int)) {
	t.Helper()
	g := s.current()
	coefficients, err := draw(g.threshold)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Encode(s.Config.Statistics, s.values)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	if err := s.ready(g, v, &body, coefficients); err != nil {
		t.Fatal(err)
	}
	s.words[wire.HashOf(body.Bytes())] = body.Bytes()
	made := g.ready[s.me]
	h := *made.Head
	h.Shares = nil
	_, shares := split(coefficients, len(g.members))
	for i, m := range g.members {
		share := new(big.Int).SetBytes(shares[i].Reveal())
		change(i, share)
		pad, err := s.pad(g, *h.Body, s.me, m)
		if err != nil {
			t.Fatal(err)
		}
		b := share.Mod(share, field).FillBytes(make([]byte, shareBytes))
		promise := commit(labelCommit, b)
		sealed := make([]byte, shareBytes)
		subtle.XORBytes(sealed, b, pad.Reveal())
		h.Shares = append(append(h.Shares, sealed...), promise[:]...)
	}
	raw := s.forge(t, &h)
	made.Head, made.raw, made.hash = &h, raw, wire.HashOf(raw)
	s.taken[made.hash] = true
}

// dealt plays a round of six (t = 4) in which one deals shares of its choice, up to where
// all have revealed and nobody has another's reveal message.
func dealt(t *testing.T, change func(at int, share *big.Int)) (sites []*site, liar *site) {
	ids := people(6)
	sites = sitesOf(t, ids, config(ids, 1, numbered(3, 10)))
	liar = sites[2]
	for _, s := range sites {
		if s == liar {
			s.deal(t, change)
		} else {
			s.step(t)
		}
	}
	exchange(t, sites, sites, KindReady)
	all(t, sites)
	slices.SortFunc(sites, func(a, b *site) int { return compare(a.me, b.me) })
	return sites, liar
}

// TestFalseDealer lets a party deal shares that are as promised and lie on no polynomial of
// degree t − 1. While any t of them give the key every site opens it, whichever messages came
// first, and knows who dealt so; where none do every site says so and names the dealer.
func TestFalseDealer(t *testing.T) {
	name := func(sites []*site, errs []error, liar *site, part string) {
		t.Helper()
		if len(errs) != 1 {
			t.Fatalf("%v, want one problem", errs)
		}
		partyError(t, errs[0], liar, part)
	}
	t.Run("one share is off", func(t *testing.T) {
		sites, liar := dealt(t, func(at int, share *big.Int) {
			if at == 1 {
				share.Add(share, big.NewInt(1))
			}
		})
		// The first four to come hold the wrong one for some sites and not for others.
		for i, s := range sites {
			from := []*site{sites[0], sites[1], sites[2], sites[3]}
			if i%2 == 1 {
				from = []*site{sites[0], sites[2], sites[3], sites[4]}
			}
			exchange(t, from, []*site{s}, KindReveal)
			if step := s.Next(); step.Due != DueNothing && (step.Due != DueOthers || step.Unopened == nil || step.Missing != 1 || step.Kind != KindReveal) {
				t.Fatalf("%+v", step)
			}
		}
		exchange(t, sites, sites, KindReveal)
		for _, s := range sites {
			step := s.Next()
			if step.Due != DueNothing || step.Unopened != nil {
				t.Fatalf("%+v", step)
			}
			name(sites, step.Problems, liar, "do not fit one another")
			checkSums(t, s, sites)
		}
	})
	t.Run("as many as can be are off", func(t *testing.T) {
		sites, liar := dealt(t, func(at int, share *big.Int) {
			if at == 0 || at == 3 {
				share.Add(share, big.NewInt(int64(at+1)))
			}
		})
		exchange(t, sites, sites, KindReveal)
		for _, s := range sites {
			name(sites, s.Next().Problems, liar, "do not fit one another")
			checkSums(t, s, sites)
		}
	})
	t.Run("no four give the key", func(t *testing.T) {
		sites, liar := dealt(t, func(at int, share *big.Int) {
			share.Add(share, new(big.Int).Exp(big.NewInt(int64(at+1)), big.NewInt(5), nil)) // of degree 5
		})
		exchange(t, sites, sites, KindReveal)
		for _, s := range sites {
			step := s.Next()
			if step.Due != DueOthers || step.Kind != KindReveal || len(step.Awaited) != 0 || step.Missing != 0 {
				t.Fatalf("%+v", step)
			}
			partyError(t, step.Unopened, liar, "another key than it promised")
			name(sites, step.Problems, liar, "another key than it promised")
			_, err := s.Sums(s.open)
			partyError(t, err, liar, "another key than it promised")
			// The liar knows its key, and so the sum: nobody goes on without anybody after that.
			if err := s.Without(sites[(slices.Index(sites, s)+1)%6].me); err == nil {
				t.Fatal("a site that has revealed goes on with fewer")
			}
		}
	})
	t.Run("another key for all", func(t *testing.T) { // on one polynomial, whose value at 0 is not the key
		sites, liar := dealt(t, func(_ int, share *big.Int) { share.Add(share, big.NewInt(1)) })
		exchange(t, sites, sites, KindReveal)
		for _, s := range sites {
			partyError(t, s.Next().Unopened, liar, "another key than it promised")
		}
	})
}

// TestShareOne says which shares lie on one polynomial, for as many parties as a study may
// have and fewer.
func TestShareOne(t *testing.T) {
	for _, n := range []int{4, 7, 60} {
		threshold := threshold(n, 1)
		coefficients, err := draw(threshold)
		if err != nil {
			t.Fatal(err)
		}
		_, shares := split(coefficients, n)
		g := &group{threshold: threshold, members: make([]wire.Hash, n), reveal: map[wire.Hash]*message{}}
		points := make([]int, n)
		for i := range points {
			points[i] = i + 1
			g.members[i] = wire.Hash{byte(i)}
			g.reveal[g.members[i]] = &message{Head: &Head{Opened: shares[i].Reveal()}}
		}
		r := new(Round)
		if !r.shareOne(g, 0, points, duals(points)) {
			t.Fatalf("the shares of %d parties are said not to fit", n)
		}
		for _, of := range [][]int{points[:threshold], points[1 : threshold+1], points[n-threshold-1:]} {
			if !r.shareOne(g, 0, of, duals(of)) {
				t.Fatalf("%d of the shares of %d parties are said not to fit", len(of), n)
			}
		}
		g.reveal[g.members[n/2]].Opened[shareBytes-1] ^= 1
		if r.shareOne(g, 0, points, duals(points)) {
			t.Fatalf("a changed share of %d parties is said to fit", n)
		}
	}
}
