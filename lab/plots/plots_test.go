package plots_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"concord/lab/plots"
)

// nan is "no published value".
var nan = math.NaN()

// element is a parsed SVG element.
type element struct {
	name string
	attr map[string]string
	text string // of itself and its children
}

// parsed is an SVG and what was found in it.
type parsed struct {
	raw  []byte
	all  []element
	root element
}

func (p parsed) named(name string) []element {
	var out []element
	for _, e := range p.all {
		if e.name == name {
			out = append(out, e)
		}
	}
	return out
}

// words is all visible text, with one space between elements: wrapped names are
// whole again.
func (p parsed) words() string {
	var out []string
	for _, e := range p.named("text") {
		out = append(out, e.text)
	}
	return strings.Join(out, " ")
}

// label is the one text element that says text.
func (p parsed) label(t *testing.T, text string) (x, y float64) {
	t.Helper()
	var found []element
	for _, e := range p.named("text") {
		if e.text == text {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d labels say %q, want one; all: %s", len(found), text, p.words())
	}
	return number(t, found[0].attr["x"]), number(t, found[0].attr["y"])
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatalf("%q is no number", s)
	}
	return v
}

// draw renders the chart both ways, twice, and checks what holds for all charts.
func draw(t *testing.T, c plots.Chart) parsed {
	t.Helper()
	var svg, again, img, imgAgain bytes.Buffer
	for _, step := range []struct {
		write func(io.Writer) error
		to    *bytes.Buffer
	}{{c.SVG, &svg}, {c.SVG, &again}, {c.PNG, &img}, {c.PNG, &imgAgain}} {
		if err := step.write(step.to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(svg.Bytes(), again.Bytes()) || !bytes.Equal(img.Bytes(), imgAgain.Bytes()) {
		t.Error("the same chart gave other bytes")
	}
	p := parse(t, svg.Bytes())
	decoded, err := png.Decode(&img)
	if err != nil {
		t.Fatal(err)
	}
	// The PNG has two pixels to a unit, rounded.
	for side, got := range map[string]int{"width": decoded.Bounds().Dx(), "height": decoded.Bounds().Dy()} {
		if want := 2 * number(t, p.root.attr[side]); math.Abs(float64(got)-want) > 1 {
			t.Errorf("PNG's %s is %d, and the SVG's %s", side, got, p.root.attr[side])
		}
	}
	return p
}

func parse(t *testing.T, raw []byte) parsed {
	t.Helper()
	p := parsed{raw: raw}
	d := xml.NewDecoder(bytes.NewReader(raw))
	var stack []int
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
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			stack = append(stack, len(p.all))
			p.all = append(p.all, e)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			for _, i := range stack {
				p.all[i].text += string(token)
			}
		default:
			t.Errorf("a %T has no place in the file", token)
		}
	}
	p.root = p.all[0]
	known := []string{"svg", "title", "desc", "g", "path", "circle", "text", "tspan", "image"}
	for _, e := range p.all {
		if !slices.Contains(known, e.name) {
			t.Errorf("element %s", e.name)
		}
		for name, value := range e.attr {
			if strings.HasPrefix(name, "on") || name == "id" || name == "style" || name == "class" {
				t.Errorf("attribute %s of %s", name, e.name)
			}
			if strings.Contains(value, ":") && name == "href" && !strings.HasPrefix(value, "data:image/png;base64,") {
				t.Errorf("%s refers to %q", e.name, value)
			}
		}
	}
	if p.root.name != "svg" || p.root.attr["role"] != "img" {
		t.Errorf("root is %s with role %q", p.root.name, p.root.attr["role"])
	}
	if p.all[1].name != "title" || p.all[1].text != p.root.attr["aria-label"] || p.all[2].name != "desc" {
		t.Error("the figure does not begin with its title and description")
	}
	width, height := number(t, p.root.attr["width"]), number(t, p.root.attr["height"])
	for _, e := range p.named("text") {
		if x, y := number(t, e.attr["x"]), number(t, e.attr["y"]); x < 0 || y < 0 || x > width || y > height {
			t.Errorf("%q lies outside the figure at %v, %v", e.text, x, y)
		}
	}
	return p
}

// trials is a typical figure of E1: three models, eight methods, 100 draws.
func trials() plots.Boxes {
	r := rand.New(rand.NewPCG(1, 2))
	c := plots.Boxes{Title: "ROC-AUC over 100 draws", YLabel: "ROC-AUC"}
	for _, model := range []string{"logistic regression", "MLP", "random forest"} {
		g := plots.Group{Name: model}
		for i, method := range []string{"Central", "Local", "OPP", "GOPP", "RDP", "LS", "GEP", "ODC"} {
			b := plots.Box{Name: method, Published: 0.9 - 0.02*float64(i), Colour: i}
			for range 100 {
				b.Values = append(b.Values, b.Published+0.02*r.NormFloat64())
			}
			g.Boxes = append(g.Boxes, b)
		}
		c.Groups = append(c.Groups, g)
	}
	return c
}

// curves is a typical figure of E2: eight methods, four of them published.
func curves() plots.Lines {
	c := plots.Lines{Title: "Accuracy by institutions", XLabel: "Number of institutions", YLabel: "Accuracy"}
	for i, name := range []string{"Central", "Local", "OPP", "GOPP", "RDP", "LS", "GEP", "Orthogonal Data Collaboration, orthonormal bases"} {
		for _, published := range []bool{false, true} {
			if published && i > 3 {
				continue
			}
			s := plots.Series{Name: name, Colour: i, Published: published}
			for x := 1; x <= 10; x++ {
				y := 0.9 - 0.04*float64(i) - 0.3*math.Exp(-float64(x)/3)
				s.X, s.Y = append(s.X, float64(x)), append(s.Y, y)
				s.Low, s.High = append(s.Low, y-0.01), append(s.High, y+0.01)
			}
			c.Series = append(c.Series, s)
		}
	}
	return c
}

func grid() plots.Images {
	c := plots.Images{Title: "Restored", Columns: []string{"first", "second"}, Rows: []string{"original", "sent"}, Width: 2, Height: 3}
	c.Cells = [][][]float64{{{0, 1, 0, 1, 0, 1}, {.5, .5, .5, .5, .5, .5}}, {{-3, 7, 0, 0, 0, 0}, nil}}
	return c
}

func TestTypicalFiguresAreSmall(t *testing.T) {
	for name, c := range map[string]plots.Chart{"boxes": trials(), "lines": curves()} {
		base := filepath.Join(t.TempDir(), "f")
		files, err := plots.WriteFiles(base, c)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(files, []string{base + ".svg", base + ".png"}) {
			t.Errorf("%s: files %v", name, files)
		}
		for i, limit := range []int64{30_000, 80_000} {
			info, err := os.Stat(files[i])
			if err != nil {
				t.Fatal(err)
			}
			if info.Size() > limit {
				t.Errorf("%s: %s has %d bytes, want at most %d", name, filepath.Ext(files[i]), info.Size(), limit)
			}
		}
	}
}

func TestBoxesSayAll(t *testing.T) {
	c := trials()
	p := draw(t, c)
	words := p.words()
	for _, g := range c.Groups {
		if !strings.Contains(words, g.Name) {
			t.Errorf("group %q is not named", g.Name)
		}
	}
	for _, b := range c.Groups[0].Boxes {
		if n := strings.Count(" "+words+" ", " "+b.Name+" "); n != 3 {
			t.Errorf("box %q is named %d times, want 3", b.Name, n)
		}
	}
	for _, s := range []string{"ROC-AUC", "0.7", "0.8", "0.9", "mean", "published", "quartiles and median"} {
		if !strings.Contains(words, s) {
			t.Errorf("%q is not in the figure", s)
		}
	}
	if titles := len(p.named("title")); titles != 1+24 {
		t.Errorf("%d titles, want the figure's and one for each of 24 boxes", titles)
	}
}

// scale finds value = a + b·position from two labels of an axis.
func scale(t *testing.T, p parsed, low, high string, vertical bool) func(float64) float64 {
	t.Helper()
	x1, y1 := p.label(t, low)
	x2, y2 := p.label(t, high)
	p1, p2 := x1, x2
	if vertical {
		// A label's baseline lies below its tick.
		const below = 11 * 0.36
		p1, p2 = y1-below, y2-below
	}
	v1, v2 := number(t, low), number(t, high)
	return func(pos float64) float64 { return v1 + (pos-p1)/(p2-p1)*(v2-v1) }
}

func TestBoxIsWhereItsNumbersAre(t *testing.T) {
	// Quartiles 3, 5 and 7 by definition 7 of Hyndman and Fan; 30 is beyond
	// 7 + 1.5·4 and 10 is not.
	values := []float64{1, 2, 3, 3, 5, 6, 7, 10, 30}
	p := draw(t, plots.Boxes{Title: "one", YLabel: "y", Groups: []plots.Group{
		{Name: "g", Boxes: []plots.Box{{Name: "b", Values: values, Published: nan}}}}})
	value := scale(t, p, "5", "30", true)
	var box element
	for i, e := range p.all {
		if e.name == "title" && strings.Contains(e.text, "g, b") {
			box = p.all[i-1]
			if want := "g, b: median 5, mean 7.444, 9 values"; e.text != want {
				t.Errorf("title %q, want %q", e.text, want)
			}
		}
	}
	// M x y h w v height h -w z
	var x, y, w, h float64
	if _, err := fmt.Sscanf(box.attr["d"], "M%g %gh%gv%gh", &x, &y, &w, &h); err != nil {
		t.Fatalf("path %q: %v", box.attr["d"], err)
	}
	// Positions are rounded to a tenth of a unit, and 30 is some 250 units up.
	const rounding = 0.1
	if q3, q1 := value(y), value(y+h); math.Abs(q3-7) > rounding || math.Abs(q1-3) > rounding {
		t.Errorf("box from %v to %v, want 3 to 7", q1, q3)
	}
	var beyond []float64
	for _, e := range p.named("path") {
		if e.attr["stroke-linecap"] == "round" && e.attr["stroke"] == "#0072b2" {
			var dx, dy float64
			if _, err := fmt.Sscanf(e.attr["d"], "M%g %gh0", &dx, &dy); err != nil {
				t.Fatal(err)
			}
			beyond = append(beyond, value(dy))
			if strings.Count(e.attr["d"], "h0") != 1 {
				t.Errorf("dots %q, want one", e.attr["d"])
			}
		}
	}
	if len(beyond) != 1 || math.Abs(beyond[0]-30) > rounding {
		t.Errorf("values beyond the whiskers at %v, want 30", beyond)
	}
}

func TestFewValuesAreDrawnAsThemselves(t *testing.T) {
	p := draw(t, plots.Boxes{Title: "few", Groups: []plots.Group{{Boxes: []plots.Box{
		{Name: "three", Values: []float64{1, 2, 3}, Published: nan, Colour: 1},
		{Name: "only the paper's", Published: 2}}}}})
	dots := 0
	for _, e := range p.named("path") {
		if e.attr["stroke"] == "#d55e00" {
			dots += strings.Count(e.attr["d"], "h0")
		}
	}
	if dots != 3 {
		t.Errorf("%d dots, want 3", dots)
	}
	words := p.words()
	if !strings.Contains(words, "single values") || strings.Contains(words, "quartiles") || !strings.Contains(words, "published") {
		t.Errorf("legend of single values: %s", words)
	}
}

func TestLinesSayAll(t *testing.T) {
	c := curves()
	p := draw(t, c)
	words := p.words()
	for _, s := range c.Series {
		if !strings.Contains(words, s.Name) {
			t.Errorf("series %q is not named", s.Name)
		}
	}
	for _, s := range []string{"Number of institutions", "Accuracy", "0.4", "0.5", "0.6", "0.7", "0.8", "published", "2", "4", "6", "8", "10"} {
		if !strings.Contains(" "+words+" ", " "+s+" ") {
			t.Errorf("%q is not in the figure", s)
		}
	}
	// The legend begins right of the last tick, which is the last point too.
	last, _ := p.label(t, "10")
	for _, name := range []string{"Central", "GEP", "published"} {
		if x, _ := p.label(t, name); x < last+20 {
			t.Errorf("legend's %q at %v covers the plot, whose last point is at %v", name, x, last)
		}
	}
}

func TestPointsAreWhereTheirNumbersAre(t *testing.T) {
	c := plots.Lines{Title: "t", Series: []plots.Series{{Name: "s", X: []float64{1, 2, 3, 4, 5}, Y: []float64{10, 30, nan, 20, 15}}}}
	p := draw(t, c)
	x, y := scale(t, p, "1", "5", false), scale(t, p, "10", "30", true)
	var subs, dots string
	for _, e := range p.named("path") {
		if e.attr["stroke"] == "#0072b2" && strings.Count(e.attr["d"], "h0") == 4 {
			dots = e.attr["d"]
		} else if e.attr["stroke"] == "#0072b2" && strings.Count(e.attr["d"], "M") == 2 {
			subs = e.attr["d"]
		}
	}
	if subs == "" {
		t.Error("the missing point does not part the curve in two")
	}
	want := [][2]float64{{1, 10}, {2, 30}, {4, 20}, {5, 15}}
	for i, dot := range strings.Split(strings.TrimSuffix(strings.ReplaceAll(dots, "h0", ""), " "), "M")[1:] {
		var px, py float64
		if _, err := fmt.Sscan(dot, &px, &py); err != nil {
			t.Fatal(err)
		}
		// Rounded to a tenth of a unit; 20 are some 290 units.
		if math.Abs(x(px)-want[i][0]) > 0.02 || math.Abs(y(py)-want[i][1]) > 0.02 {
			t.Errorf("point %d at (%v, %v), want %v", i, x(px), y(py), want[i])
		}
	}
	if strings.Count(dots, "M") != len(want) {
		t.Errorf("markers %q, want %d", dots, len(want))
	}
}

func TestLogarithmicAxes(t *testing.T) {
	c := plots.Lines{Title: "t", LogX: true, LogY: true, Series: []plots.Series{
		{Name: "s", X: []float64{100, 1000, 1e6}, Y: []float64{0.01, 0.1, 20}, Low: []float64{-1, 0.05, 15}, High: []float64{0.02, 0.2, 25}}}}
	p := draw(t, c)
	x1, _ := p.label(t, "100")
	x2, _ := p.label(t, "1000")
	x3, _ := p.label(t, "106") // 10⁶, the exponent in a tspan
	// Equal ratios, equal distances, but for positions rounded to a tenth.
	if math.Abs((x3-x2)-3*(x2-x1)) > 0.5 {
		t.Errorf("decades at %v, %v and %v", x1, x2, x3)
	}
	if !strings.Contains(string(p.raw), `>6</tspan>`) {
		t.Error("the exponent is not raised")
	}
	for _, s := range []string{"0.01", "0.1", "1", "10"} {
		p.label(t, s)
	}
}

func TestPublishedAloneIsNamedSo(t *testing.T) {
	one := []float64{1, 2}
	p := draw(t, plots.Lines{Title: "t", Series: []plots.Series{
		{Name: "ours", X: one, Y: one},
		{Name: "theirs", X: one, Y: one, Published: true, Colour: 1},
		{Name: "nothing", X: one, Y: []float64{nan, nan}, Colour: 2},
	}})
	p.label(t, "theirs (published)")
	p.label(t, "nothing (no value)")
	p.label(t, "ours")
}

func TestImages(t *testing.T) {
	c := grid()
	p := draw(t, c)
	for _, name := range append(c.Rows, c.Columns...) {
		p.label(t, name)
	}
	pictures := p.named("image")
	if len(pictures) != 3 {
		t.Fatalf("%d images, want 3 and an empty frame", len(pictures))
	}
	var b bytes.Buffer
	if err := c.PNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range [][2]uint32{{0, 0xffff}, {0x8080, 0x8080}, {0, 0xffff}} {
		a := pictures[k].attr
		x, y, w := number(t, a["x"]), number(t, a["y"]), number(t, a["width"])
		if h := number(t, a["height"]); h != w*3/2 {
			t.Errorf("image is %v × %v, want a ratio of 2 to 3", w, h)
		}
		// Corners of the first row's two pixels. Greys have 64 levels.
		for side, at := range []float64{x + 0.5, x + w - 1} {
			got, _, _, _ := img.At(int(2*at), int(2*y+1)).RGBA()
			if math.Abs(float64(got)-float64(want[side])) > 0xffff/63 {
				t.Errorf("image %d: grey %#x, want %#x", k, got, want[side])
			}
		}
	}
}

func TestManyGroupsWiden(t *testing.T) {
	one := trials()
	few := number(t, draw(t, one).root.attr["width"])
	many := one
	many.Groups = slices.Concat(one.Groups, one.Groups, one.Groups)
	if w := number(t, draw(t, many).root.attr["width"]); w < 2.5*few {
		t.Errorf("nine groups are %v wide, and three %v", w, few)
	}
	for range 4 {
		many.Groups = slices.Concat(many.Groups, many.Groups)
	}
	if err := many.SVG(io.Discard); err == nil || !strings.Contains(err.Error(), "divide it") {
		t.Errorf("a figure of 144 groups: %v", err)
	}
}

func TestHostileNames(t *testing.T) {
	names := []string{`</text><script>alert(1)</script>`, `" onload="x`, `a & b ]]> <!-- c`, "tab\tline\nfeed \x00\x07 \xff", "日本語 ∑ \u202e", strings.Repeat("long", 40)}
	x := []float64{1, 2}
	lines := plots.Lines{Title: names[0], XLabel: names[1], YLabel: names[2]}
	boxes := plots.Boxes{Title: names[1], YLabel: names[3], Groups: []plots.Group{{Name: names[0]}}}
	images := plots.Images{Title: names[5], Width: 1, Height: 1, Rows: []string{names[0]}, Cells: [][][]float64{nil}}
	for i, name := range names {
		lines.Series = append(lines.Series, plots.Series{Name: name, X: x, Y: x, Colour: i})
		boxes.Groups[0].Boxes = append(boxes.Groups[0].Boxes, plots.Box{Name: name, Values: x, Published: nan, Colour: -i})
		images.Columns, images.Cells[0] = append(images.Columns, name), append(images.Cells[0], []float64{0.5})
	}
	for _, c := range []plots.Chart{lines, boxes, images} {
		p := draw(t, c) // which refuses elements and attributes that are not ours
		if !strings.Contains(strings.ReplaceAll(p.words(), " ", ""), "alert(1)") {
			t.Errorf("%T: the name is lost", c)
		}
	}
}

func TestErrorsNameWhatIsWrong(t *testing.T) {
	inf := math.Inf(1)
	two := []float64{1, 2}
	series := func(s plots.Series) plots.Lines { return plots.Lines{Title: "T", Series: []plots.Series{s}} }
	logY := func(s plots.Series) plots.Lines {
		return plots.Lines{LogY: true, LogX: true, Series: []plots.Series{s}}
	}
	boxes := func(b plots.Box) plots.Boxes {
		return plots.Boxes{Groups: []plots.Group{{Name: "G", Boxes: []plots.Box{b}}}}
	}
	images := func(change func(*plots.Images)) plots.Images {
		c := grid()
		change(&c)
		return c
	}
	for _, c := range []struct {
		chart plots.Chart
		want  string
	}{
		{plots.Lines{Title: "T"}, `"T" has no series`},
		{series(plots.Series{Name: " ", X: two, Y: two}), "no name"},
		{series(plots.Series{Name: "A", X: two, Y: two[:1]}), `series "A": 2 values of X and 1 of Y`},
		{series(plots.Series{Name: "A", X: two, Y: two, Low: two}), `series "A": 2 values of Low and 0 of High`},
		{series(plots.Series{Name: "A", X: two, Y: two, Low: []float64{0, 3}, High: []float64{1, 2}}), `series "A": the lower end of point 2 is above the upper one`},
		{series(plots.Series{Name: "A", X: two, Y: two, Low: []float64{0, -inf}, High: two}), `series "A": the interval of point 2`},
		{series(plots.Series{Name: "A", X: []float64{1, nan}, Y: two}), `series "A": the x of point 2 is not finite`},
		{series(plots.Series{Name: "A", X: two, Y: []float64{1, inf}}), `series "A": the y of point 2 is infinite`},
		{series(plots.Series{Name: "A", X: two, Y: []float64{nan, nan}}), `no series of "T" has a point`},
		{series(plots.Series{Name: "A"}), `no series of "T" has a point`},
		{logY(plots.Series{Name: "A", X: two, Y: []float64{1, 0}}), `series "A": the y of point 2 is not positive`},
		{logY(plots.Series{Name: "A", X: []float64{-1, 1}, Y: two}), `series "A": the x of point 1 is not positive`},
		{logY(plots.Series{Name: "A", X: two, Y: two, Low: []float64{-2, -2}, High: []float64{-1, 1}}), `series "A": the upper end of point 1 is not positive`},
		{series(plots.Series{Name: "A", X: two, Y: []float64{1, -1e200}}), `series "A": the y of point 2 is infinite`},
		{logY(plots.Series{Name: "A", X: two, Y: []float64{1, 1e-200}}), `series "A": the y of point 2 is not positive`},
		{plots.Boxes{Title: "T"}, `"T" has no group`},
		{plots.Boxes{Groups: []plots.Group{{Name: "G"}}}, `group "G" has no box`},
		{boxes(plots.Box{Name: "B", Published: nan}), `group "G", box "B": it has neither values`},
		{boxes(plots.Box{Name: "B", Published: inf}), `group "G", box "B": the published value is infinite`},
		{boxes(plots.Box{Name: "B", Values: []float64{1, nan}}), `group "G", box "B": value 2 is not finite`},
		{images(func(c *plots.Images) { c.Width = 0 }), "0 × 3"},
		{images(func(c *plots.Images) { c.Rows = nil }), "0 rows"},
		{images(func(c *plots.Images) { c.Cells = c.Cells[:1] }), "cells for 1 rows"},
		{images(func(c *plots.Images) { c.Columns = c.Columns[:1] }), `row "original" has 2 cells`},
		{images(func(c *plots.Images) { c.Cells[0][1] = two }), `row "original", column "second": 2 pixels`},
		{images(func(c *plots.Images) { c.Cells[1][0][5] = nan }), `row "sent", column "first": pixel 6`},
	} {
		for form, write := range map[string]func(io.Writer) error{"SVG": c.chart.SVG, "PNG": c.chart.PNG} {
			var b bytes.Buffer
			err := write(&b)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "plots: ") {
				t.Errorf("%s: error %v, want one with %q", form, err, c.want)
			}
			if b.Len() > 0 {
				t.Errorf("%s: wrote %d bytes of a chart that cannot be drawn (%s)", form, b.Len(), c.want)
			}
		}
	}
}

func TestWriteFilesLeavesWhatItCannotReplace(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "f")
	if _, err := plots.WriteFiles(base, curves()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(base + ".svg")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plots.WriteFiles(base, plots.Lines{}); err == nil {
		t.Error("a chart of nothing was written")
	}
	after, err := os.ReadFile(base + ".svg")
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed, or %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d files, want 2 (%v)", len(entries), err)
	}
	if _, err := plots.WriteFiles(filepath.Join(dir, "none", "f"), curves()); err == nil {
		t.Error("a figure was written into a folder that is not there")
	}
}
