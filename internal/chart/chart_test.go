package chart

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
)

var update = flag.Bool("update", false, "write testdata/*.svg anew")

var nan = math.NaN()

// samples are a typical figure of each kind.
func samples() map[string]Chart {
	r := rand.New(rand.NewPCG(1, 2))
	boxes := Boxes{Title: "ROC-AUC over 100 draws", XLabel: "ROC-AUC"}
	for _, model := range []string{"logistic regression", "MLP", "random forest"} {
		g := Group{Name: model}
		for i, method := range []string{"Central", "Local", "OPP", "GOPP", "RDP", "LS", "GEP", "orthonormal/consensus"} {
			b := Box{Name: method, Published: 0.9 - 0.02*float64(i), Colour: i}
			for range 100 {
				b.Values = append(b.Values, b.Published+0.02*r.NormFloat64())
			}
			g.Boxes = append(g.Boxes, b)
		}
		boxes.Groups = append(boxes.Groups, g)
	}
	lines := Lines{Title: "Accuracy by institutions", XLabel: "Number of institutions", YLabel: "Accuracy"}
	for i, name := range []string{"Central", "Local", "OPP", "GOPP", "RDP", "LS", "GEP", "Orthogonal Data Collaboration, orthonormal bases", "ninth"} {
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
		"dots": Dots{Title: "ROC-AUC", XLabel: "ROC-AUC", Ring: "local", Full: "collaboration", Rule: "central", At: 0.985, Rows: []DotRow{
			{"North hospital", "220 rows", 0.987, 0.9868}, {"East hospital", "120 rows", 0.981, 0.985}, {"A clinic of a very long name", "25 rows", 0.973, nan}}},
		"square": Square{Title: "Calibration", XLabel: "predicted", YLabel: "observed", Points: []Point{{0.03, 0.02, 150, "150 rows"}, {0.3, 0.25, 20, ""}, {0.97, 1, 54, ""}}},
		"images": grid(),
	}
}

func grid() Images {
	return Images{Title: "Restored", Columns: []string{"first", "second"}, Rows: []string{"original", "sent"}, Width: 2, Height: 3,
		Cells: [][][]float64{{{0, 1, 0, 1, 0, 1}, {.5, .5, .5, .5, .5, .5}}, {{-3, 7, 0, 0, 0, 0}, nil}}}
}

type element struct {
	name string
	attr map[string]string
	text string // of itself and its children
}

func (e element) number(t rapid.TB, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(e.attr[name], 64)
	if err != nil {
		t.Fatalf("%s=%q of %s is no number", name, e.attr[name], e.name)
	}
	return v
}

// What a figure may consist of: nothing that could run, refer or restyle, and no
// identifier.
var (
	elements   = strings.Fields("svg title desc path text tspan image")
	attributes = strings.Fields(`xmlns viewBox width height role aria-label font-family font-size font-weight text-anchor textLength
		lengthAdjust fill stroke stroke-width stroke-dasharray stroke-linejoin paint-order d x y dy transform href
		image-rendering preserveAspectRatio`)
	place = regexp.MustCompile(`[ML](-?[\d.]+) (-?[\d.]+)(?:a([\d.]+))?`)
)

// draw draws a figure twice, checks what holds for all, and returns its elements.
func draw(t rapid.TB, c Chart) []element {
	t.Helper()
	svg, err := SVG(c)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := SVG(c); again != svg {
		t.Error("the same chart gave other bytes")
	}
	if strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
		t.Error("the figure shows NaN or Inf")
	}
	var all []element
	var stack []int
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attr: map[string]string{}}
			if token.Name.Space != "http://www.w3.org/2000/svg" || !slices.Contains(elements, e.name) || (e.name == "svg") != (len(all) == 0) {
				t.Errorf("element %v", token.Name)
			}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
				if a.Name.Space != "" || !slices.Contains(attributes, a.Name.Local) {
					t.Errorf("attribute %v of %s", a.Name, e.name)
				}
				if a.Name.Local == "href" && !(e.name == "image" && strings.HasPrefix(a.Value, "data:image/png;base64,")) ||
					a.Name.Local != "aria-label" && strings.Contains(strings.ToLower(a.Value), "url(") {
					t.Errorf("%s refers to %q", e.name, a.Value)
				}
			}
			stack, all = append(stack, len(all)), append(all, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			for _, i := range stack {
				all[i].text += string(token)
			}
		default: // declarations, comments and CDATA mean something else to a parser of HTML
			t.Errorf("a %T has no place in the figure", token)
		}
	}
	root := all[0]
	if root.attr["role"] != "img" || all[1].name != "title" || all[1].text != root.attr["aria-label"] || all[2].name != "desc" || all[2].text == "" {
		t.Error("the figure does not begin with its title and description")
	}
	w, h := root.number(t, "width"), root.number(t, "height")
	for _, e := range all {
		if e.name == "text" {
			if x, y := e.number(t, "x"), e.number(t, "y"); x < 0 || y < 0 || x > w || y > h {
				t.Errorf("%q lies outside the figure at %v, %v", e.text, x, y)
			}
		}
		for _, p := range place.FindAllStringSubmatch(e.attr["d"], -1) {
			x, y := parse(t, p[1]), parse(t, p[2])
			if x < 0 || y < 0 || x > w+0.1 || y > h+0.1 {
				t.Errorf("a point at %v, %v of a figure of %v × %v", x, y, w, h)
			}
		}
	}
	return all
}

func parse(t rapid.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.Replace(s, "−", "-", 1), 64)
	if err != nil {
		t.Fatalf("%q is no number", s)
	}
	return v
}

// words is all visible text.
func words(all []element) string {
	var out []string
	for _, e := range all {
		if e.name == "text" {
			out = append(out, e.text)
		}
	}
	return strings.Join(out, " ")
}

func has(t *testing.T, where string, fragments ...string) {
	t.Helper()
	for _, f := range fragments {
		if !strings.Contains(" "+where+" ", " "+f+" ") {
			t.Errorf("the figure does not say %q: %s", f, where)
		}
	}
}

// label is the place of the one text that says s.
func label(t rapid.TB, all []element, s string) (x, y float64) {
	t.Helper()
	n := 0
	for _, e := range all {
		if e.name == "text" && e.text == s {
			n++
			x, y = e.number(t, "x"), e.number(t, "y")
		}
	}
	if n != 1 {
		t.Fatalf("%d texts say %q, want one: %s", n, s, words(all))
	}
	return x, y
}

// across and up find the value at a position from two labels of an axis.
func across(t rapid.TB, all []element, low, high string) func(float64) float64 {
	x1, _ := label(t, all, low)
	x2, _ := label(t, all, high)
	return linear(x1, parse(t, low), x2, parse(t, high))
}

func up(t rapid.TB, all []element, low, high string) func(float64) float64 {
	_, y1 := label(t, all, low)
	_, y2 := label(t, all, high)
	return linear(y1-textSize*below, parse(t, low), y2-textSize*below, parse(t, high))
}

func linear(p1, v1, p2, v2 float64) func(float64) float64 {
	return func(p float64) float64 { return v1 + (p-p1)/(p2-p1)*(v2-v1) }
}

// circle is a disc or a ring that was drawn.
type circle struct {
	x, y, r    float64
	fill, line string
}

func circles(t rapid.TB, all []element) []circle {
	var out []circle
	for _, e := range all {
		for _, p := range place.FindAllStringSubmatch(e.attr["d"], -1) {
			if p[3] != "" {
				r := parse(t, p[3])
				out = append(out, circle{parse(t, p[1]) + r, parse(t, p[2]), r, e.attr["fill"], e.attr["stroke"]})
			}
		}
	}
	return out
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
	has(t, words(all), "Number of institutions", "Accuracy", "0.4", "0.9", "published", "2", "10", "Central", "Orthogonal Data")
	last, _ := label(t, all, "10")
	for _, name := range []string{"Central", "GEP", "published"} {
		if x, _ := label(t, all, name); x < last+20 {
			t.Errorf("the legend's %q at %v covers the plot, whose last point is at %v", name, x, last)
		}
	}
	one := []float64{1, 2}
	has(t, words(draw(t, Lines{Title: "t", Series: []Series{{Name: "ours", X: one, Y: one}, {Name: "theirs", X: one, Y: one, Published: true}}})), "ours theirs (published)")
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
			s.Y = append(s.Y, rapid.SampledFrom([]float64{nan, scale * rapid.Float64Range(0, 1).Draw(t, "y")}).Draw(t, "or gap"))
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
	all := draw(t, Lines{Title: "t", Series: []Series{{Name: "s", X: []float64{1, 2, 3, 4, 5}, Y: []float64{10, 30, nan, 20, 15}}}})
	x, y := across(t, all, "1", "5"), up(t, all, "10", "30")
	for i, want := range [][2]float64{{1, 10}, {2, 30}, {4, 20}, {5, 15}} {
		p := circles(t, all)[i]
		// One decimal of some 400 units for 4, and of 290 for 20.
		if math.Abs(x(p.x)-want[0]) > 0.02 || math.Abs(y(p.y)-want[1]) > 0.02 {
			t.Errorf("point %d at %v, %v, want %v", i, x(p.x), y(p.y), want)
		}
	}
	if !slices.ContainsFunc(all, func(e element) bool { return e.attr["stroke-width"] == "1.8" && strings.Count(e.attr["d"], "M") == 2 }) {
		t.Error("the gap does not part the curve in two")
	}
}

func TestLogarithmicAxes(t *testing.T) {
	all := draw(t, Lines{Title: "t", LogX: true, LogY: true, Series: []Series{
		{Name: "s", X: []float64{100, 1000, 1e6}, Y: []float64{0.01, 0.1, 20}, Low: []float64{-1, 0.05, 15}, High: []float64{0.02, 0.2, 25}}}})
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
	has(t, words(all), "logistic regression", "MLP", "random forest", "ROC-AUC", "0.70", "0.90", "mean", "published", "quartiles and median")
	for _, b := range c.Groups[0].Boxes {
		if n := strings.Count(" "+words(all)+" ", " "+b.Name+" "); n != 3 {
			t.Errorf("box %q is named %d times, want 3", b.Name, n)
		}
	}
}

// TestBoxIsWhereItsNumbersAre: quartiles 3, 5 and 7 by definition 7 of Hyndman and Fan;
// 30 is beyond 7 + 1.5·4 and 10 is not.
func TestBoxIsWhereItsNumbersAre(t *testing.T) {
	values := []float64{1, 2, 3, 3, 5, 6, 7, 10, 30}
	all := draw(t, Boxes{Title: "one", Groups: []Group{{Name: "g", Boxes: []Box{{Name: "b", Values: values, Published: nan}}}}})
	x := across(t, all, "5", "30")
	at := func(e element) (xs []float64) {
		for _, p := range place.FindAllStringSubmatch(e.attr["d"], -1) {
			xs = append(xs, x(parse(t, p[1])))
		}
		return xs
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.02 { // some 18 units for 1
			t.Errorf("%s at %v, want %v", what, got, want)
		}
	}
	for i, e := range all {
		switch {
		case e.name == "title" && i > 1:
			if want := "g, b: median 5, mean 7.444, 9 values"; e.text != want {
				t.Errorf("title %q, want %q", e.text, want)
			}
			box, whiskers, median := at(all[i-1]), at(all[i-2]), at(all[i+1])
			near("the lower quartile", slices.Min(box), 3)
			near("the upper quartile", slices.Max(box), 7)
			near("the lower whisker", slices.Min(whiskers), 1)
			near("the upper whisker", slices.Max(whiskers), 10)
			near("the median", median[0], 5)
		}
	}
	var marks []float64
	for _, c := range circles(t, all) {
		if c.r == 1.7 && c.fill == palette[0].line {
			marks = append(marks, x(c.x))
		}
	}
	if len(marks) != 1 || math.Abs(marks[0]-30) > 0.02 {
		t.Errorf("values beyond the whiskers at %v, want 30", marks)
	}
}

func TestFewValuesAreDrawnAsThemselves(t *testing.T) {
	all := draw(t, Boxes{Title: "few", Groups: []Group{{Boxes: []Box{
		{Name: "three", Values: []float64{1, 2, 3}, Published: nan, Colour: 1}, {Name: "only the paper's", Published: 2}}}}})
	dots := 0
	for _, c := range circles(t, all) {
		if c.fill == palette[1].line {
			dots++
		}
	}
	if said := words(all); dots != 3 || !strings.Contains(said, "single values") || strings.Contains(said, "quartiles") || !strings.Contains(said, "published") {
		t.Errorf("%d dots, want 3; legend: %s", dots, said)
	}
}

// TestDotsPositions: positions are one increasing function of the scores, which the ticks
// tell; the axis of scores stays between 0 and 1; labels do not cover their marks.
func TestDotsPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0.98, 1), rapid.SampledFrom([]float64{0, 0.5, 1, nan, math.Inf(1)}))
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
		for i, e := range all {
			if e.attr["paint-order"] == "" {
				continue
			}
			mark := circles(t, all[i-2:i]) // the mark and its title
			end := e.number(t, "x")
			if len(mark) != 1 || e.attr["text-anchor"] == "end" && end >= mark[0].x-mark[0].r || e.attr["text-anchor"] == "" && end <= mark[0].x+mark[0].r {
				t.Errorf("a mark %v has its label at %v, anchor %q", mark, end, e.attr["text-anchor"])
			}
		}
	})
}

// TestSquarePositions: points lie where both axes say, inside the figure, and their area
// grows with their weight.
func TestSquarePositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0, 1)
		c := Square{Title: "t", XLabel: "x", YLabel: "y", Points: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Point {
			return Point{share.Draw(t, "x"), share.Draw(t, "y"), float64(rapid.IntRange(1, 500).Draw(t, "weight")), ""}
		}), 1, 8).Draw(t, "points")}
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
			if d.x-d.r < 0 || d.y-d.r < 0 || d.x+d.r > all[0].number(t, "width") || d.y+d.r > all[0].number(t, "height") {
				t.Errorf("dot %v leaves the figure", d)
			}
			for j, other := range c.Points[:i] {
				if p.Weight > other.Weight && d.r < got[j].r {
					t.Errorf("the heavier of %v and %v is smaller", p, other)
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
	names := []string{`</text><script>alert(1)</script>`, `" onload="x`, `a & b ]]> <!-- c`, "tab\tline\nfeed \x00\x07 \xff", "日本語 ∑ \u202e", strings.Repeat("long", 40), ""}
	x := []float64{1, 2}
	lines := Lines{Title: names[0], XLabel: names[1], YLabel: names[2]}
	boxes := Boxes{Title: names[1], XLabel: names[3], Groups: []Group{{Name: names[0]}, {Name: names[5], Boxes: []Box{{}}}}}
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
		{series(Series{Name: "A", X: two, Y: two, Low: []float64{0, 3}, High: []float64{1, 4}}), `series "A": the interval of point 2`},
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
		{boxes(Box{Name: "B", Published: inf}), `group "G", box "B": it has no value, or the published one is infinite`},
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
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "chart: ") || svg != "" {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}
