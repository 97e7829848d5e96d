// Package freeport finds loopback ports for servers that tests start as processes of their
// own, and that cannot be handed a listener. Listening on port 0, closing and naming the
// port to a program is a race: until the program listens, any connection that goes out,
// or another test, may be given the same port.
package freeport

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports below those that systems give to connections that go out (32768 to 60999 on
// Linux, 49152 on elsewhere).
const first, beyond = 10000, 32768

// Reserve returns an address on 127.0.0.1 whose port no other call, in this process or
// another, returns before release is called. A server may come and go there meanwhile.
func Reserve() (address string, release func(), err error) {
	for range 1000 {
		port := strconv.Itoa(first + rand.IntN(beyond-first))
		// Whoever holds the same port of another loopback address has reserved this one.
		// Where there is only 127.0.0.1 chance has to do.
		guard, err := net.Listen("tcp", "127.0.0.2:"+port)
		if err != nil && several() {
			continue
		}
		release := func() {
			if guard != nil {
				guard.Close()
			}
		}
		address := "127.0.0.1:" + port
		ln, err := net.Listen("tcp", address)
		if err == nil {
			err = ln.Close()
		}
		if err != nil {
			release()
			continue
		}
		return address, release, nil
	}
	return "", nil, errors.New("freeport: no port of 127.0.0.1 is free")
}

// several reports whether there are more loopback addresses than 127.0.0.1, as on Linux.
func several() bool {
	ln, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		return false
	}
	ln.Close()
	return true
}
