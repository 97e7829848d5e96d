package chart

import (
	"fmt"
	"math"
	"strings"

	"concord/internal/sitepage"
)

// Lines is a chart of curves.
type Lines struct {
	Title, XLabel, YLabel string
	// LogX and LogY make an axis logarithmic to base 10.
	LogX, LogY bool
	// Series are drawn in this order, those of a paper above all others. There must be
	// one or more, with a point.
	Series []Series
}

// Series is one curve through the points (X[i], Y[i]), in this order.
type Series struct {
	Name string
	// X and Y are equally long. A Y that is NaN is a gap; an X must be finite. Both must
	// be positive along a logarithmic axis. Numbers beyond 1e100, and below 1e-100 along a
	// logarithmic axis, are refused as if they were infinite and 0.
	X, Y []float64
	// Low and High, both or neither, are the ends of an interval about each Y. NaN in one
	// of them is no interval at that point. Under LogY an interval that reaches 0 or below
	// is drawn down to the axis.
	Low, High []float64
	// Published marks figures of a paper.
	Published bool
	// Colour is an index: a method has the same one published and ours.
	Colour int
}

const (
	lineHeight = 290.0
	leastWidth = 300.0 // of a plot
	keyWidth   = 30.0  // of a mark in the legend
	keyText    = 140.0 // widest line of a name in the legend
	markerSize = 3.6
)

func (c Lines) layout() (*canvas, error) {
	xs, ys, err := c.check()
	if err != nil {
		return nil, err
	}
	keys := c.keys()
	names, height := 0.0, 0.0
	for _, k := range keys {
		lines := wrap(k.Name, textSize, keyText)
		names, height = max(names, widest(lines, textSize)), height+k.height()
	}
	height = max(lineHeight, height)
	x, y := newAxis(xs, c.LogX, 6, false), newAxis(ys, c.LogY, 6, true)
	x.from = left(y, c.YLabel, height)
	x.to = max(x.from+leastWidth, figureWidth-edge-names-keyWidth-16)
	s := &canvas{title: c.Title, desc: c.describe(), w: x.to + 16 + keyWidth + names + edge}
	y.to = s.heading() + 6
	y.from = y.to + height
	s.vertical(y, x.from, x.to, c.YLabel)
	s.h = s.horizontal(x, y.from, c.XLabel)
	for _, one := range c.Series {
		one.intervals(s, x, y)
	}
	for _, published := range []bool{false, true} {
		for _, one := range c.Series {
			if one.Published == published {
				one.curve(s, x, y)
			}
		}
	}
	at := y.to + 4
	for _, k := range keys {
		mid := at + textSize*0.6
		k.line(s, polyline(x.to+16, mid, x.to+16+keyWidth-7, mid))
		k.markers(s, []float64{x.to + 16 + (keyWidth-7)/2, mid})
		s.lines(x.to+16+keyWidth, at+textSize, k.Name, style{}, keyText)
		at += k.height()
	}
	return s, nil
}

// check reports what cannot be drawn and finds the spans of both axes.
func (c Lines) check() (xs, ys span, err error) {
	xs, ys = newSpan(), newSpan()
	for _, s := range c.Series {
		if err := c.see(s, &xs, &ys); err != nil {
			return xs, ys, fmt.Errorf("series %q: %w", s.Name, err)
		}
	}
	if ys.none() {
		return xs, ys, fmt.Errorf("no series of %q has a point; one is needed", c.Title)
	}
	return xs, ys, nil
}

func (c Lines) see(s Series, xs, ys *span) error {
	n := len(s.Y)
	if len(s.X) != n || len(s.Low) != len(s.High) || len(s.Low) != 0 && len(s.Low) != n {
		return fmt.Errorf("%d values of X, %d of Y, %d of Low and %d of High; as many of each are needed",
			len(s.X), n, len(s.Low), len(s.High))
	}
	for i, y := range s.Y {
		switch {
		case !finite(s.X[i]) || infinite(y):
			return fmt.Errorf("point %d is not finite", i+1)
		case c.LogX && s.X[i] < smallest || c.LogY && y < smallest:
			return fmt.Errorf("point %d is not positive, which a logarithmic axis needs", i+1)
		case math.IsNaN(y):
			continue
		}
		xs.see(s.X[i])
		ys.see(y)
		if len(s.Low) == 0 {
			continue
		}
		if infinite(s.Low[i]) || infinite(s.High[i]) || s.Low[i] > y || s.High[i] < y {
			return fmt.Errorf("the interval of point %d is infinite or does not hold it", i+1)
		}
		if s.bar(i) {
			ys.see(s.High[i])
			if !c.LogY || s.Low[i] >= smallest {
				ys.see(s.Low[i])
			}
		}
	}
	return nil
}

// bar says whether point i has an interval.
func (s Series) bar(i int) bool {
	return len(s.Low) != 0 && !math.IsNaN(s.Y[i]) && !math.IsNaN(s.Low[i]) && !math.IsNaN(s.High[i])
}

// keys are the entries of the legend. The paper's curve of a method that has ours too
// needs none of its own, but one says how the paper's are drawn.
func (c Lines) keys() []Series {
	ours, paper := map[string]bool{}, false
	for _, s := range c.Series {
		if !s.Published {
			ours[fmt.Sprint(s.Colour, s.Name)] = true
		}
	}
	var keys []Series
	for _, s := range c.Series {
		k := Series{Name: s.Name, Colour: s.Colour, Published: s.Published}
		if s.Published && ours[fmt.Sprint(s.Colour, s.Name)] {
			paper = true
			continue
		}
		if s.Published {
			k.Name += " (published)"
		}
		keys = append(keys, k)
	}
	if paper {
		keys = append(keys, Series{Name: "published", Colour: 4, Published: true})
	}
	return keys
}

// height of the series' entry in the legend.
func (s Series) height() float64 {
	return textSize*leading*float64(len(wrap(s.Name, textSize, keyText))) + 6
}

// intervals draws an error bar at each point that has one.
func (s Series) intervals(c *canvas, x, y axis) {
	bars := ""
	for i := range s.X {
		if !s.bar(i) {
			continue
		}
		at, top, bottom := x.pos(s.X[i]), y.pos(s.High[i]), y.from
		bars += polyline(at-3, top, at+3, top)
		if !y.log || s.Low[i] >= smallest {
			bottom = y.pos(s.Low[i])
			bars += polyline(at-3, bottom, at+3, bottom)
		}
		bars += polyline(at, bottom, at, top)
	}
	if bars != "" {
		c.put(`<path fill="none" stroke="%v" d="%v"/>`, lookOf(s.Colour).line, bars)
	}
}

// curve draws the line, which ends at a gap, and the markers.
func (s Series) curve(c *canvas, x, y axis) {
	var all, run []float64
	d := ""
	for i := range s.X {
		if math.IsNaN(s.Y[i]) {
			d, run = d+polyline(run...), nil
			continue
		}
		p := []float64{x.pos(s.X[i]), y.pos(s.Y[i])}
		run, all = append(run, p...), append(all, p...)
	}
	s.line(c, d+polyline(run...))
	s.markers(c, all)
}

func (s Series) line(c *canvas, d string) {
	how := raw(`stroke-width="1.8"`)
	if s.Published {
		how = `stroke-width="1.3" stroke-dasharray="5 3"`
	}
	c.put(`<path fill="none" stroke="%v" %v d="%v"/>`, lookOf(s.Colour).line, how, d)
}

// markers are the shapes of a method's points, given in turn x, y. Each colour has its
// own form, and another one when the colours come round. Those of a paper are hollow and
// larger, so that a full one shows inside.
func (s Series) markers(c *canvas, at []float64) {
	d, r := "", markerSize
	if s.Published {
		r *= 1.45
	}
	n := len(palette)
	form := ((s.Colour+s.Colour/n)%n + n) % n
	for i := 0; i+1 < len(at); i += 2 {
		if form == 0 {
			d += disc(at[i], at[i+1], r)
			continue
		}
		var p []float64
		for j, v := range forms[form-1] {
			p = append(p, at[i+j%2]+r*v)
		}
		d += polygon(p...)
	}
	if s.Published {
		c.put(`<path fill="none" stroke="%v" stroke-width="1.3" d="%v"/>`, lookOf(s.Colour).line, d)
	} else if d != "" {
		c.put(`<path fill="%v" d="%v"/>`, lookOf(s.Colour).line, d)
	}
}

// forms are polygons of about the area of the unit circle, in turn x, y.
var forms = [...][]float64{
	{-.88, -.88, .88, -.88, .88, .88, -.88, .88}, // square
	{0, -1.3, 1.2, .85, -1.2, .85},               // triangle
	{0, -1.3, 1.3, 0, 0, 1.3, -1.3, 0},           // diamond
	{0, 1.3, 1.2, -.85, -1.2, -.85},              // triangle, down
	{ // cross
		-.4, -1.2, .4, -1.2, .4, -.4, 1.2, -.4, 1.2, .4, .4, .4,
		.4, 1.2, -.4, 1.2, -.4, .4, -1.2, .4, -1.2, -.4, -.4, -.4,
	},
	{-1.3, 0, .85, -1.2, .85, 1.2},  // triangle, left
	{1.3, 0, -.85, -1.2, -.85, 1.2}, // triangle, right
}

func (c Lines) describe() string {
	var names []string
	for _, k := range c.Series {
		name := sitepage.Tidy(k.Name)
		if k.Published {
			name += " (published)"
		}
		names = append(names, name)
	}
	return fmt.Sprintf("Line chart of %s against %s: %s.",
		orWord(c.YLabel, "values"), orWord(c.XLabel, "values"), strings.Join(names, ", "))
}
