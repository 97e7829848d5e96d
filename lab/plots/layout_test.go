package plots

import (
	"image"
	"image/color"
	"math"
	"slices"
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
	plain := func(s string) float64 {
		v, err := strconv.ParseFloat(strings.Replace(s, "−", "-", 1), 64)
		if err != nil {
			t.Fatalf("label %q is no number", s)
		}
		return v
	}
	if k.sup == "" {
		return plain(k.text)
	}
	factor := 1.0
	if m, ok := strings.CutSuffix(k.text, "×10"); ok {
		factor = plain(m)
	}
	return factor * math.Pow(10, plain(k.sup))
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
		lines := wrap(text, 12, false, width)
		if got := strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != strings.ReplaceAll(text, " ", "") {
			t.Fatalf("%q became %q", text, lines)
		}
		if w := widest(lines, 12, false); w > width {
			t.Fatalf("a line is %v wide, want at most %v", w, width)
		}
	})
}

func TestThinKeepsExtremes(t *testing.T) {
	var pts []point
	for i := range 10000 {
		pts = append(pts, point{float64(i) * plotWidth / 10000, 100 + 50*math.Sin(float64(i)) + float64(i%977)})
	}
	got := thin(pts)
	if len(got) > 4*(plotWidth+1) {
		t.Errorf("%d points are left", len(got))
	}
	y := func(p, q point) int { return int(math.Copysign(1, p.y-q.y)) }
	if slices.MaxFunc(got, y) != slices.MaxFunc(pts, y) || slices.MinFunc(got, y) != slices.MinFunc(pts, y) {
		t.Error("an extreme is lost")
	}
	if got[0] != pts[0] || got[len(got)-1] != pts[len(pts)-1] {
		t.Error("an end is lost")
	}
	if !slices.IsSortedFunc(got, func(p, q point) int { return int(math.Copysign(1, p.x-q.x)) }) {
		t.Error("points changed places")
	}
	if short := pts[:100]; len(thin(short)) != 100 {
		t.Error("a short curve was thinned")
	}
}

func TestFewerColours(t *testing.T) {
	// 32 × 32 greens and reds, more than 256, on a white ground.
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			c := color.RGBA{255, 255, 255, 255}
			if x < 32 && y < 32 {
				c = color.RGBA{uint8(x * 8), uint8(y * 8), 0, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	out, ok := fewer(img).(*image.Paletted)
	if !ok {
		t.Fatal("no palette was found")
	}
	for y := range 64 {
		for x := range 64 {
			p, q := img.RGBAAt(x, y), color.RGBAModel.Convert(out.At(x, y)).(color.RGBA)
			if d := max(apart(p.R, q.R), apart(p.G, q.G), apart(p.B, q.B)); d > 26 || x >= 32 && d > 0 {
				t.Fatalf("pixel %d, %d: %v became %v", x, y, p, q)
			}
		}
	}
	// Colours from all corners of the cube, in steps of 36, are 512 that
	// nothing within 26 can stand for: the image stays.
	wide := image.NewRGBA(image.Rect(0, 0, 512, 1))
	for i := range 512 {
		wide.SetRGBA(i, 0, color.RGBA{uint8(i % 8 * 36), uint8(i / 8 % 8 * 36), uint8(i / 64 * 36), 255})
	}
	if _, ok := fewer(wide).(*image.RGBA); !ok {
		t.Error("512 colours far apart became 256")
	}
}

func TestPaletteIsTold(t *testing.T) {
	seen := map[ink]bool{}
	for i := range palette {
		seen[colourOf(i)] = true
	}
	if len(seen) != len(palette) || colourOf(-1) != palette[len(palette)-1] || colourOf(len(palette)) != palette[0] {
		t.Error("an index has no colour of its own")
	}
	if len(forms) != len(palette)-1 {
		t.Errorf("%d forms of markers beside the disc, for %d colours", len(forms), len(palette))
	}
	// WCAG 2.2, 1.4.11: 3 to 1 for what has to be seen.
	for i, c := range palette[:len(palette)-3] {
		if r := 1.05 / (luminance(c) + 0.05); r < 3 {
			t.Errorf("colour %d has contrast %.2f", i, r)
		}
	}
}

// luminance is WCAG's relative luminance.
func luminance(c ink) float64 {
	part := func(shift uint) float64 {
		v := float64(c>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}
