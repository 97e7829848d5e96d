package chart

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAxisHoldsItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := rapid.Bool().Draw(t, "log")
		a, b := rapid.Float64Range(-1e9, 1e9).Draw(t, "a"), rapid.Float64Range(-1e9, 1e9).Draw(t, "b")
		if scale := rapid.Float64Range(-105, 90).Draw(t, "scale"); true {
			a, b = a*math.Pow(10, scale), b*math.Pow(10, scale)
		}
		if log {
			a, b = math.Abs(a)+smallest, math.Abs(b)+smallest
		}
		intervals := rapid.IntRange(5, 10).Draw(t, "intervals")
		s := newSpan()
		s.see(a)
		s.see(b)
		x := newAxis(s, log, intervals, rapid.Bool().Draw(t, "origin"))
		x.from, x.to = 0, 100
		for _, v := range []float64{a, b} {
			if p := x.pos(v); !(p >= -1e-6 && p <= 100+1e-6) {
				t.Fatalf("%v lies at %v of an axis from %v to %v", v, p, x.lo, x.hi)
			}
		}
		// A logarithmic axis of few decades has 1, 2 and 5 of each.
		if len(x.ticks) < 2 || len(x.ticks) > max(intervals+1, 9) {
			t.Fatalf("%d ticks for %d intervals", len(x.ticks), intervals)
		}
		seen := map[string]bool{}
		for i, tick := range x.ticks {
			if p := x.pos(tick.value); !(p >= -1e-6 && p <= 100+1e-6) {
				t.Fatalf("tick %v lies at %v", tick.value, p)
			}
			if i > 0 && tick.value <= x.ticks[i-1].value {
				t.Fatalf("tick %v after %v", tick.value, x.ticks[i-1].value)
			}
			if seen[tick.text+"^"+tick.sup] {
				t.Fatalf("two ticks are labelled %q", tick.text)
			}
			seen[tick.text+"^"+tick.sup] = true
			if said := reads(t, tick); math.Abs(said-tick.value) > 1e-9*math.Max(math.Abs(x.lo), math.Abs(x.hi)) {
				t.Fatalf("tick %v is labelled %q %q", tick.value, tick.text, tick.sup)
			}
		}
	})
}

// reads is the number that a label says.
func reads(t *rapid.T, k tick) float64 {
	if k.sup == "" {
		return parse(t, k.text)
	}
	factor := 1.0
	if m, ok := strings.CutSuffix(k.text, "×10"); ok {
		factor = parse(t, m)
	}
	return factor * math.Pow(10, parse(t, k.sup))
}

func TestAxisOfScoresEndsAtOne(t *testing.T) {
	a := newAxis(span{0.2, 1}, false, 6, true)
	if a.hi > 1.02 || a.ticks[len(a.ticks)-1].text != "1.0" {
		t.Errorf("axis to %v with ticks %v", a.hi, a.ticks)
	}
	if a := newAxis(span{0.05, 0.9}, false, 6, true); a.lo != 0 {
		t.Errorf("axis from %v, want 0", a.lo)
	}
	if a := newAxis(span{5, 5}, false, 6, true); len(a.ticks) < 2 || a.lo >= 5 || a.hi <= 5 {
		t.Errorf("axis of one value: %+v", a)
	}
}

func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(strings.Fields(rapid.StringMatching(`[a-zA-Z0-9 .,äß–]{0,80}`).Draw(t, "text")), " ")
		width := rapid.Float64Range(20, 300).Draw(t, "width")
		lines := wrap(text, 12, width)
		if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(text, " ", "") {
			t.Fatalf("%q became %q", text, lines)
		}
		if w := widest(lines, 12); w > width {
			t.Fatalf("a line is %v wide, want at most %v", w, width)
		}
	})
}

func TestPaletteIsTold(t *testing.T) {
	seen := map[look]bool{}
	for i := range palette {
		seen[lookOf(i)] = true
	}
	if len(seen) != len(palette) || lookOf(-1) != palette[len(palette)-1] || lookOf(len(palette)) != palette[0] {
		t.Error("an index has no colour of its own")
	}
	if len(forms) != len(palette)-1 {
		t.Errorf("%d forms of markers beside the disc, for %d colours", len(forms), len(palette))
	}
	// WCAG 2.2, 1.4.11: 3 to 1 for what has to be seen.
	for i, c := range palette[:len(palette)-3] {
		if r := 1.05 / (luminance(t, c.line) + 0.05); r < 3 {
			t.Errorf("colour %d has contrast %.2f", i, r)
		}
	}
}

// luminance is WCAG's relative luminance.
func luminance(t *testing.T, c string) float64 {
	rgb, err := strconv.ParseUint(strings.TrimPrefix(c, "#"), 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	part := func(shift uint) float64 {
		v := float64(rgb>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}
