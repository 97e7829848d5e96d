package experiment

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"concord/lab"
	"concord/lab/plots"
	"concord/metric"
)

// Picture is a figure of a report with the name of its files.
type Picture struct {
	Name    string
	Caption string
	Chart   plots.Chart
}

// SVG is the picture as one element.
func (p Picture) SVG() ([]byte, error) {
	var b bytes.Buffer
	if err := p.Chart.SVG(&b); err != nil {
		return nil, fmt.Errorf("experiment: figure %s: %w", p.Name, err)
	}
	return b.Bytes(), nil
}

// colours of methods: the same in all figures.
var colours = []string{"central", "local", "ls", "gep", "odc", "gopp", "consensus", "opp", "rdp-ls", "rdp-opp", "fedavg"}

// colour is the index of a method's colour, by its name without case.
func colour(name string) int {
	_, own, has := strings.Cut(name, "/")
	if !has {
		own = name
	}
	base, _, _ := strings.Cut(strings.TrimSuffix(own, "+unit"), ":")
	if i := slices.Index(colours, base); i >= 0 {
		return i
	}
	return len(colours)
}

// Pictures are the charts of the file, drawn of our figures and the published.
func (r *Report) Pictures() ([]Picture, error) {
	var out []Picture
	for _, c := range r.Charts {
		var chart plots.Chart
		switch c.Kind {
		case "boxes":
			chart = r.boxes(c)
		case "lines":
			chart = r.lines(c)
		case "timing":
			chart = r.timingLines(c)
		default:
			return nil, fmt.Errorf("experiment: chart %s is of kind %q, want boxes, lines or timing", c.Name, c.Kind)
		}
		if chart == nil {
			continue // a quick look has not what it shows
		}
		out = append(out, Picture{r.Name + "-" + c.Name, c.Title, chart})
	}
	return out, nil
}

func (r *Report) boxes(c Chart) plots.Chart {
	chart := plots.Boxes{Title: c.Title, YLabel: title(c.Metric)}
	for _, run := range c.Runs {
		got := r.find(run, 0)
		if got == nil {
			continue
		}
		group := plots.Group{Name: run}
		for _, m := range c.Methods {
			cell, err := got.cell(m, c.Model, c.Metric)
			if err != nil {
				continue
			}
			box := plots.Box{Name: m, Values: got.Values[cell], Published: math.NaN(), Colour: colour(m)}
			if f := r.figure(run, 0, cell); f != nil {
				box.Published = f.Published
			}
			if len(box.Values) > 0 {
				group.Boxes = append(group.Boxes, box)
			}
		}
		if len(group.Boxes) > 0 {
			chart.Groups = append(chart.Groups, group)
		}
	}
	if len(chart.Groups) == 0 {
		return nil
	}
	return chart
}

// lines draws means over the sweep, with 95% intervals.
func (r *Report) lines(c Chart) plots.Chart {
	chart := plots.Lines{Title: c.Title, XLabel: c.XLabel, YLabel: title(c.Metric), LogX: c.LogX, LogY: c.LogY}
	for _, run := range c.Runs {
		for _, m := range c.Methods {
			s := plots.Series{Name: m, Colour: colour(m)}
			if len(c.Runs) > 1 {
				s.Name = run + ", " + m
			}
			published := plots.Series{Name: s.Name, Colour: s.Colour, Published: true}
			for _, got := range r.Results {
				if got.Name != run {
					continue
				}
				cell, err := got.cell(m, c.Model, c.Metric)
				if err != nil {
					continue
				}
				sum, ok := got.Summary(cell)
				if !ok {
					continue
				}
				s.X, s.Y = append(s.X, got.X), append(s.Y, sum.Mean)
				s.Low, s.High = append(s.Low, sum.Mean-sum.CI95), append(s.High, sum.Mean+sum.CI95)
				if f := r.figure(run, got.X, cell); f != nil {
					published.X, published.Y = append(published.X, got.X), append(published.Y, f.Published)
				}
			}
			if len(s.X) > 0 {
				chart.Series = append(chart.Series, s)
			}
			if len(published.X) > 0 {
				chart.Series = append(chart.Series, published)
			}
		}
	}
	if len(chart.Series) == 0 {
		return nil
	}
	return chart
}

// timingLines draws median seconds; Runs names the timing.
func (r *Report) timingLines(c Chart) plots.Chart {
	chart := plots.Lines{Title: c.Title, XLabel: c.XLabel, YLabel: "seconds", LogX: true, LogY: true}
	for _, t := range r.Times {
		if !slices.Contains(c.Runs, t.Name) {
			continue
		}
		for _, m := range t.Methods {
			chart.Series = append(chart.Series, plots.Series{Name: m, X: t.X, Y: t.Median[m], Colour: colour(m)})
		}
	}
	if len(chart.Series) == 0 {
		return nil
	}
	return chart
}

// title of a metric for people.
func title(name string) string {
	if name == lab.Seconds {
		return "seconds"
	}
	if m, err := metric.Named(name); err == nil {
		return m.Title
	}
	return name
}
