package server

import (
	"encoding/binary"
	"testing"
	"time"

	"concord/internal/signed"
	"concord/wire"
)

// TestNonces: a nonce counts once for as long as its request can be good, whatever
// came in between, and what is remembered is bounded.
func TestNonces(t *testing.T) {
	var n nonces
	now := time.Now()
	party, other := wire.Hash{1}, wire.Hash{2}
	nonce := func(i int) []byte { return binary.BigEndian.AppendUint64(make([]byte, 8), uint64(i)) }
	use := func(p wire.Hash, i int) (bool, bool) { return n.use(p, nonce(i), now) }
	for step := range 40 { // a new nonce each minute, and all that may still be good again
		if fresh, full := use(party, step); !fresh || full {
			t.Fatalf("minute %d: fresh %v, full %v", step, fresh, full)
		}
		for back := range min(step+1, int(2*signed.Window/time.Minute)) {
			if fresh, _ := use(party, step-back); fresh {
				t.Fatalf("minute %d: the nonce of %d minutes ago is taken again", step, back)
			}
		}
		now = now.Add(time.Minute)
	}
	if fresh, _ := use(other, 39); !fresh {
		t.Error("another party's nonce counts for this one")
	}
	now = now.Add(24 * time.Hour)
	if use(party, 39); len(n.seen[1]) != 0 {
		t.Errorf("%d nonces of yesterday are remembered", len(n.seen[1]))
	}
	// A party that asks without end is refused, and nobody else is.
	for i := 100; ; i++ {
		if _, full := use(party, i); full {
			if i < maxPartyNonces {
				t.Errorf("full after %d", i)
			}
			break
		}
		if i > 2*maxPartyNonces {
			t.Fatal("never full")
		}
	}
	if fresh, full := use(other, 1); !fresh || full {
		t.Errorf("another party: fresh %v, full %v", fresh, full)
	}
	now = now.Add(2 * signed.Window)
	if fresh, full := use(party, 1<<40); !fresh || full {
		t.Errorf("later: fresh %v, full %v", fresh, full)
	}
	for p := range maxNonces { // many parties together are bounded too
		use(wire.Hash{3, byte(p), byte(p >> 8), byte(p >> 16)}, p)
	}
	if got := len(n.seen[0]); got > maxNonces {
		t.Errorf("%d nonces are remembered, at most %d may be", got, maxNonces)
	}
	if _, full := use(wire.Hash{4}, 0); !full {
		t.Error("not full")
	}
}
