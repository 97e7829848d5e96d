package metric_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"concord/metric"
)

type certainty struct {
	Tests []struct {
		Name        string
		A, B        []float64
		T           float64
		Greater     float64
		Less        float64
		TwoSided    float64    `json:"two-sided"`
		Interval50  [2]float64 `json:"interval 0.5"`
		Interval95  [2]float64 `json:"interval 0.95"`
		Interval999 [2]float64 `json:"interval 0.999"`
	}
	Bootstrap []struct {
		Name            string
		Estimate        float64
		Figures         []float64
		Sizes           []int
		Without         []float64
		Percentile, BCa [2]float64
		StandardError   float64 `json:"standard_error"`
	}
}

func readCertainty(t *testing.T) certainty {
	t.Helper()
	c := read[certainty](t, "testdata/certainty.json")
	if len(c.Tests) != 5 || len(c.Bootstrap) != 3 {
		t.Fatalf("%d tests and %d bootstraps, want 5 and 3", len(c.Tests), len(c.Bootstrap))
	}
	return c
}

// TestPairedTTest compares with SciPy, p-values relative to themselves. T is
// right to about 1e-15 on both sides, and a relative change of T changes P by at
// most ν = 99 times as much; SciPy's distribution adds its own 1e-13.
func TestPairedTTest(t *testing.T) {
	for _, c := range readCertainty(t).Tests {
		t.Run(c.Name, func(t *testing.T) {
			for _, a := range []struct {
				alternative metric.Alternative
				want        float64
			}{{metric.Greater, c.Greater}, {metric.Less, c.Less}, {metric.TwoSided, c.TwoSided}} {
				got, err := metric.PairedTTest(c.A, c.B, a.alternative)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(got.P-a.want) > 1e-12*a.want {
					t.Errorf("P = %.17g, SciPy has %.17g", got.P, a.want)
				}
				if math.Abs(got.T-c.T) > 1e-13*math.Abs(c.T) { // sums of 100 terms
					t.Errorf("T = %.17g, SciPy has %.17g", got.T, c.T)
				}
				if got.Freedom != len(c.A)-1 || math.Abs(got.Mean/got.StandardError-got.T) > 1e-15*math.Abs(got.T) {
					t.Errorf("%+v does not fit together", got)
				}
			}
			for level, want := range map[float64][2]float64{0.5: c.Interval50, 0.95: c.Interval95, 0.999: c.Interval999} {
				got, err := metric.TInterval(c.A, level)
				near(t, "low", got.Low, err, want[0])
				near(t, "high", got.High, err, want[1])
				if got.Level != level {
					t.Errorf("level %v, want %v", got.Level, level)
				}
			}
		})
	}
}

// TestPairedTTestTurned checks that exchanging the sides exchanges the
// alternatives, and that both together are certain.
func TestPairedTTestTurned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		number := rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-50, 50).Draw(t, "v")) / 8 })
		a := rapid.SliceOfN(number, n, n).Draw(t, "a")
		b := rapid.SliceOfN(number, n, n).Draw(t, "b")
		a[0], a[1], b[0], b[1] = 1, 2, 1, 1 // the differences vary
		greater, err := metric.PairedTTest(a, b, metric.Greater)
		if err != nil {
			t.Fatal(err)
		}
		less, err := metric.PairedTTest(b, a, metric.Less)
		if err != nil {
			t.Fatal(err)
		}
		if greater.P != less.P || greater.T != -less.T {
			t.Fatalf("%+v, turned %+v", greater, less)
		}
		other, err := metric.PairedTTest(a, b, metric.Less)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(greater.P+other.P-1) > 0x1p-52 { // one subtraction and one addition
			t.Fatalf("P = %v and %v, want a sum of 1", greater.P, other.P)
		}
	})
}

// TestBootstrapKnownAnswers hands the figures of the fixture to Bootstrap in the
// order of its calls, and compares the intervals with SciPy's.
func TestBootstrapKnownAnswers(t *testing.T) {
	for _, c := range readCertainty(t).Bootstrap {
		t.Run(c.Name, func(t *testing.T) {
			rows := len(c.Without)
			var strata []int
			for s, n := range c.Sizes {
				strata = append(strata, slices.Repeat([]int{s}, n)...)
			}
			for _, m := range []struct {
				method metric.BootstrapMethod
				want   [2]float64
			}{{metric.Percentile, c.Percentile}, {metric.BCa, c.BCa}} {
				figures := slices.Concat([]float64{c.Estimate}, c.Figures, c.Without)
				calls := 0
				got, err := metric.Bootstrap(t.Context(), rand.New(rand.NewPCG(1, 2)), rows, func(drawn []int) (float64, error) {
					switch r := calls - 1 - len(c.Figures); {
					case r >= 0:
						if len(drawn) != rows-1 || slices.Contains(drawn, r) {
							t.Errorf("call %d is not for all rows but %d", calls, r)
						}
					case len(drawn) != rows:
						t.Errorf("call %d is for %d rows, want %d", calls, len(drawn), rows)
					}
					calls++
					return figures[calls-1], nil
				}, metric.BootstrapOptions{Resamples: len(c.Figures), Strata: strata, Method: m.method})
				// The shares of BCa are those of a normal quantile to a few units of
				// 1e-16, times at most 500 figures between neighbours: near has room.
				near(t, "low", got.Low, err, m.want[0])
				near(t, "high", got.High, err, m.want[1])
				near(t, "standard error", got.StandardError, err, c.StandardError)
				if got.Estimate != c.Estimate || got.Level != 0.95 || got.Undefined != 0 {
					t.Errorf("%+v", got)
				}
			}
		})
	}
}

// covered counts how often an interval holds the true value, and wants the count
// where a binomial one of that probability is but for 1e-6 (Hoeffding's bound,
// both sides).
func covered(t *testing.T, times int, probability float64, interval func(rng *rand.Rand) (low, high, truth float64)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(20261121, 4))
	hits := 0
	for range times {
		if low, high, truth := interval(rng); low <= truth && truth <= high {
			hits++
		}
	}
	slack := math.Sqrt(math.Log(2/1e-6) / 2 / float64(times))
	if share := float64(hits) / float64(times); math.Abs(share-probability) > slack {
		t.Errorf("%d of %d intervals cover, want a share of %v ± %.3f", hits, times, probability, slack)
	}
}

// TestIntervalsCover draws normal rows and wants each interval to hold the true
// value as often as it says. The false-reject probability is 1e-6 for each, over
// seeds; the seed is fixed.
func TestIntervalsCover(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	normal := func(rng *rand.Rand, n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	t.Run("t", func(t *testing.T) {
		covered(t, 20000, 0.8, func(rng *rand.Rand) (float64, float64, float64) {
			i, err := metric.TInterval(normal(rng, 5), 0.8)
			if err != nil {
				t.Fatal(err)
			}
			return i.Low, i.High, 0
		})
	})
	// The percentile interval of a mean of 50 is about ± z s √(49/50)/√n, which
	// covers with P(|T₄₉| < 1.282 · 0.99) = 0.79; BCa's likewise.
	for name, method := range map[string]metric.BootstrapMethod{"percentile": metric.Percentile, "bca": metric.BCa} {
		t.Run(name, func(t *testing.T) {
			covered(t, 2000, 0.79, func(rng *rand.Rand) (float64, float64, float64) {
				v := normal(rng, 50)
				i, err := metric.Bootstrap(t.Context(), rng, len(v), func(rows []int) (float64, error) {
					var sum float64
					for _, r := range rows {
						sum += v[r]
					}
					return sum / float64(len(rows)), nil
				}, metric.BootstrapOptions{Level: 0.8, Resamples: 300, Method: method})
				if err != nil {
					t.Fatal(err)
				}
				return i.Low, i.High, 0
			})
		})
	}
	// Scores of negatives are N(0, 1), of positives N(1, 1): the true area is Φ(1/√2).
	t.Run("roc auc", func(t *testing.T) {
		labels := append(make([]int, 40), slices.Repeat([]int{1}, 40)...)
		roc, err := metric.Named("roc_auc")
		if err != nil {
			t.Fatal(err)
		}
		covered(t, 400, 0.8, func(rng *rand.Rand) (float64, float64, float64) {
			scores := mat.NewDense(80, 2, nil)
			for i, c := range labels {
				scores.Set(i, 1, rng.NormFloat64()+float64(c))
			}
			i, err := roc.Bootstrap(t.Context(), rng, metric.Truth{Labels: labels, Positive: 1}, scores,
				metric.BootstrapOptions{Level: 0.8, Resamples: 200, Strata: labels})
			if err != nil {
				t.Fatal(err)
			}
			return i.Low, i.High, math.Erfc(-0.5) / 2
		})
	})
}

// TestBootstrapStrata checks that every resample has as many rows of each
// stratum, and that one generator gives one result.
func TestBootstrapStrata(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "n")
		strata := rapid.SliceOfN(rapid.IntRange(-2, 2), n, n).Draw(t, "strata")
		seed := rapid.Uint64().Draw(t, "seed")
		want := map[int]int{}
		for _, s := range strata {
			want[s]++
		}
		run := func() metric.BootstrapInterval {
			out, err := metric.Bootstrap(t.Context(), rand.New(rand.NewPCG(seed, 0)), n, func(rows []int) (float64, error) {
				counts, sum := map[int]int{}, 0
				for _, r := range rows {
					counts[strata[r]]++
					sum += r
				}
				for s, c := range want {
					if counts[s] != c {
						t.Fatalf("%d rows of stratum %d, want %d", counts[s], s, c)
					}
				}
				return float64(sum), nil
			}, metric.BootstrapOptions{Resamples: 40, Strata: strata})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if a, b := run(), run(); a != b {
			t.Fatalf("%+v, again %+v", a, b)
		}
	})
}

// TestBootstrapUndefined lets few resamples be without a figure, and not many.
func TestBootstrapUndefined(t *testing.T) {
	area := func(positives int) (metric.BootstrapInterval, error) {
		labels := make([]int, 40)
		scores := mat.NewDense(40, 2, nil)
		for i := range labels {
			if i < positives {
				labels[i] = 1
			}
			scores.Set(i, 1, float64(i*7%40))
		}
		m, err := metric.Named("roc_auc")
		if err != nil {
			t.Fatal(err)
		}
		return m.Bootstrap(t.Context(), rand.New(rand.NewPCG(3, 4)), metric.Truth{Labels: labels, Positive: 1}, scores, metric.BootstrapOptions{})
	}
	// Of 2000 resamples (1 − 4/40)^40 = 1.5 % are without a positive, 30 ± 5.
	if got, err := area(4); err != nil || got.Undefined < 5 || got.Undefined > 60 {
		t.Errorf("%d resamples left out, %v; want about 30", got.Undefined, err)
	}
	// (1 − 1/40)^40 = 36 %.
	if _, err := area(1); !errors.Is(err, metric.ErrUndefined) || !strings.Contains(err.Error(), "want strata") {
		t.Errorf("error %v, want one for strata", err)
	}
}

func TestBootstrapErrors(t *testing.T) {
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	constant := func([]int) (float64, error) { return 1, nil }
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		ctx  context.Context
		rows int
		of   func([]int) (float64, error)
		o    metric.BootstrapOptions
		want string
	}{
		{"one row", t.Context(), 1, constant, metric.BootstrapOptions{}, "1 rows, want at least two"},
		{"level", t.Context(), 9, constant, metric.BootstrapOptions{Level: 1}, "level is 1"},
		{"level nan", t.Context(), 9, constant, metric.BootstrapOptions{Level: math.NaN()}, "level is NaN"},
		{"few", t.Context(), 9, constant, metric.BootstrapOptions{Resamples: 39}, "39 resamples at level 0.95, want 40 to 1000000"},
		{"many", t.Context(), 9, constant, metric.BootstrapOptions{Resamples: 1e9}, "want 40 to 1000000"},
		{"strata", t.Context(), 9, constant, metric.BootstrapOptions{Strata: []int{1}}, "9 rows with strata for 1"},
		{"canceled", canceled, 9, constant, metric.BootstrapOptions{}, "context canceled"},
		{"broken", t.Context(), 9, func([]int) (float64, error) { return 0, broken }, metric.BootstrapOptions{}, "broken"},
		{"nan", t.Context(), 9, func([]int) (float64, error) { return math.NaN(), nil }, metric.BootstrapOptions{}, "not a finite"},
		{"bca constant", t.Context(), 9, constant, metric.BootstrapOptions{Method: metric.BCa}, "no row changes"},
		{"bca outside", t.Context(), 9, func() func([]int) (float64, error) {
			calls := 0.0
			return func([]int) (float64, error) { calls++; return calls, nil }
		}(), metric.BootstrapOptions{Method: metric.BCa}, "outside of its 2000 resamples"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := metric.Bootstrap(c.ctx, rand.New(rand.NewPCG(1, 2)), c.rows, c.of, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
		})
	}
	got, err := metric.Bootstrap(t.Context(), rand.New(rand.NewPCG(1, 2)), 9, constant, metric.BootstrapOptions{})
	if err != nil || got.Low != 1 || got.High != 1 || got.StandardError != 0 {
		t.Errorf("constant figure: %+v, %v; want an interval of no width", got, err)
	}
}

// TestTInterval checks what the fixtures do not have.
func TestTInterval(t *testing.T) {
	got, err := metric.TInterval([]float64{.1, .1, .1}, 0.9)
	if err != nil || got != (metric.Interval{Estimate: .1, Low: .1, High: .1, Level: 0.9}) {
		t.Errorf("equal values: %+v, %v", got, err)
	}
	for _, c := range []struct {
		values []float64
		level  float64
		want   string
	}{
		{nil, 0.9, "0 values, want at least two"},
		{[]float64{1}, 0.9, "1 values, want at least two"},
		{[]float64{1, 2}, 0, "level is 0"},
		{[]float64{1, math.NaN()}, 0.9, "value 2 is not a finite"},
		{[]float64{1e308, -1e308}, 0.9, "exceeds the largest"},
	} {
		if _, err := metric.TInterval(c.values, c.level); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestPairedTTestErrors(t *testing.T) {
	for _, c := range []struct {
		a, b      []float64
		want      string
		undefined bool
	}{
		{[]float64{1}, []float64{1, 2}, "1 and 2 values", false},
		{[]float64{1}, []float64{1}, "1 pairs, want at least two", false},
		{[]float64{1, 2}, []float64{1, math.Inf(1)}, "second value 2 is not a finite", false},
		{[]float64{math.NaN(), 2}, []float64{1, 1}, "first value 1 is not a finite", false},
		{[]float64{1.7e308, 0}, []float64{-1.7e308, 0}, "exceeds the largest", false},
		{[]float64{1, 2, 3}, []float64{1, 2, 3}, "3 differences that do not vary", true},
		{[]float64{2, 3}, []float64{1, 2}, "2 differences that do not vary", true},
		// 0.1 more each time, but for rounding.
		{[]float64{0.8, 0.9, 0.7}, []float64{0.7, 0.8, 0.6}, "3 differences that do not vary", true},
	} {
		_, err := metric.PairedTTest(c.a, c.b, metric.Greater)
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, metric.ErrUndefined) != c.undefined {
			t.Errorf("error %v, want one with %q, undefined %v", err, c.want, c.undefined)
		}
	}
}

// TestHolm has the p-values of Holm's procedure by hand: 4 · 0.005, 3 · 0.01,
// 2 · 0.03, and 0.04 raised to the one before.
func TestHolm(t *testing.T) {
	got, err := metric.Holm([]float64{0.01, 0.04, 0.03, 0.005})
	if err != nil {
		t.Fatal(err)
	}
	nearAll(t, "adjusted", got, []float64{0.03, 0.06, 0.06, 0.02})
	got, err = metric.Holm([]float64{0.9, 0.9, 0})
	if err != nil {
		t.Fatal(err)
	}
	nearAll(t, "adjusted", got, []float64{1, 1, 0})
	if got, err := metric.Holm(nil); err != nil || len(got) != 0 {
		t.Errorf("no tests: %v, %v", got, err)
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := metric.Holm([]float64{0.5, bad}); err == nil || !strings.Contains(err.Error(), "p-value 2") {
			t.Errorf("p-value %v: error %v", bad, err)
		}
	}
}

// TestHolmRejects compares with the procedure as Holm wrote it: step down until
// the first p-value above α/(m−j+1).
func TestHolmRejects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 0.2), 1, 12).Draw(t, "p")
		adjusted, err := metric.Holm(p)
		if err != nil {
			t.Fatal(err)
		}
		const alpha = 0.0625 // a power of 2
		sorted := slices.Sorted(slices.Values(p))
		rejected := 0
		for rejected < len(p) && float64(len(p)-rejected)*sorted[rejected] <= alpha {
			rejected++
		}
		count := 0
		for _, v := range adjusted {
			if v <= alpha {
				count++
			}
		}
		if count != rejected {
			t.Fatalf("%d rejected, stepping down %d", count, rejected)
		}
	})
}
