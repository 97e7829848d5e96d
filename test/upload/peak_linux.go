package upload

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// peak watches the largest resident set of a process. It looks often, since the
// figure is gone with the process.
type peak struct {
	pid  int
	most atomic.Int64
	stop chan struct{}
	done chan struct{}
}

func watchPeak(pid int) *peak {
	p := &peak{pid: pid, stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			p.look()
			select {
			case <-p.stop:
				return
			case <-tick.C:
			}
		}
	}()
	return p
}

func (p *peak) look() {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		return // it has ended
	}
	for line := range strings.Lines(string(b)) {
		var kib int64
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			p.most.Store(max(p.most.Load(), kib<<10))
		}
	}
}

// so is the largest resident set so far, in bytes.
func (p *peak) so() int64 {
	p.look()
	return p.most.Load()
}

// end ends the watch and returns the largest resident set.
func (p *peak) end() int64 {
	close(p.stop)
	<-p.done
	return p.most.Load()
}
