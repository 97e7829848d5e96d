package metric_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/metric"
)

// TestNames holds what contracts may say.
func TestNames(t *testing.T) {
	want := []string{"roc_auc", "pr_auc", "accuracy", "balanced_accuracy", "log_loss", "brier", "rmse", "mae", "r2"}
	if got := metric.Names(); !slices.Equal(got, want) {
		t.Fatalf("names %q, want %q", got, want)
	}
	losses := []string{"log_loss", "brier", "rmse", "mae"}
	for _, name := range want {
		m, err := metric.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if m.Name != name || m.Title == "" || m.LargerIsBetter == slices.Contains(losses, name) ||
			m.Probabilities != slices.Contains(losses[:2], name) || m.Regression != slices.Contains(want[6:], name) {
			t.Errorf("%s is %+v", name, m)
		}
	}
	if _, err := metric.Compute("auc", metric.Truth{}, nil); err == nil || !strings.Contains(err.Error(), `name is "auc", want one of: roc_auc,`) {
		t.Errorf("unknown name: error %v", err)
	}
}

// TestLargerIsBetter compares good with bad predictions by every metric.
func TestLargerIsBetter(t *testing.T) {
	labels := []int{0, 1, 1, 0, 1, 0}
	values := mat.NewDense(6, 1, []float64{1, 5, 2, 4, 3, 0})
	good, bad := mat.NewDense(6, 2, nil), mat.NewDense(6, 2, nil)
	near, far := mat.NewDense(6, 1, nil), mat.NewDense(6, 1, nil)
	for i, c := range labels {
		good.Set(i, c, 0.9)
		good.Set(i, 1-c, 0.1)
		bad.Set(i, c, 0.3)
		bad.Set(i, 1-c, 0.7)
		near.Set(i, 0, values.At(i, 0)+0.1)
		far.Set(i, 0, values.At(i, 0)-2)
	}
	for _, name := range metric.Names() {
		m, err := metric.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		truth, a, b := metric.Truth{Labels: labels, Positive: 1}, good, bad
		if m.Regression {
			truth, a, b = metric.Truth{Values: values}, near, far
		}
		x, err := m.Compute(truth, a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := m.Compute(truth, b)
		if err != nil {
			t.Fatal(err)
		}
		if (x > y) != m.LargerIsBetter || x == y {
			t.Errorf("%s is %v for good and %v for bad predictions", name, x, y)
		}
	}
}

// TestConstantScores has the figures of predictions that say nothing.
func TestConstantScores(t *testing.T) {
	truth := metric.Truth{Labels: []int{0, 1, 1, 0, 0}, Positive: 1}
	half := mat.NewDense(5, 2, slices.Repeat([]float64{0.5}, 10))
	for name, want := range map[string]float64{
		"roc_auc": 0.5, "pr_auc": 0.4, "accuracy": 0.6, "balanced_accuracy": 0.5, "log_loss": math.Ln2, "brier": 0.25,
	} {
		got, err := metric.Compute(name, truth, half)
		near(t, name, got, err, want)
	}
}

func TestComputeErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	two := func(v ...float64) *mat.Dense { return mat.NewDense(len(v)/2, 2, v) }
	labels := func(v ...int) metric.Truth { return metric.Truth{Labels: v, Positive: 1} }
	for _, c := range []struct {
		name, metrics string // which metrics, by a word each
		truth         metric.Truth
		scores        *mat.Dense
		want          string
		undefined     bool
	}{
		{"no labels", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", metric.Truth{}, two(1, 0), "has no labels", false},
		{"zero rows", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", metric.Truth{Labels: []int{}}, nil, "of no rows", false},
		{"lengths", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", labels(1), two(1, 0, 0, 1), "of 1 true and 2 predicted", false},
		{"one column", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", labels(0), mat.NewDense(1, 1, nil), "of 1 column, want", false},
		{"positive", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", metric.Truth{Labels: []int{0}, Positive: 2}, two(1, 0), "is 2, want 0 or 1", false},
		{"label", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", labels(0, 2), two(1, 0, 0, 1), "class of row 2 is 2, want 0 to 1", false},
		{"negative label", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", labels(0, -1), two(1, 0, 0, 1), "class of row 2 is -1, want 0 to 1", false},
		{"nan", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", labels(0, 1), two(1, 0, 0, nan), "row 2, column 2 is not a finite number", false},
		{"inf", "roc_auc pr_auc accuracy balanced_accuracy log_loss brier", labels(0, 1), two(inf, 0, 0, 1), "row 1, column 1 is not a finite number", false},
		{"scores", "log_loss brier", labels(0, 1), two(1, 0, -1, 2), "needs probabilities, the score at row 2, column 1", false},
		{"sum", "log_loss brier", labels(0, 1), two(1, 0, .3, .6), "needs probabilities, the scores of row 2 do not sum to 1", false},
		{"one class", "roc_auc", labels(1, 1), two(1, 0, 0, 1), "2 positive and 0 negative", true},
		{"no positive", "roc_auc pr_auc", labels(0, 0), two(1, 0, 0, 1), "0 positive and 2 negative", true},
		{"class absent", "roc_auc pr_auc", labels(0, 2), mat.NewDense(2, 3, nil), "class 1 has no row", true},
		{"no values", "rmse mae r2", labels(1), two(1, 0), "has no true values", false},
		{"columns", "rmse mae r2", metric.Truth{Values: two(1, 2)}, mat.NewDense(1, 1, nil), "2 true and 1 predicted columns", false},
		{"value lengths", "rmse mae r2", metric.Truth{Values: two(1, 2)}, two(1, 2, 3, 4), "1 true and 2 predicted", false},
		{"value nan", "rmse mae r2", metric.Truth{Values: two(1, 2, 3, 4)}, two(1, 2, 3, nan), "column 2: metric: predicted value 2 is not a finite", false},
		{"value inf", "rmse mae r2", metric.Truth{Values: two(inf, 2)}, two(1, 2), "column 1: metric: true value 1 is not a finite", false},
		{"constant", "r2", metric.Truth{Values: two(1, 2, 2, 2)}, two(1, 2, 3, 4), "column 2: metric: r2 of 2 equal true values", true},
	} {
		for _, name := range strings.Fields(c.metrics) {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				v, err := metric.Compute(name, c.truth, c.scores)
				if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, metric.ErrUndefined) != c.undefined {
					t.Fatalf("got %v, error %v; want an error with %q, undefined %v", v, err, c.want, c.undefined)
				}
			})
		}
	}
}

// TestOtherErrors has those of functions that no name leads to.
func TestOtherErrors(t *testing.T) {
	confusion := func(truth, guess []int, classes int) func() error {
		return func() error { _, err := metric.Confusion(truth, guess, classes); return err }
	}
	calibration := func(positive []bool, p []float64, bins int) func() error {
		return func() error { _, err := metric.CalibrationCurve(positive, p, bins, metric.Quantile); return err }
	}
	for _, c := range []struct {
		name string
		call func() error
		want string
	}{
		{"confusion empty", confusion(nil, nil, 2), "no rows"},
		{"confusion lengths", confusion([]int{0}, []int{0, 1}, 2), "1 true and 2 predicted"},
		{"confusion no classes", confusion([]int{0}, []int{0}, 0), "0 classes, want 1 to 4096"},
		{"confusion huge", confusion([]int{0}, []int{0}, math.MaxInt), "want 1 to 4096"},
		{"confusion true", confusion([]int{2}, []int{0}, 2), "true class of row 1 is 2, want 0 to 1"},
		{"confusion predicted", confusion([]int{0}, []int{-1}, 2), "predicted class of row 1 is -1, want 0 to 1"},
		{"kappa", func() error {
			m, err := metric.Confusion([]int{1, 1}, []int{1, 1}, 2)
			if err != nil {
				return err
			}
			if m.Matthews() != 0 {
				t.Errorf("Matthews of one class = %v, want 0", m.Matthews())
			}
			_, err = m.Kappa()
			return err
		}, "kappa of rows whose"},
		{"calibration empty", calibration(nil, nil, 5), "no rows"},
		{"calibration bins", calibration([]bool{true}, []float64{1}, 0), "0 bins, want 1 to 10000"},
		{"calibration huge", calibration([]bool{true}, []float64{1}, math.MaxInt), "want 1 to 10000"},
		{"calibration nan", calibration([]bool{true}, []float64{math.NaN()}, 5), "probability 1 is not between 0 and 1"},
		{"calibration error", func() error { _, err := metric.CalibrationError(nil); return err }, "no rows"},
		{"brier", func() error { _, err := metric.Brier([]bool{true}, []float64{-0.1}); return err }, "probability 1 is not between"},
		{"balanced accuracy", func() error { _, err := metric.BalancedAccuracy(nil, nil); return err }, "no rows"},
		{"roc curve", func() error { _, err := metric.ROCCurve([]bool{true}, []float64{1}); return err }, "1 positive and 0 negative"},
		{"pr curve", func() error { _, err := metric.PRCurve([]bool{false}, []float64{1}); return err }, "0 positive and 1 negative"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestAllPositive has what one class only leaves defined.
func TestAllPositive(t *testing.T) {
	positive, p := []bool{true, true}, []float64{0.2, 0.8}
	got, err := metric.PRAUC(positive, p)
	near(t, "PRAUC", got, err, 1)
	curve, err := metric.CalibrationCurve(positive, p, 2, metric.Uniform)
	if err != nil || len(curve) != 2 || curve[0].Observed != 1 || curve[1].Observed != 1 {
		t.Errorf("calibration %+v, %v", curve, err)
	}
	got, err = metric.CalibrationError(curve)
	near(t, "CalibrationError", got, err, 0.5)
	balanced, err := metric.BalancedAccuracy([]int{7, 7}, []int{7, 2})
	near(t, "BalancedAccuracy", balanced, err, 0.5)
}

// TestHugeScores checks that the first threshold of a curve is above scores that
// adding 1 does not change.
func TestHugeScores(t *testing.T) {
	roc, err := metric.ROCCurve([]bool{true, false}, []float64{1e300, -1e300})
	if err != nil {
		t.Fatal(err)
	}
	if !(roc.Threshold[0] > 1e300) || math.IsInf(roc.Threshold[0], 0) {
		t.Errorf("first threshold %v, want a number above 1e300", roc.Threshold[0])
	}
}
