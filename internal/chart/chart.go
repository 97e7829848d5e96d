// Package chart draws every figure of the reports, the pages and the laboratory as
// SVG: curves ([Lines]), distributions ([Boxes]), scores of sites ([Dots]), points of
// the unit square ([Square]), grey images ([Images]) and a share ([Bar]).
//
// A method keeps its colour and marker in all figures by the index Colour. The colours
// are those of Okabe and Ito ("Color Universal Design", 2008), with yellow, which is
// lost on white paper, replaced by a brown; curves differ by markers and boxes are named
// below the axis, so no figure needs its colours to be read. Figures of a paper, marked
// Published, are dashed and hollow.
//
// The same chart gives the same bytes. Type is 12 units or larger in a figure that is
// about 640 units wide, dark on white. A figure begins with its title and description,
// its text is text, and it has no script, no style sheet, no identifier that could meet
// another figure's on one page, and nothing from outside. A page with [Images] needs
// img-src data: in its policy. What cannot be drawn is an error that names the series.
package chart

import (
	"errors"
	"fmt"
	"html/template"
	"math"

	"concord/internal/sitepage"
)

// Chart is one of this package's figures.
type Chart interface{ layout() (*canvas, error) }

// SVG draws a figure as one <svg> element, which may stand alone in a file or inside a
// page.
func SVG(c Chart) (template.HTML, error) {
	if c == nil {
		return "", errors.New("chart: there is none")
	}
	s, err := c.layout()
	if err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	return s.svg(), nil
}

// Bar is a bar as long as a share of its cell, for tables that say the share in figures
// beside it. A share beyond 0 and 1 ends there; NaN is 0.
func Bar(share float64) template.HTML {
	if math.IsNaN(share) {
		share = 0
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">`+
		`<path fill="%s" fill-opacity=".2" d="M0 0h100v8H0z"/><path fill="%[1]s" d="M0 0h%sv8H0z"/></svg>`,
		palette[0].line, num(100*min(1, max(0, share)))))
}

// look is how a method is drawn. Tint is its colour at three tenths on white.
type look struct{ line, tint string }

// All but the last three have a contrast of 3 or more against white.
var palette = [...]look{
	{"#0072b2", "#b3d4e8"}, // blue
	{"#d55e00", "#f2cfb3"}, // vermilion
	{"#009e73", "#b3e2d5"}, // bluish green
	{"#8c4a1f", "#dcc9bc"}, // brown
	{"#3b3f44", "#c4c5c7"}, // black
	{"#cc79a7", "#f0d7e5"}, // reddish purple
	{"#56b4e9", "#cce9f8"}, // sky blue
	{"#e69f00", "#f8e2b3"}, // orange
}

func lookOf(colour int) look {
	n := len(palette)
	return palette[(colour%n+n)%n]
}

const (
	black = "#1a1f24" // text and what it names
	muted = "#4d565f" // ticks, notes
	rule  = "#e1e5e9" // lines of the grid
	axisC = "#8a939b"
	shade = "#f4f6f8" // behind every second group
)

// Values up to largest, and from smallest along a logarithmic axis, leave the axes'
// arithmetic far from the ends of the range of float64.
const largest, smallest = 1e100, 1e-100

// finite is false for NaN; infinite is, too: NaN is a gap.
func finite(x float64) bool   { return math.Abs(x) <= largest }
func infinite(x float64) bool { return math.Abs(x) > largest }

// orWord is a label, or a word where there is none.
func orWord(label, word string) string {
	if label = sitepage.Tidy(label); label != "" {
		return label
	}
	return word
}
