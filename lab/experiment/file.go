package experiment

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"concord/experiments"
	"concord/lab"
	"concord/learn"
)

// Experiment is one file.
type Experiment struct {
	// Name is the file's: E1.
	Name string `yaml:"-"`
	// Title and Source are told in reports: what is shown, and where it was published.
	Title  string `yaml:"title"`
	Source string `yaml:"source"`
	// Notes say what the source leaves open and what was chosen.
	Notes []string `yaml:"notes"`
	// Differences say why figures differ from the published ones, as far as it was
	// found out.
	Differences []string `yaml:"differences"`
	// Repeats are how often each run is drawn.
	Repeats Counts `yaml:"repeats"`
	// Runs are settings on data.
	Runs []Run `yaml:"-"`
	// Timings measure alignments.
	Timings []Timing `yaml:"timings"`
	// Traffic are worked examples of the communication model.
	Traffic []Traffic `yaml:"traffic"`
	// Published are the figures to compare with.
	Published []Published `yaml:"published"`
	// Orders are statements about our figures that the source makes of its own.
	Orders []Order `yaml:"orders"`
	// Tests are the paired tests that the source makes.
	Tests []Test `yaml:"tests"`
	// Paired are comparisons of our own.
	Paired []Paired `yaml:"paired"`
	// Charts are the figures to draw.
	Charts []Chart `yaml:"charts"`
}

// Counts are numbers of repeats: as committed in docs/results, as published, and in
// a quick look.
type Counts struct {
	Usual int `yaml:"usual"`
	Full  int `yaml:"full"`
	Quick int `yaml:"quick"`
}

// Run is a setting on a data set, with the name that figures refer to.
type Run struct {
	Name string `yaml:"name"`
	// Data is a name that package dataset loads.
	Data string `yaml:"data"`
	// Setting is what is drawn.
	Setting lab.Setting `yaml:"setting"`
	// Models are learners with their settings, by the name that figures use.
	Models map[string]map[string]any `yaml:"models"`
	// Align are the alignments of cases that name none.
	Align []string `yaml:"align"`
	// CaseAlign are those of cases with their own, by the case's name.
	CaseAlign map[string][]string `yaml:"case_align"`
	// Set changes numbers of the setting, by the axes' names: dim in all cases.
	Set map[string]float64 `yaml:"set"`
	// Sweep draws the run once for each value of one number of the setting.
	Sweep *Sweep `yaml:"sweep"`
	// Repeats overrides the experiment's.
	Repeats *Counts `yaml:"repeats"`
	// QuickValues are the values of the sweep that a quick look has; none means all.
	QuickValues []float64 `yaml:"quick_values"`
	// NotQuick leaves the run out of a quick look.
	NotQuick bool `yaml:"not_quick"`

	// X is the value of the sweep.
	X float64 `yaml:"-"`
}

// Sweep is an axis: parties, dim, rows, anchor_rows, anchor_times or variance.
type Sweep struct {
	Axis   string    `yaml:"axis"`
	Values []float64 `yaml:"values"`
}

// axes set one number in a setting.
var axes = map[string]func(*lab.Setting, float64){
	"parties": func(s *lab.Setting, v float64) { s.Parties = int(v) },
	"rows":    func(s *lab.Setting, v float64) { s.Rows = int(v) },
	"dim": forCases(func(c *lab.Case, v float64) {
		c.Basis.Dim, c.Basis.Fraction, c.Basis.Variance = int(v), 0, 0
	}),
	"variance": forCases(func(c *lab.Case, v float64) {
		c.Basis.Dim, c.Basis.Fraction, c.Basis.Variance = 0, 0, v
	}),
	"anchor_rows":  forCases(func(c *lab.Case, v float64) { c.Anchor.Rows = int(v) }),
	"anchor_times": forCases(func(c *lab.Case, v float64) { c.Anchor.Times = v }),
}

func axis(name string) (func(*lab.Setting, float64), error) {
	set, ok := axes[name]
	if !ok {
		return nil, fmt.Errorf("there is no axis %q, want one of: %s", name, strings.Join(slices.Sorted(mapKeys(axes)), ", "))
	}
	return set, nil
}

func forCases(set func(*lab.Case, float64)) func(*lab.Setting, float64) {
	return func(s *lab.Setting, v float64) {
		s.Cases = slices.Clone(s.Cases)
		for i := range s.Cases {
			set(&s.Cases[i], v)
		}
	}
}

// Names lists the experiments.
func Names() []string {
	entries, err := fs.ReadDir(experiments.Files, ".")
	if err != nil {
		panic("experiment: " + err.Error()) // embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	slices.SortFunc(names, func(a, b string) int { // E2 before E10
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return names
}

// Load reads an embedded experiment by its name.
func Load(name string) (*Experiment, error) {
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("experiment: there is no %q, want one of: %s", name, strings.Join(Names(), ", "))
	}
	b, err := experiments.Files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, err
	}
	e, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s: %w", name, err)
	}
	e.Name = name
	return e, nil
}

// document is a file as it stands: base holds what all runs share, and each run
// changes it.
type document struct {
	Experiment `yaml:",inline"`
	Base       ast.Node   `yaml:"base"`
	Runs       []ast.Node `yaml:"runs"`
}

// Parse reads a file.
func Parse(b []byte) (*Experiment, error) {
	if _, err := parser.ParseBytes(b, 0); err != nil {
		return nil, err
	}
	var doc document
	if err := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict()).Decode(&doc); err != nil {
		return nil, err
	}
	e := doc.Experiment
	for i, node := range doc.Runs {
		var r Run
		for _, part := range []ast.Node{doc.Base, node} {
			if part == nil {
				continue
			}
			if err := yaml.NodeToValue(part, &r, yaml.Strict()); err != nil {
				return nil, fmt.Errorf("run %d: %w", i+1, err)
			}
		}
		expanded, err := r.expand()
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.Name, err)
		}
		e.Runs = append(e.Runs, expanded...)
	}
	return &e, e.check()
}

// expand makes the models and alignments of a run, and a run for each value of its
// sweep.
func (r Run) expand() ([]Run, error) {
	if r.Name == "" || r.Data == "" {
		return nil, errors.New("name and data must be given")
	}
	r.Setting.Models = nil
	for _, name := range slices.Sorted(mapKeys(r.Models)) {
		m := lab.Model{Name: name}
		for key, value := range r.Models[name] {
			if key == "kind" {
				m.Spec.Kind = fmt.Sprint(value)
				continue
			}
			if err := m.Spec.Set(key, setting(value)); err != nil {
				return nil, fmt.Errorf("model %s: %w", name, err)
			}
		}
		if _, err := learn.New(m.Spec); err != nil {
			return nil, fmt.Errorf("model %s: %w", name, err)
		}
		r.Setting.Models = append(r.Setting.Models, m)
	}
	r.Setting.Cases = slices.Clone(r.Setting.Cases)
	for i := range r.Setting.Cases {
		c := &r.Setting.Cases[i]
		c.Align = nil
		names := r.Align
		if own, ok := r.CaseAlign[c.Name]; ok {
			names = own
		}
		for _, name := range names {
			a, err := lab.ParseAlignment(name)
			if err != nil {
				return nil, err
			}
			c.Align = append(c.Align, a)
		}
	}
	for name := range r.CaseAlign {
		if !slices.ContainsFunc(r.Setting.Cases, func(c lab.Case) bool { return c.Name == name }) {
			return nil, fmt.Errorf("case_align names the case %q, which is not there", name)
		}
	}
	for _, name := range slices.Sorted(mapKeys(r.Set)) {
		set, err := axis(name)
		if err != nil {
			return nil, err
		}
		set(&r.Setting, r.Set[name])
	}
	if r.Sweep == nil {
		_, err := r.Setting.Resolve()
		return []Run{r}, err
	}
	set, err := axis(r.Sweep.Axis)
	if err != nil {
		return nil, err
	}
	var all []Run
	for _, v := range r.Sweep.Values {
		one := r
		one.X = v
		set(&one.Setting, v)
		if _, err := one.Setting.Resolve(); err != nil {
			return nil, fmt.Errorf("%s %v: %w", r.Sweep.Axis, v, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// setting writes a value as a command line would: lists with commas.
func setting(v any) string {
	if list, ok := v.([]any); ok {
		var words []string
		for _, x := range list {
			words = append(words, fmt.Sprint(x))
		}
		return strings.Join(words, ",")
	}
	return fmt.Sprint(v)
}

func mapKeys[K comparable, V any](m map[K]V) func(yield func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
