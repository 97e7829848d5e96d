package masked

import (
	"math"
	"slices"
	"strings"
	"testing"

	"concord/wire"
)

// TestCorrectedFileIsAnotherAnswer: sums over the same parties before and after a site
// corrected its rows show by their difference what it corrected, so that the ledger keeps
// both answers, and neither makes room for a third.
func TestCorrectedFileIsAnotherAnswer(t *testing.T) {
	me := wire.Hash{1}
	answer := Answered{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4), Source: wire.Hash{7}}
	corrected, again := answer, answer
	corrected.Source, again.Source = wire.Hash{8}, wire.Hash{9}
	var l Ledger
	l.Add(answer)
	l.Add(corrected)
	if len(l.Answered) != 2 {
		t.Fatalf("two answers of different rows are %d entries of the ledger", len(l.Answered))
	}
	l.Add(corrected)
	if len(l.Answered) != 2 {
		t.Fatalf("the same answer again makes %d entries", len(l.Answered))
	}
	for _, q := range []Answered{corrected, again} {
		if v := l.Judge(q, me, 1, called); !strings.Contains(v.Reveals, "what changed in this site's data") {
			t.Errorf("rows %s beside two other answers: %+v", q.Source.Short(), v)
		}
	}
}

// TestOnlyTheSameRoundIsLeft: a larger set does not count once all go on without somebody,
// but only in the round that they left. Sums of another epoch, stage or list of
// statistics were opened, and differ from these by one party.
func TestOnlyTheSameRoundIsLeft(t *testing.T) {
	me := wire.Hash{1}
	answer := Answered{Topic: "figures", Epoch: wire.Hash{1}, Stage: 1, Statistics: wire.Hash{1}, Set: set(1, 2, 3, 4, 5)}
	var l Ledger
	l.Add(answer)
	// A set that is smaller and has somebody else was not left for, it was summed beside.
	beside := answer
	beside.Set = set(1, 2, 3, 6)
	if v := l.Judge(beside, me, 1, called); !strings.Contains(v.Reveals, "Hospital F alone") {
		t.Errorf("another set in the same round: %+v", v)
	}
	for name, change := range map[string]func(*Answered){
		"epoch":      func(q *Answered) { q.Epoch = wire.Hash{2} },
		"stage":      func(q *Answered) { q.Stage = 2 },
		"statistics": func(q *Answered) { q.Statistics = wire.Hash{2} },
	} {
		q := answer
		q.Set = set(1, 2, 3, 4)
		if v := l.Judge(q, me, 1, called); !v.OK() {
			t.Fatalf("the same round with one party fewer: %+v", v)
		}
		change(&q)
		if v := l.Judge(q, me, 1, called); !strings.Contains(v.Reveals, "Hospital E alone") {
			t.Errorf("one party fewer in another %s: %+v", name, v)
		}
	}
}

// TestLeftOutAtOnce: of eight parties of which one colludes five open the keys. Were four
// left out at once, these four and the colluder could open the larger set too.
func TestLeftOutAtOnce(t *testing.T) {
	ids := people(8)
	c := config(ids, 1, numbered(1, 1))
	for _, tc := range []struct {
		gone int
		want string
	}{{3, ""}, {4, "4 parties cannot be left out at once, at most 3 of 8"}} {
		sites := sitesOf(t, ids, c)
		var gone []wire.Hash
		for _, s := range sites[8-tc.gone:] {
			gone = append(gone, s.me)
		}
		slices.SortFunc(gone, compare)
		err := sites[0].Without(gone...)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("this party leaves out %d: %v", tc.gone, err)
		}
		h := sites[1].head(sites[1].current(), KindAbsent)
		h.Next = gone
		err = sites[2].Take(sites[1].forge(t, h), nil)
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("another leaves out %d: %v", tc.gone, err)
		case tc.want != "":
			partyError(t, err, sites[1], "leaves out 4 parties at once, at most 3 can be")
		}
	}
}

// TestNotWithoutItself: nobody sends figures for a set, or goes on with one, in which it is
// not.
func TestNotWithoutItself(t *testing.T) {
	ids := people(6)
	sites := sitesOf(t, ids, config(ids, 1, numbered(1, 1)))
	from, to := sites[0], sites[1]
	from.step(t)
	ready := *from.messages[0].Head
	ready.Without = []wire.Hash{from.me}
	partyError(t, to.Take(from.forge(t, &ready), nil), from, "is not in the set of its own message")
	absent := from.head(from.current(), KindAbsent)
	absent.Next = []wire.Hash{from.me}
	partyError(t, to.Take(from.forge(t, absent), nil), from, "is not in the set of its own message")
}

// TestRevealedMayLeave: whoever revealed leaves a set only if it can never open. Five of
// seven open it. When three have left it, one of them may have lied about not revealing,
// and that one and the four others are five; when four have left it, too few remain.
func TestRevealedMayLeave(t *testing.T) {
	ids := people(7)
	sites := sitesOf(t, ids, config(ids, 1, numbered(1, 1)))
	first, leaving, gone := sites[0], sites[1:5], sites[6]
	all(t, sites)
	exchange(t, sites, sites[:1], KindReady)
	if err := first.Reveal(); err != nil {
		t.Fatal(err)
	}
	for i, s := range leaving {
		err := first.Without(gone.me)
		if err == nil || !strings.Contains(err.Error(), "has revealed for the present set and cannot leave it") {
			t.Fatalf("%d of 7 have left: %v", i, err)
		}
		if err := s.Without(gone.me); err != nil {
			t.Fatal(err)
		}
		exchange(t, []*site{s}, sites[:1], KindAbsent)
	}
	if err := first.Without(gone.me); err != nil {
		t.Errorf("4 of 7 have left, the set can never open: %v", err)
	}
}

// TestFloatLastBit: half of the last bit of a float64 rounds to even, and anything more,
// even the 64th bit below it, rounds up. Words drawn at random never come near a tie.
func TestFloatLastBit(t *testing.T) {
	for _, w := range []Word{
		{Hi: 1<<62 | 1<<9},                          // a tie to the even number below
		{Hi: 1<<62 | 1<<9, Lo: 1},                   // just above it
		{Hi: 1<<62 | 1<<9, Lo: math.MaxUint64},      //
		{Hi: 1<<62 | 1<<9 - 1, Lo: math.MaxUint64},  // just below it
		{Hi: 1<<62 | 1<<10 | 1<<9},                  // a tie to the even number above
		{Hi: 1<<62 | 1<<10 | 1<<9 - 1, Lo: 1 << 63}, //
		{Hi: 1 << 20, Lo: 1<<31 | 1},                // the same where the bits are shifted
		{Hi: 1 << 20, Lo: 1 << 31},
	} {
		for _, w := range []Word{w, Word{}.Sub(w)} {
			want, _ := rational(w).Float64() // of math/big, to nearest even
			if got := w.Float(); got != want {
				t.Errorf("%x became %x, want %x", w, got, want)
			}
		}
	}
}

// TestDraw: the key of a party and what shares it are drawn from the whole field. Below 2²⁰⁰
// one of a hundred would lie with probability 100·2⁻⁵⁶.
func TestDraw(t *testing.T) {
	coefficients, err := draw(100)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range coefficients {
		if c.BitLen() < 200 || c.Cmp(field) >= 0 || c.Sign() < 0 {
			t.Fatalf("coefficient %d has %d bits", i, c.BitLen())
		}
	}
}

// TestMasksDoNotRepeat: masked zeros are the masks themselves, and no word of them is there
// twice, in whatever chunks they are made: two figures under one mask show their difference.
// By chance two of n words of 128 bits are the same once in 2¹²⁸/n² messages.
func TestMasksDoNotRepeat(t *testing.T) {
	ids := people(4)
	const n = 3*chunkWords + 5
	s := newSite(t, config(ids, 1, numbered(n, 1)), ids[0], make([]float64, n))
	s.step(t)
	words := s.words[*s.Outbox()[0].Body]
	seen := make(map[Word]int, n)
	for i := range n {
		w := getWord(words[i*wordBytes:])
		if first, ok := seen[w]; ok {
			t.Fatalf("words %d and %d are masked alike", first, i)
		}
		seen[w] = i
	}
}
