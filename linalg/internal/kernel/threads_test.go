package kernel

import (
	"runtime"
	"slices"
	"testing"
)

// TestOnThreads holds what a library is told: the number of threads at once, 1 when the
// first section begins, and that of GOMAXPROCS, which may have changed, when the last
// one ends.
func TestOnThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	var told []int
	OnThreads(func(n int) { told = append(told, n) })
	defer OnThreads(nil)
	Serial(func() {
		Serial(func() {})
		runtime.GOMAXPROCS(1)
	})
	Serial(func() { runtime.GOMAXPROCS(2) })
	if want := []int{3, 1, 1, 1, 2}; !slices.Equal(told, want) {
		t.Errorf("told %d threads, want %d", told, want)
	}
	if n := Threads(); n != 2 {
		t.Errorf("%d threads outside of sections, want 2", n)
	}
}
