package guard

import (
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// Slice returns n zeros that end where memory that cannot be read begins, or
// begin where such memory ends.
func Slice(t *testing.T, n int, atEnd bool) []float64 {
	t.Helper()
	page := syscall.Getpagesize()
	size := (8*n + page - 1) / page * page
	b, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for _, edge := range [][]byte{b[:page], b[page+size:]} {
		if err := syscall.Mprotect(edge, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = syscall.Munmap(b) })
	from := page
	if atEnd {
		from = page + size - 8*n
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(&b[from])), n)
}

// Within runs f and fails where it reads or writes memory that is not its own.
func Within(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s: %v\n%s", name, r, debug.Stack())
		}
	}()
	f()
}
