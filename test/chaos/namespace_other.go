//go:build !linux

package chaos

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"time"
)

type namespaces struct {
	server, parties namespace
	address         string
}

type namespace string

var errNoNamespaces = errors.New("chaos: network namespaces are on Linux only")

func newNamespaces() (*namespaces, error) { return nil, errNoNamespaces }

func (n *namespaces) remove() error { return nil }

func (n *namespaces) outages(context.Context, *Link, time.Duration, time.Duration) error {
	return errNoNamespaces
}

func (s namespace) start(*exec.Cmd) error { return errNoNamespaces }

func (s namespace) listen() (net.Listener, error) { return nil, errNoNamespaces }

func (s namespace) dial(string) func(context.Context) (net.Conn, error) {
	return func(context.Context) (net.Conn, error) { return nil, errNoNamespaces }
}
