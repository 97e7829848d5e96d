package report

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// chart is a dot plot with one line for each party: an open ring for the local
// model, a full dot for the collaboration, a dashed rule for the central model.
// All positions are in the units of its view box.
type chart struct {
	ID, Metric    string
	Width, Height float64
	// The plot, inside its labels.
	Left, Right, Top, Bottom float64
	Ticks                    []tick
	Rows                     []chartRow
	CutAxis                  bool    // the axis does not begin at 0
	Central                  float64 // value; NaN if it is not defined
	CentralX                 float64
	CentralAnchor            string // of its label
}

type tick struct {
	X     float64
	Label string
}

type chartRow struct {
	Y, Top, Height       float64
	Name, Short          string // Short fits beside the plot
	Rows                 int
	Shaded               bool
	Local, Collaboration *dot // nil if it is not defined
}

// dot is one mark with its label.
type dot struct {
	X, R, Value float64
	LabelX      float64
	Anchor      string
}

// Sizes of a chart.
const (
	chartWidth  = 800
	gutter      = 190 // names, left of the plot
	labelRoom   = 58  // a score's label beyond either end of the axis
	rowHeight   = 54
	headRoom    = 34 // the central model's label
	footRoom    = 32 // ticks
	labelOffset = 13 // from a dot's centre to its label
	maxNameLen  = 20 // runes that fit in the gutter
	// The ring and the dot have one radius, unless the dot lies in the ring.
	dotRadius    = 6.5
	insideRadius = 3.5
	// leastSpan is the least width of an axis: closer scores are not pulled
	// apart to look different.
	leastSpan = 0.03
)

// newChart lays out one metric of all parties.
func newChart(id, metric string, s Study, of func(Scores) float64) chart {
	c := chart{
		ID:      id,
		Metric:  metric,
		Width:   chartWidth,
		Left:    gutter + labelRoom,
		Right:   chartWidth - labelRoom,
		Top:     headRoom,
		Central: of(s.Central),
	}
	c.Bottom = c.Top + rowHeight*float64(len(s.Parties))
	c.Height = c.Bottom + footRoom

	values := []float64{c.Central}
	for _, p := range s.Parties {
		values = append(values, of(p.Local), of(p.Collaboration))
	}
	lo, hi, step := axis(values)
	c.CutAxis = lo != 0
	x := func(v float64) float64 { return c.Left + (v-lo)/(hi-lo)*(c.Right-c.Left) }

	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	for k := math.Round(lo / step); k*step <= hi+step/2; k++ {
		c.Ticks = append(c.Ticks, tick{x(k * step), strconv.FormatFloat(k*step, 'f', decimals, 64)})
	}
	if finite(c.Central) {
		c.CentralX, c.CentralAnchor = x(c.Central), "middle"
		// The label is about 170 wide.
		if c.CentralX > c.Width-85 {
			c.CentralAnchor = "end"
		}
	}
	for i, p := range s.Parties {
		row := chartRow{
			Top: c.Top + rowHeight*float64(i), Height: rowHeight,
			Name: p.Name, Short: shorten(p.Name), Rows: p.Rows, Shaded: i%2 == 0,
		}
		row.Y = row.Top + rowHeight/2
		row.Local, row.Collaboration = newDot(of(p.Local), x), newDot(of(p.Collaboration), x)
		place(row.Local, row.Collaboration)
		c.Rows = append(c.Rows, row)
	}
	return c
}

func newDot(v float64, x func(float64) float64) *dot {
	if !finite(v) {
		return nil
	}
	return &dot{X: x(v), R: dotRadius, Value: v}
}

// place puts the lower score's label to the left and the higher one's to the
// right, so that they cannot meet, and makes a dot that would cover the ring
// small enough to lie in it.
func place(local, collaboration *dot) {
	left, right := local, collaboration
	if local != nil && collaboration != nil && local.X > collaboration.X {
		left, right = right, left
	}
	if local != nil && collaboration != nil && right.X-left.X < dotRadius/2 {
		collaboration.R = insideRadius
	}
	if left != nil {
		left.LabelX, left.Anchor = left.X-labelOffset, "end"
	}
	if right != nil {
		right.LabelX, right.Anchor = right.X+labelOffset, "start"
	}
}

// axis chooses the ends of an axis that holds all finite values and the distance
// of its ticks, which is 1, 2 or 5 times a power of ten and divides both ends.
// The axis of scores from 0 to 1 does not go beyond these.
func axis(values []float64) (lo, hi, step float64) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if finite(v) {
			least, most = min(least, v), max(most, v)
		}
	}
	if least > most {
		return 0, 1, 0.2
	}
	lo, hi = least, most
	if wider := (leastSpan - (hi - lo)) / 2; wider > 0 {
		lo, hi = lo-wider, hi+wider
	}
	if most <= 1 && hi > 1 {
		lo, hi = lo-(hi-1), 1
	}
	if least >= 0 && lo < 0 {
		lo, hi = 0, hi-lo
	}
	const intervals = 5
	step = math.Pow(10, math.Floor(math.Log10((hi-lo)/intervals)))
	for _, factor := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(factor*step) <= intervals {
			step *= factor
			break
		}
	}
	// A hair of tolerance, so that an end that is a tick stays one.
	const hair = 1e-9
	return math.Floor(lo/step+hair) * step, math.Ceil(hi/step-hair) * step, step
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func shorten(name string) string {
	if utf8.RuneCountInString(name) <= maxNameLen {
		return name
	}
	return string([]rune(name)[:maxNameLen-1]) + "…"
}
