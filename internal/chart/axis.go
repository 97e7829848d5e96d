package chart

import (
	"math"
	"strconv"
	"strings"
)

// axis maps values to positions; its ticks lie within it.
type axis struct {
	lo, hi float64 // ends, in values
	log    bool
	from   float64 // position of lo
	to     float64 // position of hi
	ticks  []tick
	minor  []float64 // unlabelled ticks of a logarithmic axis
}

// tick is a labelled value. sup is an exponent of ten.
type tick struct {
	value     float64
	text, sup string
}

func (t tick) width() float64 { return width(t.text, textSize) + width(t.sup, 0.75*textSize) }

func (a *axis) pos(v float64) float64 {
	lo, hi := a.lo, a.hi
	if a.log {
		lo, hi, v = math.Log10(lo), math.Log10(hi), math.Log10(v)
	}
	return a.from + (v-lo)/(hi-lo)*(a.to-a.from)
}

// span is the range of what has been seen.
type span struct{ least, most float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) see(v float64) {
	if finite(v) {
		s.least, s.most = min(s.least, v), max(s.most, v)
	}
}

func (s *span) none() bool { return s.least > s.most }

// newAxis makes an axis that holds the span with a little room at both ends and has at
// most about intervals+1 labels; intervals are 5 or more. With origin it starts from 0
// where the values come close to it. It does not go beyond the ends 0 and 1 of scores.
func newAxis(s span, log bool, intervals int, origin bool) axis {
	if log {
		return logAxis(s, intervals)
	}
	lo, hi := s.least, s.most
	if hi-lo <= max(1e-9*max(math.Abs(lo), math.Abs(hi)), smallest) {
		half := max(math.Abs(hi)*0.05, 1e-3)
		lo, hi = lo-half, hi+half
	}
	room := 0.05 * (hi - lo)
	lo, hi = lo-room, hi+room
	if s.least >= 0 && (lo < 0 || origin && s.least < 0.15*s.most) {
		lo = 0
	}
	// A value of 1 keeps half a marker's room above it.
	if s.most <= 1 && hi > 1 && s.least >= 0 {
		hi = max(1, s.most+0.02*(hi-lo))
	}
	return axis{lo: lo, hi: hi, ticks: linearTicks(lo, hi, intervals)}
}

// linearTicks are the multiples in [lo, hi] of 1, 2 or 5 times a power of ten, the least
// such that there are no more than intervals+1. From 5 intervals on there are two or
// more: a step that gave seven lies in a span of six, and is followed by one at most 2.5
// times as large.
func linearTicks(lo, hi float64, intervals int) []tick {
	const hair = 1e-9 // an end that is a multiple is one in spite of rounding
	ends := func(step float64) (first, last float64) {
		return math.Ceil(lo/step - hair), math.Floor(hi/step + hair)
	}
	power := math.Pow(10, math.Floor(math.Log10((hi-lo)/float64(intervals+1))))
	step := 10 * power
	for _, factor := range []float64{1, 2, 5} {
		if first, last := ends(factor * power); last-first <= float64(intervals) {
			step = factor * power
			break
		}
	}
	exponent := int(math.Floor(math.Log10(step) + hair))
	far := max(math.Abs(lo), math.Abs(hi))
	var out []tick
	first, last := ends(step)
	for k := first; k <= last; k++ {
		t := tick{value: k * step}
		switch {
		case k == 0:
			t.text = "0"
		case far >= 1e6 || far < 1e-3: // one power of ten for the whole axis
			power := int(math.Floor(math.Log10(far) + hair))
			t.text = fixed(k*step/math.Pow(10, float64(power)), power-exponent) + "×10"
			t.sup = fixed(float64(power), 0)
		default:
			t.text = fixed(k*step, -exponent)
		}
		out = append(out, t)
	}
	return out
}

// logAxis labels the decades, or their 1, 2 and 5 where there are few, or, if there is
// hardly a factor between the ends, ticks as on a linear axis.
func logAxis(s span, intervals int) axis {
	lo, hi := math.Log10(s.least), math.Log10(s.most)
	if hi-lo < 0.02 {
		lo, hi = lo-0.1, hi+0.1
	}
	room := 0.04 * (hi - lo)
	a := axis{lo: math.Pow(10, lo-room), hi: math.Pow(10, hi+room), log: true}
	var decades, fives []tick
	for k := math.Floor(lo - room); k <= math.Ceil(hi+room); k++ {
		for m := 1.0; m < 10; m++ {
			t := power(m, k)
			if t.value < a.lo*(1-1e-9) || t.value > a.hi*(1+1e-9) {
				continue
			}
			switch m {
			case 1:
				decades, fives = append(decades, t), append(fives, t)
			case 2, 5:
				fives = append(fives, t)
			}
			a.minor = append(a.minor, t.value)
		}
	}
	switch {
	case len(decades) >= 3:
		every := (len(decades) + intervals) / (intervals + 1)
		for i := 0; i < len(decades); i += every {
			a.ticks = append(a.ticks, decades[i])
		}
		if every > 1 { // between sparse decades the other decades are enough
			a.minor = nil
			for _, d := range decades {
				a.minor = append(a.minor, d.value)
			}
		}
	case len(fives) >= 3:
		a.ticks = fives
	default:
		a.ticks = linearTicks(a.lo, a.hi, intervals)
	}
	return a
}

// power is the tick of m·10^k.
func power(m, k float64) tick {
	v := m * math.Pow(10, k)
	switch {
	case k >= -3 && k <= 4:
		return tick{value: v, text: fixed(v, int(-k))}
	case m == 1:
		return tick{v, "10", fixed(k, 0)}
	}
	return tick{v, fixed(m, 0) + "×10", fixed(k, 0)}
}

// fixed writes a number with some decimals and the typographic minus sign, which is as
// wide as a figure.
func fixed(v float64, decimals int) string {
	return strings.Replace(strconv.FormatFloat(v, 'f', max(0, decimals), 64), "-", "−", 1)
}

// vertical draws the axis's lines from x1 to x2, its labels left of x1 and its name at
// the left border.
func (c *canvas) vertical(a axis, x1, x2 float64, name string) {
	grid, small := "", ""
	for _, t := range a.ticks {
		grid += polyline(x1, a.pos(t.value), x2, a.pos(t.value))
	}
	for _, v := range a.minor {
		small += polyline(x1-3, a.pos(v), x1, a.pos(v))
	}
	c.put(`<path fill="none" stroke="%v" d="%v"/>`, rule, grid)
	if small != "" {
		c.put(`<path fill="none" stroke="%v" d="%v"/>`, axisC, small)
	}
	for _, t := range a.ticks {
		c.text(x1-7, a.pos(t.value)+textSize*below, t.text, style{anchor: "end", ink: muted}, t.sup)
	}
	how := style{size: nameSize, anchor: "middle", turned: true}
	for i, l := range wrap(name, nameSize, math.Abs(a.to-a.from)) {
		c.text(edge+nameSize*(0.8+leading*float64(i)), (a.from+a.to)/2, l, how)
	}
}

// left is the x at which a plot of this height begins beside a vertical axis.
func left(a axis, name string, height float64) float64 {
	x := edge + 10
	for _, t := range a.ticks {
		x = max(x, edge+10+t.width())
	}
	if n := len(wrap(name, nameSize, height)); n > 0 {
		x += nameSize*leading*float64(n) + 4
	}
	return x
}

const gutter = 160.0 // widest name of a row, left of the plot

// bands draws what figures of rows have in common: bands of these heights from top down,
// every second one shaded, the grid, and the axis below. The figure ends there.
func (c *canvas) bands(x axis, top float64, heights []float64, name string) {
	y, grid := top, ""
	for i, h := range heights {
		if i%2 == 0 && len(heights) > 1 {
			c.put(`<path fill="%v" d="%v"/>`, shade, rect(edge, y, c.w-2*edge, h))
		}
		y += h
	}
	for _, t := range x.ticks {
		grid += polyline(x.pos(t.value), top, x.pos(t.value), y)
	}
	c.put(`<path fill="none" stroke="%v" d="%v"/>`, rule, grid)
	c.h = c.horizontal(x, y, name)
}

// horizontal draws the axis at the height y and returns the y below its name. Labels that
// would touch the one before are left out.
func (c *canvas) horizontal(a axis, y float64, name string) float64 {
	marks := polyline(a.from, y, a.to, y)
	for _, t := range a.ticks {
		marks += polyline(a.pos(t.value), y, a.pos(t.value), y+5)
	}
	for _, v := range a.minor {
		marks += polyline(a.pos(v), y, a.pos(v), y+3)
	}
	c.put(`<path fill="none" stroke="%v" d="%v"/>`, axisC, marks)
	free := math.Inf(-1)
	for _, t := range a.ticks {
		x, half := a.pos(t.value), t.width()/2
		if x-half >= free {
			c.text(x, y+6+textSize, t.text, style{anchor: "middle", ink: muted}, t.sup)
			free = x + half + 4
		}
	}
	const line = nameSize * leading
	y += 6 + textSize + 4 + line
	y = c.lines((a.from+a.to)/2, y, name, style{size: nameSize, anchor: "middle"}, a.to-a.from)
	return y - line + edge
}
