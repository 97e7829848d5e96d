//go:build !unix

package durable

import "os"

// Lock only opens the file: on this operating system two processes are not kept
// apart.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}
