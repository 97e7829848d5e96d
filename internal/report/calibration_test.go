package report_test

import (
	"bytes"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"concord/internal/report"
	"concord/metric"
)

func heldOut() report.HeldOut {
	return report.HeldOut{
		Levels:    []string{"benign", "malignant"},
		Confusion: &metric.ConfusionMatrix{Counts: [][]int{{124, 1}, {9, 70}}},
		Positive:  "malignant",
		Calibration: []metric.CalibrationBin{
			{Low: 0, High: 0.2, Rows: 150, Predicted: 0.04, Observed: 0.02},
			{Low: 0.8, High: 1, Rows: 54, Predicted: 0.96, Observed: 1},
		},
	}
}

// TestHeldOut: the page says the counts and the figures of the curve in words, of
// each party that has them.
func TestHeldOut(t *testing.T) {
	s := sample()
	if strings.Contains(render(t, s), "models err") {
		t.Error("the page has a section of errors that nobody counted")
	}
	s.Parties[0].HeldOut, s.Parties[1].HeldOut = heldOut(), heldOut()
	s.Parties[1].HeldOut.Calibration = nil
	page := html.UnescapeString(render(t, s))
	parse(t, render(t, s)) // well-formed
	text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")), " ")
	const counts = "True class Predicted class benign malignant benign 124 1 malignant 9 70 "
	for _, want := range []string{
		"Where the collaboration's models err",
		"Riverside Held-out rows by true and predicted class " + counts + "The figures of the curve.",
		"Probability Predicted Observed Rows 0.00 to 0.20 0.04 0.02 150 0.80 to 1.00 0.96 1.00 54 ",
		// (150·0.02 + 54·0.04)/204 = 0.0253
		"Expected calibration error 0.025.",
		"Harbour Held-out rows by true and predicted class " + counts + "The scores of this model are no probabilities",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestHeldOutContradictions: nothing is written of counts that do not fit.
func TestHeldOutContradictions(t *testing.T) {
	for want, spoil := range map[string]func(*report.HeldOut){
		"confusion matrix has 2 rows for 3 levels":          func(h *report.HeldOut) { h.Levels = append(h.Levels, "unsure") },
		"confusion matrix has a row of 1 counts for 2":      func(h *report.HeldOut) { h.Confusion.Counts[1] = []int{1} },
		"bin 2 of the calibration curve has 0 rows":         func(h *report.HeldOut) { h.Calibration[1].Rows = 0 },
		"bin 1 of the calibration curve has 150 rows, pred": func(h *report.HeldOut) { h.Calibration[0].Predicted = math.NaN() },
		"observed 1.5": func(h *report.HeldOut) { h.Calibration[0].Observed = 1.5 },
	} {
		s := sample()
		h := heldOut()
		spoil(&h)
		s.Parties[1].HeldOut = h
		var b bytes.Buffer
		err := report.Write(&b, s)
		if err == nil || !strings.HasPrefix(err.Error(), "report: party 2: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
		if b.Len() > 0 {
			t.Errorf("something is written although %s", want)
		}
	}
}
