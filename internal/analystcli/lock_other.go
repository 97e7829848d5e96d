//go:build !unix

package analystcli

import "os"

// lock opens the file without sharing its deletion; a second server then finds
// the port taken.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return func() { f.Close() }, nil
}
