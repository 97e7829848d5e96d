// Package report writes what a demonstration study did and found as one HTML
// file that needs nothing else: no script, no font, no picture, no network.
//
// Fill in a [Study] and call [Write]. The page reads in light and dark, prints,
// and says the figures of its charts in tables too. It computes no figure:
// scores and sizes come from the caller. Every text that is given is escaped.
package report

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"concord/internal/sitepage"
)

// Study is what the report tells.
type Study struct {
	// Title heads the page.
	Title string
	// Made is when the study was finished. It is shown in UTC.
	Made time.Time
	// TestRows is how many held-out rows all models were scored on; 0 is
	// not shown.
	TestRows int
	// Contract lists what was agreed, in the order to be shown.
	Contract []Field
	// Epoch is the epoch's hash in hexadecimal, Phrase the words that people
	// compared. Either may be empty.
	Epoch, Phrase string
	// Parties are shown in this order. There must be one or more.
	Parties []Party
	// Central is the model trained on all rows in one place.
	Central Scores
	// Notes are paragraphs of the caller.
	Notes []string
	// Steps are what was sent, in the order of time.
	Steps []Step
}

// Field is a name and a value.
type Field struct{ Name, Value string }

// Party is one site.
type Party struct {
	Name string
	// Rows is the number of training rows.
	Rows int
	// BytesSent and BytesReceived count all that crossed the site's border.
	BytesSent, BytesReceived int64
	// Local is the model trained on the site's own rows, Collaboration the
	// one that came back.
	Local, Collaboration Scores
	// HeldOut is what the collaboration's model made of the held-out rows.
	HeldOut HeldOut
	// Leaves lists the members of the bundle that the site contributed.
	Leaves []Member
}

// Scores are those of one model on the held-out rows, each from 0 to 1, or NaN
// where it is not defined.
type Scores struct{ ROCAUC, Accuracy float64 }

// Member is one file of a bundle.
type Member struct {
	Name string
	// Shape is what people read, for example "220 × 8".
	Shape string
	Bytes int64
	// SHA256 is in hexadecimal.
	SHA256 string
}

// Step is one message.
type Step struct {
	Who, What string
	Bytes     int64
}

//go:embed report.tmpl.html
var source string

//go:embed style.css
var style string

var page = sitepage.New(sitepage.Page{Style: style}, source, template.FuncMap{
	"score": formatScore,
	"gain":  formatGain,
	"size":  formatSize,
	"next":  func(i int) int { return i + 1 },
	"share": func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) },
})

// Write writes the report as UTF-8 HTML. It fails if there is no party, a
// party's HeldOut contradicts itself, or w fails; nothing is written in the first
// two cases.
func Write(w io.Writer, s Study) error {
	if len(s.Parties) == 0 {
		return errors.New("report: parties is empty, a study has at least one")
	}
	for i, p := range s.Parties {
		if err := p.HeldOut.check(); err != nil {
			return fmt.Errorf("report: party %d: %w", i+1, err)
		}
	}
	v, err := newView(s)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return page.Write(w, v)
}

// view is what the template shows beside the study itself.
type view struct {
	Study
	Rows     int
	Sent     int64 // by all parties
	Received int64
	MostSent int64 // by one party
	Smallest Party // the party with the fewest rows
	Gap      Gap
	Charts   []template.HTML
	Errors   []partyErrors
	Words    []string
	StepsSum int64
}

// partyErrors is what a party's model made of the held-out rows.
type partyErrors struct {
	Name string
	HeldOut
	Curve *curve // nil if there is none
}

// Gap is the largest distance of a collaboration's ROC-AUC below the central
// model's.
type Gap struct {
	Party string
	Value float64 // NaN if it is not defined
}

func newView(s Study) (v view, err error) {
	v = view{Study: s, Smallest: s.Parties[0], Words: strings.Fields(s.Phrase)}
	v.Gap.Value = math.NaN()
	for _, p := range s.Parties {
		v.Rows += p.Rows
		v.Sent += p.BytesSent
		v.Received += p.BytesReceived
		v.MostSent = max(v.MostSent, p.BytesSent)
		if p.Rows < v.Smallest.Rows {
			v.Smallest = p
		}
		below := rounded(s.Central.ROCAUC) - rounded(p.Collaboration.ROCAUC)
		if math.IsNaN(v.Gap.Value) || below > v.Gap.Value {
			v.Gap = Gap{p.Name, below}
		}
	}
	for _, p := range s.Parties {
		if p.HeldOut.Confusion == nil {
			continue
		}
		c, err := newCurve(p)
		if err != nil {
			return v, err
		}
		v.Errors = append(v.Errors, partyErrors{p.Name, p.HeldOut, c})
	}
	for _, step := range s.Steps {
		v.StepsSum += step.Bytes
	}
	v.Charts = make([]template.HTML, 2)
	if v.Charts[0], err = scores("ROC-AUC", s, func(x Scores) float64 { return x.ROCAUC }); err == nil {
		v.Charts[1], err = scores("Accuracy", s, func(x Scores) float64 { return x.Accuracy })
	}
	return v, err
}

// Words about two scores, for the text.
const (
	better = "better"
	worse  = "worse"
	same   = "the same"
)

// Compare says how the smallest site's ROC-AUC changed, or "" if it cannot be
// told.
func (v view) Compare() string {
	alone, together := rounded(v.Smallest.Local.ROCAUC), rounded(v.Smallest.Collaboration.ROCAUC)
	switch {
	case math.IsNaN(alone) || math.IsNaN(together):
		return ""
	case together > alone:
		return better
	case together < alone:
		return worse
	default:
		return same
	}
}

// rounded is a score as it is shown: differences are those of shown scores, so
// that the table adds up.
func rounded(x float64) float64 { return math.Round(x*1000) / 1000 }

func formatScore(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return strconv.FormatFloat(rounded(x), 'f', 3, 64)
}

// formatGain shows to - from with its sign.
func formatGain(from, to float64) string {
	d := rounded(to) - rounded(from)
	switch {
	case math.IsNaN(d) || math.IsInf(d, 0):
		return "–"
	case math.Abs(d) < 0.0005:
		return "0.000"
	case d < 0:
		return "−" + formatScore(-d)
	default:
		return "+" + formatScore(d)
	}
}

// formatSize shows bytes with three digits, in powers of 1000; the space does
// not break.
func formatSize(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d\u00a0B", n)
	}
	x, unit := float64(n)/1000, 0
	for x >= 999.5 && unit < 3 {
		x, unit = x/1000, unit+1
	}
	digits := 0
	if x < 99.95 {
		digits = 1
	}
	if x < 9.995 {
		digits = 2
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + "\u00a0" + [...]string{"kB", "MB", "GB", "TB"}[unit]
}
