package page_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"concord/lab/page"
	"concord/lab/plots"
)

// figure is an SVG of each kind that the laboratory draws.
func figure(t *testing.T, c plots.Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.SVG(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func charts() []plots.Chart {
	x := []float64{1, 10, 1e6}
	return []plots.Chart{
		plots.Lines{Title: "curves <&>", LogX: true, Series: []plots.Series{{Name: "a", X: x, Y: x}, {Name: "a", X: x, Y: x, Published: true}}},
		plots.Boxes{Title: "boxes", YLabel: "y", Groups: []plots.Group{{Name: "g", Boxes: []plots.Box{{Name: "b", Values: []float64{1, 2, 3, 4, 5, 50}, Published: math.NaN()}}}}},
		plots.Images{Title: "images", Columns: []string{"c"}, Rows: []string{"r"}, Width: 1, Height: 1, Cells: [][][]float64{{{0.5}}}},
	}
}

func report(t *testing.T) page.Page {
	t.Helper()
	p := page.Page{
		Title: "E1: the three sets",
		Lead:  "All figures agree.\n\nBut for one.",
		Facts: [][2]string{{"seed", "1"}, {"draws", "100"}},
		Sections: []page.Section{{
			Title: "Adult",
			Text:  "A paragraph\nof two lines.\n\n1. is no list, and - is none.",
			Table: &page.Table{
				Caption: "Means of ROC-AUC.",
				Columns: []string{"method", "ours", "published"},
				Numeric: []bool{false, true, true},
				Rows: []page.Row{
					{Cells: []string{"OPP", "0.881", "0.880"}, Mark: page.Near},
					{Cells: []string{"GEP", "0.701", "0.790"}, Mark: page.Far},
					{Cells: []string{"ODC", "0.890", "–"}},
				},
			},
		}},
		Notes: []string{"A note.", "- another"},
	}
	for _, c := range charts() {
		p.Sections[0].Figures = append(p.Sections[0].Figures, page.Figure{Name: "E1/adult-1.svg", Caption: "What it shows.", SVG: figure(t, c)})
	}
	return p
}

func write(t *testing.T, to func(io.Writer) error) string {
	t.Helper()
	var b, again bytes.Buffer
	if err := to(&b); err != nil {
		t.Fatal(err)
	}
	if err := to(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Fatalf("the same page gave other bytes (%v)", err)
	}
	return b.String()
}

// elements counts the elements of a page, which is XML too but for its first line
// and its style sheet.
func elements(t *testing.T, text string) map[string]int {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "<!DOCTYPE html>")))
	d.Entity = xml.HTMLEntity
	count := map[string]int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return count
		}
		if err != nil {
			t.Fatalf("the page is not well formed: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" || a.Name.Local == "style" {
					t.Errorf("attribute %s of %s", a.Name.Local, e.Name.Local)
				}
				if a.Name.Local == "href" && !strings.HasPrefix(a.Value, "data:image/png;base64,") {
					t.Errorf("%s refers to %q", e.Name.Local, a.Value)
				}
			}
		}
	}
}

func TestHTMLSaysAll(t *testing.T) {
	text := write(t, report(t).HTML)
	for _, s := range []string{"E1: the three sets", "<p class=\"lead\">But for one.</p>", "<dt>draws</dt><dd>100</dd>",
		"A paragraph of two lines.", "<caption>Means of ROC-AUC.</caption>",
		`<th scope="row" class="text">OPP</th><td class="n">0.881</td>`, "✓ near", "▲ far", "Agreement",
		"<b>Figure 3.</b> What it shows.", `role="img"`, "A note."} {
		if !strings.Contains(text, s) {
			t.Errorf("%q is not in the page", s)
		}
	}
	count := elements(t, text)
	for name, want := range map[string]int{"script": 0, "link": 0, "iframe": 0, "form": 0, "svg": 3, "image": 1, "table": 1, "tr": 4, "td": 9, "main": 1, "h1": 1} {
		if count[name] != want {
			t.Errorf("%d elements %s, want %d", count[name], name, want)
		}
	}
}

// The policy names the style sheet by its hash: a browser ignores any other.
func TestPolicyMatchesStyle(t *testing.T) {
	text := write(t, report(t).HTML)
	_, rest, _ := strings.Cut(text, "<style>")
	style, _, ok := strings.Cut(rest, "</style>")
	if !ok {
		t.Fatal("no style sheet")
	}
	sum := sha256.Sum256([]byte(style))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if policy == nil {
		t.Fatal("no policy")
	}
	got := html.UnescapeString(policy[1])
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(got, want) {
		t.Errorf("policy %s, want %s in it", got, want)
	}
	if !strings.HasPrefix(got, "default-src 'none';") || strings.Contains(got, "unsafe") || strings.Contains(got, "script") {
		t.Errorf("policy %s", got)
	}
	for _, s := range []string{"prefers-color-scheme: dark", "@media print"} {
		if !strings.Contains(style, s) {
			t.Errorf("the style sheet lacks %s", s)
		}
	}
}

func TestMarkdown(t *testing.T) {
	got := write(t, report(t).Markdown)
	want := `# E1: the three sets

All figures agree.

But for one.

| Setting | Value |
|---|---|
| seed | 1 |
| draws | 100 |

## Adult

A paragraph of two lines.

1\. is no list, and - is none.

Means of ROC-AUC.

| method | ours | published | Agreement |
|---|---:|---:|---|
| OPP | 0.881 | 0.880 | ✓ near |
| GEP | 0.701 | 0.790 | ▲ far |
| ODC | 0.890 | – |  |

![Figure 1](E1/adult-1.svg)

Figure 1. What it shows.

![Figure 2](E1/adult-1.svg)

Figure 2. What it shows.

![Figure 3](E1/adult-1.svg)

Figure 3. What it shows.

## Notes

A note.

\- another
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Texts that would be markup, in every place that takes a text.
var hostile = []string{
	`</td></table><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `a | b || c \| d`, "row\nend | x\r\n\r\n# title",
	"`code` **bold** _slanted_ ~~gone~~", `[link](javascript:alert(1)) ![i](http://x)`, `&lt;script&gt; &amp; $x$`, "# h", "- item", "3) item", "> quote",
	"```", "---", "\\", "\xff\x00\x1b[31m", "a_b svm_linear", "=====",
}

func hostilePage() page.Page {
	var p page.Page
	for _, h := range hostile {
		p.Facts = append(p.Facts, [2]string{h, h})
		p.Notes = append(p.Notes, h)
		p.Sections = append(p.Sections, page.Section{Title: h, Text: h, Table: &page.Table{
			Caption: h, Columns: []string{h, h}, Rows: []page.Row{{Cells: []string{h, h}, Mark: page.Far}}}})
	}
	p.Title, p.Lead = hostile[0], hostile[1]
	return p
}

func TestHostileNamesAreNoHTML(t *testing.T) {
	text := write(t, hostilePage().HTML)
	count := elements(t, text)
	known := strings.Fields("html head meta title style body main header p h1 h2 section div dl dt dd table caption thead tbody tr th td")
	for name := range count {
		if !slices.Contains(known, name) {
			t.Errorf("a text became an element %s", name)
		}
	}
	if n := len(hostile); count["table"] != n || count["tr"] != 2*n || count["td"] != 2*n {
		t.Errorf("%d tables, %d rows, %d cells, want %d, %d, %d", count["table"], count["tr"], count["td"], n, 2*n, 2*n)
	}
}

func TestHostileNamesDoNotBreakMarkdown(t *testing.T) {
	text := write(t, hostilePage().Markdown)
	escape := regexp.MustCompile(`\\[[:punct:]]|&(amp|lt|gt|#36);`)
	tables, headings := 0, 0
	for _, line := range strings.Split(text, "\n") {
		// What is left without the escapes has no markup but ours.
		left := escape.ReplaceAllString(line, "")
		if strings.ContainsAny(left, "`*<>[]~&$\\") {
			t.Errorf("line %q", line)
		}
		if strings.HasPrefix(line, "|") {
			tables++
			if bars := strings.Count(left, "|"); bars != 3 && bars != 4 {
				t.Errorf("a row of %d bars: %q", bars, line)
			}
			continue
		}
		if strings.Contains(left, "|") {
			t.Errorf("a bar outside of a table: %q", line)
		}
		if strings.HasPrefix(line, "#") {
			headings++
			left = strings.TrimLeft(left, "# ")
		} else if regexp.MustCompile(`^\s*([-+=>#]|\d+[.)])`).MatchString(line) {
			t.Errorf("a text became a block: %q", line)
		}
		if strings.Contains(left, "#") {
			t.Errorf("a heading in a text: %q", line)
		}
	}
	// Settings, and a table of three lines in each section.
	if n := len(hostile); tables != 2+n+3*n || headings != 1+n+1 {
		t.Errorf("%d rows and %d headings, want %d and %d", tables, headings, 2+4*n, n+2)
	}
	if !strings.Contains(text, "a_b svm_linear") {
		t.Error("an underscore within a word is escaped, which only harms reading")
	}
	if strings.ContainsAny(text, "\x00\x1b\r") {
		t.Error("control characters are left")
	}
}

func TestFiguresAreChecked(t *testing.T) {
	const open = `<svg xmlns="http://www.w3.org/2000/svg">`
	for _, c := range []struct{ svg, want string }{
		{"", "no SVG"},
		{"hello", "does not begin"},
		{`<?xml version="1.0"?>` + open + `</svg>`, "does not begin"},
		{open + `<script>alert(1)</script></svg>`, `element "script"`},
		{open + `<a href="x"/></svg>`, `element "a"`},
		{open + `<foreignObject/></svg>`, `element "foreignObject"`},
		{open + `<style>*{}</style></svg>`, `element "style"`},
		{open + `<svg/></svg>`, `element "svg"`},
		{open + `<h:path xmlns:h="http://www.w3.org/1999/xhtml"/></svg>`, `element "path"`},
		{`<svg viewBox="0 0 1 1"></svg>`, `element "svg"`},
		{open + `<path onclick="x"/></svg>`, `attribute "onclick"`},
		{open + `<path style="x"/></svg>`, `attribute "style"`},
		{open + `<path id="x"/></svg>`, `attribute "id"`},
		{open + `<path xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="x"/></svg>`, `attribute`},
		{open + `<image href="http://x/y.png"/></svg>`, "outside"},
		{open + `<image href="data:image/svg+xml;base64,AAAA"/></svg>`, "outside"},
		{open + `<path href="data:image/png;base64,AAAA"/></svg>`, "outside"},
		{open + `<path fill="URL(http://x)"/></svg>`, "url()"},
		{open + `<!-- c --></svg>`, "comment"},
		{open + `<text><![CDATA[<script>]]></text></svg>`, "CDATA"},
		{open + `<title><path/></title></svg>`, "in its title"},
		{open + `<path>`, "cannot be read"},
		{open + `</svg><p>`, `element "p"`},
		{open + `</svg>text`, "followed by text"},
		{open + `</svg>` + open + `</svg>`, "2 SVG elements"},
	} {
		p := page.Page{Title: "t", Sections: []page.Section{{Title: "s", Figures: []page.Figure{{Name: "f.svg", SVG: []byte(c.svg)}}}}}
		var b bytes.Buffer
		if err := p.HTML(&b); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "page: figure f.svg: ") {
			t.Errorf("%s: error %v, want one with %q", c.svg, err, c.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: something was written", c.svg)
		}
	}
}

func TestMistakesAreErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*page.Page)
		want   string
	}{
		{func(p *page.Page) { p.Title = " \n" }, "no title"},
		{func(p *page.Page) { p.Sections[0].Title = "" }, "section 1 has no title"},
		{func(p *page.Page) { p.Sections[0].Table.Columns = nil }, `section "Adult": the table has no column`},
		{func(p *page.Page) { p.Sections[0].Table.Numeric = []bool{true} }, "3 columns, and Numeric has 1"},
		{func(p *page.Page) { p.Sections[0].Table.Rows[1].Cells = []string{"x"} }, "row 2 of the table has 1 cells"},
		{func(p *page.Page) { p.Sections[0].Table.Rows[0].Mark = "red" }, `marked "red"`},
		{func(p *page.Page) { p.Sections[0].Figures[0].Name = "../x.svg" }, "no name for a figure's file"},
		{func(p *page.Page) { p.Sections[0].Figures[0].Name = "a b.svg" }, "no name for a figure's file"},
		{func(p *page.Page) { p.Sections[0].Figures[0].Name = "" }, "no name for a figure's file"},
	} {
		p := report(t)
		c.change(&p)
		for _, to := range []func(io.Writer) error{p.HTML, p.Markdown} {
			var b bytes.Buffer
			if err := to(&b); err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
				t.Errorf("error %v and %d bytes, want one with %q and none", err, b.Len(), c.want)
			}
		}
	}
}

func TestTableWithoutMarksHasNoColumnOfThem(t *testing.T) {
	p := report(t)
	for i := range p.Sections[0].Table.Rows {
		p.Sections[0].Table.Rows[i].Mark = ""
	}
	p.Sections[0].Table.Numeric = nil
	for _, text := range []string{write(t, p.HTML), write(t, p.Markdown)} {
		if strings.Contains(text, "Agreement") {
			t.Error("there is a column of marks")
		}
	}
}
