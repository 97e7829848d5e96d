package limit

import (
	"net"
	"net/netip"
	"sync"
)

// Listener accepts connections of one address and of all together only up to a
// bound, and hangs up on the others at once. Who is refused sees a connection that
// ends, and tries again.
type Listener struct {
	net.Listener
	most, perAddress int
	refused          func(address string)

	mu   sync.Mutex
	open int
	by   map[string]int
}

// NewListener bounds ln to most connections and to perAddress of one address.
// refused is called for every connection that is hung up on, with its address; it
// may be nil.
func NewListener(ln net.Listener, most, perAddress int, refused func(address string)) *Listener {
	if refused == nil {
		refused = func(string) {}
	}
	return &Listener{Listener: ln, most: most, perAddress: perAddress, refused: refused, by: map[string]int{}}
}

// Accept returns the next connection within the bounds.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address := Address(conn.RemoteAddr().String())
		if l.take(address) {
			return &counted{Conn: conn, done: sync.OnceFunc(func() { l.giveBack(address) })}, nil
		}
		conn.Close()
		l.refused(address)
	}
}

// Open is the number of connections that are open.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *Listener) take(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.most || l.by[address] >= l.perAddress {
		return false
	}
	l.open++
	l.by[address]++
	return true
}

func (l *Listener) giveBack(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.by[address]--; l.by[address] == 0 {
		delete(l.by, address)
	}
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	done func()
}

// Close closes the connection and counts it no more.
func (c *counted) Close() error {
	defer c.done()
	return c.Conn.Close()
}

// Address is what limits count by of a remote address, with or without a port: an
// IPv4 address, or the /64 network of an IPv6 address, of which one subscriber has
// all.
func Address(remote string) string {
	var ip netip.Addr
	if ap, err := netip.ParseAddrPort(remote); err == nil {
		ip = ap.Addr()
	} else if ip, err = netip.ParseAddr(remote); err != nil {
		return remote
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return prefix.String()
}
