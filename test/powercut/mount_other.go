//go:build !linux

package powercut

import "errors"

// Mount needs Linux.
func (d *Disk) Mount(string) (unmount func() error, err error) {
	return nil, errors.New("powercut: a disk that loses power can be mounted on Linux only")
}
