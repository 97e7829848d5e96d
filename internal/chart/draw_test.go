package chart

import (
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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
	attributes = strings.Fields(`xmlns viewBox width height role aria-label font-family font-size font-weight
		text-anchor textLength lengthAdjust fill stroke stroke-width stroke-dasharray stroke-linejoin paint-order d x y dy transform href
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
			known := token.Name.Space == "http://www.w3.org/2000/svg" && slices.Contains(elements, e.name)
			if !known || (e.name == "svg") != (len(all) == 0) {
				t.Errorf("element %v", token.Name)
			}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
				if a.Name.Space != "" || !slices.Contains(attributes, a.Name.Local) {
					t.Errorf("attribute %v of %s", a.Name, e.name)
				}
				picture := e.name == "image" && strings.HasPrefix(a.Value, "data:image/png;base64,")
				if a.Name.Local == "href" && !picture ||
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
	if root.attr["role"] != "img" || all[1].name != "title" || all[1].text != root.attr["aria-label"] ||
		all[2].name != "desc" || all[2].text == "" {
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
