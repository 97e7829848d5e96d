package lab

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/lab/dataset"
	"concord/learn"
	"concord/linalg"
	"concord/metric"
)

// Cell names one number of a trial.
type Cell struct {
	// Case is empty for baselines.
	Case string `json:"case,omitempty"`
	// Method is an alignment's name, or a baseline's.
	Method string `json:"method"`
	// Model is a model's name, empty for seconds.
	Model string `json:"model,omitempty"`
	// Metric is a name of package metric, or seconds: the time of the alignment.
	Metric string `json:"metric"`
}

// Seconds is the Metric of the time that an alignment took.
const Seconds = "seconds"

// Energy is the Metric of the share of all rows' sum of squares that bases keep; its
// method is basis.
const Energy = "energy"

// String is case/method/model/metric.
func (c Cell) String() string { return c.Case + "/" + c.Method + "/" + c.Model + "/" + c.Metric }

// Outcome is what one trial gives.
type Outcome struct {
	// Values in the order in which they were computed.
	Cells  []Cell
	Values []float64
	// Notes say what was not as the setting wants it: a constant model, a smaller
	// dimension. Each once.
	Notes []string
}

// trial is one draw of a setting.
type trial struct {
	Setting
	ctx     context.Context
	data    *dataset.Data
	public  map[string]*dataset.Data
	seed    uint64
	repeat  int
	metrics []metric.Metric

	parties []holder
	test    *mat.Dense
	truth   metric.Truth
	common  *contract.Preparation   // what test rows, and public ones, are standardised by
	lacking [][]int                 // columns that a party lacks; nil if none do
	whole   []*mat.Dense            // all columns of the parties' rows, where views hide some
	up      *basis.Lift             // of the case that runs, if it has one
	vs      map[string][]*mat.Dense // directions by basis, see directions
	out     Outcome
	mutex   sync.Mutex // of out.Notes
}

// holder is what one party holds: rows and labels.
type holder struct {
	x *mat.Dense
	y learn.Target
}

// Trial draws the setting once: partition, secrets, models. The same arguments give
// the same numbers but for seconds. Public data sets of anchors are looked up in
// public by name.
func (s Setting) Trial(ctx context.Context, data *dataset.Data, public map[string]*dataset.Data, seed uint64, repeat int) (*Outcome, error) {
	s, err := s.Resolve()
	if err != nil {
		return nil, err
	}
	if err := s.fits(data); err != nil {
		return nil, err
	}
	t := &trial{Setting: s, ctx: ctx, data: data, public: public, seed: seed, repeat: repeat, vs: map[string][]*mat.Dense{}}
	if t.metrics, err = s.metricsFor(data); err != nil {
		return nil, err
	}
	// The setting has many small problems; on one thread each they also round the
	// same way however many trials run side by side.
	linalg.Serial(func() { err = t.run() })
	if err != nil {
		return nil, fmt.Errorf("repeat %d: %w", repeat+1, err) // names the draw that does not work
	}
	slices.Sort(t.out.Notes) // parties add theirs in any order
	return &t.out, nil
}

func (t *trial) run() error {
	if err := t.draw(); err != nil {
		return err
	}
	for _, b := range t.Baselines {
		if err := t.baseline(b); err != nil {
			return fmt.Errorf("%s: %w", b, err)
		}
	}
	for _, c := range t.Cases {
		if err := t.raised(c, func() error { return t.collaborate(c) }); err != nil {
			if c.Name != "" {
				err = fmt.Errorf("%s: %w", c.Name, err)
			}
			return err
		}
	}
	return nil
}

// metricsFor are the metrics asked for, or those usual for the label.
func (s Setting) metricsFor(data *dataset.Data) ([]metric.Metric, error) {
	names := s.Metrics
	if names == nil {
		switch {
		case !data.Y.Classification():
			names = []string{"rmse"}
		case len(data.Y.Classes) == 2:
			names = []string{"roc_auc", "accuracy"}
		default:
			names = []string{"accuracy"}
		}
	}
	var out []metric.Metric
	for _, name := range names {
		m, err := metric.Named(name)
		if err != nil {
			return nil, fmt.Errorf("lab: %w", err)
		}
		if m.Regression == data.Y.Classification() {
			return nil, fmt.Errorf("lab: %s is no metric for this label", name)
		}
		out = append(out, m)
	}
	return out, nil
}

// source is the randomness of a purpose in this trial.
func (t *trial) source(purpose ...any) *rand.ChaCha8 {
	return Stream(t.seed, append([]any{"repeat", t.repeat}, purpose...)...)
}

func (t *trial) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !slices.Contains(t.out.Notes, text) {
		t.out.Notes = append(t.out.Notes, text)
	}
}

func (t *trial) put(c Cell, v float64) {
	t.out.Cells = append(t.out.Cells, c)
	t.out.Values = append(t.out.Values, v)
}

// judge computes the metrics of scores for each party's view of the test rows:
// scores[i] are n × k for rows views[i], and the mean over parties counts.
func (t *trial) judge(caseName, method, model string, scores []*mat.Dense) error {
	for _, m := range t.metrics {
		var sum float64
		for _, s := range scores {
			v, err := m.Compute(t.truth, s)
			if err != nil {
				return fmt.Errorf("%s: %w", model, err)
			}
			sum += v / float64(len(scores))
		}
		t.put(Cell{caseName, method, model, m.Name}, sum)
	}
	return nil
}

// each runs f for all parties side by side, and returns the error of the first that has one.
func (t *trial) each(f func(party int) error) error {
	errs := make([]error, len(t.parties))
	linalg.Parallel(len(errs), func(i int) { errs[i] = f(i) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// scored collects scores of the test rows: by every party all rows, or row j by
// party j mod c.
func (t *trial) scored(score func(party int, rows *mat.Dense) (*mat.Dense, error)) ([]*mat.Dense, error) {
	c := len(t.parties)
	n, m := t.test.Dims()
	all := make([]*mat.Dense, c)
	err := t.each(func(i int) (err error) {
		rows := t.test
		if t.Score == "spread" {
			if i >= n {
				return nil
			}
			rows = mat.NewDense((n-i+c-1)/c, m, nil)
			for k, j := 0, i; j < n; k, j = k+1, j+c {
				rows.SetRow(k, t.test.RawRowView(j))
			}
		}
		all[i], err = score(i, t.seen(i, rows))
		return err
	})
	if err != nil {
		return nil, err
	}
	if t.Score != "spread" {
		return all, nil
	}
	_, k := all[0].Dims()
	one := mat.NewDense(n, k, nil)
	for i := range min(c, n) {
		for r, j := 0, i; j < n; r, j = r+1, j+c {
			one.SetRow(j, all[i].RawRowView(r))
		}
	}
	return []*mat.Dense{one}, nil
}

// since is for cells of seconds.
func since(start time.Time) float64 { return time.Since(start).Seconds() }
