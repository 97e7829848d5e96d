package client

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"
)

// TestPasses: what the network does may be gone at the next try, what this computer's disk
// says is not. Both come as numbers of the system.
func TestPasses(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&fs.PathError{Op: "write", Path: "inbox", Err: syscall.ENOSPC}, false},
		{fmt.Errorf("the bundle: %w", &fs.PathError{Op: "write", Path: "inbox", Err: syscall.EDQUOT}), false},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}, true},
		{io.ErrUnexpectedEOF, true},
		{errors.New("something else"), false},
	} {
		if got := passes(c.err); got != c.want {
			t.Errorf("%v may pass: %v, want %v", c.err, got, c.want)
		}
	}
}
