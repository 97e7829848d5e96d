package plots

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"
)

// writeSVG writes a scene as one element. Neighbours of one look share a group, and
// positions are relative and have one decimal, which keeps a figure of 24 boxes
// near 10 kB.
func writeSVG(s *scene, w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" role="img" aria-label="%s" font-family="%s" stroke-linejoin="round">`+"\n",
		num(s.w), num(s.h), esc(s.title), fontStack)
	if s.title != "" {
		fmt.Fprintf(&b, "<title>%s</title>\n", esc(s.title))
	}
	fmt.Fprintf(&b, "<desc>%s</desc>\n", esc(s.desc))
	fmt.Fprintf(&b, `<path fill="#fff" d="M0 0H%sV%sH0z"/>`+"\n", num(s.w), num(s.h))

	for i := 0; i < len(s.shapes); {
		look := lookOf(s.shapes[i])
		j := i + 1
		for j < len(s.shapes) && lookOf(s.shapes[j]) == look {
			j++
		}
		own := " " + look
		if j-i > 1 {
			fmt.Fprintf(&b, "<g %s>\n", look)
			own = ""
		}
		for _, sh := range s.shapes[i:j] {
			if err := element(&b, sh, own); err != nil {
				return err
			}
		}
		if j-i > 1 {
			b.WriteString("</g>\n")
		}
		i = j
	}
	b.WriteString("</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// fontStack names faces of the widths that the layout was measured with, then
// whatever there is.
const fontStack = "Liberation Sans,Arimo,Helvetica,Arial,sans-serif"

// heldWidth is from where on a text is held to its measured width: in a wider face,
// if there is none of the stack's, it would run into its neighbour or off the
// figure.
const heldWidth = 45.0

// lookOf is the shape's attributes that neighbours may share.
func lookOf(sh shape) string {
	var a []string
	set := func(name, value string) { a = append(a, name+`="`+value+`"`) }
	switch sh := sh.(type) {
	case *paths:
		paintLook(set, sh.paint)
	case *discs:
		if sh.line != none {
			paintLook(set, sh.paint)
			break
		}
		// A line of no length with round ends is a disc in twelve bytes.
		paintLook(set, paint{line: sh.fill, width: 2 * sh.r})
		set("stroke-linecap", "round")
	case *label:
		set("fill", hex(sh.ink))
		set("font-size", num(sh.size))
		if sh.bold {
			set("font-weight", "700")
		}
		if sh.anchor != atStart {
			set("text-anchor", string(sh.anchor))
		}
	case *picture:
		// For those who know "pixelated" and those who know the older word.
		set("image-rendering", "pixelated")
		set("preserveAspectRatio", "none")
	}
	return strings.Join(a, " ")
}

func paintLook(set func(name, value string), p paint) {
	set("fill", hex(p.fill))
	if p.opacity != 0 {
		set("fill-opacity", strconv.FormatFloat(p.opacity, 'g', 3, 64))
	}
	if p.line == none {
		return
	}
	set("stroke", hex(p.line))
	if p.width != 1 {
		set("stroke-width", strconv.FormatFloat(p.width, 'g', 3, 64))
	}
	if p.dashed {
		set("stroke-dasharray", num(dash[0])+" "+num(dash[1]))
	}
}

func element(b *bytes.Buffer, sh shape, look string) error {
	switch sh := sh.(type) {
	case *paths:
		fmt.Fprintf(b, `<path%s d="`, look)
		for _, p := range sh.subs {
			subPath(b, p)
		}
		if sh.title != "" {
			fmt.Fprintf(b, "\"><title>%s</title></path>\n", esc(sh.title))
		} else {
			b.WriteString("\"/>\n")
		}
	case *discs:
		if sh.line != none {
			for _, p := range sh.at {
				fmt.Fprintf(b, `<circle%s cx="%s" cy="%s" r="%s"/>`+"\n", look, num(p.x), num(p.y), num(sh.r))
			}
			break
		}
		fmt.Fprintf(b, `<path%s d="`, look)
		x := 0
		for i, p := range sh.at {
			// A column of dots shares its x.
			if i > 0 && tenth(p.x) == x {
				fmt.Fprintf(b, "m0 %sh0", tenths(tenth(p.y)-tenth(sh.at[i-1].y)))
				continue
			}
			x = tenth(p.x)
			fmt.Fprintf(b, "M%s %sh0", num(p.x), num(p.y))
		}
		b.WriteString("\"/>\n")
	case *label:
		x, y := num(sh.x), num(sh.y)
		fmt.Fprintf(b, `<text%s x="%s" y="%s"`, look, x, y)
		if sh.turned {
			fmt.Fprintf(b, ` transform="rotate(-90 %s %s)"`, x, y)
		}
		if width := sh.width(); width >= heldWidth && sh.sup == "" {
			fmt.Fprintf(b, ` textLength="%s" lengthAdjust="spacingAndGlyphs"`, num(width))
		}
		fmt.Fprintf(b, ">%s", esc(sh.text))
		if sh.sup != "" {
			fmt.Fprintf(b, `<tspan font-size="%s" dy="-%s">%s</tspan>`, num(sh.size*supSize), num(sh.size*supRise), esc(sh.sup))
		}
		b.WriteString("</text>\n")
	case *picture:
		var img bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&img, sh.img); err != nil {
			return err
		}
		fmt.Fprintf(b, `<image%s x="%s" y="%s" width="%s" height="%s" href="data:image/png;base64,%s"/>`+"\n",
			look, num(sh.x), num(sh.y), num(sh.w), num(sh.h), base64.StdEncoding.EncodeToString(img.Bytes()))
	}
	return nil
}

// subPath writes a path with its first point absolute and the others as steps from
// the rounded point before, so that roundings do not add up.
func subPath(b *bytes.Buffer, p sub) {
	x, y := tenth(p.pts[0].x), tenth(p.pts[0].y)
	fmt.Fprintf(b, "M%s %s", tenths(x), tenths(y))
	for _, q := range p.pts[1:] {
		dx, dy := tenth(q.x)-x, tenth(q.y)-y
		x, y = x+dx, y+dy
		switch {
		case dx == 0 && dy == 0 && len(p.pts) > 2:
		case dy == 0:
			b.WriteString("h" + tenths(dx))
		case dx == 0:
			b.WriteString("v" + tenths(dy))
		case dy < 0:
			b.WriteString("l" + tenths(dx) + tenths(dy))
		default:
			b.WriteString("l" + tenths(dx) + " " + tenths(dy))
		}
	}
	if p.closed {
		b.WriteByte('z')
	}
}

func tenth(v float64) int { return int(math.Round(v * 10)) }

// tenths writes n/10 in the shortest form.
func tenths(n int) string {
	s := strconv.FormatFloat(float64(n)/10, 'f', -1, 64)
	s = strings.Replace(s, "-0.", "-.", 1)
	if strings.HasPrefix(s, "0.") {
		s = s[1:]
	}
	return s
}

func num(v float64) string { return tenths(tenth(v)) }

func hex(c ink) string {
	if c == none {
		return "none"
	}
	s := fmt.Sprintf("%06x", uint32(c)&0xffffff)
	if s[0] == s[1] && s[2] == s[3] && s[4] == s[5] {
		s = string([]byte{s[0], s[2], s[4]})
	}
	return "#" + s
}

func esc(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic("plots: " + err.Error()) // a strings.Builder does not fail
	}
	return b.String()
}
