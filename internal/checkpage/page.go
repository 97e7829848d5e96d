// Package checkpage writes what concord check found in a site's file as one HTML file
// for the people of the site: no script, no font, no network.
//
// Fill in a [Page] and call [Page.HTML]; [Marked] tells such a file from others. The
// page reads in light and dark and prints on A4. It holds figures of rows, smallest and
// largest values among them, and says so. Every text that is given is escaped.
package checkpage

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"concord/table/profile"
)

// Page is what the page tells.
type Page struct {
	// Written is when the file was read.
	Written time.Time
	// Report must be set.
	Report *profile.Report
	// Directions say how many directions keep how much of the rows' variation, a line
	// each; nil where that is not known.
	Directions []string
}

// mark begins every page, so that a page replaces pages only.
const mark = "<!-- concord check page, format "

// Marked reports whether r begins as a page of this package does.
func Marked(r io.Reader) (bool, error) {
	b, err := io.ReadAll(io.LimitReader(r, int64(len(mark))))
	return string(b) == mark, err
}

//go:embed page.tmpl.html
var source string

//go:embed style.css
var style string

var tmpl = template.Must(template.New("page").Funcs(template.FuncMap{
	"tidy":  tidy,
	"count": count[int64],
	"n":     count[int],
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
	"time":   func(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") },
	"stamp":  func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") },
}).Parse(source))

// view is what the template shows beside the page itself.
type view struct {
	Page
	Style  template.CSS
	Policy string
}

// HTML writes the page as UTF-8; nothing, if it fails.
func (p Page) HTML(w io.Writer) error {
	if p.Report == nil {
		return fmt.Errorf("checkpage: there is no report")
	}
	sum := sha256.Sum256([]byte(style))
	policy := fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
	var b bytes.Buffer
	b.WriteString(mark + "1 -->\n")
	if err := tmpl.Execute(&b, view{p, template.CSS(style), policy}); err != nil {
		return fmt.Errorf("checkpage: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Lines says where the first cells of a finding are: "line 3", "lines 3, 7 and 12 more",
// or "".
func Lines(f profile.Finding) string {
	if len(f.Lines) == 0 {
		return ""
	}
	var list []string
	for _, line := range f.Lines {
		list = append(list, strconv.Itoa(line))
	}
	text := "line " + list[0]
	if len(list) > 1 {
		text = "lines " + strings.Join(list, ", ")
	}
	if more := f.Count - int64(len(list)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
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

// tidy is a text without line feeds, and with a mark in place of what is not text:
// control characters and those that turn the direction of what follows.
func tidy(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r >= 0x7f && r < 0xa0,
			r == 0x061c, r == 0x200e, r == 0x200f,
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069,
			r >= 0xfdd0 && r <= 0xfdef, r&0xfffe == 0xfffe:
			return '\uFFFD'
		}
		return r
	}, s)
}

// count says "1 row" or "1,234 rows"; without a noun, the number alone.
func count[N int | int64](n N, noun string) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	switch {
	case noun == "":
		return digits
	case n == 1:
		return "1 " + noun
	}
	return digits + " " + noun + "s"
}
