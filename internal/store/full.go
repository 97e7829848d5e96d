package store

import (
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// full makes SQLite's word that there is no room the system's ENOSPC, which callers know
// from files.
func full(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_FULL {
		return fmt.Errorf("%w: %w", err, syscall.ENOSPC)
	}
	return err
}
