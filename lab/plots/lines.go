package plots

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Lines is a chart of curves.
type Lines struct {
	Title, XLabel, YLabel string
	// LogX and LogY make an axis logarithmic to base 10.
	LogX, LogY bool
	// Series are drawn in this order, those of a paper above all others.
	// There must be one or more, with a point.
	Series []Series
}

// Series is one curve through the points (X[i], Y[i]), in this order.
type Series struct {
	Name string
	// X and Y are equally long. A Y that is NaN is a gap; an X must be
	// finite. Both must be positive along a logarithmic axis. Numbers beyond
	// 1e100, and below 1e-100 along a logarithmic axis, are refused as if
	// they were infinite and 0.
	X, Y []float64
	// Low and High, both or neither, are the ends of an interval about each
	// Y: bars up to 12 points, a band beyond. NaN in one of them is no
	// interval at that point. Under LogY an interval that reaches 0 or below
	// is drawn down to the axis.
	Low, High []float64
	// Published marks figures of a paper: dashed, with hollow markers.
	Published bool
	// Colour is an index: a method has the same one published and ours.
	Colour int
}

// SVG writes the chart. See [Chart].
func (c Lines) SVG(w io.Writer) error { return render(w, c.layout, writeSVG) }

// PNG writes the chart. See [Chart].
func (c Lines) PNG(w io.Writer) error { return render(w, c.layout, writePNG) }

// Sizes of a line chart's plot.
const plotWidth, plotHeight = 440.0, 290.0

// check reports what cannot be drawn and finds the spans of both axes.
func (c Lines) check() (xs, ys span, err error) {
	xs, ys = newSpan(), newSpan()
	if len(c.Series) == 0 {
		return xs, ys, fmt.Errorf("plots: %q has no series; one or more are needed", c.Title)
	}
	for _, s := range c.Series {
		if err := c.checkSeries(s, &xs, &ys); err != nil {
			return xs, ys, fmt.Errorf("plots: series %q: %w", s.Name, err)
		}
	}
	if ys.none() {
		return xs, ys, fmt.Errorf("plots: no series of %q has a point; one is needed", c.Title)
	}
	return xs, ys, nil
}

func (c Lines) checkSeries(s Series, xs, ys *span) error {
	if clean(s.Name) == "" {
		return fmt.Errorf("it has no name")
	}
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("%d values of X and %d of Y; as many of each are needed", len(s.X), len(s.Y))
	}
	if (len(s.Low) != 0 || len(s.High) != 0) && (len(s.Low) != len(s.Y) || len(s.High) != len(s.Y)) {
		return fmt.Errorf("%d values of Low and %d of High beside %d of Y; as many of each, or none, are needed", len(s.Low), len(s.High), len(s.Y))
	}
	for i := range s.X {
		switch {
		case !finite(s.X[i]):
			return fmt.Errorf("the x of point %d is not finite", i+1)
		case infinite(s.Y[i]):
			return fmt.Errorf("the y of point %d is infinite", i+1)
		case c.LogX && s.X[i] < smallest:
			return fmt.Errorf("the x of point %d is not positive, which a logarithmic axis needs", i+1)
		case c.LogY && s.Y[i] < smallest:
			return fmt.Errorf("the y of point %d is not positive, which a logarithmic axis needs", i+1)
		}
		if math.IsNaN(s.Y[i]) {
			continue
		}
		xs.see(s.X[i])
		ys.see(s.Y[i])
		if len(s.Low) == 0 {
			continue
		}
		switch {
		case infinite(s.Low[i]) || infinite(s.High[i]):
			return fmt.Errorf("the interval of point %d is infinite", i+1)
		case s.Low[i] > s.High[i]:
			return fmt.Errorf("the lower end of point %d is above the upper one", i+1)
		case c.LogY && s.High[i] < smallest:
			return fmt.Errorf("the upper end of point %d is not positive, which a logarithmic axis needs", i+1)
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

func (c Lines) layout() (*scene, error) {
	xs, ys, err := c.check()
	if err != nil {
		return nil, err
	}
	title, xLabel, yLabel := clean(c.Title), clean(c.XLabel), clean(c.YLabel)
	keys, keysWidth, keysHeight := c.legend()
	height := max(plotHeight, keysHeight)

	x, y := newAxis(xs, c.LogX, 6, false), newAxis(ys, c.LogY, 6, true)
	x.from = left(y, yLabel, height)
	x.to = x.from + plotWidth
	s := &scene{w: x.to + 16 + keysWidth + edge, title: title, desc: c.describe()}
	y.to = s.heading(title) + 6
	y.from = y.to + height

	s.vertical(y, x.from, x.to, yLabel)
	s.h = s.horizontal(x, y.from, xLabel)

	var behind, ours, theirs []shape
	for i, one := range c.Series {
		back, front := one.draw(x, y, i, len(c.Series))
		behind = append(behind, back...)
		if one.Published {
			theirs = append(theirs, front...)
		} else {
			ours = append(ours, front...)
		}
	}
	s.add(behind...)
	s.add(ours...)
	s.add(theirs...)

	at := y.to + 4
	for _, k := range keys {
		k.draw(s, x.to+16, at)
		at += k.height()
	}
	return s, nil
}

// horizontal draws the x axis at the height y and returns the figure's height.
func (s *scene) horizontal(a axis, y float64, name string) float64 {
	marks := &paths{paint: paint{line: axisC, width: 1}, subs: []sub{line(a.from, y, a.to, y)}}
	for _, t := range a.ticks {
		marks.subs = append(marks.subs, line(a.pos(t.value), y, a.pos(t.value), y+5))
	}
	for _, v := range a.minor {
		marks.subs = append(marks.subs, line(a.pos(v), y, a.pos(v), y+3))
	}
	s.add(marks)
	free := math.Inf(-1) // labels that would touch the one before are left out
	for _, t := range a.ticks {
		l := t.label()
		half := l.width() / 2
		if a.pos(t.value)-half < free {
			continue
		}
		free = a.pos(t.value) + half + 4
		l.x, l.y, l.anchor = a.pos(t.value), y+6+tickSize, atMiddle
		s.add(l)
	}
	y += 6 + tickSize + 4
	for _, text := range wrap(name, nameSize, false, a.to-a.from) {
		y += nameSize * leading
		s.add(&label{x: (a.from + a.to) / 2, y: y, text: text, size: nameSize, anchor: atMiddle, ink: black})
	}
	return y + edge
}

func (c Lines) describe() string {
	var names []string
	for _, s := range c.Series {
		name := clean(s.Name)
		if s.Published {
			name += " (published)"
		}
		names = append(names, name)
	}
	return fmt.Sprintf("Line chart of %s against %s: %s.", orWord(c.YLabel, "values"), orWord(c.XLabel, "values"), strings.Join(names, ", "))
}

func orWord(label, word string) string {
	if label = clean(label); label != "" {
		return label
	}
	return word
}
