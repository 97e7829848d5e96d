package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"concord/internal/sitepage"
)

// Boxes is a chart of distributions, in groups, one below the other along one axis.
type Boxes struct {
	Title, XLabel string
	// Groups are for example one for each data set or model. There must be one or more,
	// with a box each.
	Groups []Group
}

// Group is a set of boxes with a name of its own above them.
type Group struct {
	Name  string
	Boxes []Box
}

// Box is one distribution: from the lower to the upper quartile, with a line at the median, a
// dot at the mean, whiskers to the furthest values within one and a half times the quartiles'
// distance of the box, and small dots for values beyond [tukey1977]. Quartiles are interpolated
// between the sorted values ([hyndman1996], definition 7). Fewer than five values are drawn as
// themselves.
type Box struct {
	Name string
	// Values must be finite, and no further than 1e100 from 0. There may be none if there
	// is a published value.
	Values []float64
	// Published is a paper's mean, drawn as a diamond; NaN is none. Note that Go's zero
	// value is the number 0.
	Published float64
	// Colour is an index: a method has the same one in all figures.
	Colour int
}

const (
	boxPitch  = 20.0 // from box to box
	boxHalf   = 6.0  // of a box's height
	groupHead = 23.0 // room of a group's name
	groupFoot = 5.0
	fewValues = 5 // fewer are drawn as themselves
)

func (c Boxes) layout() (*canvas, error) {
	xs, err := c.check()
	if err != nil {
		return nil, err
	}
	s := &canvas{title: c.Title, w: figureWidth}
	names, heights, said := 0.0, []float64{}, ""
	for _, g := range c.Groups {
		heights = append(heights, groupHead+boxPitch*float64(len(g.Boxes))+groupFoot)
		said += sitepage.Tidy(g.Name) + ":"
		for _, b := range g.Boxes {
			names = max(names, width(fitted(b.Name, gutter), textSize))
			said += " " + sitepage.Tidy(b.Name)
		}
		said += "; "
	}
	s.desc = fmt.Sprintf("Box chart of %s. %sWhiskers reach the furthest values within 1.5 interquartile ranges.",
		orWord(c.XLabel, "values"), said)
	x := newAxis(xs, false, 7, true)
	x.from, x.to = edge+6+names+14, s.w-edge-6
	top := c.legend(s, s.heading())
	s.bands(x, top, heights, c.XLabel)
	for i, g := range c.Groups {
		s.lines(edge+6, top+17, g.Name, style{size: nameSize, bold: true}, math.Inf(1))
		for j, b := range g.Boxes {
			y := top + groupHead + boxPitch*(float64(j)+0.5)
			s.text(x.from-10, y+textSize*below, fitted(b.Name, gutter), style{anchor: "end"})
			b.draw(s, g.Name, x, y)
		}
		top += heights[i]
	}
	return s, nil
}

func (c Boxes) check() (span, error) {
	xs := newSpan()
	for _, g := range c.Groups {
		if len(g.Boxes) == 0 {
			return xs, fmt.Errorf("group %q has no box; one or more are needed", g.Name)
		}
		for _, b := range g.Boxes {
			if infinite(b.Published) || len(b.Values) == 0 && math.IsNaN(b.Published) {
				return xs, fmt.Errorf("group %q, box %q: it has no value, or the published one is infinite", g.Name, b.Name)
			}
			xs.see(b.Published)
			for i, v := range b.Values {
				if !finite(v) {
					return xs, fmt.Errorf("group %q, box %q: value %d is not finite; leave it out and say so", g.Name, b.Name, i+1)
				}
				xs.see(v)
			}
		}
	}
	if xs.none() {
		return xs, fmt.Errorf("%q has no group; one or more are needed", c.Title)
	}
	return xs, nil
}

const boxLook, medianLook = raw(`stroke-width="1.2"`), raw(`fill="none" stroke="` + black + `" stroke-width="2"`)

// draw draws the box around the height y.
func (b Box) draw(s *canvas, group string, x axis, y float64) {
	look, f, dots := lookOf(b.Colour), fiveNumbers(b.Values), ""
	seen := map[float64]bool{} // dots of one place are one: this bounds the file
	for _, v := range b.Values {
		at := math.Round(x.pos(v)*2) / 2
		if (len(b.Values) < fewValues || v < f.low || v > f.high) && !seen[at] {
			seen[at], dots = true, dots+disc(at, y, 1.7)
		}
	}
	if len(b.Values) >= fewValues {
		q1, q3, whiskers := x.pos(f.q1), x.pos(f.q3), ""
		for _, end := range [][2]float64{{q1, x.pos(f.low)}, {q3, x.pos(f.high)}} {
			if math.Abs(end[0]-end[1]) > 0.05 {
				whiskers += polyline(end[0], y, end[1], y) + polyline(end[1], y-boxHalf/2, end[1], y+boxHalf/2)
			}
		}
		if whiskers != "" {
			s.put(`<path fill="none" stroke="%v" d="%v"/>`, black, whiskers)
		}
		s.put(`<path fill="%v" stroke="%v" %v d="%v"><title>%v</title></path>`, look.tint, look.line, boxLook,
			rect(q1, y-boxHalf, q3-q1, 2*boxHalf), f.say(b, group))
		s.put(`<path %v d="%v"/>`, medianLook, polyline(x.pos(f.median), y-boxHalf, x.pos(f.median), y+boxHalf))
	}
	if dots != "" {
		s.put(`<path fill="%v" d="%v"/>`, look.line, dots)
	}
	if !math.IsNaN(b.Published) {
		s.diamond(x.pos(b.Published), y)
	}
	if len(b.Values) > 0 {
		s.mean(x.pos(f.mean), y)
	}
}

func (s *canvas) mean(x, y float64) { s.put(`<path d="%v"/>`, disc(x, y, 2.2)) }

func (s *canvas) diamond(x, y float64) {
	const r = 5.2
	s.put(`<path fill="#fff" stroke="%v" stroke-width="1.1" d="%v"/>`, black, polygon(x, y-r, x+r, y, x, y+r, x-r, y))
}

// legend says below the title what the parts of a box are and returns the y below.
func (c Boxes) legend(s *canvas, y float64) float64 {
	published, box, few := false, false, false
	for _, g := range c.Groups {
		for _, b := range g.Boxes {
			published = published || !math.IsNaN(b.Published)
			box = box || len(b.Values) >= fewValues
			few = few || len(b.Values) > 0 && len(b.Values) < fewValues
		}
	}
	x := edge
	if box {
		x = s.entry(x, y, 16, "quartiles and median", func(x, y float64) {
			s.put(`<path fill="%v" stroke="%v" %v d="%v"/>`, rule, muted, boxLook, rect(x-8, y-5, 16, 10))
			s.put(`<path %v d="%v"/>`, medianLook, polyline(x+1, y-5, x+1, y+5))
		})
	}
	if few {
		x = s.entry(x, y, 5, "single values", func(x, y float64) {
			s.put(`<path fill="%v" d="%v"/>`, axisC, disc(x, y, 1.7))
		})
	}
	if box || few {
		x = s.entry(x, y, 6, "mean", s.mean)
	}
	if published {
		s.entry(x, y, 11, "published", s.diamond)
	}
	return y + 16
}

// numbers are what a box shows.
type numbers struct{ low, q1, median, q3, high, mean float64 }

func fiveNumbers(values []float64) (n numbers) {
	v := slices.Sorted(slices.Values(values))
	if len(v) == 0 {
		return n
	}
	n.q1, n.median, n.q3 = quantile(v, 0.25), quantile(v, 0.5), quantile(v, 0.75)
	reach := 1.5 * (n.q3 - n.q1)
	n.low, n.high = n.q1, n.q3
	for _, x := range v {
		if x >= n.q1-reach {
			n.low = min(n.low, x)
		}
		if x <= n.q3+reach {
			n.high = max(n.high, x)
		}
		n.mean += x / float64(len(v))
	}
	return n
}

// quantile of sorted values:
//
//	h = p(n−1),  Q = v[⌊h⌋] + (h − ⌊h⌋)(v[⌊h⌋+1] − v[⌊h⌋])
func quantile(v []float64, p float64) float64 {
	h := p * float64(len(v)-1)
	k := int(h)
	if k+1 >= len(v) {
		return v[len(v)-1]
	}
	return v[k] + (h-float64(k))*(v[k+1]-v[k])
}

// say is what a pointer that rests on the box is told.
func (n numbers) say(b Box, group string) string {
	short := func(v float64) string {
		return strings.Replace(strconv.FormatFloat(v, 'g', 4, 64), "-", "−", 1)
	}
	return fmt.Sprintf("%s: median %s, mean %s, %d values",
		strings.Trim(group+", "+b.Name, ", "), short(n.median), short(n.mean), len(b.Values))
}
