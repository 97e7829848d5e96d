package report_test

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

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

// TestCurvePositions: a dot for each bin lies where the ticks say, inside the view
// box, in both directions, and its area grows with its rows.
func TestCurvePositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sample()
		h := heldOut()
		share := rapid.Float64Range(0, 1)
		h.Calibration = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) metric.CalibrationBin {
			return metric.CalibrationBin{Rows: rapid.IntRange(1, 500).Draw(t, "rows"), Predicted: share.Draw(t, "predicted"), Observed: share.Draw(t, "observed")}
		}), 1, 8).Draw(t, "bins")
		s.Parties[1].HeldOut = h
		charts := svgs(parse(t, render(t, s)))
		if len(charts) != 3 {
			t.Fatalf("%d charts, want 3", len(charts))
		}
		chart := charts[2]
		var box [4]float64
		if _, err := fmt.Sscan(chart[0].attr["viewBox"], &box[0], &box[1], &box[2], &box[3]); err != nil {
			t.Fatal(err)
		}
		at := map[string][2]float64{} // of the ticks, by label
		var dots []element
		for _, e := range chart {
			switch {
			case e.name == "text" && e.attr["dy"] == "19":
				at[e.text] = [2]float64{number(t, e, "x"), at[e.text][1]}
			case e.name == "text" && e.attr["class"] == "up":
				at[e.text] = [2]float64{at[e.text][0], number(t, e, "y")}
			case e.name == "circle":
				dots = append(dots, e)
			}
		}
		if len(at) != 3 || len(dots) != len(h.Calibration) {
			t.Fatalf("%d ticks and %d dots, want 3 and %d", len(at), len(dots), len(h.Calibration))
		}
		for i, b := range h.Calibration {
			x, y, r := number(t, dots[i], "cx"), number(t, dots[i], "cy"), number(t, dots[i], "r")
			wantX := at["0"][0] + b.Predicted*(at["1"][0]-at["0"][0])
			wantY := at["0"][1] + b.Observed*(at["1"][1]-at["0"][1])
			// Positions are written with two digits.
			if math.Abs(x-wantX) > 0.02 || math.Abs(y-wantY) > 0.02 {
				t.Errorf("bin %d is at %g, %g, the ticks say %g, %g", i+1, x, y, wantX, wantY)
			}
			if x-r < 0 || y-r < 0 || x+r > box[2] || y+r > box[3] {
				t.Errorf("the dot of bin %d at %g, %g of radius %g leaves the box", i+1, x, y, r)
			}
			for j, other := range h.Calibration[:i] {
				if (b.Rows-other.Rows > 0) && r < number(t, dots[j], "r") {
					t.Errorf("bin %d has more rows than bin %d and a smaller dot", i+1, j+1)
				}
			}
		}
		if at["1"][0] <= at["0.5"][0] || at["0.5"][0] <= at["0"][0] || at["1"][1] >= at["0.5"][1] || at["0.5"][1] >= at["0"][1] {
			t.Errorf("ticks are at %v", at)
		}
	})
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
