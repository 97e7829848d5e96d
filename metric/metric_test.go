package metric_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/metric"
)

type known struct {
	Cases []struct {
		Name        string
		Positive    []bool
		Score       []float64
		Truth       []int
		Guess       []int
		Probability [][]float64
		Y           []float64
		Predicted   []float64

		AUC      float64 `json:"roc_auc"`
		Accuracy float64
		LogLoss  float64 `json:"log_loss"`
		RMSE     float64
		MAE      float64
		R2       float64
	}
}

// read is a file of known answers.
func read[T any](t *testing.T, name string) T {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// dense is the matrix of these rows.
func dense(rows [][]float64) *mat.Dense {
	m := mat.NewDense(len(rows), len(rows[0]), nil)
	for i, row := range rows {
		m.SetRow(i, row)
	}
	return m
}

// near wants no error and a figure within rounding: both sides add up to 200
// terms of at most max(1, |want|) times a few roundings of 1.1e-16.
func near(t *testing.T, what string, got float64, err error, want float64) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	} else if !(math.Abs(got-want) <= 1e-13*max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g", what, got, want)
	}
}

// nearAll is near for each of several.
func nearAll(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d figures, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		near(t, fmt.Sprintf("%s %d", what, i), got[i], nil, want[i])
	}
}

// TestKnownAnswers compares with scikit-learn.
func TestKnownAnswers(t *testing.T) {
	k := read[known](t, "testdata/known.json")
	if len(k.Cases) != 3 {
		t.Fatalf("%d cases, want 3", len(k.Cases))
	}
	for _, c := range k.Cases {
		t.Run(c.Name, func(t *testing.T) {
			got, err := metric.ROCAUC(c.Positive, c.Score)
			near(t, "ROCAUC", got, err, c.AUC)
			got, err = metric.Accuracy(c.Truth, c.Guess)
			near(t, "Accuracy", got, err, c.Accuracy)
			got, err = metric.LogLoss(c.Truth, dense(c.Probability))
			near(t, "LogLoss", got, err, c.LogLoss)
			got, err = metric.RMSE(c.Y, c.Predicted)
			near(t, "RMSE", got, err, c.RMSE)
			got, err = metric.MAE(c.Y, c.Predicted)
			near(t, "MAE", got, err, c.MAE)
			got, err = metric.R2(c.Y, c.Predicted)
			near(t, "R2", got, err, c.R2)
		})
	}
}

// TestROCAUCByPairs compares with the definition by pairs, and with the
// complement when the score changes sign.
func TestROCAUCByPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		positive := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "positive")
		positive[0], positive[1] = true, false
		score := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return float64(rapid.IntRange(-3, 3).Draw(t, "s"))
		}), n, n).Draw(t, "score")
		var wins, pairs float64
		for i := range score {
			for j := range score {
				if positive[i] && !positive[j] {
					pairs++
					switch {
					case score[i] > score[j]:
						wins++
					case score[i] == score[j]:
						wins += 0.5
					}
				}
			}
		}
		got, err := metric.ROCAUC(positive, score)
		if err != nil {
			t.Fatal(err)
		}
		// One division of integers and halves on either side: exact.
		if got != wins/pairs {
			t.Fatalf("ROCAUC = %v, by pairs %v", got, wins/pairs)
		}
		for i := range score {
			score[i] = -score[i]
		}
		turned, err := metric.ROCAUC(positive, score)
		if err != nil {
			t.Fatal(err)
		}
		// Two rounded quotients that sum to 1.
		if math.Abs(got+turned-1) > 0x1p-51 {
			t.Fatalf("ROCAUC of the negated score is %v, want 1 − %v", turned, got)
		}
	})
}

// TestHugeNumbers checks that squares do not overflow where the result does not.
func TestHugeNumbers(t *testing.T) {
	got, err := metric.RMSE([]float64{1e300, 1e300}, []float64{0, 0})
	if err != nil || math.Abs(got-1e300) > 1e285 { // a few roundings of 1e-16
		t.Errorf("RMSE = %v, %v, want 1e300", got, err)
	}
	if _, err := metric.MAE([]float64{1.7e308}, []float64{-1.7e308}); err == nil {
		t.Error("MAE that overflows gave no error")
	}
}

func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		call func() (float64, error)
		want string
	}{
		{"accuracy lengths", func() (float64, error) { return metric.Accuracy([]int{1}, nil) }, "1 true and 0 predicted"},
		{"accuracy empty", func() (float64, error) { return metric.Accuracy(nil, nil) }, "no rows"},
		{"auc lengths", func() (float64, error) { return metric.ROCAUC([]bool{true, false}, []float64{1}) }, "2 true and 1 predicted"},
		{"auc empty", func() (float64, error) { return metric.ROCAUC(nil, nil) }, "no rows"},
		{"auc nan", func() (float64, error) { return metric.ROCAUC([]bool{true, false}, []float64{1, nan}) }, "score 2 is not a finite"},
		{"auc one class", func() (float64, error) { return metric.ROCAUC([]bool{true, true}, []float64{1, 2}) }, "2 positive and 0 negative"},
		{"log loss nil", func() (float64, error) { return metric.LogLoss([]int{0}, nil) }, "1 true and 0 predicted"},
		{"log loss class", func() (float64, error) {
			return metric.LogLoss([]int{2}, mat.NewDense(1, 2, []float64{.5, .5}))
		}, "class of row 1 is 2, want 0 to 1"},
		{"log loss nan", func() (float64, error) {
			return metric.LogLoss([]int{1}, mat.NewDense(1, 2, []float64{.5, nan}))
		}, "row 1, column 2 is not between 0 and 1"},
		{"rmse lengths", func() (float64, error) { return metric.RMSE([]float64{1}, []float64{1, 2}) }, "1 true and 2 predicted"},
		{"rmse inf", func() (float64, error) { return metric.RMSE([]float64{inf}, []float64{1}) }, "true value 1 is not a finite"},
		{"mae nan", func() (float64, error) { return metric.MAE([]float64{1, 2}, []float64{1, nan}) }, "predicted value 2 is not a finite"},
		{"r2 constant", func() (float64, error) { return metric.R2([]float64{.1, .1, .1}, []float64{1, 2, 3}) }, "3 equal true values"},
		{"r2 one row", func() (float64, error) { return metric.R2([]float64{.1}, []float64{1}) }, "1 equal true values"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := c.call()
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, error %v; want an error with %q", v, err, c.want)
			}
		})
	}
}
