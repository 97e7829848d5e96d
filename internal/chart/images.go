package chart

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
)

// Images is a grid of grey images with captions above the columns and beside the rows,
// such as originals, what parties send and what an attack restores ([nosaka2025], figures 2
// and 5).
type Images struct {
	Title         string
	Columns, Rows []string
	// Width and Height are those of every image, in pixels.
	Width, Height int
	// Cells[r][c] has Width·Height grey levels, row by row from the top left, from 0
	// (black) to 1 (white); values beyond are cut. nil is an empty frame. Scaling is the
	// caller's: what is to be compared needs one scale.
	Cells [][][]float64
}

const (
	cellSide  = 112.0 // at most, of an image's longer side
	cellGap   = 6.0
	rowText   = 140.0 // widest line of a row's caption
	greyLevel = 63.0  // steps of grey; more cannot be told apart and double the file
	mostPixel = 5000  // of an image's side
)

func (c Images) check() error {
	if c.Width < 1 || c.Height < 1 || c.Width > mostPixel || c.Height > mostPixel {
		return fmt.Errorf("images of %q are %d × %d; 1 to %d either way are needed", c.Title, c.Width, c.Height, mostPixel)
	}
	if len(c.Rows) == 0 || len(c.Columns) == 0 || len(c.Cells) != len(c.Rows) {
		return fmt.Errorf("%q has captions for %d rows and %d columns, and cells for %d rows",
			c.Title, len(c.Rows), len(c.Columns), len(c.Cells))
	}
	for r, row := range c.Cells {
		if len(row) != len(c.Columns) {
			return fmt.Errorf("row %q has %d cells, and there are %d columns", c.Rows[r], len(row), len(c.Columns))
		}
		for k, cell := range row {
			if cell != nil && len(cell) != c.Width*c.Height {
				return fmt.Errorf("row %q, column %q: %d pixels; %d × %d are needed",
					c.Rows[r], c.Columns[k], len(cell), c.Width, c.Height)
			}
			for i, v := range cell {
				if !finite(v) {
					return fmt.Errorf("row %q, column %q: pixel %d is not finite", c.Rows[r], c.Columns[k], i+1)
				}
			}
		}
	}
	return nil
}

func (c Images) layout() (*canvas, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	x0, lines := edge, 0
	for _, name := range c.Rows {
		if most := widest(wrap(name, nameSize, rowText), nameSize); most > 0 {
			x0 = max(x0, edge+math.Ceil(most)+10)
		}
	}
	// A pixel is a whole number of half units; larger images are as large as they are.
	side := max(min(cellSide, (figureWidth-edge-x0)/float64(len(c.Columns))-cellGap), cellSide/2)
	scale := max(math.Floor(2*side/float64(max(c.Width, c.Height))), 1) / 2
	w, h := scale*float64(c.Width), scale*float64(c.Height)
	pitch := max(w, cellSide/2) + cellGap
	for _, name := range c.Columns {
		lines = max(lines, len(wrap(name, textSize, pitch-cellGap)))
	}
	s := &canvas{title: c.Title, w: max(x0+pitch*float64(len(c.Columns))-cellGap+edge, 220)}
	s.desc = fmt.Sprintf("Grid of grey images, %d rows and %d columns.", len(c.Rows), len(c.Columns))
	y := s.heading() + 4
	for k, name := range c.Columns {
		s.lines(x0+pitch*float64(k)+w/2, y, name, style{anchor: "middle"}, pitch-cellGap)
	}
	y = math.Ceil(y + textSize*leading*float64(lines-1) + 6)
	for r, row := range c.Cells {
		side := wrap(c.Rows[r], nameSize, rowText)
		mid := y + h/2 + nameSize*(below-leading*float64(len(side)-1)/2)
		s.lines(x0-10, mid, c.Rows[r], style{size: nameSize, anchor: "end"}, rowText)
		for k, cell := range row {
			x := x0 + pitch*float64(k)
			if cell == nil {
				s.put(`<path fill="none" stroke="%v" stroke-dasharray="5 3" d="%v"/>`, axisC, rect(x, y, w, h))
				continue
			}
			data, err := c.grey(cell)
			if err != nil {
				return nil, err
			}
			s.put(`<image image-rendering="pixelated" preserveAspectRatio="none" x="%v" y="%v" width="%v" height="%v" `+
				`href="data:image/png;base64,%v"/>`, x, y, w, h, raw(data))
		}
		y += math.Ceil(max(h, nameSize*leading*float64(len(side)))) + cellGap
	}
	s.h = y - cellGap + edge
	return s, nil
}

// grey is a PNG of few levels, evenly spaced from black to white, in base 64.
func (c Images) grey(cell []float64) (string, error) {
	img := image.NewGray(image.Rect(0, 0, c.Width, c.Height))
	for i, v := range cell {
		level := math.Round(min(max(v, 0), 1) * greyLevel)
		img.SetGray(i%c.Width, i/c.Width, color.Gray{Y: uint8(math.Round(level * 255 / greyLevel))})
	}
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img)
	return base64.StdEncoding.EncodeToString(b.Bytes()), err
}
