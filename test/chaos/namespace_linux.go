package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// namespaces are two network namespaces with one cable between them.
type namespaces struct {
	server, parties namespace
	address         string // where the server listens
}

// namespace is one, by its name.
type namespace string

// newNamespaces makes them. It needs root and the program ip.
func newNamespaces() (*namespaces, error) {
	pid := fmt.Sprint(os.Getpid())
	n := &namespaces{server: namespace("concord-server-" + pid), parties: namespace("concord-parties-" + pid), address: "192.0.2.1:8443"}
	a, b := "cs"+pid, "cp"+pid
	steps := [][]string{
		{"netns", "add", string(n.server)}, {"netns", "add", string(n.parties)},
		{"link", "add", a, "type", "veth", "peer", "name", b},
		{"link", "set", a, "netns", string(n.server)}, {"link", "set", b, "netns", string(n.parties)},
		{"-n", string(n.server), "link", "set", a, "name", "cable"}, {"-n", string(n.parties), "link", "set", b, "name", "cable"},
		{"-n", string(n.server), "addr", "add", "192.0.2.1/24", "dev", "cable"}, {"-n", string(n.parties), "addr", "add", "192.0.2.2/24", "dev", "cable"},
	}
	for _, side := range []string{string(n.server), string(n.parties)} {
		steps = append(steps, []string{"-n", side, "link", "set", "lo", "up"}, []string{"-n", side, "link", "set", "cable", "up"})
	}
	for _, args := range steps {
		if err := ip(args...); err != nil {
			return nil, errors.Join(err, n.remove())
		}
	}
	return n, nil
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s; it needs root and the package iproute2", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// remove takes the namespaces away, and the cable with them.
func (n *namespaces) remove() error {
	if n == nil {
		return nil
	}
	var errs []error
	for _, side := range []namespace{n.server, n.parties} {
		if _, err := os.Stat("/run/netns/" + string(side)); err == nil {
			errs = append(errs, ip("netns", "del", string(side)))
		}
	}
	return errors.Join(errs...)
}

// outages pulls the cable now and then.
func (n *namespaces) outages(ctx context.Context, l *Link, every, length time.Duration) error {
	for wait(ctx, l.between(every/2, every*3/2)) {
		if err := ip("-n", string(n.server), "link", "set", "cable", "down"); err != nil {
			return err
		}
		l.count(linkDown)
		wait(ctx, l.between(length/2, length*3/2))
		if err := ip("-n", string(n.server), "link", "set", "cable", "up"); err != nil {
			return err
		}
	}
	return nil
}

// inside calls f on a thread that is in the namespace, and nothing else runs there.
func (s namespace) inside(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		done <- func() error {
			ns, err := os.Open("/run/netns/" + string(s))
			if err != nil {
				return err
			}
			defer ns.Close()
			if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
				return fmt.Errorf("enter namespace %s: %w", s, err)
			}
			return f()
		}()
	}()
	return <-done
}

// start starts a process in the namespace.
func (s namespace) start(cmd *exec.Cmd) error { return s.inside(cmd.Start) }

func (s namespace) listen() (ln net.Listener, err error) {
	err = s.inside(func() error {
		ln, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	})
	return ln, err
}

// dial connects from the namespace. The address is one of numbers: looking up a name
// would happen on another thread.
func (s namespace) dial(address string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (conn net.Conn, err error) {
		err = s.inside(func() error {
			conn, err = (&net.Dialer{Timeout: 3 * time.Second}).DialContext(ctx, "tcp", address)
			return err
		})
		return conn, err
	}
}
