package plots

import "math"

const (
	mostBars    = 12 // points with error bars rather than a band
	mostMarkers = 16 // points that have a marker each
	markerSize  = 3.6
)

// draw returns what lies behind all curves, and the curve.
func (s Series) draw(x, y axis, index, of int) (back, front []shape) {
	ink := colourOf(s.Colour)
	var runs [][]point // between gaps
	var at []int       // index of each drawn point
	gap := true
	for i := range s.X {
		if math.IsNaN(s.Y[i]) {
			gap = true
			continue
		}
		if gap {
			runs = append(runs, nil)
			gap = false
		}
		last := &runs[len(runs)-1]
		*last = append(*last, point{x.pos(s.X[i]), y.pos(s.Y[i])})
		at = append(at, i)
	}
	back = s.intervals(x, y, ink, len(at))

	curve := &paths{paint: paint{line: ink, width: 1.8, dashed: s.Published}}
	if s.Published {
		curve.width = 1.3
	}
	for _, run := range runs {
		if run = thin(run); len(run) > 1 {
			curve.subs = append(curve.subs, open(run...))
		}
	}
	if curve.subs != nil {
		front = append(front, curve)
	}
	// Many points: some ten markers, which begin at another point in each
	// series so that they do not cover each other. A point alone has one too.
	every, offset := 1, 0
	if len(at) > mostMarkers {
		every = (len(at) + 9) / 10
		offset = every * (2*index + 1) / (2 * of)
	}
	var marks []point
	n := 0
	for _, run := range runs {
		for _, p := range run {
			if len(run) == 1 || n%every == offset%every {
				marks = append(marks, p)
			}
			n++
		}
	}
	return back, append(front, markers(marks, s.Colour, s.Published)...)
}

// intervals draws error bars, or a band for many points.
func (s Series) intervals(x, y axis, ink ink, points int) []shape {
	low := func(i int) float64 {
		if y.log && s.Low[i] < smallest {
			return y.from
		}
		return y.pos(s.Low[i])
	}
	bars := &paths{paint: paint{line: ink, width: 1}}
	band := &paths{paint: paint{fill: ink, opacity: 0.16}}
	var upper, lower []point
	flush := func() {
		if len(upper) > 0 {
			upper, lower = thin(upper), thin(lower)
			for i := len(lower) - 1; i >= 0; i-- {
				upper = append(upper, lower[i])
			}
			band.subs = append(band.subs, closed(upper...))
		}
		upper, lower = nil, nil
	}
	for i := range s.X {
		if !s.bar(i) {
			flush()
			continue
		}
		px, top, bottom := x.pos(s.X[i]), y.pos(s.High[i]), low(i)
		if points > mostBars {
			upper, lower = append(upper, point{px, top}), append(lower, point{px, bottom})
			continue
		}
		bars.subs = append(bars.subs, line(px, bottom, px, top), line(px-3, top, px+3, top))
		if bottom < y.from {
			bars.subs = append(bars.subs, line(px-3, bottom, px+3, bottom))
		}
	}
	flush()
	switch {
	case bars.subs != nil:
		return []shape{bars}
	case band.subs != nil:
		return []shape{band}
	}
	return nil
}

// thin reduces a curve of more points than the plot has columns to the first, the
// least, the greatest and the last point of each column, which looks the same.
func thin(pts []point) []point {
	if len(pts) <= 2*plotWidth {
		return pts
	}
	var out []point
	for i := 0; i < len(pts); {
		j, least, most := i, i, i
		for ; j < len(pts) && math.Floor(pts[j].x) == math.Floor(pts[i].x); j++ {
			if pts[j].y < pts[least].y {
				least = j
			}
			if pts[j].y > pts[most].y {
				most = j
			}
		}
		keep := []int{i, min(least, most), max(least, most), j - 1}
		for k, at := range keep {
			if k == 0 || at != keep[k-1] {
				out = append(out, pts[at])
			}
		}
		i = j
	}
	return out
}

// markers are the shapes of a method's points: each colour has its own form. Those
// of a paper are hollow and larger, so that a full one shows inside.
func markers(at []point, colour int, hollow bool) []shape {
	if len(at) == 0 {
		return nil
	}
	look, r := paint{fill: colourOf(colour)}, markerSize
	if hollow {
		look, r = paint{line: colourOf(colour), width: 1.3}, markerSize*1.45
	}
	n := len(palette)
	index := (colour%n + n) % n
	if index == 0 {
		return []shape{&discs{look, r, at}}
	}
	out := &paths{paint: look}
	for _, p := range at {
		var pts []point
		for _, d := range forms[index-1] {
			pts = append(pts, point{p.x + r*d.x, p.y + r*d.y})
		}
		out.subs = append(out.subs, closed(pts...))
	}
	return []shape{out}
}

// forms are polygons of about the area of the unit circle, for the colours from 1.
var forms = [...][]point{
	{{-.88, -.88}, {.88, -.88}, {.88, .88}, {-.88, .88}}, // square
	{{0, -1.3}, {1.2, .85}, {-1.2, .85}},                 // triangle
	{{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},           // diamond
	{{0, 1.3}, {1.2, -.85}, {-1.2, -.85}},                // triangle, down
	{{-.4, -1.2}, {.4, -1.2}, {.4, -.4}, {1.2, -.4}, {1.2, .4}, {.4, .4}, {.4, 1.2}, {-.4, 1.2}, {-.4, .4}, {-1.2, .4}, {-1.2, -.4}, {-.4, -.4}}, // cross
	{{-1.3, 0}, {.85, -1.2}, {.85, 1.2}}, // triangle, left
	{{0, -1.35}, {.34, -.46}, {1.28, -.42}, {.54, .18}, {.79, 1.09}, {0, .57}, {-.79, 1.09}, {-.54, .18}, {-1.28, -.42}, {-.34, -.46}}, // star
}
