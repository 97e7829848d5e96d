package experiment

import (
	"fmt"
	"math"
	"strings"
)

// Missed says what is not as wanted: figures too far from the published ones, orders
// that do not hold, tests that end otherwise, differences that are not as wanted, bytes
// that differ by more than 2% from what is published.
func (r *Report) Missed() []string {
	var out []string
	for _, f := range r.Figures {
		if f.Reached != nil && !*f.Reached {
			out = append(out, fmt.Sprintf("%s %s %s is %s, published %s", at(f.Run, f.X), f.Name, f.Model, show(f.Mean, f.Metric, f.Percent), show(f.Published, f.Metric, f.Percent)))
		}
	}
	for _, o := range r.Orders {
		if !o.Holds {
			out = append(out, fmt.Sprintf("%s %s: %s does not hold", at(o.Run, o.X), o.Model, o.statement()))
		}
	}
	for _, t := range r.Tests {
		if !t.Agrees() {
			out = append(out, fmt.Sprintf("%s %s: %s above %s has p %.2g, published otherwise", t.Run, t.Model, t.Better, t.Worse, t.P))
		}
	}
	for _, p := range r.Pairs {
		if p.Reached != nil && !*p.Reached {
			out = append(out, fmt.Sprintf("%s %s: %s − %s is %s, wanted %s", at(p.Run, p.X), p.Model, p.Method, p.Against, signed(p.Mean, p.Metric), p.Wanted))
		}
	}
	for _, t := range r.Traffic {
		_, values := t.named()
		for name, v := range t.Published {
			if math.Abs(values[name]-v) > 0.02*math.Abs(v) {
				out = append(out, fmt.Sprintf("%s: %s is %.4g, published %.4g", t.Name, name, values[name], v))
			}
		}
	}
	return out
}

func at(run string, x float64) string {
	if x == 0 {
		return run
	}
	return fmt.Sprintf("%s at %v", run, x)
}

// statement is the order in words.
func (o Order) statement() string {
	if len(o.Equal) > 0 {
		return fmt.Sprintf("%s within %g", strings.Join(o.Equal, " = "), o.Within)
	}
	return strings.Join(o.Rising, " < ")
}
