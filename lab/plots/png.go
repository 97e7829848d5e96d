package plots

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
)

// pixels to each unit of a scene.
const pixels = 2

// writePNG draws a scene by gonum/plot's rasteriser.
func writePNG(s *scene, w io.Writer) error {
	c := canvas{vgimg.NewWith(vgimg.UseWH(vg.Length(s.w), vg.Length(s.h)), vgimg.UseDPI(int(vg.Inch)*pixels)), s.h}
	for _, sh := range s.shapes {
		switch sh := sh.(type) {
		case *paths:
			var p vg.Path
			for _, one := range sh.subs {
				c.path(&p, one)
			}
			c.paint(p, sh.paint)
		case *discs:
			for _, at := range sh.at {
				var p vg.Path
				p.Move(c.at(at.x+sh.r, at.y))
				p.Arc(c.at(at.x, at.y), vg.Length(sh.r), 0, 2*math.Pi)
				p.Close()
				c.paint(p, sh.paint)
			}
		case *label:
			c.label(sh)
		case *picture:
			c.picture(sh)
		}
	}
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(w, fewer(c.Image()))
}

// canvas turns our axis, down from the top, into gonum/plot's, up from the bottom.
type canvas struct {
	*vgimg.Canvas
	h float64
}

func (c canvas) at(x, y float64) vg.Point { return vg.Point{X: vg.Length(x), Y: vg.Length(c.h - y)} }

func (c canvas) path(p *vg.Path, s sub) {
	p.Move(c.at(s.pts[0].x, s.pts[0].y))
	for _, q := range s.pts[1:] {
		p.Line(c.at(q.x, q.y))
	}
	if s.closed {
		p.Close()
	}
}

func rgba(k ink, opacity float64) color.NRGBA {
	a := uint8(255)
	if opacity != 0 {
		a = uint8(opacity*255 + 0.5)
	}
	return color.NRGBA{R: uint8(k >> 16), G: uint8(k >> 8), B: uint8(k), A: a}
}

func (c canvas) paint(p vg.Path, how paint) {
	if how.fill != none {
		c.SetColor(rgba(how.fill, how.opacity))
		c.Fill(p)
	}
	if how.line == none {
		return
	}
	c.SetColor(rgba(how.line, 0))
	c.SetLineWidth(vg.Length(how.width))
	var pattern []vg.Length
	if how.dashed {
		pattern = []vg.Length{vg.Length(dash[0]), vg.Length(dash[1])}
	}
	c.SetLineDash(pattern, 0)
	c.Stroke(p)
}

func (c canvas) label(l *label) {
	c.Push()
	defer c.Pop()
	c.SetColor(rgba(l.ink, 0))
	back := 0.0
	switch l.anchor {
	case atMiddle:
		back = l.width() / 2
	case atEnd:
		back = l.width()
	}
	// The rasteriser cuts a column off glyphs that begin between two pixels.
	whole := func(v float64) float64 { return math.Round(v*pixels) / pixels }
	if l.turned {
		c.Translate(c.at(whole(l.x), whole(l.y+back)))
		c.Rotate(math.Pi / 2)
	} else {
		c.Translate(c.at(whole(l.x-back), whole(l.y)))
	}
	c.FillString(faceOf(l.size, l.bold), vg.Point{}, l.text)
	if l.sup != "" {
		x, y := textWidth(l.text, l.size, l.bold), l.size*supRise
		c.FillString(faceOf(l.size*supSize, l.bold), vg.Point{X: vg.Length(whole(x)), Y: vg.Length(whole(y))}, l.sup)
	}
}

// picture sets each pixel as a square of pixels.
func (c canvas) picture(p *picture) {
	b := p.img.Bounds()
	to := image.Rect(int(p.x*pixels), int(p.y*pixels), int((p.x+p.w)*pixels), int((p.y+p.h)*pixels))
	for y := to.Min.Y; y < to.Max.Y; y++ {
		for x := to.Min.X; x < to.Max.X; x++ {
			c.Image().Set(x, y, p.img.At(
				b.Min.X+(x-to.Min.X)*b.Dx()/to.Dx(),
				b.Min.Y+(y-to.Min.Y)*b.Dy()/to.Dy()))
		}
	}
}

// fewer reduces an image to a palette of at most 256 colours, which halves the file.
// Colours enter the palette in the order of their frequency, so that papers and inks
// stay as they are; one that is within a tolerance of another in every channel,
// mostly at a smoothed edge, becomes that one. The tolerance is the least that
// does: some 10 of 255 in a chart. Past the largest one the image stays as it is.
func fewer(img image.Image) image.Image {
	b := img.Bounds()
	full := image.NewRGBA(b)
	draw.Draw(full, b, img, b.Min, draw.Src)

	count := map[color.RGBA]int{}
	for at := 0; at < len(full.Pix); at += 4 {
		count[color.RGBA{full.Pix[at], full.Pix[at+1], full.Pix[at+2], 255}]++
	}
	often := slices.SortedFunc(maps.Keys(count), func(p, q color.RGBA) int {
		return cmp.Or(count[q]-count[p], int(p.R)-int(q.R), int(p.G)-int(q.G), int(p.B)-int(q.B))
	})
	for _, tolerance := range []int{0, 4, 8, 12, 18, 26} {
		palette, index := choose(often, tolerance)
		if palette == nil {
			continue
		}
		out := image.NewPaletted(b, palette)
		for i := range out.Pix {
			p := full.Pix[4*i:]
			out.Pix[i] = index[color.RGBA{p[0], p[1], p[2], 255}]
		}
		return out
	}
	return full
}

// choose gives each colour the index of the nearest one that is in the palette when
// its turn comes, or an entry of its own; a palette of more than 256 is nil.
func choose(often []color.RGBA, tolerance int) (color.Palette, map[color.RGBA]uint8) {
	var palette color.Palette
	var in []color.RGBA
	index := map[color.RGBA]uint8{}
	for _, c := range often {
		best, at := tolerance+1, 0
		for i, p := range in {
			if d := max(apart(c.R, p.R), apart(c.G, p.G), apart(c.B, p.B)); d < best {
				best, at = d, i
			}
		}
		if best > tolerance {
			if len(in) == 256 {
				return nil, nil
			}
			at = len(in)
			in, palette = append(in, c), append(palette, c)
		}
		index[c] = uint8(at)
	}
	return palette, index
}

func apart(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }
