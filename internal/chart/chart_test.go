package chart

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
)

var update = flag.Bool("update", false, "write testdata/*.svg anew")

var nan = math.NaN()

var methods = []string{
	"Central", "Local", "OPP", "GOPP", "RDP", "LS", "GEP", "Orthogonal Data Collaboration, orthonormal bases", "ninth",
}

// samples are a typical figure of each kind.
func samples() map[string]Chart {
	r := rand.New(rand.NewPCG(1, 2))
	boxes := Boxes{Title: "ROC-AUC over 100 draws", XLabel: "ROC-AUC"}
	for _, model := range []string{"logistic regression", "MLP", "random forest"} {
		g := Group{Name: model}
		for i, method := range append(methods[:7:7], "orthonormal/consensus") {
			b := Box{Name: method, Published: 0.9 - 0.02*float64(i), Colour: i}
			for range 100 {
				b.Values = append(b.Values, b.Published+0.02*r.NormFloat64())
			}
			g.Boxes = append(g.Boxes, b)
		}
		boxes.Groups = append(boxes.Groups, g)
	}
	lines := Lines{Title: "Accuracy by institutions", XLabel: "Number of institutions", YLabel: "Accuracy"}
	for i, name := range methods {
		for _, published := range []bool{false, true} {
			if published && i > 3 {
				continue
			}
			s := Series{Name: name, Colour: i, Published: published}
			for x := 1; x <= 10; x++ {
				y := 0.9 - 0.04*float64(i) - 0.3*math.Exp(-float64(x)/3)
				if published {
					y -= 0.01
				}
				s.X, s.Y = append(s.X, float64(x)), append(s.Y, y)
				s.Low, s.High = append(s.Low, y-0.01), append(s.High, y+0.01)
			}
			lines.Series = append(lines.Series, s)
		}
	}
	return map[string]Chart{
		"boxes": boxes, "lines": lines,
		"seconds": Lines{Title: "Seconds", XLabel: "l", YLabel: "seconds", LogX: true, LogY: true, Series: []Series{
			{Name: "ls", X: []float64{50, 100, 200, 500}, Y: []float64{0.016, 0.055, 0.15, 0.6}, Colour: 2},
			{Name: "odc", X: []float64{50, 100, 200, 500}, Y: []float64{0.0027, 0.017, 0.085, 0.9}, Colour: 4}}},
		"dots": Dots{
			Title: "ROC-AUC", XLabel: "ROC-AUC", Ring: "local", Full: "collaboration", Rule: "central", At: 0.985,
			Rows: []DotRow{
				{"North hospital", "220 rows", 0.987, 0.9868},
				{"East hospital", "120 rows", 0.981, 0.985},
				{"A clinic of a very long name", "25 rows", 0.973, nan},
			},
		},
		"square": Square{
			Title: "Calibration", XLabel: "predicted", YLabel: "observed",
			Points: []Point{{0.03, 0.02, 150, "150 rows"}, {0.3, 0.25, 20, ""}, {0.97, 1, 54, ""}},
		},
		"images": grid(),
	}
}

func grid() Images {
	return Images{
		Title: "Restored", Columns: []string{"first", "second"}, Rows: []string{"original", "sent"}, Width: 2, Height: 3,
		Cells: [][][]float64{{{0, 1, 0, 1, 0, 1}, {.5, .5, .5, .5, .5, .5}}, {{-3, 7, 0, 0, 0, 0}, nil}},
	}
}

// TestSamples: the figures have not changed, and are small.
func TestSamples(t *testing.T) {
	for name, c := range samples() {
		draw(t, c)
		got, err := SVG(c)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 30_000 {
			t.Errorf("%s has %d bytes", name, len(got))
		}
		file := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(got) {
			t.Errorf("%s differs; look at it, and run the test with -update", file)
		}
	}
}

func TestLinesSay(t *testing.T) {
	c := samples()["lines"].(Lines)
	all := draw(t, c)
	has(t, words(all), "Number of institutions", "Accuracy", "0.4", "0.9", "published", "2", "10", "Central",
		"Orthogonal Data")
	last, _ := label(t, all, "10")
	for _, name := range []string{"Central", "GEP", "published"} {
		if x, _ := label(t, all, name); x < last+20 {
			t.Errorf("the legend's %q at %v covers the plot, whose last point is at %v", name, x, last)
		}
	}
	one := []float64{1, 2}
	alone := []Series{{Name: "ours", X: one, Y: one}, {Name: "theirs", X: one, Y: one, Published: true}}
	has(t, words(draw(t, Lines{Title: "t", Series: alone})), "ours theirs (published)")
}

// TestLinesPositions: every point that is no gap has a marker where the axes say, in both
// directions, within the plot.
func TestLinesPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "points")
		scale := math.Pow(10, rapid.Float64Range(-2, 5).Draw(t, "scale"))
		// Two points that fix the ticks, and others between, gaps among them.
		s := Series{Name: "s", X: []float64{0, scale}, Y: []float64{0, scale}}
		for range n {
			s.X = append(s.X, scale*rapid.Float64Range(0, 1).Draw(t, "x"))
			y := scale * rapid.Float64Range(0, 1).Draw(t, "y")
			s.Y = append(s.Y, rapid.SampledFrom([]float64{nan, y}).Draw(t, "or gap"))
		}
		all := draw(t, Lines{Title: "t", Series: []Series{s}})
		xs, ys := newAxis(span{0, scale}, false, 6, false), newAxis(span{0, scale}, false, 6, true)
		got := circles(t, all)
		want := 0
		for i, y := range s.Y {
			if math.IsNaN(y) {
				continue
			}
			x, y := s.X[i]/(xs.hi-xs.lo), y/(ys.hi-ys.lo)
			p := got[want]
			want++
			if i < 2 {
				continue
			}
			// The first two points say the scale; positions have one decimal of some 400.
			px := (p.x - got[0].x) / (got[1].x - got[0].x) * scale / (xs.hi - xs.lo)
			py := (p.y - got[0].y) / (got[1].y - got[0].y) * scale / (ys.hi - ys.lo)
			if math.Abs(px-x) > 0.001 || math.Abs(py-y) > 0.001 {
				t.Errorf("point %d at %v, %v of the axes, want %v, %v", i, px, py, x, y)
			}
		}
		if len(got) != want+1 { // and the legend's
			t.Fatalf("%d markers, want %d and the legend's", len(got), want)
		}
	})
}

func TestLinesTicksSay(t *testing.T) {
	s := Series{Name: "s", X: []float64{1, 2, 3, 4, 5}, Y: []float64{10, 30, nan, 20, 15}}
	all := draw(t, Lines{Title: "t", Series: []Series{s}})
	x, y := across(t, all, "1", "5"), up(t, all, "10", "30")
	for i, want := range [][2]float64{{1, 10}, {2, 30}, {4, 20}, {5, 15}} {
		p := circles(t, all)[i]
		// One decimal of some 400 units for 4, and of 290 for 20.
		if math.Abs(x(p.x)-want[0]) > 0.02 || math.Abs(y(p.y)-want[1]) > 0.02 {
			t.Errorf("point %d at %v, %v, want %v", i, x(p.x), y(p.y), want)
		}
	}
	if !slices.ContainsFunc(all, func(e element) bool {
		return e.attr["stroke-width"] == "1.8" && strings.Count(e.attr["d"], "M") == 2
	}) {
		t.Error("the gap does not part the curve in two")
	}
}

// TestIntervals: a bar reaches from its low to its high end, and there is none where an end
// is NaN.
func TestIntervals(t *testing.T) {
	s := Series{Name: "s", X: []float64{1, 2}, Y: []float64{10, 30}, Low: []float64{5, nan}, High: []float64{20, 35}}
	all := draw(t, Lines{Title: "t", Series: []Series{s}})
	y := up(t, all, "10", "30")
	var ends []float64
	for _, e := range all {
		if e.attr["stroke"] == palette[0].line && e.attr["stroke-width"] == "" {
			for _, p := range place.FindAllStringSubmatch(e.attr["d"], -1) {
				ends = append(ends, y(parse(t, p[2])))
			}
		}
	}
	// One decimal of some 290 units for 35; two ends of two caps and of the bar.
	if len(ends) != 6 || math.Abs(slices.Min(ends)-5) > 0.02 || math.Abs(slices.Max(ends)-20) > 0.02 {
		t.Errorf("bars at %v, want one from 5 to 20", ends)
	}
}

func TestLogarithmicAxes(t *testing.T) {
	all := draw(t, Lines{Title: "t", LogX: true, LogY: true, Series: []Series{
		{Name: "s", X: []float64{100, 1000, 1e6}, Y: []float64{0.01, 0.1, 20},
			Low: []float64{-1, 0.05, 15}, High: []float64{0.02, 0.2, 25}}}})
	x1, _ := label(t, all, "100")
	x2, _ := label(t, all, "1000")
	x3, _ := label(t, all, "106") // 10⁶, the exponent in a tspan
	// Equal ratios, equal distances, but for positions rounded to a tenth.
	if math.Abs((x3-x2)-3*(x2-x1)) > 0.5 {
		t.Errorf("decades at %v, %v and %v", x1, x2, x3)
	}
	if !slices.ContainsFunc(all, func(e element) bool { return e.name == "tspan" && e.text == "6" }) {
		t.Error("the exponent is not raised")
	}
	has(t, words(all), "0.01", "0.1", "1", "10")
}

func TestBoxesSay(t *testing.T) {
	c := samples()["boxes"].(Boxes)
	all := draw(t, c)
	has(t, words(all), "logistic regression", "MLP", "random forest", "ROC-AUC", "0.70", "0.90",
		"mean", "published", "quartiles and median")
	for _, b := range c.Groups[0].Boxes {
		if n := strings.Count(" "+words(all)+" ", " "+b.Name+" "); n != 3 {
			t.Errorf("box %q is named %d times, want 3", b.Name, n)
		}
	}
}

// TestBoxIsWhereItsNumbersAre: quartiles 3.25, 5.5 and 7.75 by definition 7 of Hyndman and
// Fan; 15 is beyond 7.75 + 1.5·4.5 = 14.5.
func TestBoxIsWhereItsNumbersAre(t *testing.T) {
	values := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 15}
	b := Box{Name: "b", Values: values, Published: nan}
	all := draw(t, Boxes{Title: "one", Groups: []Group{{Name: "g", Boxes: []Box{b}}}})
	x := across(t, all, "2", "14")
	at := func(e element) (xs []float64) {
		for _, p := range place.FindAllStringSubmatch(e.attr["d"], -1) {
			xs = append(xs, x(parse(t, p[1])))
		}
		return xs
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.02 { // some 35 units for 1
			t.Errorf("%s at %v, want %v", what, got, want)
		}
	}
	for i, e := range all {
		switch {
		case e.name == "title" && i > 1:
			if want := "g, b: median 5.5, mean 6, 10 values"; e.text != want {
				t.Errorf("title %q, want %q", e.text, want)
			}
			box, whiskers, median := at(all[i-1]), at(all[i-2]), at(all[i+1])
			near("the lower quartile", slices.Min(box), 3.25)
			near("the upper quartile", slices.Max(box), 7.75)
			near("the lower whisker", slices.Min(whiskers), 1)
			near("the upper whisker", slices.Max(whiskers), 9)
			near("the median", median[0], 5.5)
		}
	}
	var marks []float64
	for _, c := range circles(t, all) {
		if c.r == 1.7 && c.fill == palette[0].line {
			marks = append(marks, x(c.x))
		}
	}
	if len(marks) != 1 || math.Abs(marks[0]-15) > 0.02 {
		t.Errorf("values beyond the whiskers at %v, want 15", marks)
	}
}

func TestFewValuesAreDrawnAsThemselves(t *testing.T) {
	all := draw(t, Boxes{Title: "few", Groups: []Group{{Boxes: []Box{
		{Name: "three", Values: []float64{1, 2, 3}, Published: nan, Colour: 1},
		{Name: "only the paper's", Published: 2}}}}})
	dots := 0
	for _, c := range circles(t, all) {
		if c.fill == palette[1].line {
			dots++
		}
	}
	said := words(all)
	has(t, said, "single values", "mean", "published")
	if dots != 3 || strings.Contains(said, "quartiles") {
		t.Errorf("%d dots, want 3; legend: %s", dots, said)
	}
}

// TestDotsPositions: positions are one increasing function of the scores, which the ticks
// tell; the axis of scores stays between 0 and 1; labels do not cover their marks.
func TestDotsPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0.98, 1),
			rapid.SampledFrom([]float64{0, 0.5, 1, nan, math.Inf(1)}))
		c := Dots{Title: "t", Ring: "ring", Full: "full", Rule: "rule", At: score.Draw(t, "rule")}
		for i := range rapid.IntRange(1, 12).Draw(t, "rows") {
			c.Rows = append(c.Rows, DotRow{fmt.Sprint("p", i), "", score.Draw(t, "ring"), score.Draw(t, "full")})
		}
		x := c.axis()
		// The highest score keeps half a marker's room.
		if x.lo < 0 || x.hi > 1.03 || len(x.ticks) < 2 || x.ticks[len(x.ticks)-1].value > 1+1e-9 {
			t.Errorf("the axis goes from %v to %v with %d ticks", x.lo, x.hi, len(x.ticks))
		}
		all := draw(t, c)
		first, last := x.ticks[0].text, x.ticks[len(x.ticks)-1].text
		var ticks [2]float64
		for _, e := range all {
			for k, s := range []string{first, last} {
				if e.name == "text" && e.text == s && e.attr["fill"] == muted {
					ticks[k] = e.number(t, "x")
				}
			}
		}
		at := linear(ticks[0], parse(t, first), ticks[1], parse(t, last))
		got := map[string][]circle{}
		for _, m := range circles(t, all)[2:] { // after the legend's
			got[m.fill] = append(got[m.fill], m)
		}
		for k, fill := range []string{"#fff", palette[0].line} {
			var want []float64
			for _, r := range c.Rows {
				if v := []float64{r.Ring, r.Full}[k]; finite(v) {
					want = append(want, v)
				}
			}
			if len(got[fill]) != len(want) {
				t.Fatalf("%d marks, want %d", len(got[fill]), len(want))
			}
			for i, m := range got[fill] {
				// One decimal of some 370 units for the axis.
				if v := at(m.x); math.Abs(v-want[i]) > 0.001*(x.hi-x.lo) {
					t.Errorf("%v is where the ticks say %v", want[i], v)
				}
			}
		}
		var anchors []string
		for i, e := range all {
			if e.attr["paint-order"] == "" {
				continue
			}
			anchors = append(anchors, e.attr["text-anchor"])
			mark := circles(t, all[i-2:i]) // the mark and its title
			end := e.number(t, "x")
			if len(mark) != 1 || e.attr["text-anchor"] == "end" && end >= mark[0].x-mark[0].r ||
				e.attr["text-anchor"] == "" && end <= mark[0].x+mark[0].r {
				t.Errorf("a mark %v has its label at %v, anchor %q", mark, end, e.attr["text-anchor"])
			}
		}
		for _, r := range c.Rows { // the lower score's label stands at the left
			if finite(r.Ring) && finite(r.Full) && (anchors[0] == anchors[1] || r.Ring < r.Full != (anchors[0] == "end") && r.Ring != r.Full) {
				t.Errorf("the labels of %v and %v are anchored at %q", r.Ring, r.Full, anchors[:2])
			}
			for _, v := range []float64{r.Ring, r.Full} {
				if finite(v) {
					anchors = anchors[1:]
				}
			}
		}
	})
}

// TestSquarePositions: points lie where both axes say, inside the figure, and their areas are
// as their weights.
func TestSquarePositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0, 1)
		points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Point {
			return Point{share.Draw(t, "x"), share.Draw(t, "y"), float64(rapid.IntRange(1, 500).Draw(t, "weight")), ""}
		}), 1, 8)
		c := Square{Title: "t", XLabel: "x", YLabel: "y", Points: points.Draw(t, "points")}
		all := draw(t, c)
		var xs, ys [2]float64
		for _, e := range all {
			for i, s := range []string{"0.2", "1.0"} {
				if e.name == "text" && e.text == s && e.attr["text-anchor"] == "middle" {
					xs[i] = e.number(t, "x")
				} else if e.name == "text" && e.text == s {
					ys[i] = e.number(t, "y") - textSize*below
				}
			}
		}
		x, y := linear(xs[0], 0.2, xs[1], 1), linear(ys[0], 0.2, ys[1], 1)
		got := circles(t, all)
		if len(got) != len(c.Points) {
			t.Fatalf("%d dots, want %d", len(got), len(c.Points))
		}
		for i, p := range c.Points {
			d := got[i]
			if math.Abs(x(d.x)-p.X) > 0.002 || math.Abs(y(d.y)-p.Y) > 0.002 { // a tenth of 210 units is 0.0005
				t.Errorf("point %v is at %v, %v", p, x(d.x), y(d.y))
			}
			w, h := all[0].number(t, "width"), all[0].number(t, "height")
			if d.x-d.r < 0 || d.y-d.r < 0 || d.x+d.r > w || d.y+d.r > h {
				t.Errorf("dot %v leaves the figure", d)
			}
			for j, other := range c.Points[:i] {
				// Radii of 3 or more have one decimal: within 2%, and the areas' ratio within 7%.
				area := (d.r / got[j].r) * (d.r / got[j].r)
				if min(d.r, got[j].r) > leastDot && math.Abs(area/(p.Weight/other.Weight)-1) > 0.07 {
					t.Errorf("the areas of %v and %v are as %v to 1", p, other, area)
				}
			}
		}
	})
}

func TestImages(t *testing.T) {
	c := grid()
	all := draw(t, c)
	has(t, words(all), append(slices.Clone(c.Rows), c.Columns...)...)
	var pictures []element
	for _, e := range all {
		if e.name == "image" {
			pictures = append(pictures, e)
		}
	}
	if len(pictures) != 3 {
		t.Fatalf("%d images, want 3 and an empty frame", len(pictures))
	}
	for k, want := range [][2]uint32{{0, 0xffff}, {0x8080, 0x8080}, {0, 0xffff}} {
		if w, h := pictures[k].number(t, "width"), pictures[k].number(t, "height"); h != w*3/2 {
			t.Errorf("image is %v × %v, want a ratio of 2 to 3", w, h)
		}
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(pictures[k].attr["href"], "data:image/png;base64,"))
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		for side := range 2 { // greys have 64 levels
			if got, _, _, _ := img.At(side, 0).RGBA(); math.Abs(float64(got)-float64(want[side])) > 0xffff/63 {
				t.Errorf("image %d: grey %#x, want %#x", k, got, want[side])
			}
		}
	}
}

func TestBar(t *testing.T) {
	for share, want := range map[float64]string{0.5: "50", 2: "100", -1: "0", 0.1234: "12.3"} {
		if got := string(Bar(share)); !strings.Contains(got, "h"+want+"v8") {
			t.Errorf("%v: %s", share, got)
		}
	}
	if !strings.Contains(string(Bar(nan)), "h0v8") {
		t.Error("NaN has a bar")
	}
}

// TestHostileNames: a name is text, whatever it says.
func TestHostileNames(t *testing.T) {
	names := []string{
		`</text><script>alert(1)</script>`, `" onload="x`, `a & b ]]> <!-- c`, "tab\tline\nfeed \x00\x07 \xff",
		"日本語 ∑ \u202e", strings.Repeat("long", 40), "",
	}
	x := []float64{1, 2}
	lines := Lines{Title: names[0], XLabel: names[1], YLabel: names[2]}
	groups := []Group{{Name: names[0]}, {Name: names[5], Boxes: []Box{{}}}}
	boxes := Boxes{Title: names[1], XLabel: names[3], Groups: groups}
	images := Images{Title: names[5], Width: 1, Height: 1, Rows: []string{names[0]}, Cells: [][][]float64{nil}}
	dots := Dots{Title: names[2], XLabel: names[0], Ring: names[0], Full: names[1], Rule: names[3]}
	square := Square{Title: names[0], XLabel: names[2], YLabel: names[5]}
	for i, name := range names {
		lines.Series = append(lines.Series, Series{Name: name, X: x, Y: x, Colour: i})
		boxes.Groups[0].Boxes = append(boxes.Groups[0].Boxes, Box{Name: name, Values: x, Published: nan, Colour: -i})
		images.Columns, images.Cells[0] = append(images.Columns, name), append(images.Cells[0], []float64{0.5})
		dots.Rows = append(dots.Rows, DotRow{name, name, 0, 1})
		square.Points = append(square.Points, Point{0.5, 0.5, 1, name})
	}
	for _, c := range []Chart{lines, boxes, images, dots, square} {
		all := draw(t, c) // which refuses elements and attributes that are not ours
		if !strings.Contains(strings.ReplaceAll(words(all), " ", ""), "alert(1)") {
			t.Errorf("%T: the name is lost", c)
		}
	}
}

func TestErrorsNameWhatIsWrong(t *testing.T) {
	inf, two := math.Inf(1), []float64{1, 2}
	series := func(s Series) Lines { return Lines{Title: "T", Series: []Series{s}} }
	logs := func(s Series) Lines { return Lines{LogY: true, LogX: true, Series: []Series{s}} }
	boxes := func(b Box) Boxes { return Boxes{Groups: []Group{{Name: "G", Boxes: []Box{b}}}} }
	images := func(change func(*Images)) Images {
		c := grid()
		change(&c)
		return c
	}
	for _, c := range []struct {
		chart Chart
		want  string
	}{
		{nil, "there is none"},
		{Lines{Title: "T"}, `no series of "T" has a point`},
		{series(Series{Name: "A", X: two, Y: two[:1]}), `series "A": 2 values of X, 1 of Y`},
		{series(Series{Name: "A", X: two, Y: two, Low: two}), `2 of Low and 0 of High`},
		{series(Series{Name: "A", X: two, Y: two, Low: []float64{0, 3}, High: two}), "the interval of point 2"},
		{series(Series{Name: "A", X: two, Y: two, Low: []float64{0, -inf}, High: two}), `series "A": the interval of point 2`},
		{series(Series{Name: "A", X: []float64{1, nan}, Y: two}), `series "A": point 2 is not finite`},
		{series(Series{Name: "A", X: two, Y: []float64{1, inf}}), `series "A": point 2 is not finite`},
		{series(Series{Name: "A", X: two, Y: []float64{1, -1e200}}), `series "A": point 2 is not finite`},
		{series(Series{Name: "A", X: two, Y: []float64{nan, nan}}), `no series of "T" has a point`},
		{logs(Series{Name: "A", X: two, Y: []float64{1, 0}}), `series "A": point 2 is not positive`},
		{logs(Series{Name: "A", X: two, Y: []float64{1, 1e-200}}), `series "A": point 2 is not positive`},
		{logs(Series{Name: "A", X: []float64{-1, 1}, Y: two}), `series "A": point 1 is not positive`},
		{Boxes{Title: "T"}, `"T" has no group`},
		{Boxes{Groups: []Group{{Name: "G"}}}, `group "G" has no box`},
		{boxes(Box{Name: "B", Published: nan}), `group "G", box "B": it has no value`},
		{boxes(Box{Name: "B", Published: inf}), "or the published one is infinite"},
		{boxes(Box{Name: "B", Values: []float64{1, nan}}), `group "G", box "B": value 2 is not finite`},
		{Dots{Title: "T"}, `"T" has no row`},
		{Square{Title: "T", Points: []Point{{0, 1.5, 1, ""}}}, `point 1 of "T" is at 0, 1.5`},
		{Square{Title: "T", Points: []Point{{nan, 0, 1, ""}}}, `point 1 of "T"`},
		{Square{Title: "T", Points: []Point{{0, 0, 0, ""}}}, "with weight 0"},
		{images(func(c *Images) { c.Width = 0 }), "0 × 3"},
		{images(func(c *Images) { c.Rows = nil }), "0 rows"},
		{images(func(c *Images) { c.Cells = c.Cells[:1] }), "cells for 1 rows"},
		{images(func(c *Images) { c.Columns = c.Columns[:1] }), `row "original" has 2 cells`},
		{images(func(c *Images) { c.Cells[0][1] = two }), `row "original", column "second": 2 pixels`},
		{images(func(c *Images) { c.Cells[1][0][5] = nan }), `row "sent", column "first": pixel 6`},
	} {
		svg, err := SVG(c.chart)
		if err == nil || !strings.HasPrefix(err.Error(), "chart: ") || !strings.Contains(err.Error(), c.want) || svg != "" {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
