package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"concord/internal/chart"
	"concord/lab"
	"concord/metric"
)

// Picture is a figure of a report with the name of its files.
type Picture struct {
	Name    string
	Caption string
	Chart   chart.Chart
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
		var drawn chart.Chart
		switch c.Kind {
		case "boxes":
			drawn = r.boxes(c)
		case "lines":
			drawn = r.lines(c)
		case "timing":
			drawn = r.timingLines(c)
		default:
			return nil, fmt.Errorf("experiment: chart %s is of kind %q, want boxes, lines or timing", c.Name, c.Kind)
		}
		if drawn == nil {
			continue // a quick look has not what it shows
		}
		out = append(out, Picture{r.Name + "-" + c.Name, c.Title, drawn})
	}
	return out, nil
}

func (r *Report) boxes(c Chart) chart.Chart {
	drawn := chart.Boxes{Title: c.Title, XLabel: title(c.Metric)}
	for _, run := range c.Runs {
		got := r.find(run, 0)
		if got == nil {
			continue
		}
		group := chart.Group{Name: run}
		for _, m := range c.Methods {
			cell, err := got.cell(m, c.Model, c.Metric)
			if err != nil {
				continue
			}
			box := chart.Box{Name: m, Values: got.Values[cell], Published: math.NaN(), Colour: colour(m)}
			if f := r.figure(run, 0, cell); f != nil {
				box.Published = f.Published
			}
			if len(box.Values) > 0 {
				group.Boxes = append(group.Boxes, box)
			}
		}
		if len(group.Boxes) > 0 {
			drawn.Groups = append(drawn.Groups, group)
		}
	}
	if len(drawn.Groups) == 0 {
		return nil
	}
	return drawn
}

// lines draws means over the sweep, with 95% intervals.
func (r *Report) lines(c Chart) chart.Chart {
	drawn := chart.Lines{Title: c.Title, XLabel: c.XLabel, YLabel: title(c.Metric), LogX: c.LogX, LogY: c.LogY}
	for _, run := range c.Runs {
		for _, m := range c.Methods {
			s := chart.Series{Name: m, Colour: colour(m)}
			if len(c.Runs) > 1 {
				s.Name = run + ", " + m
			}
			published := chart.Series{Name: s.Name, Colour: s.Colour, Published: true}
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
				drawn.Series = append(drawn.Series, s)
			}
			if len(published.X) > 0 {
				drawn.Series = append(drawn.Series, published)
			}
		}
	}
	if len(drawn.Series) == 0 {
		return nil
	}
	return drawn
}

// timingLines draws median seconds; Runs names the timing.
func (r *Report) timingLines(c Chart) chart.Chart {
	drawn := chart.Lines{Title: c.Title, XLabel: c.XLabel, YLabel: "seconds", LogX: true, LogY: true}
	for _, t := range r.Times {
		if !slices.Contains(c.Runs, t.Name) {
			continue
		}
		for _, m := range t.Methods {
			drawn.Series = append(drawn.Series, chart.Series{Name: m, X: t.X, Y: t.Median[m], Colour: colour(m)})
		}
	}
	if len(drawn.Series) == 0 {
		return nil
	}
	return drawn
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
