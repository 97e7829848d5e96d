package chart

import (
	"encoding/xml"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"concord/internal/sitepage"
)

// canvas collects a figure's elements in the order of painting. A unit is 1/96 inch,
// measured from the top left corner.
type canvas struct {
	strings.Builder
	title, desc string
	w, h        float64
}

const (
	figureWidth = 640.0 // of a figure without a reason to be wider
	edge        = 10.0  // empty border of every figure

	titleSize = 15.0
	nameSize  = 13.0
	textSize  = 12.0
	leading   = 1.25 // from baseline to baseline, in sizes
	below     = 0.36 // from a line's middle to its baseline, in sizes
)

// put writes an element. Numbers among the arguments get one decimal and strings are
// escaped; what is neither, such as raw, stands as it is.
func (c *canvas) put(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case float64:
			args[i] = num(a)
		case string:
			args[i] = esc(a)
		}
	}
	fmt.Fprintf(c, format+"\n", args...)
}

// raw is markup: a path, or elements.
type raw string

// svg is the whole figure.
func (c *canvas) svg() template.HTML {
	var out canvas
	out.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %v %v" width="%[1]v" height="%[2]v" role="img" `+
		`aria-label="%[3]v" font-family="Liberation Sans,Arimo,Helvetica,Arial,sans-serif" font-size="%[4]v" `+
		`fill="%[5]v" stroke-linejoin="round">`, c.w, c.h, c.title, textSize, black)
	out.put(`<title>%v</title>`, c.title)
	out.put(`<desc>%v</desc>`, c.desc)
	out.put(`<path fill="#fff" d="M0 0h%vv%vH0z"/>`, c.w, c.h)
	out.WriteString(c.String() + "</svg>\n")
	return template.HTML(out.String())
}

// style is how a text is set; the zero value is the figure's plain text.
type style struct {
	size   float64 // 0 means textSize
	bold   bool
	anchor string // "", "middle" or "end"
	turned bool   // runs upwards
	ink    string // "" means black
	halo   bool   // white around it, where lines may cross
}

// text writes one line on the baseline y. An exponent may follow. A text of some length
// is held to its width here, so that it does not run into its neighbour in a wider face.
func (c *canvas) text(x, y float64, s string, how style, exponent ...string) {
	attr, size := raw(""), textSize
	if how.size != 0 && how.size != textSize {
		size = how.size
		attr += raw(` font-size="` + num(size) + `"`)
	}
	if how.bold {
		attr += ` font-weight="700"`
	}
	if how.anchor != "" {
		attr += raw(` text-anchor="` + how.anchor + `"`)
	}
	if how.ink != "" {
		attr += raw(` fill="` + how.ink + `"`)
	}
	if how.halo {
		attr += ` stroke="#fff" stroke-width="4" paint-order="stroke"`
	}
	if how.turned {
		attr += raw(fmt.Sprintf(` transform="rotate(-90 %s %s)"`, num(x), num(y)))
	}
	if len(exponent) > 0 && exponent[0] != "" {
		c.put(`<text%v x="%v" y="%v">%v<tspan font-size="%v" dy="-4">%v</tspan></text>`,
			attr, x, y, s, 0.75*size, exponent[0])
		return
	}
	if w := width(s, size); w >= 45 && !how.bold {
		attr += raw(fmt.Sprintf(` textLength="%s" lengthAdjust="spacingAndGlyphs"`, num(w)))
	}
	c.put(`<text%v x="%v" y="%v">%v</text>`, attr, x, y, s)
}

// lines writes a text wrapped to a width, the first line on the baseline y, and returns
// the baseline after the last.
func (c *canvas) lines(x, y float64, s string, how style, most float64) float64 {
	size := how.size
	if size == 0 {
		size = textSize
	}
	for _, l := range wrap(s, size, most) {
		c.text(x, y, l, how)
		y += size * leading
	}
	return y
}

// fitted is a name as far as it fits a width, with dots at the end if there is more.
func fitted(name string, most float64) string {
	if name = sitepage.Tidy(name); width(name, textSize) <= most {
		return name
	}
	runes := []rune(name)
	for len(runes) > 0 && width(string(runes)+"…", textSize) > most {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// heading puts the title at the top left and returns the y below it.
func (c *canvas) heading() float64 {
	return c.lines(edge, edge+titleSize, c.title, style{size: titleSize, bold: true}, (c.w-2*edge)/boldWider) - 2
}

// dashed is a rule that others are compared with.
func (c *canvas) dashed(x1, y1, x2, y2 float64) {
	c.put(`<path fill="none" stroke="%v" stroke-width="1.5" stroke-dasharray="5 4" d="%v"/>`,
		black, polyline(x1, y1, x2, y2))
}

// entry writes a mark of this room and what it means at x, and returns the x of the next.
func (c *canvas) entry(x, y, room float64, text string, mark func(x, y float64)) float64 {
	mark(x+room/2, y)
	c.text(x+room+5, y+textSize*below, text, style{ink: muted})
	return x + room + 5 + width(text, textSize) + 16
}

func rect(x, y, w, h float64) string { return polygon(x, y, x+w, y, x+w, y+h, x, y+h) }

// polygon is a closed path through points in turn x, y.
func polygon(p ...float64) string { return polyline(p...) + "z" }

// polyline is a path through points in turn x, y.
func polyline(p ...float64) string {
	var b strings.Builder
	for i := 0; i+1 < len(p); i += 2 {
		fmt.Fprintf(&b, "%c%s %s", "ML"[min(i, 1)], num(p[i]), num(p[i+1]))
	}
	return b.String()
}

// disc is a circle as a path.
func disc(x, y, r float64) string {
	return fmt.Sprintf("M%s %sa%s %[3]s 0 1 0 %s 0a%[3]s %[3]s 0 1 0-%[4]s 0z", num(x-r), num(y), num(r), num(2*r))
}

// num writes a number with one decimal in the shortest form.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10+0, 'f', -1, 64) // + 0: no negative zero
}

func esc(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(sitepage.Tidy(s))) // a strings.Builder does not fail
	return b.String()
}

// widths of Liberation Sans, which are Arial's and Helvetica's, from the space to the
// tilde, in thousandths of the size.
var widths = [...]float64{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556,
	556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
	667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556,
	556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// boldWider bounds how much wider bold text is, except of the narrowest letters.
const boldWider = 1.12

// width of a text: Latin, Greek and Cyrillic letters are about as wide as a digit, those
// of East Asia as wide as the size.
func width(s string, size float64) float64 {
	var w float64
	for _, r := range s {
		switch {
		case r >= ' ' && r <= '~':
			w += widths[r-' ']
		case r < 0x2e80:
			w += 556
		default:
			w += 1000
		}
	}
	return w * size / 1000
}

// wrap breaks a text into lines no wider than most, at its spaces, or within a word that
// is wider. Nothing is lost. An empty text has no line.
func wrap(text string, size, most float64) []string {
	var lines []string
	at := ""
	for _, word := range strings.Fields(sitepage.Tidy(text)) {
		if joined := strings.TrimSpace(at + " " + word); width(joined, size) <= most {
			at = joined
			continue
		}
		if at != "" {
			lines = append(lines, at)
		}
		at = ""
		for _, r := range word {
			if at != "" && width(at+string(r), size) > most {
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

func widest(lines []string, size float64) float64 {
	most := 0.0
	for _, l := range lines {
		most = max(most, width(l, size))
	}
	return most
}
