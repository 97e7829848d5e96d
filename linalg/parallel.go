package linalg

import (
	"runtime"
	"sync"
	"sync/atomic"

	"concord/linalg/internal/kernel"
)

// Two ways to use the cores: one large problem on all of them, which a backend
// does by itself, or many small ones side by side, each on one. Both at once
// would run threads × threads.

// Serial runs f while every product of the package, and of gonum, stays on the
// thread that calls it. It is for a caller with goroutines of its own; the
// setting holds for the whole program until the last such section ends.
// Sections may be nested and may overlap.
func Serial(f func()) { kernel.Serial(f) }

// Parallel runs f(0), …, f(n−1), each once, on up to GOMAXPROCS goroutines,
// within [Serial], and returns when all are done. The calls must not depend on
// each other; each may use everything in this package. A panic of f is passed
// on to the caller when the calls that have begun are done.
//
// For n = 1 the call has all threads, as if made directly.
func Parallel(n int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var (
		next   atomic.Int64
		failed atomic.Pointer[any]
		wg     sync.WaitGroup
	)
	worker := func() {
		defer func() {
			if r := recover(); r != nil {
				failed.CompareAndSwap(nil, &r)
			}
		}()
		for failed.Load() == nil {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			f(i)
		}
	}
	Serial(func() {
		for range workers {
			wg.Go(worker)
		}
		wg.Wait()
	})
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}
