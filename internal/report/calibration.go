package report

import (
	"fmt"
	"math"

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
			return fmt.Errorf("bin %d of the calibration curve has %d rows, predicted %g, observed %g, want at least 1 and shares from 0 to 1",
				i+1, b.Rows, b.Predicted, b.Observed)
		}
	}
	return nil
}

// curve is a calibration curve: a square from 0 to 1 both ways with the diagonal
// on which a calibrated model lies, and a dot for each bin, as large in area as it
// has rows. All positions are in the units of its view box.
type curve struct {
	ID, Party, Positive      string
	Width, Height            float64
	Left, Right, Top, Bottom float64
	Ticks                    []curveTick
	Dots                     []curveDot
	Points                   string // of the line through the dots
	// Error is the expected calibration error (metric.CalibrationError).
	Error float64
}

// curveTick is a value on both axes.
type curveTick struct {
	X, Y  float64
	Label string
}

type curveDot struct {
	X, Y, R float64
	metric.CalibrationBin
}

// Sizes of a calibration curve.
const (
	curveSide   = 210
	curveLeft   = 52 // labels of the vertical axis
	curveMargin = 16 // the largest dot, and half a label
	curveFoot   = 46 // ticks and title of the horizontal axis
	leastRadius = 3.0
	mostRadius  = 11.0 // of a bin with all rows
)

// newCurve lays out a party's curve; nil if there is none.
func newCurve(id string, p Party) *curve {
	h := p.HeldOut
	if len(h.Calibration) == 0 {
		return nil
	}
	c := &curve{
		ID: id, Party: p.Name, Positive: h.Positive,
		Left: curveLeft, Right: curveLeft + curveSide, Top: curveMargin, Bottom: curveMargin + curveSide,
		Width: curveLeft + curveSide + curveMargin, Height: curveMargin + curveSide + curveFoot,
	}
	x := func(v float64) float64 { return c.Left + v*curveSide }
	y := func(v float64) float64 { return c.Bottom - v*curveSide }
	for _, t := range []float64{0, 0.5, 1} {
		c.Ticks = append(c.Ticks, curveTick{x(t), y(t), fmt.Sprint(t)})
	}
	rows := 0
	for _, b := range h.Calibration {
		rows += b.Rows
	}
	for _, b := range h.Calibration {
		radius := max(leastRadius, mostRadius*math.Sqrt(float64(b.Rows)/float64(rows)))
		c.Dots = append(c.Dots, curveDot{x(b.Predicted), y(b.Observed), radius, b})
		c.Points += fmt.Sprintf("%.2f,%.2f ", x(b.Predicted), y(b.Observed))
	}
	c.Error, _ = metric.CalibrationError(h.Calibration) // there are rows
	return c
}

// Middle is where the title of the axis below stands.
func (c *curve) Middle() float64 { return (c.Left + c.Right) / 2 }

// Centre is where the title of the axis at the left stands.
func (c *curve) Centre() float64 { return (c.Top + c.Bottom) / 2 }
