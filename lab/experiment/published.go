package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Published are figures of a paper: for a run, and a value of its sweep, a model and
// a metric the means by method, as case/method, or method alone where the run has
// one case and for baselines.
type Published struct {
	Run    string  `yaml:"run"`
	X      float64 `yaml:"x"`
	Model  string  `yaml:"model"`
	Metric string  `yaml:"metric"`
	// Repeats is over how many the figures are means; zero means that it is unknown.
	Repeats int `yaml:"repeats"`
	// Percent says that figures are per cent.
	Percent bool `yaml:"percent"`
	// Mean holds the figures; Std standard deviations over repeats, SE standard
	// errors of the means, where they were published.
	Mean map[string]float64 `yaml:"mean"`
	Std  map[string]float64 `yaml:"std"`
	SE   map[string]float64 `yaml:"se"`
	// Within is the difference that is wanted at most, in the figures' units; zero
	// means none is stated.
	Within float64 `yaml:"within"`
	// Except are methods for which Within does not hold, with the reason.
	Except map[string]string `yaml:"except"`
}

// Order is a statement about our means: that each of Rising is below the next, or
// that those of Equal are within Within of each other.
type Order struct {
	Run    string   `yaml:"run"`
	X      float64  `yaml:"x"`
	Model  string   `yaml:"model"`
	Metric string   `yaml:"metric"`
	Rising []string `yaml:"rising"`
	Equal  []string `yaml:"equal"`
	Within float64  `yaml:"within"`
}

// Test is a paired one-sided t-test: that Better is larger than Worse.
type Test struct {
	Run    string  `yaml:"run"`
	Model  string  `yaml:"model"`
	Metric string  `yaml:"metric"`
	Better string  `yaml:"better"`
	Worse  string  `yaml:"worse"`
	Level  float64 `yaml:"level"`
	// Significant is what the source found.
	Significant bool `yaml:"significant"`
}

// Chart is a figure: boxes of the repeats or lines over the sweep.
type Chart struct {
	Name  string `yaml:"name"`
	Title string `yaml:"title"`
	// Kind is boxes, lines, or timing.
	Kind string `yaml:"kind"`
	// Runs are the groups of boxes, or the runs whose lines are drawn.
	Runs   []string `yaml:"runs"`
	Model  string   `yaml:"model"`
	Metric string   `yaml:"metric"`
	// Methods are drawn in this order, as case/method.
	Methods []string `yaml:"methods"`
	XLabel  string   `yaml:"x_label"`
	LogX    bool     `yaml:"log_x"`
	LogY    bool     `yaml:"log_y"`
}

// check finds what the runs cannot give.
func (e *Experiment) check() error {
	if e.Title == "" || e.Source == "" {
		return errors.New("title and source must be given")
	}
	if e.Repeats.Usual < 0 || e.Repeats.Full < e.Repeats.Usual || e.Repeats.Quick < 0 {
		return fmt.Errorf("repeats %+v: usual must not exceed full", e.Repeats)
	}
	for _, p := range e.Published {
		if len(p.Mean) == 0 {
			return fmt.Errorf("published figures of %s %s hold no mean", p.Run, p.Model)
		}
		for _, m := range []map[string]float64{p.Mean, p.Std, p.SE} {
			for method, v := range m {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return fmt.Errorf("published %s of %s is %v", method, p.Run, v)
				}
				if err := e.has(p.Run, p.X, p.Model, method); err != nil {
					return err
				}
			}
		}
		for method := range p.Except {
			if _, ok := p.Mean[method]; !ok {
				return fmt.Errorf("except names %s of %s, which has no mean", method, p.Run)
			}
		}
	}
	for _, o := range e.Orders {
		if (len(o.Rising) == 0) == (len(o.Equal) == 0) {
			return fmt.Errorf("an order of %s must have either rising or equal", o.Run)
		}
		for _, m := range slices.Concat(o.Rising, o.Equal) {
			if err := e.has(o.Run, o.X, o.Model, m); err != nil {
				return err
			}
		}
	}
	for _, t := range e.Tests {
		if !(t.Level > 0 && t.Level < 1) {
			return fmt.Errorf("a test of %s has level %v, must be between 0 and 1", t.Run, t.Level)
		}
		for _, m := range []string{t.Better, t.Worse} {
			if err := e.has(t.Run, 0, t.Model, m); err != nil {
				return err
			}
		}
	}
	return e.checkPaired()
}

// has says whether a run gives a figure.
func (e *Experiment) has(run string, x float64, model, method string) error {
	if len(e.Timings) > 0 && len(e.Runs) == 0 {
		return nil
	}
	for _, r := range e.Runs {
		if r.Name != run || r.X != x {
			continue
		}
		if model != "" {
			if _, ok := r.Models[model]; !ok {
				return fmt.Errorf("run %s has no model %q", run, model)
			}
		}
		if _, err := r.cell(method, model, ""); err != nil {
			return fmt.Errorf("run %s: %w", run, err)
		}
		return nil
	}
	var names []string
	for _, r := range e.Runs {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return fmt.Errorf("there is no run %q at %v, want one of: %s", run, x, strings.Join(names, ", "))
}
