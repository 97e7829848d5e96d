package checkpage_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"concord/internal/checkpage"
	"concord/table/profile"
)

func x(v float64) *float64 { return &v }

func sample() checkpage.Page {
	return checkpage.Page{
		Written:    time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Directions: []string{"1 of 6 directions keep less than 60 % of the rows' variation"},
		Report: &profile.Report{
			Study: "Wards <b>", File: "/data/ward & co.csv", Source: "CSV, separated by commas", Rows: 1234, Complete: true,
			People: &profile.People{Count: 1200, Several: 34, Most: 2},
			Problems: []profile.Finding{{Kind: "outside", Feature: "age", Text: "7 values lie outside", Cure: "correct them", Count: 7, Lines: []int{3, 9}},
				{Kind: "header", Text: "a column is missing: <script>alert(1)</script>"}},
			Remarks: []profile.Finding{{Kind: "unit", Feature: "gl\u202eucose", Text: "as if in another unit", Evidence: 17.25}},
			Features: []profile.FeatureReport{
				{Name: "age", Type: "numeric", Unit: "years", Column: 1, Count: 1230, Missing: 4, Rule: "mean", Outside: 7, Min: x(1), Max: x(130), Mean: x(60.25), Deviation: x(10),
					Rest: &profile.RestReport{Count: 10, Mean: 61, Deviation: 9}},
				{Name: "sex", Type: "category", Column: 2, Count: 1234, Levels: []profile.LevelCount{{Level: `f"`, Rows: 600}, {Level: "m", Rows: 634}}},
				{Name: "gone", Type: "numeric"},
			},
			Label: profile.LabelReport{Name: "outcome", Type: "class", Count: 1234, Classes: []profile.LevelCount{{Level: "alive", Rows: 1000}, {Level: "dead", Rows: 234}}},
		},
	}
}

func written(t *testing.T, p checkpage.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The page is well-formed, runs and loads nothing, and its policy is of its own style.
func TestPageIsClosed(t *testing.T) {
	text := written(t, sample())
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.Entity = true, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if name := strings.ToLower(a.Name.Local); name == "src" || name == "href" || name == "style" || strings.HasPrefix(name, "on") {
					t.Errorf("<%s %s>", e.Name.Local, a.Name.Local)
				}
			}
			if e.Name.Local == "script" || e.Name.Local == "link" || e.Name.Local == "form" || e.Name.Local == "iframe" {
				t.Errorf("<%s>", e.Name.Local)
			}
		}
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(text)
	sum := sha256.Sum256([]byte(style[1]))
	policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)[1])
	if !strings.Contains(policy, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("the policy %s does not name the style", policy)
	}
	if strings.Contains(text, "\u202e") || strings.Contains(text, "<b>") || strings.Contains(text, "<script") {
		t.Error("text of the report is not escaped")
	}
	ours, err := checkpage.Marked(strings.NewReader(text))
	if err != nil || !ours {
		t.Errorf("the page is not marked: %v", err)
	}
	if ours, _ := checkpage.Marked(strings.NewReader("<!DOCTYPE html>")); ours {
		t.Error("another page is taken for one")
	}
}

func TestPageTells(t *testing.T) {
	text := html.UnescapeString(written(t, sample()))
	for _, want := range []string{"does not fit", "2 things", "1,234", "lines 3, 9 and 5 more", "correct them", "evidence", "17.25", "not in the file", "mean 61", "0.3 %", "60.25", "keep it here"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	p := sample()
	p.Report.Fits, p.Report.Problems, p.Report.Remarks = true, nil, nil
	p.Report.Label = profile.LabelReport{Name: "stay", Type: "number", Count: 3, Mean: x(2.5)}
	text = written(t, p)
	if strings.Contains(text, "To mend") || !strings.Contains(text, "2.5") || !strings.Contains(text, "nothing stands out") {
		t.Error("a file that fits")
	}
	if err := (checkpage.Page{}).HTML(io.Discard); err == nil {
		t.Error("a page without a report")
	}
}
