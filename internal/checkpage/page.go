// Package checkpage writes what concord check found in a site's file as one HTML file
// for the people of the site: no script, no font, no network.
//
// Fill in a [Page] and call [Page.HTML]; [Marked] tells such a file from others. The
// page reads in light and dark and prints on A4. It holds figures of rows, smallest and
// largest values among them, and says so. Every text that is given is escaped.
package checkpage

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"concord/internal/sitepage"
	"concord/table"
	"concord/table/profile"
)

// Page is what the page tells.
type Page struct {
	// Written is when the file was read.
	Written time.Time
	// Report must be set.
	Report *profile.Report
	// Directions say how wide a basis keeps how much of the rows' variation, a line
	// each; nil where that is not known.
	Directions []string
}

//go:embed page.tmpl.html
var source string

var page = sitepage.New(sitepage.Page{Mark: "check", Style: ".cure { display: block; margin-top: 0.2rem; }\n"}, source, template.FuncMap{
	"figure": func(x *float64) string {
		if x == nil {
			return "–"
		}
		return strconv.FormatFloat(*x, 'g', 5, 64)
	},
	"number": func(x float64) string { return strconv.FormatFloat(x, 'g', 5, 64) },
	"lines":  Lines,
	"base":   filepath.Base,
	"share":  share,
})

// Marked reports whether r begins as a page of this package does.
func Marked(r io.Reader) (bool, error) { return page.Marked(r) }

// HTML writes the page as UTF-8; nothing, if it fails.
func (p Page) HTML(w io.Writer) error {
	if p.Report == nil {
		return fmt.Errorf("checkpage: there is no report")
	}
	return page.Write(w, p)
}

// Lines says where the first cells of a finding are: "line 3", "lines 3, 7 and 12 more",
// or "".
func Lines(f profile.Finding) string {
	if len(f.Lines) == 0 {
		return ""
	}
	word := "line"
	if f.Rows {
		word = "row"
	}
	return table.Places(word, f.Lines, max(int(f.Count), len(f.Lines)))
}

// share is a part in per cent.
func share(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	return strconv.FormatFloat(math.Round(1000*float64(part)/float64(whole))/10, 'f', -1, 64) + " %"
}

// Whole is the rows that have a value or none: what shares are of.
func (p Page) Whole() int64 { return int64(p.Report.Rows) }
