package limit

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// clock is a time that a test sets.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func newKeyed(perSecond float64, burst int) (*Keyed, *clock) {
	c := &clock{time.Unix(1_700_000_000, 0)}
	k := NewKeyed(perSecond, burst)
	k.now = c.now
	return k, c
}

func TestKeyed(t *testing.T) {
	k, c := newKeyed(2, 3)
	for i := range 3 {
		if wait := k.Take("a"); wait != 0 {
			t.Fatalf("event %d of a burst of 3: wait %v", i+1, wait)
		}
	}
	if wait := k.Take("a"); wait != 500*time.Millisecond {
		t.Errorf("the fourth event at two a second: wait %v, want 500ms", wait)
	}
	if wait := k.Wait("a"); wait != 500*time.Millisecond {
		t.Errorf("Wait = %v, want 500ms", wait)
	}
	if wait := k.Take("b"); wait != 0 {
		t.Errorf("another key waits %v for the first one's events", wait)
	}
	c.t = c.t.Add(500 * time.Millisecond)
	if wait := k.Take("a"); wait != 0 {
		t.Errorf("after the wait it is told to wait %v", wait)
	}
	if wait := k.Take("a"); wait == 0 {
		t.Error("waiting gave more than one event")
	}
	if wait := k.Wait("never seen"); wait != 0 {
		t.Errorf("a new key waits %v", wait)
	}
}

// TestKeyedIsBounded: keys beyond those it remembers share a budget, and those that
// rested are forgotten to make room.
func TestKeyedIsBounded(t *testing.T) {
	k, c := newKeyed(1, 2)
	k.most = 10
	for i := range 10 {
		k.Take(fmt.Sprint(i))
	}
	refused := 0
	for i := range 100 {
		if k.Take(fmt.Sprint("new", i)) > 0 {
			refused++
		}
	}
	if len(k.keys) != 10 || refused != 98 {
		t.Errorf("%d keys are remembered, %d of 100 surplus events refused; want 10 and 98", len(k.keys), refused)
	}
	c.t = c.t.Add(10 * time.Second)
	if wait := k.Take("later"); wait != 0 || len(k.keys) != 1 {
		t.Errorf("after a rest: wait %v, %d keys; want 0 and the one that came", wait, len(k.keys))
	}
}

func TestAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.7:1234":          "192.0.2.7",
		"192.0.2.7":               "192.0.2.7",
		"[::ffff:192.0.2.7]:80":   "192.0.2.7",
		"[2001:db8:1:2:3::4]:443": "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::":     "2001:db8:1:2::/64",
		"[fe80::1%eth0]:1":        "fe80::/64",
		"@":                       "@",
	} {
		if got := Address(remote); got != want {
			t.Errorf("Address(%q) = %q, want %q", remote, got, want)
		}
	}
}

// TestListener: connections beyond the bound end at once, and one that is closed
// makes room for another.
func TestListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan string, 10)
	ln := NewListener(inner, 5, 2, func(address string) { refused <- address })
	defer ln.Close()
	accepted := make(chan net.Conn, 10)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	dial := func() net.Conn {
		t.Helper()
		conn, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	dial()
	dial()
	first := <-accepted
	<-accepted
	surplus := dial()
	if got := <-refused; got != "127.0.0.1" {
		t.Errorf("refused %q", got)
	}
	surplus.SetReadDeadline(time.Now().Add(10 * time.Second))
	var timeout net.Error
	if _, err := surplus.Read(make([]byte, 1)); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("the surplus connection reads %v, want its end", err)
	}
	if ln.Open() != 2 {
		t.Errorf("%d connections count as open, want 2", ln.Open())
	}
	first.Close()
	first.Close() // a second time gives no second place
	if ln.Open() != 1 {
		t.Errorf("%d connections count as open after one was closed, want 1", ln.Open())
	}
	again := dial()
	conn := <-accepted
	go io.WriteString(again, "x")
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Errorf("the connection after that: %v", err)
	}
}
