package plots

import (
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
)

// Images is a grid of grey images with captions above the columns and beside the
// rows, such as originals, what parties send and what an attack restores ([nosaka2025],
// figures 2 and 5).
type Images struct {
	Title         string
	Columns, Rows []string
	// Width and Height are those of every image, in pixels.
	Width, Height int
	// Cells[r][c] has Width·Height grey levels, row by row from the top left,
	// from 0 (black) to 1 (white); values beyond are cut. nil is an empty
	// frame. Scaling is the caller's: what is to be compared needs one scale.
	Cells [][][]float64
}

// SVG writes the grid. See [Chart].
func (c Images) SVG(w io.Writer) error { return render(w, c.layout, writeSVG) }

// PNG writes the grid. See [Chart].
func (c Images) PNG(w io.Writer) error { return render(w, c.layout, writePNG) }

// Sizes of a grid.
const (
	cellSide   = 64.0  // about, of an image's longer side
	cellGap    = 6.0   // between images
	rowText    = 130.0 // widest line of a row's caption
	leastWidth = 220.0 // of the figure, so that its title has room
	greyLevel  = 63.0  // steps of grey; more cannot be told apart and double the file
)

func (c Images) check() error {
	switch {
	case c.Width < 1 || c.Height < 1 || c.Width > maxSize || c.Height > maxSize:
		return fmt.Errorf("plots: images of %q are %d × %d; 1 to %d either way are needed", c.Title, c.Width, c.Height, maxSize)
	case len(c.Rows) == 0 || len(c.Columns) == 0:
		return fmt.Errorf("plots: %q has %d rows and %d columns; one or more of each are needed", c.Title, len(c.Rows), len(c.Columns))
	case len(c.Cells) != len(c.Rows):
		return fmt.Errorf("plots: %q has cells for %d rows and captions for %d", c.Title, len(c.Cells), len(c.Rows))
	}
	for r, row := range c.Cells {
		if len(row) != len(c.Columns) {
			return fmt.Errorf("plots: row %q has %d cells, and there are %d columns", c.Rows[r], len(row), len(c.Columns))
		}
		for k, cell := range row {
			if cell != nil && len(cell) != c.Width*c.Height {
				return fmt.Errorf("plots: row %q, column %q: %d pixels; %d × %d are needed", c.Rows[r], c.Columns[k], len(cell), c.Width, c.Height)
			}
			for i, v := range cell {
				if !finite(v) {
					return fmt.Errorf("plots: row %q, column %q: pixel %d is not finite", c.Rows[r], c.Columns[k], i+1)
				}
			}
		}
	}
	return nil
}

func (c Images) layout() (*scene, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	// A pixel is a whole number of units, or of half units, which are pixels
	// of the PNG; larger images are as large as they are.
	scale := max(math.Floor(2*cellSide/float64(max(c.Width, c.Height)))/2, 1.0/pixels)
	w, h := scale*float64(c.Width), scale*float64(c.Height)

	x0, most := edge, 0.0
	for _, name := range c.Rows {
		most = max(most, widest(wrap(clean(name), nameSize, false, rowText), nameSize, false))
	}
	if most > 0 {
		x0 += math.Ceil(most) + 10
	}
	columnText := max(w, cellSide*0.75)
	pitch := max(w, columnText) + cellGap
	s := &scene{w: x0 + pitch*float64(len(c.Columns)) - cellGap + edge, title: clean(c.Title)}
	s.desc = fmt.Sprintf("Grid of grey images, %d rows and %d columns.", len(c.Rows), len(c.Columns))
	s.w = max(s.w, leastWidth)
	y := s.heading(s.title)

	captions, lines := make([][]string, len(c.Columns)), 0
	for k, name := range c.Columns {
		captions[k] = wrap(clean(name), tickSize, false, columnText)
		lines = max(lines, len(captions[k]))
	}
	for k, caption := range captions {
		mid := x0 + pitch*float64(k) + w/2
		for i, l := range caption {
			at := y + tickSize*(0.85+leading*float64(lines-len(caption)+i))
			s.add(&label{x: mid, y: at, text: l, size: tickSize, anchor: atMiddle, ink: black})
		}
	}
	y = math.Ceil(y + tickSize*leading*float64(lines) + 4)

	for r, row := range c.Cells {
		side := wrap(clean(c.Rows[r]), nameSize, false, rowText)
		height := max(h, nameSize*leading*float64(len(side)))
		for i, l := range side {
			at := y + h/2 + nameSize*(0.36+leading*(float64(i)-float64(len(side)-1)/2))
			s.add(&label{x: x0 - 10, y: at, text: l, size: nameSize, anchor: atEnd, ink: black})
		}
		for k, cell := range row {
			x := x0 + pitch*float64(k)
			if cell == nil {
				s.add(&paths{paint: paint{fill: none, line: axisC, width: 1, dashed: true}, subs: []sub{rect(x, y, w, h)}})
				continue
			}
			s.add(&picture{x, y, w, h, c.grey(cell)})
		}
		y += math.Ceil(height) + cellGap
	}
	s.h = y - cellGap + edge
	return s, nil
}

// grey makes an image of few levels, evenly spaced from black to white.
func (c Images) grey(cell []float64) image.Image {
	img := image.NewGray(image.Rect(0, 0, c.Width, c.Height))
	for i, v := range cell {
		level := math.Round(min(max(v, 0), 1) * greyLevel)
		img.SetGray(i%c.Width, i/c.Width, color.Gray{Y: uint8(math.Round(level * 255 / greyLevel))})
	}
	return img
}
