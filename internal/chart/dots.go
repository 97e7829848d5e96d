package chart

import (
	"fmt"
	"math"
)

// Dots compares two scores of each of some sites along one axis, with a dashed rule at a
// score that all are compared with.
type Dots struct {
	Title, XLabel string
	// Ring, Full and Rule say in the legend what the marks and the rule are.
	Ring, Full, Rule string
	// Rows are drawn from above. There must be one or more.
	Rows []DotRow
	// At is the rule's score; NaN is none.
	At float64
}

// DotRow is one site. A score that is not finite is not drawn.
type DotRow struct {
	Name, Note string // Note stands below the name
	Ring, Full float64
}

const (
	scoreRoom = 48.0 // a score's label beyond either end of the axis
	rowHeight = 44.0
	dotRadius = 5.5
	// leastSpan is the least width of an axis: closer scores are not pulled apart to look
	// different.
	leastSpan = 0.03
)

func (c Dots) layout() (*canvas, error) {
	if len(c.Rows) == 0 {
		return nil, fmt.Errorf("%q has no row; one or more are needed", c.Title)
	}
	s := &canvas{title: c.Title, w: figureWidth}
	x := c.axis()
	x.from, x.to = gutter+scoreRoom, s.w-edge-scoreRoom
	y := s.heading()
	at := s.entry(edge, y, 12, c.Ring, func(x, y float64) { s.ring(x, y, "") })
	at = s.entry(at, y, 12, c.Full, func(x, y float64) { s.full(x, y, dotRadius, "") })
	top, name, heights := y+34, c.XLabel, []float64{}
	if x.lo != 0 {
		name += "; the axis does not begin at 0"
	}
	s.desc = "Dot chart of " + orWord(name, "scores") + "."
	for range c.Rows {
		heights = append(heights, rowHeight)
	}
	s.bands(x, top, heights, name)
	if finite(c.At) {
		s.entry(at, y, 12, c.Rule, func(x, y float64) { s.dashed(x, y-8, x, y+8) })
		s.dashed(x.pos(c.At), top, x.pos(c.At), top+rowHeight*float64(len(c.Rows)))
		s.text(x.pos(c.At), top-6, fixed(c.At, 3), style{anchor: "middle"})
	}
	for i, r := range c.Rows {
		c.draw(s, r, x, top+rowHeight*(float64(i)+0.5))
	}
	return s, nil
}

// axis holds all scores; that of scores from 0 to 1 does not go beyond these.
func (c Dots) axis() axis {
	all := newSpan()
	all.see(c.At)
	for _, r := range c.Rows {
		all.see(r.Ring)
		all.see(r.Full)
	}
	if all.none() {
		all = span{0, 1}
	}
	if wider := (leastSpan - (all.most - all.least)) / 2; wider > 0 {
		low, high := all.least-wider, all.most+wider
		if all.most <= 1 && high > 1 {
			low, high = low-(high-1), 1
		}
		if all.least >= 0 && low < 0 {
			low, high = 0, high-low
		}
		all = span{low, high}
	}
	return newAxis(all, false, 5, false)
}

// draw draws a row. The lower score's label stands at the left and the higher one's at the
// right, so that they cannot meet, and a full dot that would cover the ring lies in it.
func (c Dots) draw(s *canvas, r DotRow, x axis, y float64) {
	s.text(edge+6, y-2, fitted(r.Name, gutter/boldWider), style{bold: true})
	s.text(edge+6, y+14, fitted(r.Note, gutter), style{ink: muted})
	ring, full, radius := x.pos(r.Ring), x.pos(r.Full), dotRadius
	label := func(at, v float64, right, bold bool) {
		how := style{bold: bold, anchor: "end", halo: true}
		at -= dotRadius + 5
		if right {
			how.anchor, at = "", at+2*(dotRadius+5)
		}
		s.text(at, y+textSize*below, fixed(v, 3), how)
	}
	if finite(r.Ring) && finite(r.Full) {
		s.put(`<path fill="none" stroke="%v" stroke-width="2" d="%v"/>`, axisC, polyline(ring, y, full, y))
		if math.Abs(ring-full) < dotRadius/2 {
			radius = 2.8
		}
	}
	if finite(r.Ring) {
		s.ring(ring, y, fmt.Sprintf("%s, %s: %s", r.Name, c.Ring, fixed(r.Ring, 3)))
		label(ring, r.Ring, r.Ring > r.Full, false)
	}
	if finite(r.Full) {
		s.full(full, y, radius, fmt.Sprintf("%s, %s: %s", r.Name, c.Full, fixed(r.Full, 3)))
		label(full, r.Full, !(r.Full < r.Ring), true)
	}
}

func (s *canvas) ring(x, y float64, note string) {
	s.put(`<path fill="#fff" stroke="%v" stroke-width="2.5" d="%v"><title>%v</title></path>`,
		palette[1].line, disc(x, y, dotRadius), note)
}

func (s *canvas) full(x, y, r float64, note string) {
	s.put(`<path fill="%v" d="%v"><title>%v</title></path>`, palette[0].line, disc(x, y, r), note)
}

// Square is a chart of points of the unit square, joined in their order, beside the
// diagonal: a calibration curve, for example.
type Square struct {
	Title, XLabel, YLabel string
	Points                []Point // X and Y from 0 to 1
}

// Point is drawn with an area that grows with its weight, which is positive. Note is what
// a pointer that rests on it is told.
type Point struct {
	X, Y, Weight float64
	Note         string
}

const (
	squareSide = 210.0
	leastDot   = 3.0
	mostDot    = 11.0 // of a point with all of the weight
)

func (c Square) layout() (*canvas, error) {
	var total float64
	for i, p := range c.Points {
		if !(p.X >= 0 && p.X <= 1 && p.Y >= 0 && p.Y <= 1 && p.Weight > 0 && finite(p.Weight)) {
			return nil, fmt.Errorf("point %d of %q is at %g, %g with weight %g; 0 to 1 and a positive weight are needed",
				i+1, c.Title, p.X, p.Y, p.Weight)
		}
		total += p.Weight
	}
	x := axis{lo: 0, hi: 1, ticks: linearTicks(0, 1, 5)}
	y := x
	x.from = left(y, c.YLabel, squareSide) + mostDot
	x.to = x.from + squareSide
	s := &canvas{title: c.Title, w: x.to + mostDot + edge, desc: "Points beside the dashed diagonal of the unit square."}
	y.to = s.heading() + mostDot
	y.from = y.to + squareSide
	s.vertical(y, x.from, x.to, c.YLabel)
	s.h = s.horizontal(x, y.from, c.XLabel)
	s.dashed(x.from, y.from, x.to, y.to)
	var d []float64
	for _, p := range c.Points {
		d = append(d, x.pos(p.X), y.pos(p.Y))
	}
	s.put(`<path fill="none" stroke="%v" stroke-width="2" d="%v"/>`, axisC, polyline(d...))
	for _, p := range c.Points {
		r := max(leastDot, mostDot*math.Sqrt(p.Weight/total))
		s.put(`<path fill="%v" stroke="#fff" d="%v"><title>%v</title></path>`,
			palette[0].line, disc(x.pos(p.X), y.pos(p.Y), r), p.Note)
	}
	return s, nil
}
