package align

import (
	"runtime"
	"sync"
	"sync/atomic"

	"concord/linalg"
)

// groups is the number of parts into which sums over parties are divided. It is
// fixed, and the parts are added in order, so that a sum has the same rounding
// whatever the number of goroutines.
const groups = 8

// each calls f for every party on Options.Workers goroutines and returns the
// error of the first party that has one.
func (in *input) each(f func(i int) error) error {
	return parallel(in.opt.Workers, len(in.a), f)
}

// eachGroup calls f for groups of consecutive parties, from ≤ i < to.
func (in *input) eachGroup(f func(group, from, to int) error) error {
	n := min(groups, len(in.a))
	return parallel(in.opt.Workers, n, func(k int) error {
		return f(k, k*len(in.a)/n, (k+1)*len(in.a)/n)
	})
}

// tooSmall is the number of flops below which goroutines cost more than they
// save.
const tooSmall = 1 << 18

// parallel calls f for 0 … n − 1 on so many goroutines, 0 meaning GOMAXPROCS, with
// BLAS on one thread in each. All calls are made, whatever fails.
func parallel(workers, n int, f func(i int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, n)
	errs := make([]error, n)
	if workers <= 1 {
		for i := range n {
			errs[i] = f(i)
		}
	} else {
		var next atomic.Int64
		var wait sync.WaitGroup
		linalg.Serial(func() {
			for range workers {
				wait.Go(func() {
					for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
						errs[i] = f(i)
					}
				})
			}
			wait.Wait()
		})
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
