package report

import (
	"fmt"
	"html/template"

	"concord/internal/chart"
	"concord/internal/sitepage"
	"concord/metric"
)

// HeldOut is what one model made of the held-out rows. The zero value is not
// shown.
type HeldOut struct {
	// Levels name the classes, in the order of Confusion, which counts the
	// held-out rows by true and predicted class.
	Levels    []string
	Confusion *metric.ConfusionMatrix
	// Positive names the class whose probability Calibration compares with the
	// share of rows that are of it. The curve is empty if the scores of the model
	// are no probabilities.
	Positive    string
	Calibration []metric.CalibrationBin
}

// check wants a count for each pair of levels, and shares between 0 and 1.
func (h HeldOut) check() error {
	if h.Confusion == nil {
		return nil
	}
	k := len(h.Levels)
	if len(h.Confusion.Counts) != k {
		return fmt.Errorf("confusion matrix has %d rows for %d levels", len(h.Confusion.Counts), k)
	}
	for _, row := range h.Confusion.Counts {
		if len(row) != k {
			return fmt.Errorf("confusion matrix has a row of %d counts for %d levels", len(row), k)
		}
	}
	for i, b := range h.Calibration {
		if b.Rows < 1 || !(b.Predicted >= 0 && b.Predicted <= 1 && b.Observed >= 0 && b.Observed <= 1) {
			return fmt.Errorf("bin %d of the calibration curve has %d rows, predicted %g, observed %g, "+
				"want at least 1 and shares from 0 to 1", i+1, b.Rows, b.Predicted, b.Observed)
		}
	}
	return nil
}

// curve is a calibration curve: a dot for each bin, as large in area as it has rows, beside
// the diagonal on which a calibrated model lies.
type curve struct {
	SVG template.HTML
	// Error is the expected calibration error (metric.CalibrationError).
	Error float64
}

// newCurve draws a party's curve; nil if there is none.
func newCurve(p Party) (*curve, error) {
	if len(p.HeldOut.Calibration) == 0 {
		return nil, nil
	}
	c := chart.Square{Title: "Calibration of the model of " + p.Name, XLabel: "predicted", YLabel: "observed"}
	for _, b := range p.HeldOut.Calibration {
		c.Points = append(c.Points, chart.Point{X: b.Predicted, Y: b.Observed, Weight: float64(b.Rows),
			Note: fmt.Sprintf("predicted %.2f, observed %.2f, %s", b.Predicted, b.Observed, sitepage.Count(b.Rows, "row"))})
	}
	svg, err := chart.SVG(c)
	if err != nil {
		return nil, err
	}
	e, err := metric.CalibrationError(p.HeldOut.Calibration)
	return &curve{svg, e}, err
}

// scores is the chart of one metric of all parties: a ring for the local model, a full dot
// for the collaboration, a rule for the central model.
func scores(metric string, s Study, of func(Scores) float64) (template.HTML, error) {
	c := chart.Dots{
		Title: metric + " of each party's local model and of the collaboration", XLabel: metric,
		Ring: "local: own rows only", Full: "collaboration", Rule: "central: all rows in one place", At: of(s.Central),
	}
	for _, p := range s.Parties {
		c.Rows = append(c.Rows, chart.DotRow{
			Name: p.Name, Note: sitepage.Count(p.Rows, "row"), Ring: of(p.Local), Full: of(p.Collaboration),
		})
	}
	return chart.SVG(c)
}
