package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// What a figure may consist of: the shapes and texts of package lab/plots. Whatever
// could run, refer or restyle is not among them.
var (
	figureElements   = strings.Fields("svg title desc g path circle text tspan image")
	figureAttributes = strings.Fields(`xmlns viewBox width height role aria-label
		font-family font-size font-weight text-anchor textLength lengthAdjust
		fill fill-opacity stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin
		d x y dy cx cy r transform href image-rendering preserveAspectRatio`)
)

// checkSVG refuses what is not one <svg> element of these parts. What passes means
// the same to a parser of HTML as to one of XML: declarations, comments and CDATA,
// which do not, are refused too.
func checkSVG(svg []byte) error {
	if len(svg) == 0 {
		return errors.New("there is no SVG")
	}
	if !bytes.HasPrefix(svg, []byte("<svg ")) {
		return errors.New("the SVG does not begin with its element")
	}
	if bytes.Contains(svg, []byte("<!")) || bytes.Contains(svg, []byte("<?")) {
		return errors.New("the SVG has a declaration, a comment or CDATA")
	}
	d := xml.NewDecoder(bytes.NewReader(svg))
	depth, roots := 0, 0
	var within []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("the SVG cannot be read: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			// In HTML, a title or a description holds HTML.
			if depth > 0 && (within[depth-1] == "title" || within[depth-1] == "desc") {
				return fmt.Errorf("the SVG has an element in its %s", within[depth-1])
			}
			if err := checkElement(token, depth); err != nil {
				return err
			}
			within = append(within, token.Name.Local)
			depth++
		case xml.EndElement:
			depth--
			within = within[:depth]
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(token)) > 0 {
				return errors.New("the SVG is followed by text")
			}
		}
	}
	if roots != 1 {
		return fmt.Errorf("there are %d SVG elements; one is needed", roots)
	}
	return nil
}

func checkElement(e xml.StartElement, depth int) error {
	name := e.Name.Local
	if e.Name.Space != "http://www.w3.org/2000/svg" || !slices.Contains(figureElements, name) || (name == "svg") != (depth == 0) {
		return fmt.Errorf("the SVG has an element %q, which no figure of ours has there", name)
	}
	for _, a := range e.Attr {
		switch {
		case a.Name.Space != "" || !slices.Contains(figureAttributes, a.Name.Local):
			return fmt.Errorf("the SVG has an attribute %q, which no figure of ours has", a.Name.Local)
		case a.Name.Local == "href" && !(name == "image" && strings.HasPrefix(a.Value, "data:image/png;base64,")):
			return errors.New("the SVG refers to something outside")
		case a.Name.Local != "aria-label" && strings.Contains(strings.ToLower(a.Value), "url("):
			return errors.New("the SVG refers to something by url()")
		}
	}
	return nil
}
