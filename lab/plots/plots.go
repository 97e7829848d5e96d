// Package plots draws the laboratory's figures: curves, distributions and grids
// of grey images, each as SVG for a page and as PNG for a paper or a slide.
//
// Fill in a [Lines], [Boxes] or [Images] and call its SVG or PNG method, or
// [WriteFiles] for both. A method keeps its colour and its marker in all figures
// by the index Colour: the eight colours are those of Okabe and Ito ("Color
// Universal Design", 2008, jfly.uni-koeln.de/color), with yellow, which is lost on
// white paper, replaced by a brown; curves differ in their markers and boxes are
// named below the axis, so that no figure needs its colours to be read. Figures of
// a paper, marked Published, are dashed and hollow.
//
// The same chart gives the same bytes. The SVG has no script, no style sheet, no
// identifier that could meet another figure's on one page, and nothing from
// outside; its text is text. Both forms are set in Liberation Sans or a face of
// the same widths, and have one layout, which is computed here; the rasteriser
// and the font are gonum/plot's.
//
// The package computes quartiles and means of what it is given for a box and no
// other figure. Whatever cannot be drawn is an error that names the series.
package plots

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Chart is a figure: a [Lines], a [Boxes] or an [Images].
type Chart interface {
	// SVG writes the figure as one <svg> element, which may stand alone or
	// inside a page.
	SVG(w io.Writer) error
	// PNG writes the figure with two pixels to each unit of the SVG.
	PNG(w io.Writer) error
}

// WriteFiles writes the chart as base.svg and base.png and returns the two paths.
// Each file is written beside its place and renamed, so that what stands there is
// always a whole figure; if the chart cannot be drawn, nothing is touched.
func WriteFiles(base string, c Chart) ([]string, error) {
	var svg, png bytes.Buffer
	if err := c.SVG(&svg); err != nil {
		return nil, err
	}
	if err := c.PNG(&png); err != nil {
		return nil, err
	}
	paths := []string{base + ".svg", base + ".png"}
	for i, b := range [][]byte{svg.Bytes(), png.Bytes()} {
		if err := put(paths[i], b); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// put writes beside path and renames. Unlike internal/durable it does not wait for
// the disk: a figure that a power cut takes is drawn again.
func put(path string, b []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".partial-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// render lays a chart out and hands the scene to one of the two writers.
func render(w io.Writer, layout func() (*scene, error), write func(*scene, io.Writer) error) error {
	s, err := layout()
	if err != nil {
		return err
	}
	if s.w > maxSize || s.h > maxSize {
		return fmt.Errorf("plots: the figure would be %.0f × %.0f, and %d is the most either way; divide it", s.w, s.h, maxSize)
	}
	return write(s, w)
}

// maxSize bounds a figure's width and height: its PNG has four times maxSize²
// pixels of four bytes at most, 400 MB, and a page is some 700 units wide.
const maxSize = 5000

// clean makes one line of printable text: a caption with a line break or a control
// character would be drawn as an empty box.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		// U+FFFE and U+FFFF are no characters in XML.
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xFFFE || r == 0xFFFF {
			return '\uFFFD'
		}
		return r
	}, s)
}

// Values up to largest, and from smallest along a logarithmic axis, leave the
// axes' arithmetic far from the ends of the range of float64.
const largest, smallest = 1e100, 1e-100

// finite is false for NaN, too.
func finite(x float64) bool { return math.Abs(x) <= largest }

// infinite is false for NaN, which is a gap.
func infinite(x float64) bool { return math.Abs(x) > largest }
