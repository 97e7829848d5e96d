package chaos

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Link is a bad line between parties and server: every byte comes late, some
// connections are slow, stand still, close one way only or break in the middle, and
// now and then the line is down altogether.
type Link struct {
	dial func(context.Context) (net.Conn, error)

	mu       sync.Mutex
	rnd      *rand.Rand
	down     bool
	open     map[net.Conn]bool
	Counters map[string]int // what happened, by name
}

// What a link does to a connection.
const (
	late     = "late"        // every piece is delayed
	slow     = "slow"        // and only few bytes pass at a time
	broken   = "broken"      // it is reset after some bytes
	oneWay   = "closed half" // one direction ends after some bytes
	stalled  = "stalled"     // it stands still for a while, then breaks
	linkDown = "link down"   // all connections break, new ones do not come through
)

// newLink serves ln by connections from dial, until ctx ends.
func newLink(ctx context.Context, ln net.Listener, dial func(context.Context) (net.Conn, error), rnd *rand.Rand) *Link {
	l := &Link{dial: dial, rnd: rnd, open: map[net.Conn]bool{}, Counters: map[string]int{}}
	context.AfterFunc(ctx, func() {
		ln.Close()
		l.breakAll()
	})
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go l.connect(ctx, c)
		}
	}()
	return l
}

// outages lets the line be down now and then, until ctx ends.
func (l *Link) outages(ctx context.Context, every, length time.Duration) {
	for {
		if !wait(ctx, l.between(every/2, every*3/2)) {
			return
		}
		l.set(true)
		l.count(linkDown)
		l.breakAll()
		wait(ctx, l.between(length/2, length*3/2))
		l.set(false)
	}
}

func (l *Link) set(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

func (l *Link) between(low, high time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return low + time.Duration(l.rnd.Int64N(int64(high-low)+1))
}

func (l *Link) count(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Counters[what]++
}

// fate draws what happens to a connection, and after how many bytes.
func (l *Link) fate() (what string, after int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what = []string{late, late, late, slow, broken, broken, oneWay, stalled}[l.rnd.IntN(8)]
	l.Counters[what]++
	// From 100 bytes to 8 MB: handshakes, messages and uploads are hit.
	return what, int64(100 * math.Pow(2, 16.3*l.rnd.Float64()))
}

func (l *Link) breakAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		reset(c)
	}
}

// reset breaks a connection as a router does that forgets it.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// connect carries one connection.
func (l *Link) connect(ctx context.Context, near net.Conn) {
	defer near.Close()
	l.mu.Lock()
	down := l.down
	l.open[near] = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, near)
	}()
	if down {
		reset(near)
		return
	}
	far, err := l.dial(ctx)
	if err != nil {
		reset(near)
		return
	}
	defer far.Close()
	what, after := l.fate()
	var both sync.WaitGroup
	both.Go(func() { l.carry(ctx, far, near, what, after) })
	both.Go(func() { l.carry(ctx, near, far, what, after) })
	both.Wait()
}

var errBroken = errors.New("chaos: the link broke")

// carry copies one direction, with what happens to it.
func (l *Link) carry(ctx context.Context, to, from net.Conn, what string, after int64) {
	size := 64 << 10
	if what == slow {
		size = 4 << 10
	}
	buf := make([]byte, size)
	var n int64
	err := func() error {
		for {
			k, err := from.Read(buf)
			if k > 0 {
				if !wait(ctx, l.between(time.Millisecond, 15*time.Millisecond)) {
					return errBroken
				}
				if n += int64(k); n > after {
					switch what {
					case broken:
						return errBroken
					case oneWay:
						return io.EOF
					case stalled:
						wait(ctx, l.between(200*time.Millisecond, 2*time.Second))
						return errBroken
					}
				}
				if _, err := to.Write(buf[:k]); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
		}
	}()
	if errors.Is(err, io.EOF) {
		if t, ok := to.(*net.TCPConn); ok {
			t.CloseWrite()
			return
		}
	}
	reset(to)
	reset(from)
}

// wait reports whether ctx did not end meanwhile.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
