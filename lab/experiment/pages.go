package experiment

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"concord/lab"
	"concord/lab/page"
)

// HTML writes the report as one file with its figures.
func (r *Report) HTML(w io.Writer) error {
	p, err := r.page()
	if err != nil {
		return err
	}
	return p.HTML(w)
}

// Markdown writes it for docs/results; figures are named, not held.
func (r *Report) Markdown(w io.Writer) error {
	p, err := r.page()
	if err != nil {
		return err
	}
	return p.Markdown(w)
}

func (r *Report) page() (page.Page, error) {
	p := page.Page{
		Title: r.Name + ": " + r.Title, Lead: r.lead(),
		Facts: [][2]string{
			{"Source", r.Source}, {"Repeats", r.repeatsText()}, {"Seed", strconv.Itoa(seed)}, {"Time", r.timeText()},
			{"Machine", fmt.Sprintf("%d processors, %s, %s", r.Machine.Processors, r.Machine.Backend, r.Machine.Go)},
		},
		Notes: slices.Clone(r.Notes),
	}
	if len(r.Only) > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("Only %s was asked for; the other runs of the experiment were left out.", strings.Join(r.Only, ", ")))
	}
	for _, run := range r.Results {
		for _, n := range append(slices.Clone(run.Notes), run.StandIn) {
			if n = strings.TrimSpace(n); n != "" {
				text := run.Name + ": " + n
				if !slices.Contains(p.Notes, text) {
					p.Notes = append(p.Notes, text)
				}
			}
		}
	}
	pictures, err := r.Pictures()
	if err != nil {
		return p, err
	}
	if len(pictures) > 0 {
		s := page.Section{Title: "Figures"}
		for _, pic := range pictures {
			s.Figures = append(s.Figures, page.Figure{Name: pic.Name + ".svg", Caption: pic.Caption, Chart: pic.Chart})
		}
		p.Sections = append(p.Sections, s)
	}
	if len(r.Differences) > 0 {
		p.Sections = append(p.Sections, page.Section{Title: "Where we differ, and why", Text: strings.Join(r.Differences, "\n\n")})
	}
	p.Sections = append(p.Sections, r.compared()...)
	p.Sections = append(p.Sections, r.timingSections()...)
	p.Sections = append(p.Sections, r.trafficSections()...)
	p.Sections = append(p.Sections, r.judged()...)
	p.Sections = append(p.Sections, r.pairedSections()...)
	p.Sections = append(p.Sections, r.all()...)
	return p, nil
}

// lead says in a sentence what came out.
func (r *Report) lead() string {
	var wanted, reached, scored, far int
	for _, f := range r.Figures {
		if f.Reached != nil {
			wanted++
			if *f.Reached {
				reached++
			}
		}
		if f.Metric != lab.Seconds {
			scored++
			if math.Abs(f.StandardErrors) > 2 {
				far++
			}
		}
	}
	var parts []string
	if wanted > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d figures are as near to the published ones as wanted.", reached, wanted))
	}
	if n := scored; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d published figures are more than two standard errors from ours.", far, n))
	}
	holds := 0
	for _, o := range r.Orders {
		if o.Holds {
			holds++
		}
	}
	if n := len(r.Orders); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d statements about the order of methods hold.", holds, n))
	}
	wanted, reached = 0, 0
	for _, p := range r.Pairs {
		if p.Reached != nil {
			wanted++
			if *p.Reached {
				reached++
			}
		}
	}
	if wanted > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d differences are as wanted.", reached, wanted))
	}
	agree := 0
	for _, t := range r.Tests {
		if t.Agrees() {
			agree++
		}
	}
	if n := len(r.Tests); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tests of significance end as published.", agree, n))
	}
	return strings.Join(parts, " ")
}

func (r *Report) repeatsText() string {
	text := fmt.Sprintf("%s: %d", r.Size, r.Repeats.of(r.Size))
	if r.Size != Full && r.Repeats.Full != r.Repeats.of(r.Size) {
		text += fmt.Sprintf(" (the source %d)", r.Repeats.Full)
	}
	return text
}

// timeText is the time of this run, and of all draws, some of which an interrupted one
// may have made before.
func (r *Report) timeText() string {
	var draws float64
	for _, run := range r.Results {
		draws += run.Results.Seconds
	}
	if draws == 0 {
		return clock(r.Seconds)
	}
	return fmt.Sprintf("%s for all draws one after another", clock(draws))
}

func clock(seconds float64) string {
	switch {
	case seconds >= 3600:
		return fmt.Sprintf("%.1f h", seconds/3600)
	case seconds >= 120:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f s", seconds)
}

// show writes a figure for people: four decimals, or per cent with two.
func show(v float64, metricName string, percent bool) string {
	switch {
	case metricName == lab.Seconds:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case percent:
		return strconv.FormatFloat(100*v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// compared are our figures beside the published, a table a run, metric and value of
// the sweep.
func (r *Report) compared() []page.Section {
	var out []page.Section
	var keys []string
	groups := map[string][]Figure{}
	for _, f := range r.Figures {
		key := f.Run + ", " + title(f.Metric)
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], f)
	}
	for _, key := range keys {
		t := page.Table{
			Caption: "Ours beside the published. Deviations are standard errors of the difference, both sides combined.",
			Columns: []string{"Method", "Model", "Ours", "Std", "Published", "Difference", "Std errors", "Wanted"},
			Numeric: []bool{false, false, true, true, true, true, true, true},
		}
		sweep := false
		for _, f := range groups[key] {
			sweep = sweep || f.X != 0
		}
		for _, f := range groups[key] {
			name := f.Name
			if sweep {
				name = fmt.Sprintf("%s at %v", f.Name, f.X)
			}
			errs, wanted, mark := "", "", ""
			if f.StandardErrors != 0 && f.Metric != lab.Seconds {
				errs = fmt.Sprintf("%+.1f", f.StandardErrors)
			}
			if f.Reached != nil {
				wanted = "± " + show(f.Within, f.Metric, f.Percent)
				mark = page.Near
				if !*f.Reached {
					mark = page.Far
				}
			}
			difference := show(f.Difference, f.Metric, f.Percent)
			if f.Metric == lab.Seconds && f.Mean > 0 {
				difference = fmt.Sprintf("%.3g times", f.Published/f.Mean)
			}
			t.Rows = append(t.Rows, page.Row{
				Cells: []string{name, f.Model, show(f.Mean, f.Metric, f.Percent), show(f.Std, f.Metric, f.Percent), show(f.Published, f.Metric, f.Percent), difference, errs, wanted},
				Mark:  mark,
			})
		}
		s := page.Section{Title: key, Table: &t}
		var reasons []string
		for _, f := range groups[key] {
			if f.Reason != "" {
				reasons = append(reasons, fmt.Sprintf("Nothing is wanted of %s, %s: %s.", f.Name, f.Model, f.Reason))
			}
		}
		s.Text = strings.Join(reasons, " ")
		out = append(out, s)
	}
	return out
}

// judged are orders and tests.
func (r *Report) judged() []page.Section {
	var out []page.Section
	if len(r.Orders) > 0 {
		t := page.Table{Caption: "Statements about the order of methods, and our means.", Columns: []string{"Run", "Model", "Statement", "Ours", "Holds"}, Numeric: make([]bool, 5)}
		for _, o := range r.Orders {
			var means []string
			for _, m := range o.Means {
				means = append(means, show(m, o.Metric, false))
			}
			mark, word := page.Near, "yes"
			if !o.Holds {
				mark, word = page.Far, "no"
			}
			t.Rows = append(t.Rows, page.Row{Cells: []string{at(o.Run, o.X), o.Model, o.statement(), strings.Join(means, ", "), word}, Mark: mark})
		}
		out = append(out, page.Section{Title: "Orders", Table: &t})
	}
	if len(r.Tests) > 0 {
		t := page.Table{
			Caption: "Paired one-sided t-tests over the same draws.", Columns: []string{"Run", "Model", "Better", "Worse", "Mean difference", "p", "Ours", "Published"},
			Numeric: []bool{false, false, false, false, true, true, false, false},
		}
		word := map[bool]string{true: "significant", false: "not significant"}
		for _, v := range r.Tests {
			mark := page.Near
			if !v.Agrees() {
				mark = page.Far
			}
			t.Rows = append(t.Rows, page.Row{
				Cells: []string{v.Run, v.Model, v.Better, v.Worse, fmt.Sprintf("%+.5f", v.Mean), fmt.Sprintf("%.2g", v.P), word[v.Ours], word[v.Significant]}, Mark: mark,
			})
		}
		out = append(out, page.Section{Title: "Tests", Table: &t})
	}
	return out
}

func (r *Report) timingSections() []page.Section {
	var out []page.Section
	for _, t := range r.Times {
		table := page.Table{Caption: "Median seconds at " + t.fixed() + ".", Columns: []string{t.Axis}, Numeric: []bool{true}}
		for _, m := range t.Methods {
			table.Columns, table.Numeric = append(table.Columns, m), append(table.Numeric, true)
		}
		for i, x := range t.X {
			row := page.Row{Cells: []string{fmt.Sprint(x)}}
			for _, m := range t.Methods {
				row.Cells = append(row.Cells, strconv.FormatFloat(t.Median[m][i], 'g', 3, 64))
			}
			table.Rows = append(table.Rows, row)
		}
		var slopes []string
		for _, m := range t.Methods {
			text := fmt.Sprintf("%s %.2f", m, t.Slope[m])
			base, _, _ := strings.Cut(m, ":")
			if v, ok := t.Slopes[base]; ok {
				text += fmt.Sprintf(" (published %.2f)", v)
			}
			if v, ok := t.Timing.Seconds[base]; ok && len(t.Median[m]) > 0 {
				text += fmt.Sprintf(", %.3g s at the last value (published %.3g s)", t.Median[m][len(t.X)-1], v)
			}
			slopes = append(slopes, text)
		}
		out = append(out, page.Section{Title: t.Name, Text: "Slopes in log-log: " + strings.Join(slopes, "; ") + ".", Table: &table})
	}
	return out
}

// fixed names the sizes that do not vary.
func (t *Timing) fixed() string {
	var out []string
	for _, v := range []struct {
		axis string
		n    int
	}{{"dim", t.Dim}, {"rows", t.Rows}, {"parties", t.Parties}} {
		if v.axis != t.Axis {
			out = append(out, fmt.Sprintf("%s %d", v.axis, v.n))
		}
	}
	return strings.Join(out, ", ")
}

func (r *Report) trafficSections() []page.Section {
	var out []page.Section
	for _, t := range r.Traffic {
		table := page.Table{Columns: []string{"Figure", "Ours", "Published"}, Numeric: []bool{false, true, true}}
		names, values := t.named()
		for _, n := range names {
			published, mark := "", ""
			if v, ok := t.Published[n]; ok {
				published, mark = fmt.Sprintf("%.4g", v), page.Near
				if math.Abs(values[n]-v) > 0.02*math.Abs(v) {
					mark = page.Far
				}
			}
			table.Rows = append(table.Rows, page.Row{Cells: []string{strings.ReplaceAll(n, "_", " "), fmt.Sprintf("%.4g", values[n]), published}, Mark: mark})
		}
		out = append(out, page.Section{
			Title: t.Name, Table: &table,
			Text: fmt.Sprintf("%d parties of %g rows, %g anchor rows, %d features, %d columns that leave, %g parameters; bytes.", t.Parties, t.Rows, t.AnchorRows, t.Features, t.Dim, t.Parameters),
		})
	}
	return out
}

// all are all of our figures, a table a run.
func (r *Report) all() []page.Section {
	var out []page.Section
	for _, run := range r.Results {
		t := page.Table{
			Caption: fmt.Sprintf("All of our figures over %d repeats; ± is half of the 95%% interval of the mean.", run.Results.Repeats),
			Columns: []string{"Case", "Method", "Model", "Metric", "Mean", "Std", "±"}, Numeric: []bool{false, false, false, false, true, true, true},
		}
		for _, s := range run.Summaries() {
			t.Rows = append(t.Rows, page.Row{Cells: []string{s.Case, s.Method, s.Model, title(s.Metric), show(s.Mean, s.Metric, false), show(s.Std, s.Metric, false), show(s.CI95, s.Metric, false)}})
		}
		out = append(out, page.Section{Title: run.title() + ": all figures", Table: &t})
	}
	return out
}
