package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"concord/lab/page"
	"concord/metric"
)

// Paired compares methods with another over the same draws: by how much they differ,
// between which bounds, and what that says.
type Paired struct {
	Run string `yaml:"run"`
	// X is the value of the sweep.
	X      float64 `yaml:"x"`
	Model  string  `yaml:"model"`
	Metric string  `yaml:"metric"`
	// Methods are compared with Against, each on its own.
	Methods []string `yaml:"methods"`
	Against string   `yaml:"against"`
	// AtLeast and AtMost are what is wanted of the mean of method − against; nil means
	// that nothing is.
	AtLeast *float64 `yaml:"at_least"`
	AtMost  *float64 `yaml:"at_most"`
}

// PairedResult is one method of a Paired.
type PairedResult struct {
	Run     string  `json:"run"`
	X       float64 `json:"x,omitempty"`
	Model   string  `json:"model"`
	Metric  string  `json:"metric"`
	Method  string  `json:"method"`
	Against string  `json:"against"`
	// Mean is that of method − against over the draws, Low and High its 95% interval.
	Mean float64 `json:"mean_difference"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Verdict is better, worse, or nothing shown.
	Verdict string `json:"verdict"`
	// Wanted says what is, empty if nothing; Reached whether it is so, in a quick look
	// whether the few draws allow it.
	Wanted  string `json:"wanted,omitempty"`
	Reached *bool  `json:"reached,omitempty"`
}

// Verdicts of a [PairedResult].
const (
	Better  = "better"
	Worse   = "worse"
	Unshown = "nothing shown" // the interval holds 0
)

// checkPaired finds comparisons of what runs do not give.
func (e *Experiment) checkPaired() error {
	for _, p := range e.Paired {
		if len(p.Methods) == 0 {
			return fmt.Errorf("a paired comparison of %s names no methods", p.Run)
		}
		if p.AtLeast != nil && p.AtMost != nil && *p.AtLeast > *p.AtMost {
			return fmt.Errorf("a paired comparison of %s wants at least %v and at most %v", p.Run, *p.AtLeast, *p.AtMost)
		}
		if _, err := metric.Named(p.Metric); err != nil {
			return fmt.Errorf("a paired comparison of %s: %w", p.Run, err)
		}
		for _, m := range append(slices.Clone(p.Methods), p.Against) {
			if m == "" {
				return errors.New("a paired comparison has an empty method")
			}
			if err := e.has(p.Run, p.X, p.Model, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgePaired fills in Pairs.
func (r *Report) judgePaired() {
	const level = 0.95
	for _, p := range r.Experiment.Paired {
		got := r.find(p.Run, p.X)
		if got == nil {
			continue // not in a quick look
		}
		named, err := metric.Named(p.Metric)
		against, errCell := got.cell(p.Against, p.Model, p.Metric)
		if err != nil || errCell != nil {
			panic("experiment: a comparison of unknown cells") // the file was checked
		}
		for _, m := range p.Methods {
			cell, err := got.cell(m, p.Model, p.Metric)
			if err != nil {
				panic("experiment: a comparison of unknown cells")
			}
			in, err := got.Difference(cell, against, got.Overlap, level)
			if err != nil {
				continue // one draw, or a metric that the run has not
			}
			one := PairedResult{
				Run: p.Run, X: p.X, Model: p.Model, Metric: p.Metric, Method: m, Against: p.Against,
				Mean: in.Estimate, Low: in.Low, High: in.High, Verdict: Unshown,
			}
			switch {
			case in.Low > 0 && named.LargerIsBetter || in.High < 0 && !named.LargerIsBetter:
				one.Verdict = Better
			case in.Low > 0 || in.High < 0:
				one.Verdict = Worse
			}
			p.want(&one, r.Size == Quick)
			r.Pairs = append(r.Pairs, one)
		}
	}
}

// want compares the mean with what is wanted of it, or in a quick look the interval.
func (p Paired) want(one *PairedResult, quick bool) {
	if p.AtLeast == nil && p.AtMost == nil {
		return
	}
	low, high := one.Mean, one.Mean
	if quick {
		low, high = one.Low, one.High
	}
	ok := true
	var words []string
	if p.AtLeast != nil {
		ok = ok && high >= *p.AtLeast
		words = append(words, "≥ "+show(*p.AtLeast, p.Metric, false))
	}
	if p.AtMost != nil {
		ok = ok && low <= *p.AtMost
		words = append(words, "≤ "+show(*p.AtMost, p.Metric, false))
	}
	one.Wanted, one.Reached = strings.Join(words, ", "), &ok
}

// pairedSections are the comparisons, a table for each that runs are compared with,
// and what they say in words.
func (r *Report) pairedSections() []page.Section {
	var out []page.Section
	for _, other := range r.Compared() {
		t := page.Table{
			Caption: "Mean of method − " + other + " over the same draws, with its 95% interval; better and worse are said where that does not hold 0.",
			Columns: []string{"Run", "Model", "Metric", "Method", "Difference", "From", "To", "Verdict", "Wanted"},
			Numeric: []bool{false, false, false, false, true, true, true, false, true},
		}
		for _, p := range r.Pairs {
			if p.Against != other {
				continue
			}
			mark := ""
			if p.Reached != nil {
				mark = page.Near
				if !*p.Reached {
					mark = page.Far
				}
			}
			t.Rows = append(t.Rows, page.Row{
				Cells: []string{at(p.Run, p.X), p.Model, title(p.Metric), p.Method, signed(p.Mean, p.Metric), signed(p.Low, p.Metric), signed(p.High, p.Metric), p.Verdict, p.Wanted},
				Mark:  mark,
			})
		}
		out = append(out, page.Section{Title: "Beside " + other, Text: r.Words(other), Table: &t})
	}
	return out
}

func signed(v float64, metricName string) string {
	text := show(v, metricName, false)
	if !strings.HasPrefix(text, "-") {
		text = "+" + text
	}
	return text
}

// Compared are the methods that others are compared with, in the order of the file.
func (r *Report) Compared() []string {
	var against []string
	for _, p := range r.Pairs {
		if !slices.Contains(against, p.Against) {
			against = append(against, p.Against)
		}
	}
	return against
}

// Words tell of each run, in a paragraph each, what was better or worse than the other
// method, and for what nothing is shown.
func (r *Report) Words(other string) string {
	type key struct{ run, model, metric string }
	var keys []key
	by := map[key]map[string][]string{}
	for _, p := range r.Pairs {
		if p.Against != other {
			continue
		}
		k := key{at(p.Run, p.X), p.Model, title(p.Metric)}
		if by[k] == nil {
			keys = append(keys, k)
			by[k] = map[string][]string{}
		}
		by[k][p.Verdict] = append(by[k][p.Verdict], p.Method)
	}
	var lines []string
	for _, k := range keys {
		var parts []string
		for _, v := range []struct{ verdict, words string }{{Better, "better than " + other}, {Worse, "worse than " + other}, {Unshown, "no difference is shown for"}} {
			methods := by[k][v.verdict]
			switch {
			case len(methods) == 0:
			case v.verdict == Unshown:
				parts = append(parts, v.words+" "+strings.Join(methods, ", "))
			default:
				parts = append(parts, strings.Join(methods, ", ")+" "+v.words)
			}
		}
		lines = append(lines, fmt.Sprintf("%s (%s, %s): %s.", k.run, k.model, k.metric, strings.Join(parts, "; ")))
	}
	return strings.Join(lines, "\n\n")
}
