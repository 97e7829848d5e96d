package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"concord/internal/chart"
	"concord/internal/sitepage"
)

//go:embed style.css
var style string

//go:embed page.tmpl.html
var source string

var frame = sitepage.New(sitepage.Page{Style: style, Images: true}, source, nil)

// HTML writes the page as one HTML file. It returns an error, having written
// nothing, if a figure cannot be drawn.
func (p Page) HTML(w io.Writer) error {
	if err := p.check(); err != nil {
		return err
	}
	view := view{
		Title: sitepage.Tidy(p.Title), Lead: paragraphs(p.Lead), Facts: p.Facts,
		MarkColumn: markColumn,
	}
	for _, note := range p.Notes {
		view.Notes = append(view.Notes, paragraphs(note)...)
	}
	number := 0
	for i, s := range p.Sections {
		v := viewSection{ID: fmt.Sprintf("s%d", i+1), Title: sitepage.Tidy(s.Title), Text: paragraphs(s.Text), Table: s.Table}
		for _, f := range s.Figures {
			svg, err := chart.SVG(f.Chart)
			if err != nil {
				return fmt.Errorf("page: figure %s: %w", f.Name, err)
			}
			number++
			v.Figures = append(v.Figures, viewFigure{number, sitepage.Tidy(f.Caption), svg})
		}
		view.Sections = append(view.Sections, v)
	}
	return frame.Write(w, view)
}

// view is what the template shows.
type view struct {
	Title      string
	Lead       []string
	Facts      [][2]string
	Sections   []viewSection
	Notes      []string
	MarkColumn string
}

type viewSection struct {
	ID, Title string
	Text      []string
	Table     *Table
	Figures   []viewFigure
}

type viewFigure struct {
	Number  int
	Caption string
	SVG     template.HTML
}

// Class is the look of a column.
func (t Table) Class(column int) string {
	if t.numeric(column) {
		return "n"
	}
	return "text"
}

// Sign is the row's mark by sign and word.
func (r Row) Sign() string { return signs[r.Mark] }
