//go:build linux || darwin

package durable

import "syscall"

// Room is how many bytes a user may still write in a folder.
func Room(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return int64(min(uint64(st.Bavail)*uint64(st.Bsize), 1<<62)), nil
}
