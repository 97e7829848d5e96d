package experiment

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"concord/lab"
)

// CSV writes one line for each of our figures, with the published one beside where
// there is one.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{"run", "x", "case", "method", "model", "metric", "mean", "std", "ci95", "n", "published", "published_se", "difference", "standard_errors"})
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
	for _, run := range r.Results {
		for _, s := range run.Summaries() {
			line := []string{run.Name, number(run.X), s.Case, s.Method, s.Model, s.Metric, number(s.Mean), number(s.Std), number(s.CI95), strconv.Itoa(s.N)}
			if f := r.figure(run.Name, run.X, s.Cell); f != nil {
				line = append(line, number(f.Published), number(f.PublishedSE), number(f.Difference), number(f.StandardErrors))
			} else {
				line = append(line, "", "", "", "")
			}
			c.Write(line)
		}
	}
	for _, t := range r.Times {
		for _, m := range t.Methods {
			for i, x := range t.X {
				c.Write([]string{t.Name, number(x), "", m, "", lab.Seconds, number(t.Median[m][i]), "", "", "", "", "", "", ""})
			}
		}
	}
	for _, t := range r.Traffic {
		names, values := t.named()
		for _, n := range names {
			published := ""
			if v, ok := t.Published[n]; ok {
				published = number(v)
			}
			c.Write([]string{t.Name, "", "", n, "", "bytes", number(values[n]), "", "", "", published, "", "", ""})
		}
	}
	c.Flush()
	return c.Error()
}

func (r *Report) figure(run string, x float64, c lab.Cell) *Figure {
	for i, f := range r.Figures {
		if f.Run == run && f.X == x && f.Cell == c {
			return &r.Figures[i]
		}
	}
	return nil
}

// record is the JSON of a report. Its names are stable.
type record struct {
	Experiment string          `json:"experiment"`
	Title      string          `json:"title"`
	Source     string          `json:"source"`
	Size       Size            `json:"size"`
	Only       []string        `json:"only,omitempty"`
	Seconds    float64         `json:"seconds"`
	Seed       uint64          `json:"seed"`
	Machine    Machine         `json:"machine"`
	Runs       []runRecord     `json:"runs,omitempty"`
	Figures    []Figure        `json:"figures,omitempty"`
	Orders     []orderRecord   `json:"orders,omitempty"`
	Tests      []testRecord    `json:"tests,omitempty"`
	Paired     []PairedResult  `json:"paired,omitempty"`
	Times      []timingRecord  `json:"times,omitempty"`
	Traffic    []trafficRecord `json:"traffic,omitempty"`
}

type runRecord struct {
	Name     string        `json:"name"`
	Data     string        `json:"data"`
	StandIn  string        `json:"stand_in,omitempty"`
	Axis     string        `json:"axis,omitempty"`
	X        float64       `json:"x,omitempty"`
	Repeats  int           `json:"repeats"`
	Seconds  float64       `json:"seconds"`
	Settings lab.Setting   `json:"settings"`
	Results  []lab.Summary `json:"results"`
	Notes    []string      `json:"notes,omitempty"`
}

type orderRecord struct {
	Run    string    `json:"run"`
	X      float64   `json:"x,omitempty"`
	Model  string    `json:"model"`
	Rising []string  `json:"rising,omitempty"`
	Equal  []string  `json:"equal,omitempty"`
	Within float64   `json:"within,omitempty"`
	Means  []float64 `json:"means"`
	Holds  bool      `json:"holds"`
}

type testRecord struct {
	Run       string  `json:"run"`
	Model     string  `json:"model"`
	Better    string  `json:"better"`
	Worse     string  `json:"worse"`
	Mean      float64 `json:"mean_difference"`
	T         float64 `json:"t"`
	P         float64 `json:"p"`
	Level     float64 `json:"level"`
	Ours      bool    `json:"significant"`
	Published bool    `json:"published_significant"`
}

type timingRecord struct {
	Name      string               `json:"name"`
	Axis      string               `json:"axis"`
	X         []float64            `json:"x"`
	Dim       int                  `json:"dim"`
	Rows      int                  `json:"rows"`
	Parties   int                  `json:"parties"`
	Median    map[string][]float64 `json:"median_seconds"`
	Slope     map[string]float64   `json:"slope"`
	Published map[string]float64   `json:"published_slope,omitempty"`
}

type trafficRecord struct {
	Name      string             `json:"name"`
	Ours      map[string]float64 `json:"bytes"`
	Published map[string]float64 `json:"published,omitempty"`
}

// JSON writes the whole report.
func (r *Report) JSON(w io.Writer) error {
	rec := record{
		Experiment: r.Name, Title: r.Title, Source: r.Source, Size: r.Size, Only: r.Only, Seconds: r.Seconds, Seed: seed, Machine: r.Machine, Figures: r.Figures, Paired: r.Pairs,
	}
	for _, run := range r.Results {
		one := runRecord{
			Name: run.Name, Data: run.Data, StandIn: run.StandIn, X: run.X, Repeats: run.Results.Repeats, Seconds: run.Results.Seconds,
			Settings: run.Setting, Results: run.Summaries(), Notes: run.Notes,
		}
		if run.Sweep != nil {
			one.Axis = run.Sweep.Axis
		}
		rec.Runs = append(rec.Runs, one)
	}
	for _, o := range r.Orders {
		rec.Orders = append(rec.Orders, orderRecord{o.Run, o.X, o.Model, o.Rising, o.Equal, o.Within, o.Means, o.Holds})
	}
	for _, t := range r.Tests {
		rec.Tests = append(rec.Tests, testRecord{t.Run, t.Model, t.Better, t.Worse, t.Mean, t.T, t.P, t.Level, t.Ours, t.Significant})
	}
	for _, t := range r.Times {
		rec.Times = append(rec.Times, timingRecord{t.Name, t.Axis, t.X, t.Dim, t.Rows, t.Parties, t.Median, t.Slope, t.Slopes})
	}
	for _, t := range r.Traffic {
		_, values := t.named()
		rec.Traffic = append(rec.Traffic, trafficRecord{t.Name, values, t.Published})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	if err := e.Encode(rec); err != nil {
		return fmt.Errorf("experiment: %w", err)
	}
	return nil
}
