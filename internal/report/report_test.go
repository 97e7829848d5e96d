package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/internal/report"
)

func sample() report.Study {
	leaves := []report.Member{
		{Name: "X.npy", Shape: "25 × 8", Bytes: 1728, SHA256: strings.Repeat("0a", 32)},
		{Name: "A.npy", Shape: "30 × 8", Bytes: 2048, SHA256: strings.Repeat("1b", 32)},
	}
	return report.Study{
		Title:    "Three hospitals",
		Made:     time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("", -3600)),
		TestRows: 204,
		Contract: []report.Field{{Name: "basis", Value: "svd, l = 8"}},
		Epoch:    strings.Repeat("2c", 32),
		Phrase:   "anchor basket copper",
		Parties: []report.Party{
			{Name: "Riverside", Rows: 1220, BytesSent: 41234, BytesReceived: 999, Local: report.Scores{ROCAUC: 0.9931, Accuracy: 0.951},
				Collaboration: report.Scores{ROCAUC: 0.9924, Accuracy: 0.951}, Leaves: leaves},
			{Name: "Harbour", Rows: 25, BytesSent: 21234, BytesReceived: 1000, Local: report.Scores{ROCAUC: 0.983, Accuracy: 0.912},
				Collaboration: report.Scores{ROCAUC: 0.994, Accuracy: 0.956}, Leaves: leaves},
		},
		Central: report.Scores{ROCAUC: 0.9945, Accuracy: 0.966},
		Notes:   []string{"A note."},
		Steps:   []report.Step{{Who: "Harbour", What: "contribution to the analyst", Bytes: 21234}, {Who: "analyst", What: "result", Bytes: 999_950}},
	}
}

func render(t interface {
	Helper()
	Fatal(...any)
}, s report.Study) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// element is a start tag with the text directly in it.
type element struct {
	name string
	attr map[string]string
	text string
}

// parse reads the page as XML, in which it is well-formed too, and returns its
// elements in order.
func parse(t interface {
	Helper()
	Fatal(...any)
}, page string) []element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	var all []element
	var open []int
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			open = append(open, len(all))
			all = append(all, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				all[open[len(open)-1]].text += string(token)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	page := html.UnescapeString(render(t, sample()))
	if !strings.HasPrefix(page, "<!DOCTYPE html>\n") {
		t.Errorf("begins with %.40q", page)
	}
	text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
	text = strings.ReplaceAll(text, "\u00a0", " ")
	for _, want := range []string{
		"2 parties, 1,245 training rows, 204 held-out rows. Finished 2 March 2026, 00:30 UTC",
		"ROC-AUC of the smallest site 0.983 → 0.994 Harbour, 25 rows",
		// 0.9924 and 0.9945 are shown as 0.992 and 0.995.
		"Distance from central −0.003", "(Riverside)",
		"Sent by one site 41.2 kB at most; all sites together sent 62.5 kB and received 2.00 kB",
		"Riverside 1220 0.993 0.992 −0.001 0.951 0.951 0.000 41.2 kB 999 B",
		"Harbour 25 0.983 0.994 +0.011 0.912 0.956 +0.044 21.2 kB 1.00 kB",
		"Central 1245 0.995 0.966",
		"the smallest site's model from the collaboration ranks the held-out cases better than the one it can train alone.",
		"scored on 204 rows", "It is no proof of privacy either.", "A note.",
		"X.npy 25 × 8 1.73 kB " + strings.Repeat("0a", 32),
		"1 Harbour contribution to the analyst 21.2 kB 2 analyst result 1.00 MB All 1.02 MB",
		"basis svd, l = 8 epoch " + strings.Repeat("2c", 32) + " phrase anchor basket copper",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// The page fetches nothing and runs nothing, whoever chose its texts, and these
// come out as they went in.
func TestHostileTexts(t *testing.T) {
	const hostile = `</style></title><script>alert(1)</script><img src="https://evil.example/x" onerror='x'>&{{.}}`
	s := sample()
	s.Title, s.Epoch, s.Phrase = hostile, hostile, hostile
	s.Contract = []report.Field{{Name: hostile, Value: hostile}}
	s.Notes = []string{hostile}
	s.Steps[0].Who, s.Steps[0].What = hostile, hostile
	s.Parties[0].Name = hostile
	s.Parties[0].Leaves = []report.Member{{Name: hostile, Shape: hostile, SHA256: hostile}}
	s.Parties[0].HeldOut = heldOut()
	s.Parties[0].HeldOut.Levels, s.Parties[0].HeldOut.Positive = []string{hostile, "b"}, hostile
	page := render(t, s)

	shown := 0
	for _, e := range parse(t, page) {
		switch e.name {
		case "script", "img", "link", "iframe", "object", "embed", "a", "image", "use", "base", "form":
			t.Errorf("the page has an element %s", e.name)
		case "style":
			if strings.Contains(e.text, "url(") || strings.Contains(e.text, "@import") || strings.Contains(e.text, "script") {
				t.Error("the style sheet fetches something")
			}
		}
		for name, value := range e.attr {
			if strings.HasPrefix(name, "on") || name == "src" || name == "href" || name == "style" {
				t.Errorf("%s has the attribute %s=%q", e.name, name, value)
			}
		}
		if e.text == hostile {
			shown++
		}
	}
	// The title twice; the party in both charts, the table and its two sections; a
	// level as a column and a row; field 2, note 1, step 2, member 3, epoch 1. The
	// chart's own text is shortened, and the phrase comes word by word.
	if shown != 18 {
		t.Errorf("the text is shown %d times as it is, want 18", shown)
	}
	plain := render(t, sample())
	if m := regexp.MustCompile(`(?i)https?:|//[a-z]|<script|javascript:|data:`).FindString(plain); m != "" {
		t.Errorf("the page holds %q", m)
	}
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page has no policy against fetching")
	}
}

// svgs returns the elements of each chart.
func svgs(all []element) [][]element {
	var charts [][]element
	inside := false
	for _, e := range all {
		switch {
		case e.name == "svg" && e.attr["role"] == "img":
			charts, inside = append(charts, nil), true
		case e.name == "figure" || e.name == "div" || e.name == "p":
			inside = false
		}
		if inside {
			charts[len(charts)-1] = append(charts[len(charts)-1], e)
		}
	}
	return charts
}

func number(t *rapid.T, e element, name string) float64 {
	x, err := strconv.ParseFloat(e.attr[name], 64)
	if err != nil {
		t.Fatalf("%s: %s=%q is no number", e.name, name, e.attr[name])
	}
	return x
}

// In each chart, positions are one linear, increasing function of the values,
// which the ticks tell; everything lies inside the view box; labels do not cover
// their marks.
func TestChartPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		score := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0.98, 1), rapid.SampledFrom([]float64{0, 0.5, 1, math.NaN(), math.Inf(1)}))
		scores := rapid.Custom(func(t *rapid.T) report.Scores {
			return report.Scores{ROCAUC: score.Draw(t, "ROC-AUC"), Accuracy: score.Draw(t, "accuracy")}
		})
		s := report.Study{Central: scores.Draw(t, "central")}
		for i := range rapid.IntRange(1, 12).Draw(t, "parties") {
			s.Parties = append(s.Parties, report.Party{Name: fmt.Sprint("p", i), Local: scores.Draw(t, "local"), Collaboration: scores.Draw(t, "collaboration")})
		}
		charts := svgs(parse(t, render(t, s)))
		if len(charts) != 2 {
			t.Fatalf("%d charts, want 2", len(charts))
		}
		for k, chart := range charts {
			of := func(x report.Scores) float64 { return []float64{x.ROCAUC, x.Accuracy}[k] }
			checkChart(t, chart, s, of)
		}
	})
}

func checkChart(t *rapid.T, chart []element, s report.Study, of func(report.Scores) float64) {
	var box [4]float64
	if _, err := fmt.Sscan(chart[0].attr["viewBox"], &box[0], &box[1], &box[2], &box[3]); err != nil {
		t.Fatal(err)
	}
	type point struct{ value, x float64 }
	var ticks, points []point
	got := map[string][]float64{}
	for i, e := range chart {
		switch {
		case e.name == "text" && e.attr["dy"] == "20":
			v, err := strconv.ParseFloat(e.text, 64)
			if err != nil {
				t.Fatalf("tick %q", e.text)
			}
			ticks = append(ticks, point{v, number(t, e, "x")})
		case e.name == "circle":
			got[e.attr["class"]] = append(got[e.attr["class"]], number(t, e, "cx"))
			if y := number(t, e, "cy"); y < 0 || y > box[3] {
				t.Errorf("a dot at y = %g in a box %g high", y, box[3])
			}
			label := chart[i+2]
			x, to := number(t, e, "cx"), number(t, label, "x")
			if a := label.attr["text-anchor"]; label.name != "text" || a == "start" && to <= x || a == "end" && to >= x {
				t.Errorf("a dot at %g has its label at %g, anchor %q", x, to, a)
			}
			// A label is less than 50 wide.
			if to < 50 || to > box[2]-45 {
				t.Errorf("a label at %g in a box %g wide", to, box[2])
			}
		case e.name == "line" && e.attr["class"] == "central":
			got["central"] = append(got["central"], number(t, e, "x1"))
		}
	}
	want := map[string][]float64{}
	keep := func(class string, v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			want[class] = append(want[class], v)
		}
	}
	for _, p := range s.Parties {
		keep("local", of(p.Local))
		keep("together", of(p.Collaboration))
	}
	keep("central", of(s.Central))
	for _, class := range []string{"local", "together", "central"} {
		if len(got[class]) != len(want[class]) {
			t.Fatalf("%d marks %s, want %d", len(got[class]), class, len(want[class]))
		}
		for i, v := range want[class] {
			points = append(points, point{v, got[class][i]})
		}
	}

	if len(ticks) < 2 || len(ticks) > 8 {
		t.Fatalf("%d ticks", len(ticks))
	}
	first, last := ticks[0], ticks[len(ticks)-1]
	if first.value < 0 || last.value > 1 {
		t.Errorf("the axis goes from %g to %g for scores from 0 to 1", first.value, last.value)
	}
	for _, p := range slices.Concat(ticks, points) {
		x := first.x + (p.value-first.value)/(last.value-first.value)*(last.x-first.x)
		// Positions are written with two digits.
		if math.Abs(x-p.x) > 0.02 {
			t.Errorf("%g is at %g, the ticks say %g", p.value, p.x, x)
		}
		if p.value < first.value-1e-9 || p.value > last.value+1e-9 {
			t.Errorf("%g is outside the axis from %g to %g", p.value, first.value, last.value)
		}
	}
	slices.SortFunc(points, func(a, b point) int { return int(math.Copysign(1, a.value-b.value)) })
	for i := 1; i < len(points); i++ {
		if points[i].value > points[i-1].value && points[i].x < points[i-1].x {
			t.Errorf("%g is at %g, %g at %g", points[i-1].value, points[i-1].x, points[i].value, points[i].x)
		}
	}
}

func TestNoScores(t *testing.T) {
	nan := report.Scores{ROCAUC: math.NaN(), Accuracy: math.NaN()}
	s := report.Study{Title: "x", Parties: []report.Party{{Name: "a", Local: nan, Collaboration: nan}}, Central: nan}
	page := render(t, s)
	if strings.Contains(page, "NaN") {
		t.Error("the page shows NaN")
	}
	if strings.Contains(page, "ranks the held-out cases") {
		t.Error("the page compares what is not there")
	}
}

func TestLongNames(t *testing.T) {
	s := sample()
	s.Parties[0].Name = strings.Repeat("é", 40)
	page := render(t, s)
	if !strings.Contains(page, ">"+strings.Repeat("é", 19)+"…<title>"+strings.Repeat("é", 40)+"</title>") {
		t.Error("the chart does not shorten a long name, or does not keep it as its title")
	}
}

type brokenWriter struct{ n int }

func (w *brokenWriter) Write([]byte) (int, error) { w.n++; return 0, io.ErrClosedPipe }

func TestErrors(t *testing.T) {
	w := new(brokenWriter)
	if err := report.Write(w, sample()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error is %v, want %v", err, io.ErrClosedPipe)
	}
	w.n = 0
	err := report.Write(w, report.Study{Title: "x"})
	if err == nil || err.Error() != "report: parties is empty, a study has at least one" {
		t.Errorf("error is %v", err)
	}
	if w.n != 0 {
		t.Error("something was written for no parties")
	}
}
