package experiment

import (
	"math"
	"testing"

	"concord/lab"
)

// TestSlack: numbers by scipy.stats.t.ppf(0.97725, freedom).
func TestSlack(t *testing.T) {
	s := lab.Summary{N: 3, Std: 0.03}
	for name, c := range map[string]struct {
		p           Published
		scale, want float64
	}{
		"both deviations": {Published{Repeats: 100, Std: map[string]float64{"a": 5}}, 0.01, 2.0250580079589726 * math.Sqrt((2*0.0009+99*0.0025)/101) * math.Sqrt(1./3+1./100)},
		"ours only":       {Published{Repeats: 100}, 1, 4.5265507603649375 * 0.03 * math.Sqrt(1./3+1./100)},
		"their error":     {Published{Repeats: 100, SE: map[string]float64{"a": 0.02}}, 1, 4.5265507603649375 * math.Hypot(0.03/math.Sqrt(3), 0.02)},
		"nothing":         {Published{}, 1, 4.5265507603649375 * 0.03 / math.Sqrt(3)},
	} {
		if got := c.p.slack("a", s, c.scale); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%s: %.10g, want %.10g", name, got, c.want)
		}
	}
	if got := (Published{Repeats: 10}).slack("a", lab.Summary{N: 1}, 1); !math.IsInf(got, 1) {
		t.Errorf("one draw allows %g", got)
	}
}
