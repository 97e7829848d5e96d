package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

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
	// The title twice; the party in the table and its two sections; a level as a column
	// and a row; field 2, note 1, step 2, member 3, epoch 1. In charts the text is shortened
	// or stands in a sentence, and the phrase comes word by word.
	if shown != 16 {
		t.Errorf("the text is shown %d times as it is, want 16", shown)
	}
	plain := render(t, sample())
	if m := regexp.MustCompile(`(?i)https?:|//[a-z]|<script|javascript:|data:`).FindString(strings.ReplaceAll(plain, `xmlns="http://www.w3.org/2000/svg"`, "")); m != "" {
		t.Errorf("the page holds %q", m)
	}
	if !regexp.MustCompile(`content="default-src &#39;none&#39;; style-src &#39;sha256-[^"]*; base-uri`).MatchString(page) {
		t.Error("the page has no policy against fetching")
	}
}

// TestCharts: both metrics are drawn of all parties, and a curve of each party that has one.
func TestCharts(t *testing.T) {
	s := sample()
	s.Parties[0].HeldOut = heldOut()
	var said []string
	charts := 0
	for _, e := range parse(t, render(t, s)) {
		if e.name == "svg" {
			charts++
		}
		if e.name == "text" {
			said = append(said, e.text)
		}
	}
	all := strings.Join(said, " ")
	for _, want := range []string{
		"ROC-AUC of each party's local model and of the collaboration", "local: own rows only", "central: all rows in one place",
		"Riverside 1,220 rows 0.993 0.992 Harbour 25 rows 0.983 0.994", "0.995", "Accuracy of each party", "Harbour 25 rows 0.912 0.956",
		"Calibration of the model of Riverside", "predicted", "observed",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the charts lack %q: %s", want, all)
		}
	}
	if charts != 3 || strings.Contains(all, "of the model of Harbour") {
		t.Errorf("%d charts, want 3", charts)
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
