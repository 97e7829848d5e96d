// Package limit bounds what one key or one address may take of a server: requests
// over time ([Keyed]) and connections at once ([Listener]). It knows nothing of
// studies.
//
// Memory is bounded too: of more keys than it remembers, the surplus shares one
// budget, so that somebody with many addresses cannot fill it.
package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxKeys are remembered at a time; each takes about 200 bytes.
const maxKeys = 1 << 16

// Keyed limits events of many keys, each on its own. Make one with NewKeyed; it is
// safe for concurrent use.
type Keyed struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu    sync.Mutex
	keys  map[string]*rate.Limiter
	rest  *rate.Limiter // of all keys for which there is no room
	swept time.Time
	most  int
}

// NewKeyed lets each key have burst events at once and perSecond of them in the
// long run.
func NewKeyed(perSecond float64, burst int) *Keyed {
	return &Keyed{
		rate: rate.Limit(perSecond), burst: burst, now: time.Now, most: maxKeys,
		keys: map[string]*rate.Limiter{}, rest: rate.NewLimiter(rate.Limit(perSecond), burst),
	}
}

// Take takes one event of a key. It returns 0, or how long the key has to wait until
// it may take one; then nothing is taken.
func (k *Keyed) Take(key string) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	l := k.limiter(key, now)
	if l.AllowN(now, 1) {
		return 0
	}
	return k.wait(l, now)
}

// Wait is what Take would return, without taking anything.
func (k *Keyed) Wait(key string) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.keys[key]
	if !ok {
		return 0
	}
	return k.wait(l, k.now())
}

func (k *Keyed) wait(l *rate.Limiter, now time.Time) time.Duration {
	missing := 1 - l.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return max(time.Duration(missing/float64(k.rate)*float64(time.Second)), time.Millisecond)
}

// limiter finds or makes a key's budget.
func (k *Keyed) limiter(key string, now time.Time) *rate.Limiter {
	if l, ok := k.keys[key]; ok {
		return l
	}
	if len(k.keys) >= k.most {
		k.sweep(now)
	}
	if len(k.keys) >= k.most {
		return k.rest
	}
	l := rate.NewLimiter(k.rate, k.burst)
	k.keys[key] = l
	return l
}

// sweep forgets keys that have their whole budget again: they are as new ones. It
// looks at most once a second.
func (k *Keyed) sweep(now time.Time) {
	if now.Sub(k.swept) < time.Second {
		return
	}
	k.swept = now
	for key, l := range k.keys {
		if l.TokensAt(now) >= float64(k.burst) {
			delete(k.keys, key)
		}
	}
}
