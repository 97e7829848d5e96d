package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// serial counts the sections in which products stay on one thread; see [Serial].
var serial atomic.Int32

var (
	threadsMutex sync.Mutex
	tell         func(n int) // nil unless a library must be told
)

// Threads is how many threads a product may use now.
func Threads() int {
	if serial.Load() > 0 {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// OnThreads has f called with the number of threads now, and when sections of [Serial]
// begin and end; nil ends that. It is for a loaded library, which has threads of its own.
func OnThreads(f func(n int)) {
	threadsMutex.Lock()
	defer threadsMutex.Unlock()
	if tell = f; f != nil {
		f(Threads())
	}
}

// Serial runs f while products stay on the thread that calls them. Sections may be
// nested and may overlap; the setting holds until the last one ends.
func Serial(f func()) {
	enter(1)
	defer enter(-1)
	f()
}

// enter adds to the sections. The first to begin and the last to end tell the library
// the number of threads, whether it seems to change or not: GOMAXPROCS may have changed
// in between.
func enter(by int32) {
	threadsMutex.Lock()
	defer threadsMutex.Unlock()
	before := serial.Load()
	after := serial.Add(by)
	if tell != nil && (before == 0 || after == 0) {
		tell(Threads())
	}
}
