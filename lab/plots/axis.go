package plots

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

// newAxis makes an axis that holds the span with a little room at both ends and has
// at most about intervals+1 labels; intervals are 5 or more. With origin it starts from 0 where the values come
// close to it. It does not go beyond the ends 0 and 1 of scores.
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
	a := axis{lo: lo, hi: hi}
	a.ticks = linearTicks(lo, hi, intervals)
	return a
}

// linearTicks are the multiples in [lo, hi] of 1, 2 or 5 times a power of ten, the
// least such that there are no more than intervals+1. From 5 intervals on there are
// two or more: a step that gave seven lies in a span of six, and is followed by one
// at most 2.5 times as large.
func linearTicks(lo, hi float64, intervals int) []tick {
	// A hair, so that an end that is a multiple is one in spite of rounding.
	const hair = 1e-9
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
	var ks []float64
	first, last := ends(step)
	for k := first; k <= last; k++ {
		ks = append(ks, k)
	}
	exponent := int(math.Floor(math.Log10(step) + hair))
	largest := max(math.Abs(lo), math.Abs(hi))
	var out []tick
	for _, k := range ks {
		t := tick{value: k * step}
		switch {
		case k == 0:
			t.text = "0"
		case largest >= 1e6 || largest < 1e-3:
			// One power of ten for the whole axis.
			power := int(math.Floor(math.Log10(largest) + hair))
			t.text = minus(strconv.FormatFloat(k*step/math.Pow(10, float64(power)), 'f', max(0, power-exponent), 64)) + "×10"
			t.sup = minus(strconv.Itoa(power))
		default:
			t.text = minus(strconv.FormatFloat(k*step, 'f', max(0, -exponent), 64))
		}
		out = append(out, t)
	}
	return out
}

// logAxis labels the decades, or their 1, 2 and 5 where there are few, or, if
// there is hardly a factor between the ends, ticks as on a linear axis.
func logAxis(s span, intervals int) axis {
	lo, hi := math.Log10(s.least), math.Log10(s.most)
	if hi-lo < 0.02 {
		lo, hi = lo-0.1, hi+0.1
	}
	room := 0.04 * (hi - lo)
	a := axis{lo: math.Pow(10, lo-room), hi: math.Pow(10, hi+room), log: true}
	first, last := int(math.Floor(lo-room)), int(math.Ceil(hi+room))
	inside := func(v float64) bool { return v >= a.lo*(1-1e-9) && v <= a.hi*(1+1e-9) }

	var decades, fives []tick
	for k := first; k <= last; k++ {
		for m := 1.0; m < 10; m++ {
			v := m * math.Pow(10, float64(k))
			if !inside(v) {
				continue
			}
			switch m {
			case 1:
				decades = append(decades, decade(k))
				fives = append(fives, decade(k))
			case 2, 5:
				fives = append(fives, product(m, k))
			}
			a.minor = append(a.minor, v)
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

func decade(k int) tick {
	v := math.Pow(10, float64(k))
	if k >= -3 && k <= 4 {
		return tick{value: v, text: strconv.FormatFloat(v, 'f', max(0, -k), 64)}
	}
	return tick{v, "10", minus(strconv.Itoa(k))}
}

func product(m float64, k int) tick {
	v := m * math.Pow(10, float64(k))
	if k >= -3 && k <= 4 {
		return tick{value: v, text: strconv.FormatFloat(v, 'f', max(0, -k), 64)}
	}
	return tick{v, strconv.FormatFloat(m, 'f', 0, 64) + "×10", minus(strconv.Itoa(k))}
}

// minus sets the typographic minus sign, as wide as a figure.
func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

func (t tick) label() *label { return &label{text: t.text, sup: t.sup, size: tickSize, ink: muted} }

// gutter is the room that the labels of a vertical axis need.
func (a *axis) gutter() float64 {
	most := 0.0
	for _, t := range a.ticks {
		most = max(most, t.label().width())
	}
	return most
}

// vertical draws the axis's labels left of x1, its lines from x1 to x2 and its name
// at the left border.
func (s *scene) vertical(a axis, x1, x2 float64, name string) {
	lines := &paths{paint: paint{line: rule, width: 1}}
	for _, t := range a.ticks {
		y := a.pos(t.value)
		lines.subs = append(lines.subs, line(x1, y, x2, y))
	}
	s.add(lines)
	for _, t := range a.ticks {
		l := t.label()
		l.x, l.y, l.anchor = x1-7, a.pos(t.value)+tickSize*0.36, atEnd
		s.add(l)
	}
	if a.minor != nil {
		small := &paths{paint: paint{line: axisC, width: 1}}
		for _, v := range a.minor {
			small.subs = append(small.subs, line(x1-3, a.pos(v), x1, a.pos(v)))
		}
		s.add(small)
	}
	for i, text := range wrap(name, nameSize, false, math.Abs(a.to-a.from)) {
		s.add(&label{x: edge + nameSize*(0.8+leading*float64(i)), y: (a.from + a.to) / 2, text: text,
			size: nameSize, anchor: atMiddle, turned: true, ink: black})
	}
}

// left is the x at which a plot begins beside a vertical axis and its name.
func left(a axis, name string, height float64) float64 {
	lines := len(wrap(name, nameSize, false, height))
	x := edge + a.gutter() + 10
	if lines > 0 {
		x += nameSize*leading*float64(lines) + 4
	}
	return x
}
