package neural

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// team is goroutines that share the parts of many short jobs, one after another.
// Between jobs they look out for the next for a while before they sleep: to wake
// a thread takes as long as a part of a job does. A part belongs to the same
// goroutine in every job of as many parts, so that what it reads and writes stays
// in the cache of one core; only who has no part left takes another's.
type team struct {
	size  int
	job   atomic.Pointer[job]
	idle  atomic.Int32 // members that sleep, or are about to
	wake  chan struct{}
	ended sync.WaitGroup
}

// job is f(0), …, f(n−1); f is nil for the last job, of no parts.
type job struct {
	f     func(i int)
	taken []atomic.Bool
	left  atomic.Int32
	done  chan struct{} // closed when none are left
}

// patience is how often to look out before sleeping: some 70 µs, longer than the
// parts of a job differ, and about as long as a virtual machine takes to wake a
// thread.
const patience = 1 << 18

// newTeam starts a team for jobs of at most n parts. It must be dismissed.
func newTeam(n int) *team {
	t := &team{size: max(1, min(n, runtime.GOMAXPROCS(0)))}
	t.wake = make(chan struct{}, t.size)
	for member := 1; member < t.size; member++ {
		t.ended.Go(func() {
			var last *job
			for {
				last = t.next(last)
				if last.f == nil {
					return
				}
				last.work(member, t.size)
			}
		})
	}
	return t
}

// dismiss ends the goroutines.
func (t *team) dismiss() {
	t.job.Store(new(job))
	close(t.wake)
	t.ended.Wait()
}

// next waits for another job than the last.
func (t *team) next(last *job) *job {
	for range patience {
		if j := t.job.Load(); j != last {
			return j
		}
	}
	t.idle.Add(1)
	defer t.idle.Add(-1)
	for {
		// do stores a job before it looks for sleepers: either it sees this one,
		// or this one sees the job.
		if j := t.job.Load(); j != last {
			return j
		}
		<-t.wake
	}
}

// do runs f(0), …, f(n−1), each once, and returns when all are done.
func (t *team) do(n int, f func(i int)) {
	if t.size == 1 || n == 1 {
		for i := range n {
			f(i)
		}
		return
	}
	j := &job{f: f, taken: make([]atomic.Bool, n), done: make(chan struct{})}
	j.left.Store(int32(n))
	t.job.Store(j)
	for range t.idle.Load() {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
	j.work(0, t.size)
	for range patience {
		if j.left.Load() == 0 {
			return
		}
	}
	<-j.done
}

// work does the parts of a member, then those that nobody has taken.
func (j *job) work(member, size int) {
	n := len(j.taken)
	for k := range n {
		i := (member*n/size + k) % n
		if !j.taken[i].CompareAndSwap(false, true) {
			continue
		}
		j.f(i)
		if j.left.Add(-1) == 0 {
			close(j.done)
		}
	}
}
