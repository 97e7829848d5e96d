package metric

import (
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestStudentTail compares with mpmath at 50 digits, relative to the tail, from
// the middle down to 1e-290.
func TestStudentTail(t *testing.T) {
	data, err := os.ReadFile("testdata/certainty.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Tails []struct{ Freedom, T, P float64 }
	}
	if err := json.Unmarshal(data, &fixture); err != nil {
		t.Fatal(err)
	}
	if len(fixture.Tails) < 150 {
		t.Fatalf("%d tails, want at least 150", len(fixture.Tails))
	}
	worst := 0.0
	for _, c := range fixture.Tails {
		got := studentTail(c.Freedom, c.T)
		// The exponent −log P, up to 670, is rounded a few times: 670 · 4 · 1.1e-16.
		rel := math.Abs(got-c.P) / c.P
		worst = max(worst, rel)
		if rel > 3e-13 {
			t.Errorf("P(T > %g) with %g degrees = %.17g, want %.17g (%.1e)", c.T, c.Freedom, got, c.P, rel)
		}
		if lower := studentTail(c.Freedom, -c.T); lower != 1-got {
			t.Errorf("P(T > %g) with %g degrees = %.17g, want %.17g", -c.T, c.Freedom, lower, 1-got)
		}
	}
	t.Logf("largest relative error %.1e", worst)
}

// TestStudentQuantile checks that the quantile undoes the tail, and two values
// in closed form: with one degree cot(π p), with two (1−2p)/√(2p(1−p)).
func TestStudentQuantile(t *testing.T) {
	for _, p := range []float64{0.5, 0.499, 0.25, 0.05, 0.025, 1e-6, 1e-100} {
		for _, c := range []struct{ freedom, want float64 }{
			{1, 1 / math.Tan(math.Pi*p)}, {2, (1 - 2*p) / math.Sqrt(2*p*(1-p))},
		} {
			// Relative to 1 at least: near ½ the quantile is a difference.
			if got := StudentQuantile(c.freedom, p); math.Abs(got-c.want) > 1e-13*max(1, c.want) {
				t.Errorf("quantile of %g with %g degrees = %.17g, want %.17g", p, c.freedom, got, c.want)
			}
		}
		for _, freedom := range []float64{1, 7, 50, 2000} {
			// 1e-14 times 7 degrees times 100 digits' worth of logarithm at most.
			if got := studentTail(freedom, StudentQuantile(freedom, p)); math.Abs(got-p) > 1e-12*p {
				t.Errorf("tail of the quantile of %g with %g degrees is %.17g", p, freedom, got)
			}
		}
	}
	for _, c := range [][2]float64{{0, 0.1}, {math.NaN(), 0.1}, {math.Inf(1), 0.1}, {3, 0}, {3, 0.6}, {3, math.NaN()}} {
		if got := StudentQuantile(c[0], c[1]); !math.IsNaN(got) {
			t.Errorf("quantile of %g with %g degrees is %g, want NaN", c[1], c[0], got)
		}
	}
}
