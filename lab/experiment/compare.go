package experiment

import (
	"math"
	"slices"

	"concord/lab"
	"concord/metric"
)

// Figure is one of ours beside a published one.
type Figure struct {
	Run string  `json:"run"`
	X   float64 `json:"x,omitempty"`
	lab.Summary
	// Name is the method as the file has it: case/method.
	Name      string  `json:"name"`
	Published float64 `json:"published"`
	// PublishedSE is the standard error of the published mean; 0 if it is unknown.
	PublishedSE float64 `json:"published_se"`
	Difference  float64 `json:"difference"`
	// StandardErrors is the difference in combined standard errors; 0 where there are
	// none to divide by.
	StandardErrors float64 `json:"standard_errors"`
	// Within is the difference wanted at most; 0 if none is stated.
	Within float64 `json:"within,omitempty"`
	// Reached says that the difference is within Within, or in a quick look within
	// what the few draws allow (slack); nil if nothing is wanted.
	Reached *bool `json:"reached,omitempty"`
	// Reason is why nothing is wanted of this figure.
	Reason string `json:"reason,omitempty"`
	// Percent says that people are shown per cent.
	Percent bool `json:"-"`
}

// OrderResult says whether a statement of the source holds for our means.
type OrderResult struct {
	Order
	Means []float64
	Holds bool
}

// TestResult is our paired test beside the source's finding.
type TestResult struct {
	Test
	metric.TTest
	// Ours says whether it is significant with us.
	Ours bool
}

// Agrees says whether both found the same.
func (t TestResult) Agrees() bool { return t.Ours == t.Significant }

// compare fills in Figures, Orders, Tests and Pairs.
func (r *Report) compare() {
	for _, p := range r.Published {
		got := r.find(p.Run, p.X)
		if got == nil {
			continue // not in a quick look
		}
		scale := 1.0
		if p.Percent {
			scale = 0.01
		}
		for _, name := range p.methods() {
			cell, err := got.cell(name, p.Model, p.Metric)
			if err != nil {
				panic("experiment: " + err.Error()) // the file was checked
			}
			s, ok := got.Summary(cell)
			if !ok {
				continue
			}
			f := Figure{Run: p.Run, X: p.X, Summary: s, Name: name, Published: scale * p.Mean[name], Percent: p.Percent, Reason: p.Except[name]}
			f.Difference = f.Mean - f.Published
			switch {
			case p.SE[name] > 0:
				f.PublishedSE = scale * p.SE[name]
			case p.Repeats > 0 && hasKey(p.Std, name):
				f.PublishedSE = scale * p.Std[name] / math.Sqrt(float64(p.Repeats))
			case p.Repeats > 0: // theirs is taken to scatter as ours
				f.PublishedSE = s.Std / math.Sqrt(float64(p.Repeats))
			}
			combined := math.Hypot(s.StandardError(), f.PublishedSE)
			if combined > 0 {
				f.StandardErrors = f.Difference / combined
			}
			if p.Within > 0 && f.Reason == "" {
				f.Within = scale * p.Within
				ok := math.Abs(f.Difference) <= f.Within
				if r.Size == Quick {
					ok = ok || math.Abs(f.Difference) <= p.slack(name, s, scale)
				}
				f.Reached = &ok
			}
			r.Figures = append(r.Figures, f)
		}
	}
	r.judgeOrders()
	r.judgeTests()
	r.judgePaired()
}

// slack is two combined standard errors of the difference to a mean over few draws,
// whose own deviation is little to go by. Where the source gives its deviation both
// are pooled, as in the two-sample t-test; where not, two is widened to what Student's
// distribution puts as much beyond as the normal one beyond two: a right figure is
// found wrong with probability 0.0455 either way.
func (p Published) slack(name string, s lab.Summary, scale float64) float64 {
	const beyond = 0.02275 // of a normal variable, above 2
	n, m := float64(s.N), float64(p.Repeats)
	switch {
	case p.Repeats > 1 && hasKey(p.Std, name):
		std := scale * p.Std[name]
		pooled := math.Sqrt(((n-1)*s.Std*s.Std + (m-1)*std*std) / (n + m - 2))
		return metric.StudentQuantile(n+m-2, beyond) * pooled * math.Sqrt(1/n+1/m)
	case s.N < 2:
		return math.Inf(1) // one draw says nothing of its scatter
	case p.Repeats > 0 && p.SE[name] == 0:
		return metric.StudentQuantile(n-1, beyond) * s.Std * math.Sqrt(1/n+1/m)
	default:
		return metric.StudentQuantile(n-1, beyond) * math.Hypot(s.StandardError(), scale*p.SE[name])
	}
}

// methods in the order of the run's cells would need the run; by name they are the
// same on every call.
func (p Published) methods() []string { return slices.Sorted(mapKeys(p.Mean)) }

func hasKey(m map[string]float64, key string) bool {
	_, ok := m[key]
	return ok
}

func (r *Report) judgeOrders() {
	for _, o := range r.Experiment.Orders {
		got := r.find(o.Run, o.X)
		if got == nil {
			continue
		}
		out := OrderResult{Order: o, Holds: true}
		for i, name := range slices.Concat(o.Rising, o.Equal) {
			cell, err := got.cell(name, o.Model, o.Metric)
			if err != nil {
				panic("experiment: " + err.Error())
			}
			s, ok := got.Summary(cell)
			if !ok {
				out.Holds = false
				continue
			}
			out.Means = append(out.Means, s.Mean)
			if i == 0 {
				continue
			}
			if o.Rising != nil {
				out.Holds = out.Holds && out.Means[i] > out.Means[i-1]
			} else {
				out.Holds = out.Holds && slices.Max(out.Means)-slices.Min(out.Means) <= o.Within
			}
		}
		r.Orders = append(r.Orders, out)
	}
}

func (r *Report) judgeTests() {
	for _, t := range r.Experiment.Tests {
		got := r.find(t.Run, 0)
		if got == nil {
			continue
		}
		a, errA := got.cell(t.Better, t.Model, t.Metric)
		b, errB := got.cell(t.Worse, t.Model, t.Metric)
		if errA != nil || errB != nil {
			panic("experiment: a test of unknown cells") // the file was checked
		}
		test, err := got.Better(a, b)
		if err != nil {
			continue // one repeat, or no difference at all in any: nothing to test
		}
		r.Tests = append(r.Tests, TestResult{t, test, test.P < t.Level})
	}
}
