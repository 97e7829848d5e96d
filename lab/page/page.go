// Package page writes the report of an experiment: one HTML file that needs nothing
// else, and the same as Markdown, which refers to its figures by their names.
//
// Fill in a [Page] and call [Page.HTML] or [Page.Markdown]. The page reads in light
// and dark and prints; it has no script and takes nothing from outside. Every text
// that is given is escaped in both forms. The same page gives the same bytes.
package page

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"concord/internal/chart"
	"concord/internal/sitepage"
)

// Page is a report.
type Page struct {
	// Title heads the page. It must not be empty.
	Title string
	// Lead says in a sentence or two what was found. It may be empty.
	Lead string
	// Facts are settings, each a name and a value, in the order to be shown.
	Facts [][2]string
	// Sections follow one another.
	Sections []Section
	// Notes are paragraphs at the end.
	Notes []string
}

// Section is a heading with what stands below it, in this order.
type Section struct {
	// Title must not be empty.
	Title string
	// Text is paragraphs, divided by empty lines. It may be empty.
	Text    string
	Table   *Table // or nil
	Figures []Figure
}

// Table is a table of texts. The first column names the rows.
type Table struct {
	Caption string
	Columns []string
	// Numeric marks columns to be aligned to the right. It is as long as
	// Columns, or empty if there are none.
	Numeric []bool
	Rows    []Row
}

// Row is a row of a table.
type Row struct {
	// Cells are as many as the table's columns.
	Cells []string
	// Mark is "", Near or Far. It is shown as colour, sign and word in a
	// column of its own, which a table without marks does not have.
	Mark string
}

// Near and Far are the marks of a row: whether our figure is close to the published
// one by the caller's rule.
const (
	Near = "near"
	Far  = "far"
)

// Figure is a picture with its caption. Figures are numbered through the page.
type Figure struct {
	// Name is the file that holds the figure, seen from the Markdown file's
	// folder: ASCII letters, digits, dots, hyphens and underscores, with
	// slashes between folders.
	Name    string
	Caption string
	// Chart is drawn into the HTML. It may be nil if only Markdown is written.
	Chart chart.Chart
}

// markColumn heads the column of marks.
const markColumn = "Agreement"

// signs says each mark by sign and word.
var signs = map[string]string{Near: "✓ near", Far: "▲ far"}

var figureName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)

// check reports what cannot be shown.
func (p Page) check() error {
	if sitepage.Tidy(p.Title) == "" {
		return fmt.Errorf("page: it has no title")
	}
	for i, s := range p.Sections {
		if sitepage.Tidy(s.Title) == "" {
			return fmt.Errorf("page: section %d has no title", i+1)
		}
		if s.Table != nil {
			if err := s.Table.check(); err != nil {
				return fmt.Errorf("page: section %q: %w", s.Title, err)
			}
		}
		for _, f := range s.Figures {
			if !figureName.MatchString(f.Name) {
				return fmt.Errorf("page: section %q: %q is no name for a figure's file; use letters, digits, dots, hyphens and underscores", s.Title, f.Name)
			}
		}
	}
	return nil
}

func (t Table) check() error {
	if len(t.Columns) == 0 {
		return fmt.Errorf("the table has no column")
	}
	if len(t.Numeric) != 0 && len(t.Numeric) != len(t.Columns) {
		return fmt.Errorf("the table has %d columns, and Numeric has %d", len(t.Columns), len(t.Numeric))
	}
	for i, r := range t.Rows {
		if len(r.Cells) != len(t.Columns) {
			return fmt.Errorf("row %d of the table has %d cells, and there are %d columns", i+1, len(r.Cells), len(t.Columns))
		}
		if _, known := signs[r.Mark]; r.Mark != "" && !known {
			return fmt.Errorf("row %d of the table is marked %q; %q, %q or nothing is known", i+1, r.Mark, Near, Far)
		}
	}
	return nil
}

// Marked says whether the table has a column of marks.
func (t Table) Marked() bool {
	return slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Mark != "" })
}

func (t Table) numeric(column int) bool { return len(t.Numeric) != 0 && t.Numeric[column] }

// paragraphs divides a text at its empty lines.
func paragraphs(text string) []string {
	var out []string
	at := ""
	for line := range strings.Lines(text + "\n\n") {
		if line = sitepage.Tidy(line); line != "" {
			at = strings.TrimSpace(at + " " + line)
		} else if at != "" {
			out = append(out, at)
			at = ""
		}
	}
	return out
}
