package server

import (
	"crypto/sha256"
	"sync"
	"time"

	"concord/internal/signed"
	"concord/wire"
)

// Bounds of what is remembered of signed requests: at most 16 bytes and a map's
// room for each, in two generations, about 20 MB in all.
const (
	maxNonces      = 1 << 18
	maxPartyNonces = 1 << 14
)

// nonces remembers the signed requests of the last minutes, so that none is taken
// twice. What it forgets is outside of the window of time in which a request is
// taken; what came before the server started names another run.
type nonces struct {
	mu     sync.Mutex
	seen   [2]map[[16]byte]struct{} // this generation and the one before
	count  map[wire.Hash]int        // of this generation, by party
	turned time.Time
}

// use reports whether a party's nonce is new, and remembers it. full means that the
// party, or everybody together, asked more often than is remembered.
func (n *nonces) use(party wire.Hash, nonce []byte, now time.Time) (fresh, full bool) {
	key := [16]byte(sha256Of(party[:], nonce))
	n.mu.Lock()
	defer n.mu.Unlock()
	// A request may be signed as much ahead of the clock as behind it, so that it
	// stays good for two windows after it came.
	if n.seen[0] == nil || now.Sub(n.turned) >= 2*signed.Window {
		before := n.seen[0]
		if now.Sub(n.turned) >= 4*signed.Window {
			before = nil
		}
		n.seen = [2]map[[16]byte]struct{}{{}, before}
		n.count, n.turned = map[wire.Hash]int{}, now
	}
	for _, generation := range n.seen {
		if _, ok := generation[key]; ok {
			return false, false
		}
	}
	if n.count[party] >= maxPartyNonces || len(n.seen[0]) >= maxNonces {
		return false, true
	}
	n.seen[0][key] = struct{}{}
	n.count[party]++
	return true, false
}

func sha256Of(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)[:16]
}
