package plots

import (
	"fmt"
	"math"
	"strings"
)

const (
	legendText = 150.0 // widest line of a name in the legend
	keyWidth   = 30.0
)

// key is one entry of a legend.
type key struct {
	lines     []string
	colour    int
	published bool
	grey      bool // the paper's curves in general
}

const keyLeading = tickSize * leading

func (k key) height() float64 { return keyLeading*float64(len(k.lines)) + 6 }

// legend makes an entry for each method; the paper's curve of a method that has
// ours too needs none of its own but says once how the paper's are drawn.
func (c Lines) legend() (keys []key, width, height float64) {
	ours := map[string]bool{}
	for _, s := range c.Series {
		if !s.Published {
			ours[fmt.Sprint(s.Colour, clean(s.Name))] = true
		}
	}
	paper := false
	for _, s := range c.Series {
		name := clean(s.Name)
		if s.Published {
			if ours[fmt.Sprint(s.Colour, name)] {
				paper = true
				continue
			}
			if !strings.Contains(strings.ToLower(name), "published") {
				name += " (published)"
			}
		}
		if !s.drawn() {
			name += " (no value)"
		}
		keys = append(keys, key{wrap(name, tickSize, false, legendText), s.Colour, s.Published, false})
	}
	if paper {
		keys = append(keys, key{lines: []string{"published"}, published: true, grey: true})
	}
	for _, k := range keys {
		width = max(width, widest(k.lines, tickSize, false))
		height += k.height()
	}
	return keys, keyWidth + width, height
}

func (s Series) drawn() bool {
	for _, y := range s.Y {
		if !math.IsNaN(y) {
			return true
		}
	}
	return false
}

func (k key) draw(s *scene, x, y float64) {
	mid := y + tickSize*0.6
	how := paint{line: colourOf(k.colour), width: 1.8}
	if k.published {
		how.dashed, how.width = true, 1.3
	}
	if k.grey {
		how.line = muted
	}
	s.add(&paths{paint: how, subs: []sub{line(x, mid, x+keyWidth-7, mid)}})
	at := []point{{x + (keyWidth-7)/2, mid}}
	if k.grey {
		s.add(&discs{paint{fill: white, line: muted, width: 1.3}, markerSize * 1.45, at})
	} else {
		s.add(markers(at, k.colour, k.published)...)
	}
	for i, l := range k.lines {
		s.add(&label{x: x + keyWidth, y: y + tickSize + keyLeading*float64(i) - 0.6, text: l, size: tickSize, ink: black})
	}
}
