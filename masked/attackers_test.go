package masked

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"concord/wire"
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
	forced.groups = map[wire.Hash]*group{}
	copied := *g
	copied.reveal = map[wire.Hash]*message{}
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
