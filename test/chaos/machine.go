package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"concord/test/powercut"
)

// machine is where one role lives: a folder that programs of that role work in, on
// an ordinary disk or on one that loses power, and the processes that run there.
type machine struct {
	name string
	dir  string // as its programs see it
	// begin starts a process of this machine; nil means cmd.Start. It may do so in
	// another network namespace.
	begin func(*exec.Cmd) error
	// crashed looks at the folder after a power cut, with all processes dead, before
	// anything runs again.
	crashed func(folder) error
	// survival draws what a power cut leaves of what was not flushed.
	survival func(*rand.Rand) powercut.Survival

	mu      sync.Mutex // held while the power is off
	live    map[*process]bool
	disk    *powercut.Disk // nil: an ordinary one
	unmount func() error
	cuts    int
	failure error
}

// process is a running program.
type process struct {
	cmd    *exec.Cmd
	out    bytes.Buffer
	errors bytes.Buffer
	ended  chan struct{}
	killed bool
}

func newMachine(name, dir string) *machine {
	return &machine{name: name, dir: dir, survival: powercut.AnySurvival, live: map[*process]bool{}}
}

// start starts a program as soon as there is power.
func (m *machine) start(program string, env []string, args ...string) (*process, error) {
	return m.startLogged("", program, env, args...)
}

// startLogged is start with standard error at the end of a file, unless it is "".
func (m *machine) startLogged(log, program string, env []string, args ...string) (*process, error) {
	for {
		m.mu.Lock()
		if m.failure != nil {
			defer m.mu.Unlock()
			return nil, m.failure
		}
		if m.disk == nil || !isClosed(m.disk.Frozen()) {
			break
		}
		m.mu.Unlock()
		time.Sleep(time.Millisecond) // until whoever watches the disk has seen it
	}
	defer m.mu.Unlock()
	p := &process{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errors
	p.cmd.WaitDelay = time.Second
	if log != "" {
		f, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			return nil, err
		}
		defer f.Close() // the process has its own
		p.cmd.Stderr = f
	}
	begin := m.begin
	if begin == nil {
		begin = (*exec.Cmd).Start
	}
	if err := begin(p.cmd); err != nil {
		return nil, err
	}
	m.live[p] = true
	go func() {
		p.cmd.Wait() // how it ended, ProcessState says
		close(p.ended)
	}()
	return p, nil
}

// kill ends a process at once, if it has not ended, and reports whether it had to.
func (p *process) kill() bool {
	if isClosed(p.ended) {
		return false
	}
	p.cmd.Process.Kill()
	<-p.ended
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// forget drops an ended process, and reports whether the power went off while it ran.
func (m *machine) forget(p *process) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.live, p)
	return p.killed || m.disk != nil && isClosed(m.disk.Frozen())
}

// folder is the machine's folder as it is now.
func (m *machine) folder() folder {
	m.mu.Lock()
	defer m.mu.Unlock()
	return folder{m.dir, m.disk}
}

// powered puts the machine on a disk that loses power, first after the operations that
// next gives, until ctx ends. next gives 0 when there shall be no more cuts.
func (m *machine) powered(ctx context.Context, rnd *rand.Rand, next func() int, report func(Cut)) (stop func() error, err error) {
	if m.unmount, err = m.disk.Mount(m.dir); err != nil {
		return nil, err
	}
	plan := func() {
		if n := next(); n > 0 {
			m.disk.CutAfter(n)
		}
	}
	plan()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-m.disk.Frozen():
			}
			if err := m.powerOff(rnd, report); err != nil {
				return // start says so
			}
			plan()
		}
	}()
	return func() error {
		<-done
		return errors.Join(m.unmount(), m.failure)
	}, nil
}

// powerOff kills what runs, loses what was not flushed and lets the check look at it.
func (m *machine) powerOff(rnd *rand.Rand, report func(Cut)) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer func() { m.failure = err }()
	for p := range m.live {
		p.killed = true
		p.kill()
	}
	if err := m.unmount(); err != nil {
		return err
	}
	m.unmount = func() error { return nil } // until it is mounted again
	cut := Cut{Machine: m.name, Where: m.disk.Where(), Left: m.survival(rnd)}
	m.disk = m.disk.Survivors(cut.Left, rnd)
	m.cuts++
	report(cut)
	if err := m.crashed(folder{m.dir, m.disk}); err != nil {
		return fmt.Errorf("after a power cut of %s in %q, with %v left of what was not flushed: %w", m.name, cut.Where, cut.Left, err)
	}
	unmount, err := m.disk.Mount(m.dir)
	if err == nil {
		m.unmount = unmount
	}
	return err
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
