// Package chaos plays whole studies with the real programs while it kills them and
// cuts the power of the disks they write on, and then checks what docs/guarantees.md
// promises: the study completes, with the result that its contributions give; nothing
// that was acknowledged is lost, nothing is doubled, nothing is left over; and under
// nri no moment leaves what would bring rows back.
//
// Start with [Kills] or [Cuts]. Every play is small and new: new keys, new bases. The
// plays do not repeat themselves to the last bit, because processes do not: a seed
// repeats what is drawn, not what the operating system makes of it.
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
	"time"
)

// Options say how much.
type Options struct {
	Programs Programs
	// N is how many kills or power cuts there shall be, at least.
	N int
	// Protocols are played in turn: dc, nri, large, which is dc with contributions of 5 MB,
	// and pool, which is dc with figures of all parties by masked sums. Nil means all of them.
	Protocols []string
	Seed      uint64
	// Dir is where the plays are; each is removed when it has ended well, and stays
	// when it has not.
	Dir string
	// Files lets parties change between the network and files as it comes.
	Files bool
	// Say gets a line for each play; nil for none.
	Say func(format string, args ...any)
}

// Report is what a run of plays found.
type Report struct {
	Plays    int `json:"studies"`
	Hits     int `json:"hits"`
	Repeated int `json:"typed_again"` // commands
	// At counts the hits by the command or the operation of a disk that they hit.
	At map[string]int `json:"hit"`
	// Left counts power cuts by what was left of the rest.
	Left map[string]int `json:"left,omitempty"`
	// Results and Models count those that are bit for bit what is expected, of so many;
	// Farthest is how far the scores of any other model are.
	Results  int     `json:"results_equal"`
	Models   int     `json:"models_equal"`
	Of       int     `json:"of"`
	Farthest float64 `json:"farthest,omitempty"`
	Seconds  float64 `json:"seconds"`
}

// Kills plays studies until N processes were killed with SIGKILL: commands of the
// parties and of the analyst, and the server.
func Kills(ctx context.Context, opt Options) (*Report, error) {
	return run(ctx, opt, func(r *runner, usual *play) trouble {
		rnd := rand.New(rand.NewPCG(r.rnd.Uint64(), 1))
		var mu sync.Mutex // parties draw at once
		draw := func(most time.Duration) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Duration(rnd.Int64N(int64(most) + 1))
		}
		return trouble{
			kill: func(step string) time.Duration {
				mu.Lock()
				left := rnd.IntN(4) == 0
				mu.Unlock()
				if !left || r.enough() {
					return 0
				}
				long := usual.steps[step]
				if long == 0 { // the usual study has no such step
					long = usual.steps["prepare"]
				}
				return 1 + draw(long*11/10)
			},
			killed: func(step string) { r.hit(step, "") },
			server: func() time.Duration {
				if r.enough() {
					return 0
				}
				return 1 + draw(usual.took)
			},
		}
	})
}

// Cuts plays studies on disks that lose power, until they have N times, each time in
// the middle of some operation, and have lost what was not flushed.
func Cuts(ctx context.Context, opt Options) (*Report, error) {
	return run(ctx, opt, func(r *runner, usual *play) trouble {
		rnd := rand.New(rand.NewPCG(r.rnd.Uint64(), 2))
		var mu sync.Mutex
		return trouble{
			cut: func(machine string) int {
				mu.Lock()
				defer mu.Unlock()
				if usual == nil || r.enough() {
					return 0
				}
				operations := usual.operations[machine]
				if operations == 0 { // nor such a party
					operations = usual.operations[names[0]]
				}
				return 1 + rnd.IntN(operations/2)
			},
			was: func(c Cut) { r.hit(c.Where, c.Left.String()) },
		}
	})
}

// Trainings plays one study of each protocol with a model that takes its time, and
// kills the server N times in each while it aligns and trains. Hits counts the kills
// that came before the results were stored.
func Trainings(ctx context.Context, opt Options) (*Report, error) {
	opt = opt.filled()
	begun := time.Now()
	r := &runner{opt: opt, rnd: rand.New(rand.NewPCG(opt.Seed, 6)), report: Report{At: map[string]int{}, Left: map[string]int{}}}
	for _, protocol := range opt.Protocols {
		dir := filepath.Join(opt.Dir, "training-"+protocol)
		p, result, err := one(ctx, opt, protocol, dir, rand.New(rand.NewPCG(r.rnd.Uint64(), 7)), trouble{
			training: opt.N, killed: func(step string) { r.hit(step, "") },
		})
		if err != nil {
			return &r.report, fmt.Errorf("training, %s, which is kept in %s: %w", protocol, dir, err)
		}
		r.add(p, result)
		opt.Say("training, %s: %.1f s, %d hits so far", protocol, p.took.Seconds(), r.report.Hits)
	}
	r.report.Seconds = time.Since(begun).Seconds()
	return &r.report, nil
}

// filled fills in what is left out.
func (opt Options) filled() Options {
	if opt.Protocols == nil {
		opt.Protocols = []string{"dc", "nri", "large", "pool"}
	}
	if opt.Say == nil {
		opt.Say = func(string, ...any) {}
	}
	return opt
}

// add counts a play that has ended well.
func (r *runner) add(p *play, result Result) {
	r.report.Plays++
	r.report.Repeated += p.repeated
	r.sum(result)
}

func (r *runner) sum(result Result) {
	r.report.Results += result.Results
	r.report.Models += result.Models
	r.report.Of += result.Of
	r.report.Farthest = max(r.report.Farthest, result.Farthest)
}

// runner counts over several plays.
type runner struct {
	opt    Options
	rnd    *rand.Rand
	mu     sync.Mutex
	report Report
	inPlay int // hits of this play
}

// mostInPlay bounds the hits of one play: each shall also have quiet stretches.
const mostInPlay = 16

// enough says that this play, or the run, needs no more hits.
func (r *runner) enough() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.report.Hits >= r.opt.N || r.inPlay >= min(mostInPlay, (r.opt.N+len(r.opt.Protocols)-1)/len(r.opt.Protocols))
}

func (r *runner) hit(what, left string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Hits++
	r.inPlay++
	r.report.At[general(what)]++
	if left != "" {
		r.report.Left[left]++
	}
}

// passing is what changes in a name from play to play.
var passing = regexp.MustCompile(`[0-9a-f]{32,64}|partial-[0-9]+`)

// general is what was hit, without that.
func general(what string) string { return strings.TrimSpace(passing.ReplaceAllString(what, "*")) }

// run plays the first protocol once without trouble, to see how long things take, and
// then all of them in turn with it.
func run(ctx context.Context, opt Options, disturb func(r *runner, usual *play) trouble) (*Report, error) {
	opt = opt.filled()
	begun := time.Now()
	r := &runner{opt: opt, rnd: rand.New(rand.NewPCG(opt.Seed, 0)), report: Report{At: map[string]int{}, Left: map[string]int{}}}
	var usual *play
	for i := 0; ; i++ {
		protocol := opt.Protocols[i%len(opt.Protocols)]
		var tr trouble
		r.inPlay = 0
		if usual != nil {
			tr = disturb(r, usual)
		} else if t := disturb(r, nil); t.cut != nil {
			tr = trouble{cut: func(string) int { return 0 }} // on the same kind of disk
		}
		dir := filepath.Join(opt.Dir, fmt.Sprintf("play-%d-%s", i+1, protocol))
		p, result, err := one(ctx, opt, protocol, dir, rand.New(rand.NewPCG(r.rnd.Uint64(), 3)), tr)
		if err != nil {
			return &r.report, fmt.Errorf("play %d, %s, which is kept in %s: %w", i+1, protocol, dir, err)
		}
		if usual == nil {
			usual = p
			r.sum(result)
			opt.Say("%s undisturbed: %.1f s", protocol, p.took.Seconds())
		} else {
			r.add(p, result)
			opt.Say("play %d, %s: %.1f s, %d hits so far, %d commands typed again", r.report.Plays, protocol, p.took.Seconds(), r.report.Hits, p.repeated)
		}
		if r.report.Hits >= opt.N && i >= len(opt.Protocols) { // each of them at least once
			r.report.Seconds = time.Since(begun).Seconds()
			return &r.report, nil
		}
	}
}

// one plays a study in a new folder and removes it if all is well.
func one(ctx context.Context, opt Options, protocol, dir string, rnd *rand.Rand, tr trouble) (*play, Result, error) {
	p, err := newPlay(opt.Programs, protocol, dir, rnd, tr)
	if err != nil {
		return nil, Result{}, err
	}
	defer p.release()
	p.files = opt.Files
	begun := time.Now()
	err = p.run(ctx)
	p.took = time.Since(begun)
	p.operations = map[string]int{}
	for _, m := range p.machines() {
		if d := m.folder().disk; d != nil {
			p.operations[m.name] = d.Operations()
		}
	}
	if err != nil {
		return p, Result{}, errors.Join(err, p.keep())
	}
	result, err := p.finish(ctx)
	if err != nil {
		return p, result, errors.Join(err, p.keep())
	}
	return p, result, os.RemoveAll(dir)
}

// keep copies what is on disks that lose power to ordinary ones, for people to look at.
func (p *play) keep() error {
	for _, m := range p.machines() {
		if f := m.folder(); f.disk != nil {
			if err := f.copyTo(filepath.Join(m.dir, "kept")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *play) machines() []*machine {
	all := []*machine{p.analyst}
	for _, q := range p.parties {
		all = append(all, q.machine)
	}
	return all
}
