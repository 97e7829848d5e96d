package durable

import "os"

// Watch lets before see every file and folder that is about to be flushed; an error of it is
// that of the flush. undo ends it.
func Watch(before func(path string) error) (undo func()) {
	flush = func(f *os.File) error {
		if err := before(f.Name()); err != nil {
			return err
		}
		return f.Sync()
	}
	return func() { flush = (*os.File).Sync }
}
