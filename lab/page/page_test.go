package page_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"concord/internal/chart"
	"concord/lab/page"
)

func charts() []chart.Chart {
	x := []float64{1, 10, 1e6}
	return []chart.Chart{
		chart.Lines{Title: "curves <&>", LogX: true, Series: []chart.Series{{Name: "a", X: x, Y: x}, {Name: "a", X: x, Y: x, Published: true}}},
		chart.Boxes{Title: "boxes", XLabel: "y", Groups: []chart.Group{{Name: "g", Boxes: []chart.Box{{Name: "b", Values: []float64{1, 2, 3, 4, 5, 50}, Published: math.NaN()}}}}},
		chart.Images{Title: "images", Columns: []string{"c"}, Rows: []string{"r"}, Width: 1, Height: 1, Cells: [][][]float64{{{0.5}}}},
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
		p.Sections[0].Figures = append(p.Sections[0].Figures, page.Figure{Name: "E1/adult-1.svg", Caption: "What it shows.", Chart: c})
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

// TestFigureThatCannotBeDrawn: the page is not written, and the error names the figure.
func TestFigureThatCannotBeDrawn(t *testing.T) {
	for want, c := range map[string]chart.Chart{"page: figure f.svg: chart: there is none": nil, `page: figure f.svg: chart: "x" has no row`: chart.Dots{Title: "x"}} {
		p := page.Page{Title: "t", Sections: []page.Section{{Title: "s", Figures: []page.Figure{{Name: "f.svg", Chart: c}}}}}
		var b bytes.Buffer
		if err := p.HTML(&b); err == nil || !strings.HasPrefix(err.Error(), want) || b.Len() > 0 {
			t.Errorf("error %v and %d bytes, want %q and none", err, b.Len(), want)
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
