package freeport_test

import (
	"net"
	"testing"

	"concord/internal/freeport"
)

// TestReserve: ports are free, apart from each other, and can be listened on again and
// again until they are released.
func TestReserve(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		address, release, err := freeport.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if seen[address] {
			t.Fatalf("%s is reserved twice", address)
		}
		seen[address] = true
		for range 2 {
			ln, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatalf("a server at a reserved port: %v", err)
			}
			ln.Close()
		}
	}
}
