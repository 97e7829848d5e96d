package experiment

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"concord/lab"
	"concord/lab/dataset"
	"concord/linalg"
)

// Size says how many repeats an experiment has.
type Size string

// The sizes.
const (
	Usual Size = "usual" // as committed in docs/results
	Full  Size = "full"  // as many as the source had
	Quick Size = "quick" // a look: under two minutes
)

// Options say how to run.
type Options struct {
	Size Size
	// Data is the folder of the data sets.
	Data string
	// Only are the names of the runs and timings to make; none means all. A report
	// says what was left out.
	Only []string
	// Journals is a folder that keeps finished trials, so that an interrupted run goes
	// on; empty means none.
	Journals string
	// Workers is how many trials run side by side; zero means GOMAXPROCS.
	Workers int
	// Progress is told of each trial; nil means nobody looks.
	Progress func(Progress)
}

// Progress is how far an experiment is.
type Progress struct {
	// Run is what is being done, the Number-th of Of.
	Run        string
	Number, Of int
	lab.Progress
}

// Report is what an experiment gave.
type Report struct {
	*Experiment
	Size    Size
	Seconds float64
	Results []RunResult
	Times   []TimingResult
	Traffic []TrafficResult
	// Figures compare ours with the published.
	Figures []Figure
	Orders  []OrderResult
	Tests   []TestResult
	Pairs   []PairedResult
	Machine Machine
	// Only are the runs that were asked for; none means all.
	Only []string
}

// RunResult is a run with its results.
type RunResult struct {
	Run
	StandIn string
	Notes   []string
	// Overlap is what [lab.Results.Difference] wants.
	Overlap float64
	*lab.Results
}

// Machine is what the figures of time were measured on.
type Machine struct {
	Processors int    `json:"processors"`
	Go         string `json:"go"`
	Backend    string `json:"backend"`
}

// seed of all experiments: results are the same on every run.
const seed = 1

func (c Counts) of(s Size) int {
	switch s {
	case Full:
		return c.Full
	case Quick:
		return c.Quick
	}
	return c.Usual
}

// Run runs the experiment. It fails with the first run that cannot be made, and
// before anything is computed where data are missing.
func (e *Experiment) Run(ctx context.Context, opt Options) (*Report, error) {
	start := time.Now()
	r := &Report{Experiment: e, Size: opt.Size, Machine: Machine{runtime.GOMAXPROCS(0), runtime.Version(), backend()}}
	if err := e.known(opt.Only); err != nil {
		return nil, err
	}
	runs := e.chosen(opt)
	timings := slices.Clone(e.Timings)
	if len(opt.Only) > 0 {
		left := func(name string) bool { return !slices.Contains(opt.Only, name) }
		runs = slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return left(r.Name) })
		timings = slices.DeleteFunc(timings, func(t Timing) bool { return left(t.Name) })
		r.Only = opt.Only
	}
	sets, err := e.load(runs, opt.Data)
	if err != nil {
		return nil, err
	}
	if opt.Journals != "" {
		if err := os.MkdirAll(opt.Journals, 0o755); err != nil {
			return nil, err
		}
	}
	total := len(runs) + len(timings)
	for i, run := range runs {
		repeats := lab.Repeats{Count: run.repeats(e).of(opt.Size), Seed: seed, Workers: opt.Workers, Public: sets}
		if opt.Journals != "" {
			name := fmt.Sprintf("%s-%s-%v.jsonl", e.Name, strings.ReplaceAll(run.Name, "/", "-"), run.X)
			repeats.Journal = filepath.Join(opt.Journals, name)
		}
		if opt.Progress != nil {
			repeats.Progress = func(p lab.Progress) { opt.Progress(Progress{run.title(), i + 1, total, p}) }
		}
		data := sets[run.Data]
		got, err := run.Setting.Repeat(ctx, data, repeats)
		if err != nil {
			return nil, fmt.Errorf("experiment: %s: %s: %w", e.Name, run.title(), err)
		}
		r.Results = append(r.Results, RunResult{Run: run, StandIn: data.StandIn, Notes: slices.Concat(data.Notes, got.Notes), Overlap: run.Setting.Overlap(data), Results: got})
	}
	for i, t := range timings {
		report := func(done, count int) {
			if opt.Progress != nil {
				opt.Progress(Progress{t.Name, len(runs) + i + 1, total, lab.Progress{Done: done, Count: count}})
			}
		}
		times, err := t.measure(ctx, opt.Size, e.Repeats.of(opt.Size), report)
		if err != nil {
			return nil, fmt.Errorf("experiment: %s: %s: %w", e.Name, t.Name, err)
		}
		r.Times = append(r.Times, times)
	}
	for _, t := range e.Traffic {
		b, err := t.result()
		if err != nil {
			return nil, fmt.Errorf("experiment: %s: %s: %w", e.Name, t.Name, err)
		}
		r.Traffic = append(r.Traffic, b)
	}
	r.compare()
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

// known finds names that no run and no timing has.
func (e *Experiment) known(only []string) error {
	var names []string
	for _, r := range e.Runs {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	for _, t := range e.Timings {
		names = append(names, t.Name)
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			if names == nil {
				return fmt.Errorf("experiment: %s has no run %q, and none to choose from", e.Name, name)
			}
			return fmt.Errorf("experiment: %s has no run %q, want some of: %s", e.Name, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// chosen are the runs of a size: all, or for a quick look those of the quick values
// that do not take long or were asked for.
func (e *Experiment) chosen(opt Options) []Run {
	if opt.Size != Quick {
		return e.Runs
	}
	return slices.DeleteFunc(slices.Clone(e.Runs), func(r Run) bool {
		return r.Sweep != nil && r.QuickValues != nil && !slices.Contains(r.QuickValues, r.X) || r.NotQuick && !slices.Contains(opt.Only, r.Name)
	})
}

func (r Run) repeats(e *Experiment) Counts {
	if r.Repeats != nil {
		return *r.Repeats
	}
	return e.Repeats
}

// title is the run's name with the value of its sweep.
func (r Run) title() string {
	if r.Sweep == nil {
		return r.Name
	}
	return fmt.Sprintf("%s, %s %v", r.Name, strings.ReplaceAll(r.Sweep.Axis, "_", " "), r.X)
}

// load reads every data set once.
func (e *Experiment) load(runs []Run, dir string) (map[string]*dataset.Data, error) {
	sets := map[string]*dataset.Data{}
	for _, r := range runs {
		names := []string{r.Data}
		for _, c := range r.Setting.Cases {
			names = append(names, c.Anchor.Data...)
		}
		for _, name := range names {
			if sets[name] != nil {
				continue
			}
			d, err := dataset.Load(dir, name)
			if err != nil {
				return nil, fmt.Errorf("experiment: %s: %w", e.Name, err)
			}
			sets[name] = d
		}
	}
	return sets, nil
}

// cell is the one that a file means by a method: case/method, or method alone for a
// baseline and where there is one case.
func (r Run) cell(method, model, metric string) (lab.Cell, error) {
	c := lab.Cell{Method: method, Model: model, Metric: metric}
	resolved, err := r.Setting.Resolve()
	if err != nil {
		return c, err
	}
	if slices.Contains(resolved.Baselines, method) {
		return c, nil
	}
	name, own, has := strings.Cut(method, "/")
	if !has {
		name, own = "", method
		if len(resolved.Cases) == 1 {
			name = resolved.Cases[0].Name
		}
	}
	for _, k := range resolved.Cases {
		if k.Name != name {
			continue
		}
		for _, a := range k.Align {
			if a.Name == own {
				c.Case, c.Method = name, own
				return c, nil
			}
		}
	}
	return c, fmt.Errorf("there is no method %q", method)
}

// find is a run's result.
func (r *Report) find(run string, x float64) *RunResult {
	for i := range r.Results {
		if r.Results[i].Name == run && r.Results[i].X == x {
			return &r.Results[i]
		}
	}
	return nil
}

func backend() string {
	b := linalg.Backend()
	return strings.TrimSpace(fmt.Sprintf("%s %s (%s)", b.Name, b.Version, b.Product))
}
