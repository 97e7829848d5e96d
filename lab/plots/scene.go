package plots

import (
	"image"
	"strings"
	"sync"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
)

// scene is a figure laid out: shapes in the order of painting, in units of 1/96
// inch from the top left corner.
type scene struct {
	w, h        float64
	title, desc string
	shapes      []shape
}

// shape is a *paths, *discs, *label or *picture.
type shape interface{ isShape() }

type point struct{ x, y float64 }

// ink is 0xffRRGGBB, or 0 for none.
type ink uint32

const (
	none  ink = 0
	white ink = 0xffffffff
	black ink = 0xff1a1f24
	muted ink = 0xff4d565f
	rule  ink = 0xffe1e5e9
	axisC ink = 0xff8a939b
	shade ink = 0xfff4f6f8
)

// palette is indexed by Colour, modulo its length. All but the last three have a
// contrast of 3 or more against white.
var palette = [...]ink{
	0xff0072b2, // blue
	0xffd55e00, // vermilion
	0xff009e73, // bluish green
	0xff8c4a1f, // brown, for yellow
	0xff3b3f44, // black
	0xffcc79a7, // reddish purple
	0xff56b4e9, // sky blue
	0xffe69f00, // orange
}

func colourOf(index int) ink {
	n := len(palette)
	return palette[(index%n+n)%n]
}

// mix returns the share t of c on white.
func mix(c ink, t float64) ink {
	out := ink(0xff)
	for shift := 16; shift >= 0; shift -= 8 {
		v := float64(c >> shift & 0xff)
		out = out<<8 | ink(255+t*(v-255)+0.5)
	}
	return out
}

// paint is how a shape is filled and outlined.
type paint struct {
	fill, line ink
	width      float64
	dashed     bool
	opacity    float64 // of the filling; 0 means 1
}

// dash is the pattern of what is dashed, in units.
var dash = [2]float64{5, 3}

// paths are polygons and polylines in one paint. A title is what a pointer that
// rests on them is told.
type paths struct {
	paint
	subs  []sub
	title string
}

type sub struct {
	pts    []point
	closed bool
}

// discs are full circles of one radius, or rings if they have an outline.
type discs struct {
	paint
	r  float64
	at []point
}

type anchor string

const (
	atStart  anchor = ""
	atMiddle anchor = "middle"
	atEnd    anchor = "end"
)

// label is one line of text on the baseline y; sup is a raised exponent after it;
// turned text runs upwards.
type label struct {
	x, y      float64
	text, sup string
	size      float64
	bold      bool
	anchor    anchor
	turned    bool
	ink       ink
}

// picture is an image drawn with each of its pixels as a square.
type picture struct {
	x, y, w, h float64
	img        image.Image
}

func (*paths) isShape()   {}
func (*discs) isShape()   {}
func (*label) isShape()   {}
func (*picture) isShape() {}

func (s *scene) add(shapes ...shape) { s.shapes = append(s.shapes, shapes...) }

func open(pts ...point) sub   { return sub{pts, false} }
func closed(pts ...point) sub { return sub{pts, true} }

func line(x1, y1, x2, y2 float64) sub { return open(point{x1, y1}, point{x2, y2}) }

func rect(x, y, w, h float64) sub {
	return closed(point{x, y}, point{x + w, y}, point{x + w, y + h}, point{x, y + h})
}

// Sizes of type, in units.
const (
	titleSize = 14.0
	nameSize  = 12.0
	tickSize  = 11.0
	leading   = 1.25 // from baseline to baseline, in sizes
)

var faces = sync.OnceValue(func() (f struct{ plain, bold font.Face }) {
	for _, face := range liberation.Collection() {
		switch {
		case face.Font.Variant != "Sans" || face.Font.Style != 0:
		case face.Font.Weight > 0:
			f.bold = face
		default:
			f.plain = face
		}
	}
	return f
})

func faceOf(size float64, bold bool) font.Face {
	face := faces().plain
	if bold {
		face = faces().bold
	}
	face.Font.Size = font.Length(size)
	return face
}

func textWidth(text string, size float64, bold bool) float64 {
	face := faceOf(size, bold)
	return float64(face.Width(text))
}

// supSize is the size of an exponent and supRise how far it is raised, in sizes of
// what it stands beside.
const supSize, supRise = 0.75, 0.35

func (l *label) width() float64 {
	w := textWidth(l.text, l.size, l.bold)
	if l.sup != "" {
		w += textWidth(l.sup, l.size*supSize, l.bold)
	}
	return w
}

// wrap breaks a text into lines no wider than width, at its spaces, or within a
// word that is wider. Nothing is lost. An empty text has no line.
func wrap(text string, size float64, bold bool, width float64) []string {
	var lines []string
	at := ""
	for _, word := range strings.Fields(text) {
		joined := word
		if at != "" {
			joined = at + " " + word
		}
		if textWidth(joined, size, bold) <= width {
			at = joined
			continue
		}
		if at != "" {
			lines = append(lines, at)
		}
		at = ""
		for _, r := range word {
			if at != "" && textWidth(at+string(r), size, bold) > width {
				lines = append(lines, at)
				at = ""
			}
			at += string(r)
		}
	}
	if at != "" {
		lines = append(lines, at)
	}
	return lines
}

func widest(lines []string, size float64, bold bool) float64 {
	most := 0.0
	for _, l := range lines {
		most = max(most, textWidth(l, size, bold))
	}
	return most
}

// heading puts the title at the top left and returns the y below it.
func (s *scene) heading(title string) float64 {
	y := 10.0
	for _, l := range wrap(title, titleSize, true, s.w-2*edge) {
		y += titleSize * leading
		s.add(&label{x: edge, y: y - 4, text: l, size: titleSize, bold: true, ink: black})
	}
	return y + 6
}

// edge is the empty border of every figure.
const edge = 10.0
