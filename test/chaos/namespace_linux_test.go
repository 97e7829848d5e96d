package chaos

import (
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// TestCable: the namespaces are what a play takes them for. The parties' side reaches the
// server's through the cable; this side does not, and nobody does while it is pulled. It is
// not parallel: namespaces have their names from the process, and TestNamespaces makes some
// too (make test-long).
func TestCable(t *testing.T) {
	ns, err := newNamespaces()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ns.remove(); err != nil {
			t.Error(err)
		}
	}()
	var ln net.Listener
	if err := ns.server.inside(func() (err error) { ln, err = net.Listen("tcp", ns.address); return err }); err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, "here")
			c.Close()
		}
	}()
	reaches := func(dial func(context.Context) (net.Conn, error)) bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c, err := dial(ctx)
		if err != nil {
			return false
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(time.Second))
		said, err := io.ReadAll(c)
		return err == nil && string(said) == "here"
	}
	parties := ns.parties.dial(ns.address)
	outside := func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", ns.address)
	}
	// A cable that was just laid may lose the first packets, and this machine be busy.
	for begun := time.Now(); !reaches(parties); {
		if time.Since(begun) > time.Minute {
			t.Fatal("the parties do not reach the server")
		}
	}
	if reaches(outside) {
		t.Error("the server is reached from outside of the namespaces")
	}
	if err := ip("-n", string(ns.server), "link", "set", "cable", "down"); err != nil {
		t.Fatal(err)
	}
	if reaches(parties) {
		t.Error("the parties reach the server while the cable is pulled")
	}
}
