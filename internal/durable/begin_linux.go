package durable

import (
	"os"
	"syscall"
)

// Begin asks the system to begin writing a part of a file to the disk, so that a
// later Sync has less to wait for. It promises nothing.
func Begin(f *os.File, offset, n int64) {
	const write = 2                                          // SYNC_FILE_RANGE_WRITE
	_ = syscall.SyncFileRange(int(f.Fd()), offset, n, write) // what does not work, Sync does
}
