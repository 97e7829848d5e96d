package plots

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Boxes is a chart of distributions, in groups.
type Boxes struct {
	Title, YLabel string
	// Groups stand side by side, for example one for each data set or model.
	// There must be one or more, with a box each.
	Groups []Group
}

// Group is a set of boxes with a name of its own below the axis.
type Group struct {
	Name  string
	Boxes []Box
}

// Box is one distribution: from the lower to the upper quartile, with a line at the
// median, a dot at the mean, whiskers to the furthest values within one and a half
// times the quartiles' distance of the box, and small dots for values beyond
// (J. W. Tukey, "Exploratory Data Analysis", 1977). Quartiles are interpolated
// between the sorted values (Hyndman and Fan, "Sample Quantiles in Statistical
// Packages", 1996, definition 7). Fewer than five values are drawn as themselves.
type Box struct {
	Name string
	// Values must be finite, and no further than 1e100 from 0. There may be none if there is a published value.
	Values []float64
	// Published is a paper's mean, drawn as a diamond; NaN is none. Note that
	// Go's zero value is the number 0.
	Published float64
	// Colour is an index: a method has the same one in all figures.
	Colour int
}

// SVG writes the chart. See [Chart].
func (c Boxes) SVG(w io.Writer) error { return render(w, c.layout, writeSVG) }

// PNG writes the chart. See [Chart].
func (c Boxes) PNG(w io.Writer) error { return render(w, c.layout, writePNG) }

// Sizes of a box chart.
const (
	boxesHeight = 280.0
	boxesWidth  = 460.0 // least width of the plot
	pitchTurned = 24.0  // least distance of boxes with turned names
	pitchLevel  = 38.0  // and with level ones
	levelText   = 84.0  // widest line of a level name
	turnedText  = 120.0 // and of a turned one
	groupGap    = 14.0
	fewValues   = 5 // fewer are drawn as themselves
)

func (c Boxes) check() (span, error) {
	ys := newSpan()
	if len(c.Groups) == 0 {
		return ys, fmt.Errorf("plots: %q has no group; one or more are needed", c.Title)
	}
	for _, g := range c.Groups {
		if len(g.Boxes) == 0 {
			return ys, fmt.Errorf("plots: group %q has no box; one or more are needed", g.Name)
		}
		for _, b := range g.Boxes {
			if len(b.Values) == 0 && math.IsNaN(b.Published) {
				return ys, fmt.Errorf("plots: group %q, box %q: it has neither values nor a published one", g.Name, b.Name)
			}
			if infinite(b.Published) {
				return ys, fmt.Errorf("plots: group %q, box %q: the published value is infinite; NaN is none", g.Name, b.Name)
			}
			ys.see(b.Published)
			for i, v := range b.Values {
				if !finite(v) {
					return ys, fmt.Errorf("plots: group %q, box %q: value %d is not finite; leave it out and say so", g.Name, b.Name, i+1)
				}
				ys.see(v)
			}
		}
	}
	return ys, nil
}

// namesBelow says how the boxes' names are set.
type namesBelow struct {
	turned bool
	pitch  float64 // from box to box
	height float64
}

// names sets them level if they fit the least width of the plot so, and turned
// otherwise. Either way, a name of several lines gets the room it needs.
func (c Boxes) names() namesBelow {
	count, level, levelLines, turned, turnedLines := 0, 0.0, 0, 0.0, 0
	for _, g := range c.Groups {
		for _, b := range g.Boxes {
			count++
			lines := wrap(clean(b.Name), tickSize, false, levelText)
			level, levelLines = max(level, widest(lines, tickSize, false)), max(levelLines, len(lines))
			lines = wrap(clean(b.Name), tickSize, false, turnedText)
			turned, turnedLines = max(turned, widest(lines, tickSize, false)), max(turnedLines, len(lines))
		}
	}
	room := boxesWidth - groupGap*float64(len(c.Groups))
	if pitch := max(pitchLevel, level+10); pitch*float64(count) <= room {
		return namesBelow{false, room / float64(count), tickSize * leading * float64(levelLines)}
	}
	pitch := max(pitchTurned, tickSize*leading*float64(turnedLines)+5)
	return namesBelow{true, max(pitch, room/float64(count)), turned + 2}
}

func (c Boxes) layout() (*scene, error) {
	ys, err := c.check()
	if err != nil {
		return nil, err
	}
	title, yLabel := clean(c.Title), clean(c.YLabel)
	names := c.names()
	y := newAxis(ys, false, 7, true)
	x0 := left(y, yLabel, boxesHeight)
	width := 0.0
	for _, g := range c.Groups {
		width += groupGap + names.pitch*float64(len(g.Boxes))
	}
	s := &scene{w: x0 + width + edge, title: title, desc: c.describe()}
	top := c.legend(s, s.heading(title), s.w-edge)
	y.to, y.from = top+4, top+4+boxesHeight

	// Every second group is shaded.
	x := x0
	groupsBelow := y.from + 8
	if names.height > 0 {
		groupsBelow += names.height + 4
	}
	for i, g := range c.Groups {
		w := groupGap + names.pitch*float64(len(g.Boxes))
		if i%2 == 0 && len(c.Groups) > 1 {
			s.add(&paths{paint: paint{fill: shade}, subs: []sub{rect(x, y.to-4, w, y.from-y.to+4)}})
		}
		x += w
	}
	s.vertical(y, x0, x0+width, yLabel)
	s.add(&paths{paint: paint{line: axisC, width: 1}, subs: []sub{line(x0, y.from, x0+width, y.from)}})

	x = x0
	var all drawn
	s.h = groupsBelow
	for _, g := range c.Groups {
		w := groupGap + names.pitch*float64(len(g.Boxes))
		for i, b := range g.Boxes {
			mid := x + groupGap/2 + names.pitch*(float64(i)+0.5)
			all.box(b, g.Name, y, mid, min(names.pitch*0.6, 34)/2)
			s.nameBelow(clean(b.Name), names, mid, y.from+8)
		}
		at := groupsBelow
		for _, l := range wrap(clean(g.Name), nameSize, true, w-8) {
			at += nameSize * leading
			s.add(&label{x: x + w/2, y: at, text: l, size: nameSize, bold: true, anchor: atMiddle, ink: black})
		}
		s.h = max(s.h, at)
		x += w
	}
	s.h += edge
	all.paint(s)
	return s, nil
}

func (s *scene) nameBelow(name string, names namesBelow, mid, y float64) {
	width := levelText
	if names.turned {
		width = turnedText
	}
	lines := wrap(name, tickSize, false, width)
	for i, l := range lines {
		t := &label{text: l, size: tickSize, ink: black, turned: names.turned}
		if names.turned {
			t.x = mid + tickSize*(0.36+leading*(float64(i)-float64(len(lines)-1)/2))
			t.y, t.anchor = y, atEnd
		} else {
			t.x, t.y, t.anchor = mid, y+tickSize*(0.85+leading*float64(i)), atMiddle
		}
		s.add(t)
	}
}

// drawn collects shapes of one look, in layers: lines, boxes, then marks.
type drawn struct {
	whiskers, medians []sub
	boxes             []*paths
	beyond            map[ink][]point
	colours           []ink // of beyond, in the order of appearance
	means             []point
	diamonds          []sub
}

func (d *drawn) dot(c ink, p point) {
	if d.beyond == nil {
		d.beyond = map[ink][]point{}
	}
	if d.beyond[c] == nil {
		d.colours = append(d.colours, c)
	}
	// Dots of one place are one dot: this bounds the file.
	p = point{math.Round(p.x*2) / 2, math.Round(p.y*2) / 2}
	if !slices.Contains(d.beyond[c], p) {
		d.beyond[c] = append(d.beyond[c], p)
	}
}

func (d *drawn) box(b Box, group string, y axis, mid, half float64) {
	c := colourOf(b.Colour)
	if !math.IsNaN(b.Published) {
		d.diamonds = append(d.diamonds, diamond(mid, y.pos(b.Published)))
	}
	if len(b.Values) == 0 {
		return
	}
	f := fiveNumbers(b.Values)
	d.means = append(d.means, point{mid, y.pos(f.mean)})
	if len(b.Values) < fewValues {
		for _, v := range b.Values {
			d.dot(c, point{mid, y.pos(v)})
		}
		return
	}
	upper, lower := y.pos(f.q3), y.pos(f.q1)
	d.boxes = append(d.boxes, &paths{
		paint: paint{fill: mix(c, 0.3), line: c, width: 1.2},
		subs:  []sub{rect(mid-half, upper, 2*half, lower-upper)},
		title: f.String(b, group),
	})
	d.medians = append(d.medians, line(mid-half, y.pos(f.median), mid+half, y.pos(f.median)))
	for _, end := range [][2]float64{{upper, y.pos(f.high)}, {lower, y.pos(f.low)}} {
		if math.Abs(end[0]-end[1]) > 0.05 {
			d.whiskers = append(d.whiskers, line(mid, end[0], mid, end[1]), line(mid-half/2, end[1], mid+half/2, end[1]))
		}
	}
	for _, v := range b.Values {
		if v < f.low || v > f.high {
			d.dot(c, point{mid, y.pos(v)})
		}
	}
}

func (d *drawn) paint(s *scene) {
	lines := func(width float64, subs []sub) {
		if subs != nil {
			s.add(&paths{paint: paint{line: black, width: width}, subs: subs})
		}
	}
	lines(1, d.whiskers)
	for _, c := range d.colours {
		s.add(&discs{paint{fill: c}, dotSize, d.beyond[c]})
	}
	// Boxes of one colour follow one another and share its description.
	slices.SortStableFunc(d.boxes, func(p, q *paths) int { return cmp.Compare(p.line, q.line) })
	for _, b := range d.boxes {
		s.add(b)
	}
	lines(2, d.medians)
	if d.diamonds != nil {
		s.add(&paths{paint: diamondLook, subs: d.diamonds})
	}
	if d.means != nil {
		s.add(&discs{paint{fill: black}, meanSize, d.means})
	}
}

const meanSize, dotSize = 2.2, 1.7

var diamondLook = paint{fill: white, line: black, width: 1.1}

func diamond(x, y float64) sub {
	const r = 5.2
	return closed(point{x, y - r}, point{x + r, y}, point{x, y + r}, point{x - r, y})
}

// legend says below the title what the parts of a box are and returns the y below.
func (c Boxes) legend(s *scene, y, right float64) float64 {
	published, box, few := false, false, false
	for _, g := range c.Groups {
		for _, b := range g.Boxes {
			published = published || !math.IsNaN(b.Published)
			box = box || len(b.Values) >= fewValues
			few = few || len(b.Values) > 0 && len(b.Values) < fewValues
		}
	}
	x, mid := edge, y+6
	entry := func(text string, width float64, mark func(x, mid float64)) {
		need := width + 5 + textWidth(text, tickSize, false)
		if x > edge && x+need > right {
			x, mid = edge, mid+tickSize*leading+3
		}
		mark(x, mid)
		s.add(&label{x: x + width + 5, y: mid + tickSize*0.36, text: text, size: tickSize, ink: muted})
		x += need + 16
	}
	if box {
		entry("quartiles and median", 16, func(x, mid float64) {
			s.add(&paths{paint: paint{fill: mix(black, 0.15), line: muted, width: 1.2}, subs: []sub{rect(x, mid-5, 16, 10)}},
				&paths{paint: paint{line: black, width: 2}, subs: []sub{line(x, mid+1, x+16, mid+1)}})
		})
	}
	if few {
		entry("single values", 5, func(x, mid float64) { s.add(&discs{paint{fill: axisC}, dotSize, []point{{x + 2.5, mid}}}) })
	}
	if box || few {
		entry("mean", 6, func(x, mid float64) { s.add(&discs{paint{fill: black}, meanSize, []point{{x + 3, mid}}}) })
	}
	if published {
		entry("published", 11, func(x, mid float64) {
			s.add(&paths{paint: diamondLook, subs: []sub{diamond(x+5.5, mid)}})
		})
	}
	return mid + 14
}

// numbers are what a box shows.
type numbers struct{ low, q1, median, q3, high, mean float64 }

func fiveNumbers(values []float64) numbers {
	v := slices.Sorted(slices.Values(values))
	n := numbers{q1: quantile(v, 0.25), median: quantile(v, 0.5), q3: quantile(v, 0.75)}
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

// String is what a pointer that rests on the box is told.
func (n numbers) String(b Box, group string) string {
	name := clean(group + ", " + b.Name)
	name = strings.Trim(name, ", ")
	return fmt.Sprintf("%s: median %s, mean %s, %d values", name, short(n.median), short(n.mean), len(b.Values))
}

func short(v float64) string { return minus(strconv.FormatFloat(v, 'g', 4, 64)) }

func (c Boxes) describe() string {
	var groups []string
	for _, g := range c.Groups {
		var names []string
		for _, b := range g.Boxes {
			if name := clean(b.Name); name != "" {
				names = append(names, name)
			}
		}
		groups = append(groups, strings.Trim(clean(g.Name)+": "+strings.Join(names, ", "), ": "))
	}
	return fmt.Sprintf("Box chart of %s. %s. Whiskers reach the furthest values within 1.5 interquartile ranges.",
		orWord(c.YLabel, "values"), strings.Join(groups, "; "))
}
