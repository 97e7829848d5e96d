//go:build !windows

package durable

import (
	"fmt"
	"os"
)

// flushDir flushes a folder's entries.
func flushDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := flush(d); err != nil {
		return fmt.Errorf("flush folder: %w", err)
	}
	return nil
}
