package masked

import (
	"errors"
	"testing"

	"concord/wire"
)

// TestLeftBefore holds that a round begins with those whose figures an earlier stage has
// summed: who was left out then is not asked, is not awaited, cannot join by a message for
// the larger set, and gets the sums.
func TestLeftBefore(t *testing.T) {
	ids := people(5)
	c := config(ids, 1, numbered(3, 100))
	full := sitesOf(t, ids, c)
	c.Without = []wire.Hash{ids[4].Statement.Fingerprint()}
	sites := sitesOf(t, ids, c)
	for i, s := range sites {
		if step := s.Next(); step.Attempt != 1 || len(step.Set) != 4 || (step.Due == DueReady) != (i < 4) || i == 4 && step.Due != DueLeft {
			t.Fatalf("site %d begins with %+v", i, step)
		}
	}
	full[4].step(t)
	for _, m := range full[4].Outbox() {
		if err := full[4].give(sites[0], m); !errors.Is(err, ErrLeft) {
			t.Fatalf("the figures of who was left out before are taken: %v", err)
		}
	}
	run(t, sites)
	for _, s := range sites {
		checkSums(t, s, sites[:4])
	}
	kept, err := Resume(c, ids[0], sites[0].State())
	if err != nil || kept.Next().Due != DueNothing {
		t.Fatal("a kept round is not what it was: ", err)
	}
	c.Without = append(c.Without, c.Without[0])
	if _, err := New(c, ids[0]); err == nil {
		t.Fatal("a party is left out twice")
	}
	c.Without = c.Without[:1]
	if _, err := New(config(ids[:4], 1, numbered(3, 100)), ids[0]); err != nil {
		t.Fatal(err)
	}
	c.Colluders = 2
	if _, err := New(c, ids[0]); err == nil {
		t.Fatal("a round begins with too few")
	}
}
