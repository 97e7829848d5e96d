package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/internal/cli"
	"concord/internal/freeport"
	"concord/member"
	"concord/test/powercut"
	"concord/wire"
)

// play is one study, played by processes: an analyst and three parties, each on a
// machine of its own. Who types the commands repeats them as a person would.
type play struct {
	programs Programs
	protocol string
	files    bool // parties change between files and the network as it comes
	dir      string
	rnd      *rand.Rand
	trouble  trouble

	analyst *machine
	parties []*holder
	address string // where parties reach the server
	listen  string // where it listens
	release func() // gives the port back

	typing   sync.RWMutex // held by commands of the analyst
	mu       sync.Mutex
	repeated int                      // commands that were interrupted and typed again
	receipts map[wire.Hash]bool       // manifests for which a party has had a receipt
	steps    map[string]time.Duration // what each took at most
	// analystDone counts the analyst's commands that were acknowledged.
	analystDone map[string]int
	heads       []member.Head // of the analyst's audit log, that receipts carried
	refused     string        // what that log says of refusals
	invites     []string
	server      *process      // that serves now
	waiting     int           // parties that wait for between
	met         chan struct{} // closed when it is over
	metErr      error
	took        time.Duration
	interrupted atomic.Int64   // times that training was
	operations  map[string]int // of each machine's last disk
}

// trouble disturbs a play. The zero value does not.
type trouble struct {
	// kill draws after which time a command of the named step is killed; 0 means that
	// it is left alone.
	kill func(step string) time.Duration
	// killed is told that it was, or that the server was (step "serve").
	killed func(step string)
	// server draws how long the server runs before it is killed; 0 means for good.
	server func() time.Duration
	// cut draws after how many operations on a machine's disk its power goes off; nil:
	// ordinary disks. 0 means never again.
	cut func(machine string) int
	// between is called once, when all parties have done their setup.
	between func(context.Context, *play) error
	// attacked makes a server that lets every request through and logs it.
	attacked bool
	// line lies between the parties and the server; nil for a good one.
	line *line
	// training is how often the server is killed while it aligns and trains.
	training int
	lies     bool // the disks acknowledge flushes and keep nothing of them
	// was is told what a cut hit.
	was func(Cut)
}

// Cut is one power cut.
type Cut struct {
	Machine string
	Where   string // the operation that it hit
	Left    powercut.Survival
}

// holder is one party.
type holder struct {
	*machine
	play  *play
	i     int
	name  string
	done  map[string]bool // steps that a command acknowledged; guarded by play.mu
	seed  []byte          // the anchor's, as soon as it is agreed
	draft wire.Hash       // the manifest that was prepared last
	own   *mat.Dense      // its rows, once they were read
}

// patience is how long a step may take altogether, however often it is disturbed.
const patience = 5 * time.Minute

// newPlay makes the machines in dir.
func newPlay(programs Programs, protocol, dir string, rnd *rand.Rand, tr trouble) (*play, error) {
	p := &play{programs: programs, protocol: protocol, dir: dir, rnd: rnd, trouble: tr, receipts: map[wire.Hash]bool{}, steps: map[string]time.Duration{}, analystDone: map[string]int{}, met: make(chan struct{})}
	if err := writeInputs(filepath.Join(dir, "inputs"), p.yaml()); err != nil {
		return nil, err
	}
	var err error
	if p.address, p.release, err = freeport.Reserve(); err != nil {
		return nil, err
	}
	p.listen = p.address
	p.analyst = newMachine("analyst", filepath.Join(dir, "analyst"))
	p.analyst.crashed = p.checkStore
	for i, name := range names[:size(protocol)] {
		q := &holder{machine: newMachine(name, filepath.Join(dir, fmt.Sprintf("party-%d", i+1))), play: p, i: i, name: name, done: map[string]bool{}}
		q.crashed = q.check
		p.parties = append(p.parties, q)
	}
	for _, m := range p.machines() {
		if err := os.MkdirAll(m.dir, 0o755); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *play) input(name string) string { return filepath.Join(p.dir, "inputs", name) }

// site is the party's folder as concord sees it, analystDir concordd's. Both are made
// by the programs, in the machine's folder.
const (
	siteDir    = "site"
	analystDir = "analyst"
)

// run plays the study to its end.
func (p *play) run(ctx context.Context) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var stops []func() error
	defer func() {
		cancel()
		for _, stop := range stops {
			err = errors.Join(err, stop())
		}
	}()
	if p.trouble.cut != nil {
		for _, m := range p.machines() {
			rnd := rand.New(rand.NewPCG(p.rnd.Uint64(), p.rnd.Uint64()))
			m.disk = powercut.New()
			m.disk.Lies = p.trouble.lies
			stop, err := m.powered(ctx, rnd, func() int { return p.trouble.cut(m.name) }, p.trouble.was)
			if err != nil {
				return err
			}
			stops = append(stops, stop)
		}
	}
	if p.trouble.line != nil {
		stop, err := p.trouble.line.lay(ctx, p)
		if err != nil {
			return err
		}
		stops = append(stops, stop)
	}
	invites, err := p.prepareAnalyst(ctx)
	if err != nil {
		return err
	}
	p.invites = invites
	serving, stopServer := context.WithCancel(ctx)
	defer stopServer()
	server := make(chan error, 1)
	go func() {
		err := p.serve(serving)
		if err != nil {
			cancel() // nobody waits for a server that does not come back
		}
		server <- err
	}()
	var wg sync.WaitGroup
	failed := make([]error, len(p.parties)+1)
	wg.Go(func() {
		if failed[len(p.parties)] = p.admit(ctx); failed[len(p.parties)] != nil {
			cancel()
		}
	})
	for i, q := range p.parties {
		wg.Go(func() {
			if failed[i] = q.take(ctx, invites[i]); failed[i] != nil {
				cancel()
			}
		})
	}
	wg.Wait()
	stopServer()
	serverErr := <-server
	for i := range failed {
		if errors.Is(failed[i], context.Canceled) {
			failed[i] = nil // somebody else's failure ended it
		}
	}
	return errors.Join(append(failed, serverErr)...)
}

// prepareAnalyst sets up the analyst's folder, makes the study and an invite for each.
func (p *play) prepareAnalyst(ctx context.Context) ([]string, error) {
	concordd := func(step string, args ...string) (string, error) { return p.concordd(ctx, step, args...) }
	if _, err := concordd("init", "init", "--name", "Study office", "--address", p.address, "--listen", p.listen); err != nil {
		return nil, err
	}
	if _, err := concordd("study create", "study", "create", p.input("study.yaml")); err != nil {
		return nil, err
	}
	invites := make([]string, len(p.parties))
	for i, q := range p.parties {
		line, err := concordd("invite", "invite", "--for", q.name)
		if err != nil {
			return nil, err
		}
		invites[i] = strings.TrimSpace(line)
	}
	return invites, nil
}

// concordd types a command of the analyst until it is done.
func (p *play) concordd(ctx context.Context, step string, args ...string) (string, error) {
	p.typing.RLock()
	defer p.typing.RUnlock()
	out, err := p.until(ctx, p.analyst, step, p.programs.Concordd, append([]string{"--dir", filepath.Join(p.analyst.dir, analystDir)}, args...))
	if err == nil {
		p.mu.Lock()
		p.analystDone[step]++
		p.mu.Unlock()
	}
	return out, err
}

// admit lets the parties in as they ask.
func (p *play) admit(ctx context.Context) error {
	for {
		if _, err := p.concordd(ctx, "admit", "admit", "--all"); err != nil {
			return err
		}
		in := 0
		for _, q := range p.parties {
			if q.has("join") {
				in++
			}
		}
		if in == len(p.parties) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// logFile is where the server's log goes.
func (p *play) logFile() string { return filepath.Join(p.dir, "serve.log") }

// logTail is the end of the server's log.
func (p *play) logTail() string {
	b, err := os.ReadFile(p.logFile())
	if err != nil {
		return err.Error()
	}
	return string(b[max(0, len(b)-2000):])
}

// meet waits for all parties, and lets one of them call between.
func (p *play) meet(ctx context.Context) error {
	if p.trouble.between == nil {
		return nil
	}
	p.mu.Lock()
	p.waiting++
	last := p.waiting == len(p.parties)
	p.mu.Unlock()
	if last {
		p.metErr = p.trouble.between(ctx, p)
		close(p.met)
	}
	select {
	case <-p.met:
		return p.metErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serve keeps the server running until ctx ends, and ends it in order.
func (p *play) serve(ctx context.Context) error {
	for {
		args := []string{"--dir", filepath.Join(p.analyst.dir, analystDir), "serve"}
		if p.trouble.attacked {
			args = append(args, "--verbose")
			if err := raiseLimits(filepath.Join(p.analyst.dir, analystDir, "config.json")); err != nil {
				return err
			}
		}
		s, err := p.analyst.startLogged(p.logFile(), p.programs.Concordd, p.programs.Env, args...)
		if err != nil {
			return err
		}
		p.mu.Lock()
		p.server = s
		p.mu.Unlock()
		var alarm <-chan time.Time
		if p.trouble.server != nil {
			if d := p.trouble.server(); d > 0 {
				alarm = time.After(d)
			}
		}
		select {
		case <-ctx.Done():
			s.cmd.Process.Signal(syscall.SIGINT)
			<-s.ended
			if p.analyst.forget(s) || !s.cmd.ProcessState.Exited() {
				return nil // a power cut at the very end, or it had not begun to listen
			}
			if code := s.cmd.ProcessState.ExitCode(); code != cli.StatusDone {
				return fmt.Errorf("the server ended with status %d:\n%s", code, p.logTail())
			}
			return nil
		case <-alarm:
			if s.kill() {
				p.trouble.killed("serve")
			}
			p.analyst.forget(s)
			p.typing.Lock()
			err := p.checkStore(p.analyst.folder())
			p.typing.Unlock()
			if err != nil {
				return fmt.Errorf("after the server was killed: %w", err)
			}
		case <-p.trained(ctx):
			killed := s.kill()
			p.analyst.forget(s)
			early, err := p.unreleased(ctx)
			if err != nil {
				return fmt.Errorf("after the server was killed while it trained: %w", err)
			}
			if killed && early {
				p.trouble.killed("align and train")
			}
		case <-p.frozen():
			<-s.ended
			p.analyst.forget(s)
		case <-s.ended:
			if p.analyst.forget(s) {
				continue
			}
			return fmt.Errorf("the server ended by itself, with status %d:\n%s", s.cmd.ProcessState.ExitCode(), p.logTail())
		}
	}
}

// trained gets a signal in the middle of aligning and training, as often as the
// trouble says: some time after the last contribution was acknowledged, or after the
// server has come back to do it again.
func (p *play) trained(ctx context.Context) <-chan time.Time {
	if p.trouble.training == 0 {
		return nil
	}
	due := make(chan time.Time, 1)
	go func() {
		for !p.allSent() {
			if !wait(ctx, 5*time.Millisecond) {
				return
			}
		}
		if n := p.interrupted.Add(1); n <= int64(p.trouble.training) {
			wait(ctx, time.Duration(n)*80*time.Millisecond) // ever later in the work
			due <- time.Now()
		}
	}()
	return due
}

func (p *play) allSent() bool {
	for _, q := range p.parties {
		if !q.has("send") {
			return false
		}
	}
	return true
}

// frozen is closed when the analyst's power is off; never on an ordinary disk.
func (p *play) frozen() <-chan struct{} {
	f := p.analyst.folder()
	if f.disk == nil {
		return nil
	}
	return f.disk.Frozen()
}

// again is what a command says when something between it and its work broke, and a
// person types it again.
var again = regexp.MustCompile(`does not answer|unexpected EOF|connection reset|broken pipe|connection refused|stopped sending|upload broke off|another upload|try again|EOF$|the server had trouble|take is at work`)

// besideServer are the analyst's commands that run while the server does: what is in the
// folder then changes while somebody looks.
var besideServer = map[string]bool{"admit": true, "concordd take": true, "concordd give": true}

// already is what a command that has done its work before it was killed says of that.
var already = map[string]*regexp.Regexp{
	"init": regexp.MustCompile(`is set up already`),
}

// until types a command until it is done, and returns what it printed.
func (p *play) until(ctx context.Context, m *machine, step, program string, args []string) (string, error) {
	out, _, err := p.typed(ctx, m, step, program, args, true)
	return out, err
}

// typed types a command until it has done what it can: with patient until it waits for
// nobody either.
func (p *play) typed(ctx context.Context, m *machine, step, program string, args []string, patient bool) (out string, waits bool, err error) {
	begun := time.Now()
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		started := time.Now()
		proc, err := m.start(program, p.programs.Env, args...)
		if err != nil {
			return "", false, err
		}
		disturbed := p.await(ctx, proc, step)
		cut := m.forget(proc)
		p.mu.Lock()
		p.steps[step] = max(p.steps[step], time.Since(started))
		p.mu.Unlock()
		code := proc.cmd.ProcessState.ExitCode()
		said := proc.errors.String()
		if err := ctx.Err(); err != nil {
			return "", false, err
		}
		switch {
		case code == cli.StatusDone:
			return proc.out.String(), false, nil
		case disturbed && !cut && (m != p.analyst || !besideServer[step]):
			if err := m.crashed(m.folder()); err != nil {
				return "", false, fmt.Errorf("after %s of %s was killed: %w", step, m.name, err)
			}
			fallthrough
		case cut, disturbed:
			p.mu.Lock()
			p.repeated++
			p.mu.Unlock()
			n = 0 // what happened to it is no reason to lose patience
		case code == cli.StatusWaiting && !patient:
			return proc.out.String(), true, nil
		case code == cli.StatusWaiting:
		case already[step] != nil && already[step].MatchString(said):
			return proc.out.String(), false, nil
		case again.MatchString(strings.TrimSpace(said)):
			p.mu.Lock()
			p.repeated++
			p.mu.Unlock()
		default:
			return "", false, fmt.Errorf("%s: %s ended with status %d:\n%s", m.name, step, code, strings.TrimSpace(said))
		}
		if time.Since(begun) > patience {
			return "", false, fmt.Errorf("%s: %s is not done after %v and says:\n%s", m.name, step, patience, strings.TrimSpace(said))
		}
		select {
		case <-time.After(min(time.Duration(n)*20*time.Millisecond, 300*time.Millisecond)):
		case <-ctx.Done():
		}
	}
}

// await waits for a command to end, and kills it if it is to be killed.
func (p *play) await(ctx context.Context, proc *process, step string) (killed bool) {
	var alarm <-chan time.Time
	if p.trouble.kill != nil {
		if d := p.trouble.kill(step); d > 0 {
			alarm = time.After(d)
		}
	}
	select {
	case <-proc.ended:
		return false
	case <-alarm:
		if killed = proc.kill(); killed {
			p.trouble.killed(step)
		}
		return killed
	case <-ctx.Done():
		proc.kill()
		return false
	}
}
