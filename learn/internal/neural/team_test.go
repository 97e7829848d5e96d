package neural

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// TestTeam checks that every part of many jobs is done once, with members that
// are awake and members that sleep.
func TestTeam(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := runtime.NumGoroutine()
	for _, size := range []int{1, 2, 3, 9} {
		team := newTeam(size)
		if want := min(size, 4); team.size != want {
			t.Errorf("%d members for jobs of %d parts, want %d", team.size, size, want)
		}
		for round := range 300 {
			if round%100 == 99 {
				time.Sleep(2 * time.Millisecond) // they sleep after some 70 µs
			}
			n := round % 11
			count := make([]atomic.Int32, n)
			var sum int // not atomic: do has to order the parts before its return
			results := make([]int, n)
			team.do(n, func(i int) {
				count[i].Add(1)
				results[i] = i + 1
			})
			for i := range count {
				if c := count[i].Load(); c != 1 {
					t.Fatalf("part %d of %d is done %d times", i, n, c)
				}
				sum += results[i]
			}
			if sum != n*(n+1)/2 {
				t.Fatalf("results of %d parts add up to %d", n, sum)
			}
		}
		team.dismiss()
	}
	// A goroutine counts until a moment after it has said that it ended.
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines remain", runtime.NumGoroutine()-before)
		}
	}
}
