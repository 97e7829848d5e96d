package lab

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"concord/lab/dataset"
)

// Repeats says how often a setting is drawn.
type Repeats struct {
	// Count is how often; zero means 10, and a million is the most.
	Count int
	// Seed of all randomness.
	Seed uint64
	// Workers is how many trials run side by side; zero means GOMAXPROCS. Each holds
	// its rows in memory.
	Workers int
	// Journal is a file that keeps finished trials, so that an interrupted run goes
	// on; empty means none.
	Journal string
	// Progress is called after every trial, from one goroutine at a time; nil means
	// nobody looks.
	Progress func(Progress)
	// Public are the data sets of public anchors, by name.
	Public map[string]*dataset.Data
}

// Progress is how far a run is.
type Progress struct {
	Done, Count int
	// Left is the time that the rest will take, by the mean of the trials so far;
	// zero before there is one.
	Left time.Duration
}

// maxRepeats bounds Count: what is typed by mistake is not allocated.
const maxRepeats = 1_000_000

// Repeat draws the setting many times, in parallel. The results are the same
// whatever the number of workers, and after an interruption; only seconds differ. It
// ends with the first error.
func (s Setting) Repeat(ctx context.Context, data *dataset.Data, opt Repeats) (results *Results, err error) {
	if opt.Count == 0 {
		opt.Count = 10
	}
	if opt.Count < 0 || opt.Count > maxRepeats {
		return nil, fmt.Errorf("lab: repeats is %d, must be from 1 to %d", opt.Count, maxRepeats)
	}
	if opt.Workers < 0 {
		return nil, fmt.Errorf("lab: workers is %d, must not be negative", opt.Workers)
	}
	if opt.Workers == 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	resolved, err := s.Resolve()
	if err != nil {
		return nil, err
	}
	if err := resolved.fits(data); err != nil {
		return nil, err
	}
	outcomes := make([]*Outcome, opt.Count)
	took := make([]float64, opt.Count)
	var kept *journal
	if opt.Journal != "" {
		var hash string
		if hash, err = settingHash(resolved, contents(data), opt.Seed); err != nil {
			return nil, fmt.Errorf("lab: %w", err)
		}
		if kept, err = openJournal(opt.Journal, journalHead{1, hash, resolved.digests(data, opt.Public)}); err != nil {
			return nil, err
		}
		defer func() {
			if failed := kept.close(); failed != nil && err == nil {
				results, err = nil, failed
			}
		}()
		for r, o := range kept.done {
			if r < opt.Count {
				outcomes[r], took[r] = o, kept.took[r]
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mutex sync.Mutex
		wg    sync.WaitGroup
		next  int
		done  int
		here  int
		start = time.Now()
	)
	for _, o := range outcomes {
		if o != nil {
			done++
		}
	}
	report := func() {
		if opt.Progress == nil {
			return
		}
		p := Progress{Done: done, Count: opt.Count}
		if here > 0 {
			p.Left = time.Duration(float64(time.Since(start)) / float64(here) * float64(opt.Count-done))
		}
		opt.Progress(p)
	}
	report()
	worker := func() {
		for {
			mutex.Lock()
			for next < opt.Count && outcomes[next] != nil {
				next++
			}
			r := next
			next++
			mutex.Unlock()
			if r >= opt.Count || ctx.Err() != nil {
				return
			}
			began := time.Now()
			o, err := s.Trial(ctx, data, opt.Public, opt.Seed, r)
			if err != nil {
				cancel(err)
				return
			}
			mutex.Lock()
			outcomes[r], took[r] = o, time.Since(began).Seconds()
			if kept != nil {
				if err := kept.add(r, o, took[r]); err != nil {
					cancel(err)
				}
			}
			done++
			here++
			report()
			mutex.Unlock()
		}
	}
	for range min(opt.Workers, opt.Count) {
		wg.Go(worker)
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return collect(outcomes, took)
}

// digests names all that is read: data and the public sets of anchors.
func (s Setting) digests(data *dataset.Data, public map[string]*dataset.Data) string {
	h := sha256.New()
	fmt.Fprintf(h, "%x", data.Digest())
	for _, c := range s.Cases {
		for _, name := range c.Anchor.Data {
			if d := public[name]; d != nil {
				fmt.Fprintf(h, " %q %x", name, d.Digest())
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// contents names data by their shape, labels and first rows; digests names them wholly,
// but journals of before it have only this.
func contents(d *dataset.Data) string {
	n, m := d.X.Dims()
	h := sha256.New()
	fmt.Fprintln(h, d.Name, n, m, d.Features, d.Y.Classes, d.Y.Labels, d.Group)
	const rows = 1000
	first := make([]int, min(n, rows))
	for i := range first {
		first[i] = i
	}
	x, y := d.Take(first)
	for i := range first {
		binary.Write(h, binary.LittleEndian, x.RawRowView(i))
		if y.Values != nil {
			binary.Write(h, binary.LittleEndian, y.Values.RawRowView(i))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func collect(outcomes []*Outcome, took []float64) (*Results, error) {
	r := &Results{Cells: outcomes[0].Cells, Values: map[Cell][]float64{}, Repeats: len(outcomes)}
	for i, o := range outcomes {
		if !slices.Equal(o.Cells, r.Cells) {
			return nil, fmt.Errorf("lab: repeat %d has other cells than repeat 1", i+1)
		}
		for k, c := range o.Cells {
			r.Values[c] = append(r.Values[c], o.Values[k])
		}
		for _, n := range o.Notes {
			if !slices.Contains(r.Notes, n) {
				r.Notes = append(r.Notes, n)
			}
		}
		r.Seconds += took[i]
	}
	return r, nil
}
